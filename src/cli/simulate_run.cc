#include <fmt/core.h>

#include <memory>

#include "base/wording.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/progress.h"
#include "cli/run_reports.h"
#include "cli/shared_options.h"
#include "cli/shell.h"
#include "model/quantity.h"
#include "sim/door.h"
#include "sim/generate.h"
#include "sim/journal_file.h"
#include "sim/readers.h"

namespace berth {
namespace {

struct TypedSimulateRun {
  std::string jobs;
  std::string nodes;
  std::string gpus;
  std::string generate;
  FleetOptions fleet;
  std::vector<CLI::Option*> fleet_options;
  std::string order = "fifo-skip";
  std::string limits;
  SimulationOptions shared{.seeds = "42"};
};

Result<Trace> generated(const TypedSimulateRun& typed, Seed seed) {
  if (!typed.jobs.empty() || !typed.nodes.empty() || !typed.gpus.empty()) {
    return Complaints({"--generate"}, "makes nodes and jobs itself; leave out --jobs, --nodes and --gpus");
  }
  const Result<std::int64_t> nodes = parse_count("--generate", typed.generate, kFleetNodesMin, kFleetNodesMax);
  if (!nodes) return nodes.error();
  return generate_fleet(typed.fleet.spec(*nodes, seed));
}

Result<Trace> trace_for(const TypedSimulateRun& typed, Seed seed) {
  if (!typed.generate.empty()) return generated(typed, seed);
  if (typed.jobs.empty()) return Complaints({"--jobs"}, "name a file of jobs, or --generate N for a fleet of N nodes");
  if (typed.nodes.empty()) {
    return read_trace_of_gpus(typed.jobs, typed.gpus,
                              "say on what the jobs run: --nodes FILE, or --gpus N to count GPUs only");
  }
  if (!typed.gpus.empty())
    return Complaints({"--gpus"}, "counts GPUs only, without nodes; leave out --nodes or --gpus");
  Result<Trace> trace = read_trace(typed.nodes, typed.jobs);
  if (trace) split_large_jobs(*trace);
  return trace;
}

Complaints unused_fleet_options(const TypedSimulateRun& typed) {
  Complaints complaints;
  for (const CLI::Option* option : typed.fleet_options) {
    if (!typed.generate.empty() || option->count() == 0) continue;
    complaints.add({option->get_name()}, "is about a generated fleet; write --generate N, or leave it out");
  }
  return complaints;
}

int run(const TypedSimulateRun& typed, const std::string& command) {
  Complaints complaints;
  const Result<PlacementPolicy> policy = parse_policy(typed.shared.policy);
  if (!policy) complaints.add_all(policy.error());
  const Result<LineOrder> order = parse_order(typed.order);
  if (!order) complaints.add_all(order.error());
  const Result<std::optional<std::int64_t>> limits = parse_limits(typed.limits);
  if (!limits) complaints.add_all(limits.error());
  const Result<std::vector<Seed>> seeds = parse_seeds(typed.shared.seeds, typed.shared.seeds_option);
  if (!seeds) complaints.add_all(seeds.error());
  if (seeds && seeds->size() != 1) {
    complaints.add({typed.shared.seeds_option}, "a run has one seed; write " + typed.shared.seeds_option + " 42");
  }
  const Result<Trace> trace = trace_for(typed, seeds ? seeds->front() : Seed{});
  if (!trace) complaints.add_all(trace.error());
  complaints.add_all(unused_fleet_options(typed));
  complaints.add_all(journal_over_an_input(typed.shared.journal, {typed.jobs, typed.nodes}));
  if (!complaints.empty()) return complain(complaints);

  RunOptions options{.policy = *policy, .order = *order, .seed = seeds->front()};
  options.limits_up_to_milli = *limits;
  const std::string source = typed.jobs.empty() ? "the generated fleet" : typed.jobs;
  // What is wrong with the trace as a whole is said before an older journal is lost.
  if (const auto door = Door::open(*trace, {options.seed, options.policy, options.order}, source); !door) {
    return complain(door.error());
  }
  std::unique_ptr<JournalFile> journal;
  Session::Recorder recorder;
  if (!typed.shared.journal.empty()) {
    Result<JournalFile> created = JournalFile::create(typed.shared.journal);
    if (!created) return complain(created.error());
    journal = std::make_unique<JournalFile>(std::move(*created));
    journal->begin_section(0, 1);
    recorder = [&](const Bytes& payload) { journal->append(payload); };
  }
  const Result<ClusterRun> done = [&] {
    Progress progress("running");
    return run_cluster(*trace, options, source, recorder,
                       [&](std::int64_t at, std::int64_t of) { progress.show(at, of); });
  }();
  if (!done) return complain(done.error());
  if (journal) {
    if (const Result<std::uint64_t> bytes = journal->close(); !bytes) return complain(bytes.error());
  }
  std::string report;
  if (!typed.shared.report.empty()) {
    const std::string title =
        typed.jobs.empty() ? fmt::format("A generated fleet of {} nodes", typed.generate) : typed.jobs;
    const Result<std::string> written = write_run_report(typed.shared.report, *done, *trace, options, title, command);
    if (!written) return complain(written.error());
    report = "report: " + *written + "\n";
  }
  fmt::print("{}", typed.shared.output == "json" ? run_as_json(*done, options) : run_as_table(*done, options));
  fmt::print(stderr, "{}", report);
  return kExitDone;
}

std::string command_of(const TypedSimulateRun& typed) {
  const FleetOptions usual;
  const auto unless = [](auto usually, auto value) { return value == usually ? "" : std::to_string(value); };
  return shell_command("berth simulate run", {{"--generate", typed.generate},
                                              {"--jobs", typed.jobs},
                                              {"--nodes", typed.nodes},
                                              {"--gpus", typed.gpus},
                                              {"--days", unless(usual.days, typed.fleet.days)},
                                              {"--load", unless(usual.load_percent, typed.fleet.load_percent)},
                                              {"--jobs-per-day", unless(usual.jobs_per_day, typed.fleet.jobs_per_day)},
                                              {"--order", typed.order},
                                              {"--limits", typed.limits},
                                              {"--policy", typed.shared.policy},
                                              {"--seed", typed.shared.seeds}});
}

}  // namespace

void add_simulate_run(CLI::App& simulate, int& exit_code) {
  CLI::App& app = *simulate.add_subcommand("run", "Run jobs in virtual time: arrivals, run times, departures");
  const auto typed = std::make_shared<TypedSimulateRun>();
  app.add_option("--jobs,--pods", typed->jobs, "Jobs: Philly, openb, SWF, or Berth's CSV or JSON")->check(not_empty());
  app.add_option("--nodes", typed->nodes, "The nodes they run on: openb, Philly, or Berth's CSV or JSON")
      ->check(not_empty());
  app.add_option("--gpus", typed->gpus, "Instead of nodes: so many GPUs in one pool, and nothing else counts")
      ->check(not_empty());
  app.add_option("--generate", typed->generate,
                 "Instead of files: a fleet of so many nodes with its jobs, made from the seed")
      ->check(not_empty());
  typed->fleet_options = add_fleet_options(app, typed->fleet);
  app.add_option(
         "--order", typed->order,
         "fifo (strict), easy (fifo with backfill: nobody passes the head who may still run when it is foretold to "
         "start), easy-limits (the same by limits alone), conservative (backfill that promises to all), fifo-skip "
         "(whoever fits) or sjf (shortest run first)")
      ->capture_default_str();
  app.add_option("--limits", typed->limits,
                 "Gives each job a limit: its run time times a number between 1 and this one, drawn from the seed")
      ->check(not_empty());
  add_simulation_options(app, typed->shared, "--seed", "--seeds", "Settles ties, and makes the generated fleet");
  app.footer(
      "Examples:\n"
      "  berth simulate run --generate 1000 --seed 7 --report out\n"
      "  berth simulate run --jobs jobs.csv --gpus 640 --order sjf -o json\n"
      "  berth simulate run --jobs jobs.csv --nodes nodes.csv --journal run.journal\n"
      "\n"
      "A job that asks more GPUs than the largest node has becomes a gang of equal pods, which start together.");
  app.callback([typed, &exit_code] { exit_code = run(*typed, command_of(*typed)); });
}

}  // namespace berth
