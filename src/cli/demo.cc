#include <fmt/core.h>

#include <memory>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/progress.h"
#include "cli/run_reports.h"
#include "cli/shared_options.h"
#include "cli/shell.h"
#include "cycle/explain.h"
#include "sim/generate.h"

namespace berth {
namespace {

// A little more than fits: queues form, and it shows who waits.
constexpr int kDemoLoadPercent = 110;

struct Typed {
  std::int64_t nodes = 1000;
  std::int64_t seed = 7;
  std::string report;
};

int demo(const Typed& typed) {
  const Seed seed{static_cast<std::uint64_t>(typed.seed)};
  const Trace trace = generate_fleet({.nodes = typed.nodes, .seed = seed, .load_pct = kDemoLoadPercent});
  std::int64_t gpus = 0;
  for (const TraceNode& node : trace.nodes) gpus += node.gpus;
  std::string text = fmt::format("One day of a made-up fleet: {} nodes, {} GPUs, {} jobs of many teams (seed {}).\n\n",
                                 with_separators(typed.nodes), with_separators(gpus),
                                 with_separators(static_cast<std::int64_t>(trace.jobs.size())), typed.seed);
  const RunOptions options{.policy = PlacementPolicy::kFgd, .order = Order::kFifoSkip, .seed = seed};
  const Result<ClusterRun> run = [&] {
    Progress progress("running the day");
    return run_cluster(trace, options, "the generated fleet", nullptr,
                       [&](std::int64_t at, std::int64_t of) { progress.show(at, of); });
  }();
  if (!run) return complain(run.error());
  text += run_as_table(*run, options);
  if (!typed.report.empty()) {
    const std::string command =
        shell_command("berth demo", {{"--nodes", std::to_string(typed.nodes)}, {"--seed", std::to_string(typed.seed)}});
    const std::string title = fmt::format("A fleet-day on {} nodes", with_separators(typed.nodes));
    const Result<std::string> written = write_run_report(typed.report, *run, trace, options, title, command);
    if (!written) return complain(written.error());
    text += fmt::format("\nPlots: {}\n", *written);
  }
  fmt::print("{}", text);
  return kExitDone;
}

}  // namespace

void add_demo(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("demo", "Run a day of a made-up fleet and show what came of it");
  const auto typed = std::make_shared<Typed>();
  app.add_option("--nodes", typed->nodes, "Nodes of the fleet")->capture_default_str()->check(CLI::Range(10, 125'000));
  app.add_option("--seed", typed->seed, "The same seed makes the same day")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--report", typed->report, "Write a page with plots into this folder")->check(not_empty());
  app.footer("Example:\n  berth demo --report out");
  app.callback([typed, &exit_code] { exit_code = demo(*typed); });
}

}  // namespace berth
