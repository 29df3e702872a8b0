#include <fmt/core.h>

#include <memory>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/recording.h"
#include "cli/run_reports.h"
#include "cli/shared_options.h"
#include "cli/text_table.h"
#include "cycle/changes.h"
#include "cycle/explain.h"
#include "cycle/network_text.h"
#include "sim/replay.h"

namespace berth {
namespace {

struct TypedReplay {
  std::string path;
  std::string until;
  std::string explain;
};

int replay_all(const std::string& path) {
  const Result<JournalBytes> journal = read_journal(path);
  if (!journal) return complain(journal.error());
  const Result<Replay> done = replay_journal(path, journal->bytes, journal->end);
  if (!done) {
    complain(done.error());
    return kExitFailed;
  }
  const auto count = [](std::uint64_t value) { return with_separators(static_cast<std::int64_t>(value)); };
  fmt::print("{}: reproduced byte for byte\n", path);
  fmt::print("{} bytes, {} records, {} {}, {} cycles, {} starts\n", count(done->bytes), count(done->records),
             count(done->runs), done->runs == 1 ? "run" : "runs", count(done->cycles), count(done->starts));
  fmt::print("state hash {}\n", hex(done->state_hash));
  return kExitDone;
}

std::string how_it_is(const Recorded& recorded, WorkloadId id) {
  const Workload* const workload = recorded.engine.state.workloads().find(id);
  if (workload == nullptr) return "has ended";
  switch (workload->phase) {
    case Phase::kPending:
      return "waits";
    case Phase::kStarting:
      return "has room, and waits until others have left it";
    case Phase::kRunning:
      return "runs since " + moment_in_words(workload->started);
    case Phase::kStopping:
      return "was told to stop (" + std::string(name_of(workload->evicted_by)) + ")";
    case Phase::kMigrating:
      return "moves";
    case Phase::kEnded:
    case Phase::kCancelled:
      break;
  }
  return "has ended";
}

std::string explained(const Recorded& recorded, WorkloadId id) {
  const State& state = recorded.engine.state;
  std::string text = recorded.workloads[id.index()] + " " + how_it_is(recorded, id) + "\n";
  const Workload* const workload = state.workloads().find(id);
  if (workload == nullptr) return text;
  if (workload->phase == Phase::kRunning) {
    const std::string network = network_text(state, id);
    return network.empty() ? text : text + network + "\n";
  }
  if (workload->phase != Phase::kPending) return text;
  Explanation why = explain(state, id);
  std::vector<std::string> names;
  const std::vector<Dependency> awaited = awaited_by(state, id);
  for (const Dependency& each : awaited) names.push_back(recorded.workloads[each.on.index()]);
  if (!awaited.empty()) why.text = awaited_text(awaited, names);
  text += std::string(name_of(why.code)) + ": " + why.text + "\n";
  const std::vector<SmallestChange> changes = smallest_changes(state, id, recorded.now);
  text += changes.empty() ? "no small change starts it now\n" : "it would start at once\n";
  for (const SmallestChange& change : changes) {
    const bool of_another = change.kind == ChangeKind::kEnd;
    text += "  " + (of_another ? "if " + recorded.workloads[change.other.index()] + " ended" : change.text) + "\n";
  }
  return text;
}

// The first of those who wait, as they came.
std::string table_of_waiting(const Recorded& recorded) {
  constexpr std::size_t kRowsMax = 20;
  const State& state = recorded.engine.state;
  TextTable table{.header = {"waits", "queue", "reason"}, .rows = {}};
  std::int64_t more = 0;
  state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
    if (workload.phase != Phase::kPending || !workload.step_of.is_none()) return;
    if (table.rows.size() == kRowsMax) {
      ++more;
      return;
    }
    table.rows.push_back({recorded.workloads[id.index()], state.queues()[workload.queue.index()].name,
                          std::string(name_of(reason_of(state, id)))});
  });
  if (table.rows.empty()) return "";
  return "\n" + table.to_text() + (more > 0 ? "and " + with_separators(more) + " more\n" : "");
}

int look(const TypedReplay& typed) {
  if (const auto until = parse_moment("--until", typed.until); !until) return complain(until.error());
  const Result<Recorded> recorded = read_recording(typed.path, typed.until);
  if (!recorded) {
    complain(recorded.error());
    return kExitFailed;
  }
  const State& state = recorded->engine.state;
  std::string text =
      fmt::format("{} after {} records, each decision made again: {} run, {} wait, state hash {}\n",
                  moment_in_words(recorded->now), with_separators(static_cast<std::int64_t>(recorded->records)),
                  state.running(), state.pending(), hex(state.hash()));
  if (!typed.explain.empty()) {
    const Result<WorkloadId> id = find_recorded(*recorded, typed.explain);
    if (!id) return complain(id.error());
    text += "\n" + explained(*recorded, *id);
  }
  if (typed.explain.empty()) text += table_of_waiting(*recorded);
  fmt::print("{}", text);
  return kExitDone;
}

}  // namespace

void add_replay(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("replay", "Make every decision of a journal again and compare, byte for byte");
  const auto typed = std::make_shared<TypedReplay>();
  app.add_option("FILE", typed->path,
                 "A journal written with --journal, or a snapshot; with the options below also a folder of journals")
      ->required();
  app.add_option("--until", typed->until, "Stop there: 2h30m after the beginning, or 2026-11-21T08:00:00Z")
      ->check(not_empty());
  app.add_option("--explain", typed->explain,
                 "Say of this workload how it was then, why, and what would have started it")
      ->check(not_empty());
  app.footer(
      "Examples:\n"
      "  berth simulate run --generate 100 --journal run.journal && berth replay run.journal\n"
      "  berth replay run.journal --until 2h30m --explain job-17\n"
      "\n"
      "Exit code 1, and the record's number and place, if a byte was changed or a decision comes out otherwise.");
  app.callback([typed, &exit_code] {
    const bool all = typed->until.empty() && typed->explain.empty();
    exit_code = all ? replay_all(typed->path) : look(*typed);
  });
}

}  // namespace berth
