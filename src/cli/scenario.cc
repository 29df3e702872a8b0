#include <fmt/core.h>

#include <memory>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "sim/files.h"
#include "sim/scenario_run.h"

namespace berth {
namespace {

int run_scenarios(const std::vector<std::string>& files) {
  Complaints failures;
  Complaints refusals;
  std::size_t held = 0;
  std::string lines;
  for (const std::string& file : files) {
    const Result<std::string> text = read_file(file);
    if (!text) {
      refusals.add_all(text.error());
      continue;
    }
    const ScenarioOutcome outcome = run_scenario(file, *text);
    (outcome.refused ? refusals : failures).add_all(outcome.failures);
    if (outcome.failures.empty() && outcome.expectations == 0) {
      refusals.add({file}, "nothing is expected; write at least one expect");
      continue;
    }
    if (!outcome.failures.empty()) continue;
    ++held;
    lines += fmt::format("ok  {}  ({} expectations)\n", file, outcome.expectations);
  }
  if (!failures.empty()) complain(failures);
  if (!refusals.empty()) return complain(refusals);
  fmt::print("{}{} of {} scenarios hold\n", lines, held, files.size());
  return failures.empty() ? kExitDone : kExitFailed;
}

}  // namespace

void add_scenario(CLI::App& berth, int& exit_code) {
  CLI::App& app =
      *berth.add_subcommand("scenario", "Check written-down behaviour: what is submitted, and what must come of it");
  const auto files = std::make_shared<std::vector<std::string>>();
  app.add_option("FILE", *files, "Scenario files (docs/scenarios.md has the grammar)")->required();
  app.footer(
      "Example:\n"
      "  berth scenario scenarios/*.txt\n"
      "\n"
      "Exit code 0 when all hold; 1 and file:line, expected beside found, when one does not; 2 when one cannot be "
      "read.");
  app.callback([files, &exit_code] { exit_code = run_scenarios(*files); });
}

}  // namespace berth
