#include <fmt/core.h>

#include <memory>
#include <string>

#include "base/wording.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/comparison_report.h"
#include "cli/inputs.h"
#include "cli/progress.h"
#include "cli/shared_options.h"
#include "cli/shell.h"
#include "model/quantity.h"
#include "sim/compare.h"
#include "sim/files.h"

namespace berth {
namespace {

constexpr const char* kByLoad = "by-load";

struct TypedSimulateCompare {
  std::string jobs;
  std::string gpus;
  std::string floors = kByLoad;
  std::string order = "fifo";
  std::string reclaim = std::string(kFairReclaimNames[0]);
  std::string patience = "0s";
  std::string cooldown = "0s";
  std::string checkpoint_every;
  std::string seed = "42";
  std::string output = "table";
  std::string report;
};

Result<CompareOptions> options_of(const TypedSimulateCompare& typed) {
  Complaints complaints;
  CompareOptions options;
  if (const auto order = parse_order(typed.order)) {
    options.order = *order;
  } else {
    complaints.add_all(order.error());
  }
  if (const auto reclaim = find_fair_reclaim(typed.reclaim)) {
    options.fair_reclaim = *reclaim;
  } else {
    complaints.add({"--reclaim"}, quote(typed.reclaim) + " is not known; write initial-share, final-share or never");
  }
  const auto take = [&](const char* option, const std::string& text, Duration& length) {
    const auto ms = parse_duration_ms(text);
    if (!ms) complaints.add({option}, ms.error());
    if (ms && *ms > kTimeMax.ms) complaints.add({option}, "is too long; write 10,000 years or less");
    if (ms) length = Duration{*ms};
  };
  take("--patience", typed.patience, options.patience);
  take("--cooldown", typed.cooldown, options.cooldown);
  if (!typed.checkpoint_every.empty()) {
    const auto every = parse_duration_ms(typed.checkpoint_every);
    if (!every) complaints.add({"--checkpoint-every"}, every.error());
    if (every && *every < 1000) complaints.add({"--checkpoint-every"}, "is too often; write one second or more");
    if (every) options.checkpoint_every = Duration{*every};
  }
  const Result<std::vector<Seed>> seeds = parse_seeds(typed.seed, "--seed");
  if (!seeds) complaints.add_all(seeds.error());
  if (seeds && seeds->size() != 1) complaints.add({"--seed"}, "a run has one seed; write --seed 42");
  if (seeds) options.seed = seeds->front();
  if (!complaints.empty()) return complaints;
  return options;
}

Result<std::vector<QueueFloor>> floors_for(const TypedSimulateCompare& typed, const Trace& trace) {
  const auto gpus = static_cast<std::int64_t>(trace.nodes.size());
  if (typed.floors == kByLoad) return floors_by_load(trace, gpus, typed.jobs);
  const Result<std::string> text = read_file(typed.floors);
  if (!text) return text.error();
  return read_floors(typed.floors, *text, trace, gpus);
}

std::string command_of(const TypedSimulateCompare& typed) {
  return shell_command("berth simulate compare", {{"--jobs", typed.jobs},
                                                  {"--gpus", typed.gpus},
                                                  {"--floors", typed.floors},
                                                  {"--order", typed.order},
                                                  {"--reclaim", typed.reclaim},
                                                  {"--patience", typed.patience},
                                                  {"--cooldown", typed.cooldown},
                                                  {"--checkpoint-every", typed.checkpoint_every},
                                                  {"--seed", typed.seed}});
}

int run(const TypedSimulateCompare& typed) {
  Complaints complaints;
  const Result<CompareOptions> options = options_of(typed);
  if (!options) complaints.add_all(options.error());
  Result<Trace> trace = read_trace_of_gpus(typed.jobs, typed.gpus, "say how many there are, such as 640");
  if (!trace) complaints.add_all(trace.error());
  if (!complaints.empty()) return complain(complaints);
  Result<std::vector<QueueFloor>> floors = floors_for(typed, *trace);
  if (!floors) return complain(floors.error());
  const Result<Comparison> done = [&] {
    Progress progress("running");
    return compare(std::move(*trace), std::move(*floors), *options, typed.jobs,
                   [&](std::int64_t at, std::int64_t of) { progress.show(at, of); });
  }();
  if (!done) return complain(done.error());
  std::string report;
  if (!typed.report.empty()) {
    const Result<std::string> written = write_comparison_report(
        typed.report, *done, *options, "Three ways to share " + typed.gpus + " GPUs", command_of(typed));
    if (!written) return complain(written.error());
    report = "report: " + *written + "\n";
  }
  fmt::print("{}", typed.output == "json"       ? comparison_as_json(*done, *options)
                   : typed.output == "markdown" ? comparison_as_markdown(*done, *options)
                                                : comparison_as_table(*done, *options));
  fmt::print(stderr, "{}", report);
  return kExitDone;
}

}  // namespace

void add_simulate_compare(CLI::App& simulate, int& exit_code) {
  CLI::App& app = *simulate.add_subcommand(
      "compare", "Share a pool of GPUs three ways: queues with floors, static partitions, one line");
  const auto typed = std::make_shared<TypedSimulateCompare>();
  app.add_option("--jobs", typed->jobs, "Jobs with queues: Philly, SWF, or Berth's CSV or JSON")
      ->required()
      ->check(not_empty());
  app.add_option("--gpus", typed->gpus, "So many GPUs in one pool; nothing else counts")->check(not_empty());
  app.add_option("--floors", typed->floors,
                 "by-load: what each queue's jobs ask for, in proportion, one GPU at least; or a file with the columns "
                 "queue,gpus")
      ->capture_default_str()
      ->check(not_empty());
  app.add_option("--order", typed->order, "Of each line: fifo (strict), fifo-skip (whoever fits) or sjf")
      ->capture_default_str();
  app.add_option("--reclaim", typed->reclaim, "Whom borrowers take from: initial-share, final-share or never")
      ->capture_default_str();
  app.add_option("--patience", typed->patience, "How long a job waits before it takes from others")
      ->capture_default_str();
  app.add_option("--cooldown", typed->cooldown,
                 "How long a job does not borrow after it had to give back what it had borrowed")
      ->capture_default_str();
  app.add_option("--checkpoint-every", typed->checkpoint_every,
                 "Every job reports one so often; without it none does, and an evicted job starts anew")
      ->check(not_empty());
  app.add_option("--seed", typed->seed, "Settles ties")->capture_default_str();
  app.add_option("--output,-o", typed->output, "table, markdown or json")
      ->capture_default_str()
      ->check(CLI::IsMember({"table", "markdown", "json"}));
  app.add_option("--report", typed->report, "Write a page with plots into this folder")->check(not_empty());
  app.footer(
      "Examples:\n"
      "  berth simulate compare --jobs jobs.csv --gpus 640 --report out\n"
      "  berth simulate compare --jobs jobs.csv --gpus 640 --floors teams.csv --checkpoint-every 1h\n"
      "\n"
      "A job that is larger than its queue's floor fits no partition; it is left out of all three and listed apart.");
  app.callback([typed, &exit_code] { exit_code = run(*typed); });
}

}  // namespace berth
