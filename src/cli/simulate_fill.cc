#include <fmt/core.h>

#include <memory>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/fill_runs.h"
#include "cli/inputs.h"
#include "cli/run_reports.h"
#include "cli/shared_options.h"
#include "cli/shell.h"
#include "sim/door.h"
#include "sim/journal_file.h"

namespace berth {
namespace {

struct TypedSimulateFill {
  std::string nodes;
  std::string pods;
  std::string until = "1.3";
  bool learns = false;
  SimulationOptions shared{.seeds = "42..51"};
};

Complaints write_journal(const std::string& path, const FillRuns& done) {
  Result<JournalFile> journal = JournalFile::create(path);
  if (!journal) return journal.error();
  for (std::size_t run = 0; run < done.records.size(); ++run) {
    journal->begin_section(static_cast<std::uint32_t>(run), static_cast<std::uint32_t>(done.records.size()));
    for (const Bytes& payload : done.records[run]) journal->append(payload);
  }
  const Result<std::uint64_t> bytes = journal->close();
  return bytes ? Complaints() : bytes.error();
}

int fill(const TypedSimulateFill& typed, const std::string& command) {
  Complaints complaints;
  const Result<PlacementPolicy> policy = parse_policy(typed.shared.policy);
  if (!policy) complaints.add_all(policy.error());
  const Result<std::vector<Seed>> seeds = parse_seeds(typed.shared.seeds, typed.shared.seeds_option);
  if (!seeds) complaints.add_all(seeds.error());
  const Result<std::int64_t> until = parse_until_percent(typed.until);
  if (!until) complaints.add_all(until.error());
  Result<Trace> trace = read_trace(typed.nodes, typed.pods);
  if (!trace) complaints.add_all(trace.error());
  complaints.add_all(journal_over_an_input(typed.shared.journal, {typed.nodes, typed.pods}));
  if (!complaints.empty()) return complain(complaints);
  split_large_jobs(*trace);

  const FillOptions options{.policy = *policy, .until_percent = *until, .learns = typed.learns};
  const Result<FillRuns> done = run_fills(*trace, options, *seeds, typed.pods, !typed.shared.journal.empty(),
                                          "filling with " + typed.shared.policy);
  if (!done) return complain(done.error());
  if (!typed.shared.journal.empty()) {
    if (const Complaints failure = write_journal(typed.shared.journal, *done); !failure.empty())
      return complain(failure);
  }
  std::string report;
  if (!typed.shared.report.empty()) {
    const Result<std::string> written = write_fill_report(typed.shared.report, done->runs, options, command);
    if (!written) return complain(written.error());
    report = "report: " + *written + "\n";
  }
  fmt::print("{}",
             typed.shared.output == "json" ? fill_as_json(done->runs, options) : fill_as_table(done->runs, options));
  fmt::print(stderr, "{}", report);
  return kExitDone;
}

}  // namespace

void add_simulate_fill(CLI::App& simulate, int& exit_code) {
  CLI::App& app =
      *simulate.add_subcommand("fill", "Let pods arrive, none depart, until demand reaches X times capacity");
  const auto typed = std::make_shared<TypedSimulateFill>();
  app.add_option("--nodes", typed->nodes, "Nodes: openb, Philly, or Berth's CSV or JSON")->required();
  app.add_option("--pods,--jobs", typed->pods, "Pods or jobs: openb, Philly, SWF, or Berth's CSV or JSON")->required();
  app.add_option("--until", typed->until, "Demand to stop at, in multiples of the fleet's GPUs")->capture_default_str();
  app.add_flag("--learn", typed->learns,
               "Typical pods are those that have arrived, as `berth scheduler` learns them, and not the whole trace's");
  add_simulation_options(app, typed->shared, "--seeds", "--seed", "42, 42..51 or 1,5,9; one run each");
  app.footer(
      "Example:\n"
      "  berth simulate fill --nodes nodes.csv --pods pods.csv --policy fgd --seeds 42..51 --until 1.3 -o json\n"
      "\n"
      "Reports, at 100 % and at the end, the share of the GPUs that could be given out and the share that is free but\n"
      "of no use to the usual pods (Weng et al., USENIX ATC 2023), each as mean and standard deviation over the "
      "seeds.");
  app.callback([typed, &exit_code] {
    const SimulationOptions& shared = typed->shared;
    exit_code = fill(*typed, shell_command("berth simulate fill", {{"--nodes", typed->nodes},
                                                                   {"--pods", typed->pods},
                                                                   {"--policy", shared.policy},
                                                                   {"--seeds", shared.seeds},
                                                                   {"--until", typed->until}}));
  });
}

}  // namespace berth
