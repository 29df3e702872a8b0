// `berth whatif`: what would become of a recorded cluster if some things were otherwise.
#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/recording.h"
#include "cli/shared_options.h"
#include "cli/text_table.h"
#include "cycle/explain.h"
#include "model/quantity.h"
#include "sim/files.h"
#include "sim/what_if.h"

namespace berth {
namespace {

constexpr std::size_t kRowsMax = 40;

struct Typed {
  std::string path;
  std::string until;
  std::vector<std::string> changes;
  std::string file;
  bool all = false;
};

Result<std::string> changes_of(const Typed& typed) {
  std::string text;
  for (const std::string& change : typed.changes) text += change + "\n";
  if (!typed.file.empty()) {
    const Result<std::string> file = read_file(typed.file);
    if (!file) return file.error();
    text += *file;
  }
  if (text.empty())
    return Complaints({"--change"},
                      "say what would be otherwise: --change \"add nodes m 2 gpus=8\", or --changes FILE");
  return text;
}

std::string start_in_words(const std::optional<Time>& start, Time now) {
  if (!start) return "not in 30 days";
  return *start == now ? "at once" : "in " + format_duration_ms((*start - now).ms / 60'000 * 60'000);
}

// Those for whom it makes a difference first, in the order of their numbers.
std::string table_of_starts(const Recorded& recorded, const WhatIf& what_if, bool all) {
  const State& state = recorded.engine.state;
  TextTable table{.header = {"workload", "queue", "starts as it is", "and then"}, .rows = {}};
  std::size_t same = 0;
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < what_if.before.waiting.size(); ++i) {
    const auto& before = what_if.before.waiting[i];
    const auto& after = what_if.after.waiting[i];
    if (before.starts == after.starts && !all) {
      ++same;
      continue;
    }
    if (table.rows.size() == kRowsMax && !all) {
      ++left_out;
      continue;
    }
    const QueueId queue = state.workload(before.workload).queue;
    table.rows.push_back({recorded.workloads[before.workload.index()], state.queues()[queue.index()].name,
                          start_in_words(before.starts, recorded.now), start_in_words(after.starts, recorded.now)});
  }
  std::string text = table.rows.empty() ? "" : table.to_text();
  if (left_out > 0) text += fmt::format("{} more start at another time; --all shows them\n", left_out);
  if (same > 0) text += fmt::format("{} who wait start when they would have\n", same);
  return text;
}

std::string table_of_sums(const WhatIf& what_if, Time now) {
  TextTable table{.header = {"", "as it is", "and then"}, .rows = {}};
  const auto add = [&](const char* what, auto value_of) {
    table.rows.push_back({what, value_of(what_if.before), value_of(what_if.after)});
  };
  add("start at once", [](const Outlook& each) { return with_separators(each.starts_at_once); });
  add("mean wait from now", [&](const Outlook& each) {
    std::int64_t sum = 0;
    std::int64_t started = 0;
    for (const Outlook::One& one : each.waiting) {
      if (!one.starts) continue;
      sum += (*one.starts - now).ms;
      ++started;
    }
    return started == 0 ? std::string("-") : format_duration_ms(sum / started / 60'000 * 60'000);
  });
  add("not in 30 days", [](const Outlook& each) {
    return with_separators(std::ranges::count_if(each.waiting, [](const auto& one) { return !one.starts; }));
  });
  add("evictions", [](const Outlook& each) { return with_separators(each.evictions); });
  add("lost by them, GPU-hours", [](const Outlook& each) { return with_separators(each.lost_gpu_s / 3600); });
  return table.to_text();
}

int run(const Typed& typed) {
  Complaints complaints;
  const Result<std::string> text = changes_of(typed);
  if (!text) complaints.add_all(text.error());
  Result<Recorded> recorded = read_recording(typed.path, typed.until);
  if (!recorded) complaints.add_all(recorded.error());
  if (!complaints.empty()) return complain(complaints);
  const Result<std::vector<Event>> changes =
      read_changes(typed.file.empty() ? "--change" : typed.file, *text, *recorded, recorded->workloads);
  if (!changes) return complain(changes.error());
  const WhatIf done = what_if(*recorded, *changes, {});
  fmt::print("{}: {} run, {} wait\n\n{}\n{}", moment_in_words(recorded->now), recorded->engine.state.running(),
             recorded->engine.state.pending(), table_of_sums(done, recorded->now),
             table_of_starts(*recorded, done, typed.all));
  return kExitDone;
}

}  // namespace

void add_what_if(CLI::App& berth, int& exit_code) {
  CLI::App& app =
      *berth.add_subcommand("whatif", "Say what would become of a recorded cluster if some things were otherwise");
  const auto typed = std::make_shared<Typed>();
  app.add_option("FILE", typed->path, "A journal written with --journal, or a folder of them: the newest")->required();
  app.add_option("--until", typed->until, "As it was then: 2h30m after the beginning, or 2026-11-21T08:00:00Z")
      ->check(not_empty());
  app.add_option("--change", typed->changes, "In words of the scenario language; several are made in this order");
  app.add_option("--changes", typed->file, "A file of them, one a line")->check(not_empty());
  app.add_flag("--all", typed->all, "Show all who wait, also those for whom it makes no difference");
  app.footer(
      "Examples:\n"
      "  berth whatif run.journal --until 6h --change \"add nodes m 2 gpus=8 cpu=128 memory=1Ti\"\n"
      "  berth whatif berth-data/journal --change \"set queue research limit=64\" --change \"drain node n3\"\n"
      "\n"
      "Changes: add nodes, drain, fail and restore node, set queue and workload, hold and release queue, submit, "
      "cancel, end\n"
      "(docs/scenarios.md). Run times are drawn from those of work that ended before, the same ones both times; nobody "
      "else\n"
      "comes. Nothing is changed but a copy.");
  app.callback([typed, &exit_code] { exit_code = run(*typed); });
}

}  // namespace berth
