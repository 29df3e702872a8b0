#include <fmt/core.h>

#include <memory>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/fill_runs.h"
#include "cli/inputs.h"
#include "cli/run_reports.h"
#include "sim/door.h"
#include "sim/journal_file.h"

namespace berth {
namespace {

struct Typed {
  std::string nodes;
  std::string pods;
  std::string policy = "fgd";
  std::string seeds = "42..51";
  std::string until = "1.3";
  std::string output = "table";
  std::string report;
  std::string journal;
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

int fill(const Typed& typed, const std::string& command) {
  Complaints complaints;
  const Result<PlacementPolicy> policy = parse_policy(typed.policy);
  if (!policy) complaints.add_all(policy.error());
  const Result<std::vector<Seed>> seeds = parse_seeds(typed.seeds);
  if (!seeds) complaints.add_all(seeds.error());
  const Result<std::int64_t> until = parse_until_percent(typed.until);
  if (!until) complaints.add_all(until.error());
  Result<Trace> trace = read_trace(typed.nodes, typed.pods);
  if (!trace) complaints.add_all(trace.error());
  if (!complaints.empty()) return complain(complaints);
  split_large_jobs(*trace);

  const FillOptions options{.policy = *policy, .until_percent = *until};
  const Result<FillRuns> done =
      run_fills(*trace, options, *seeds, typed.pods, !typed.journal.empty(), "filling with " + typed.policy);
  if (!done) return complain(done.error());
  if (!typed.journal.empty()) {
    if (const Complaints failure = write_journal(typed.journal, *done); !failure.empty()) return complain(failure);
  }
  std::string report;
  if (!typed.report.empty()) {
    const Result<std::string> written = write_fill_report(typed.report, done->runs, options, command);
    if (!written) return complain(written.error());
    report = "report: " + *written + "\n";
  }
  fmt::print("{}", typed.output == "json" ? fill_as_json(done->runs, options) : fill_as_table(done->runs, options));
  fmt::print(stderr, "{}", report);
  return kExitDone;
}

}  // namespace

void add_simulate_fill(CLI::App& simulate, int& exit_code) {
  CLI::App& app =
      *simulate.add_subcommand("fill", "Let pods arrive, none depart, until demand reaches X times capacity");
  const auto typed = std::make_shared<Typed>();
  app.add_option("--nodes", typed->nodes, "Nodes: openb, Philly, or Berth's CSV or JSON")->required();
  app.add_option("--pods,--jobs", typed->pods, "Pods or jobs: openb, Philly, SWF, or Berth's CSV or JSON")->required();
  app.add_option("--policy", typed->policy, "fgd, best-fit, gpu-packing, gpu-clustering, dot-product, random or spread")
      ->capture_default_str();
  app.add_option("--seeds,--seed", typed->seeds, "42, 42..51 or 1,5,9; one run each")->capture_default_str();
  app.add_option("--until", typed->until, "Demand to stop at, in multiples of the fleet's GPUs")->capture_default_str();
  app.add_option("--output,-o", typed->output, "table or json")
      ->capture_default_str()
      ->check(CLI::IsMember({"table", "json"}));
  app.add_option("--report", typed->report, "Write a page with plots into this folder");
  app.add_option("--journal", typed->journal, "Record every fact and decision in this file; `berth replay` checks it");
  app.footer(
      "Example:\n"
      "  berth simulate fill --nodes nodes.csv --pods pods.csv --policy fgd --seeds 42..51 --until 1.3 -o json\n"
      "\n"
      "Reports, at 100 % and at the end, the share of the GPUs that could be given out and the share that is free but\n"
      "of no use to the usual pods (Weng et al., USENIX ATC 2023), each as mean and standard deviation over the "
      "seeds.");
  app.callback([typed, &exit_code] {
    exit_code = fill(*typed, fmt::format("berth simulate fill --nodes {} --pods {} --policy {} --seeds {} --until {}",
                                         typed->nodes, typed->pods, typed->policy, typed->seeds, typed->until));
  });
}

}  // namespace berth
