#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/recording.h"
#include "cli/run_reports.h"
#include "cli/shared_options.h"
#include "cli/text_table.h"
#include "cycle/changes.h"
#include "cycle/explain.h"
#include "cycle/kept_aside_text.h"
#include "cycle/network_text.h"
#include "sim/replay.h"

namespace berth {
namespace {

struct TypedReplay {
  std::string path;
  std::string until;
  std::string explain;
};

int replay_all(const std::string& typed) {
  const Result<std::string> path = newest_journal(typed);
  if (!path) return complain(path.error());
  const Result<JournalBytes> journal = read_journal(*path);
  if (!journal) return complain(journal.error());
  // In a folder of a scheduler that runs, or was killed, the newest has no end.
  const bool is_of_folder = *path != typed;
  const Result<Replay> done =
      replay_journal(*path, journal->bytes, is_of_folder ? JournalEnd::kAfterAnyRecord : journal->end);
  if (!done) {
    complain(done.error());
    return kExitFailed;
  }
  const auto count = [](std::uint64_t value) { return with_separators(static_cast<std::int64_t>(value)); };
  fmt::print("{}: reproduced byte for byte\n", *path);
  fmt::print("{} bytes, {} records, {} {}, {} cycles, {} starts\n", count(done->bytes), count(done->records),
             count(done->runs), done->runs == 1 ? "run" : "runs", count(done->cycles), count(done->starts));
  fmt::print("state hash {}\n", hex(done->state_hash));
  return kExitDone;
}

std::string name_in(const Recorded& recorded, WorkloadId id) { return recorded.workloads[id.index()]; }

std::string end_in_words(const Recorded& recorded, WorkloadId id) {
  using End = RecordedPast::End;
  const Workload* const workload = recorded.engine.state.workloads().find(id);
  if (workload != nullptr && workload->failure != Failure::kNone) return "has failed: " + failure_text(*workload);
  const auto past = recorded.pasts.find(id);
  if (past == recorded.pasts.end() || past->second.end == End::kNone) return "has ended";
  const End end = past->second.end;
  const std::string how = end == End::kOverran     ? "was ended by its run limit"
                          : end == End::kCancelled ? "was cancelled"
                                                   : "has ended";
  return how + " at " + moment_in_words(past->second.ended);
}

std::string how_it_is(const Recorded& recorded, WorkloadId id) {
  const Workload* const workload = recorded.engine.state.workloads().find(id);
  if (workload == nullptr) return end_in_words(recorded, id);
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
  return end_in_words(recorded, id);
}

// "on n1 (8 pods), n2", the first nodes.
std::string places_in_words(const State& state, WorkloadId id) {
  constexpr std::size_t kNodesMax = 10;
  std::map<NodeId, std::int64_t> pods;
  for_each_leaving_pod(state, id, [&](const Pod& pod) { ++pods[pod.node]; });
  std::string text;
  std::size_t told = 0;
  for (const auto& [node, count] : pods) {
    if (told++ == kNodesMax) break;
    text += (text.empty() ? "on " : ", ") + state.node(node).name;
    if (count > 1) text += " (" + with_separators(count) + " pods)";
  }
  if (pods.size() > kNodesMax)
    text += " and " + with_separators(static_cast<std::int64_t>(pods.size() - kNodesMax)) + " more";
  return text;
}

// Against whom it has its room.
std::string coverage_in_words(const State& state, WorkloadId id) {
  const Workload& workload = state.workload(id);
  if (workload.best_effort) return "best effort: nothing protects it";
  if (!state.quotas().tree().has_floors())
    return "no queue is promised anything: priorities and shares alone may take its room";
  const QueueId covered_at = state.quotas().unit(workload.unit).covered_at;
  if (covered_at.is_none()) return "borrowed: owners whose floor it is in may take it back";
  const std::string whom =
      covered_at == workload.queue ? "its queue" : "queue " + state.queues()[covered_at.index()].name;
  return "guaranteed against everyone outside " + whom;
}

std::string last_eviction_in_words(const Recorded& recorded, WorkloadId id) {
  const auto past = recorded.pasts.find(id);
  if (past == recorded.pasts.end() || !past->second.eviction) return "";
  const Eviction& eviction = *past->second.eviction;
  std::string text =
      "evicted at " + moment_in_words(past->second.evicted) + " by " + std::string(name_of(eviction.rule));
  if (!eviction.claimant.is_none()) text += " for " + name_in(recorded, eviction.claimant);
  return text + ", lost " + with_separators(eviction.lost_gpu_s) + " GPU-seconds\n";
}

std::string explained(const Recorded& recorded, WorkloadId id) {
  const State& state = recorded.engine.state;
  const Workload* const workload = state.workloads().find(id);
  std::string text = name_in(recorded, id) + " " + how_it_is(recorded, id);
  const bool is_here = workload != nullptr && is_there(workload->phase);
  if (is_here) text += ", " + places_in_words(state, id);
  text += "\n" + last_eviction_in_words(recorded, id);
  if (workload == nullptr) return text;
  if (workload->phase == Phase::kRunning) {
    text += coverage_in_words(state, id) + "\n";
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
    text += "  " + (of_another ? change.text_naming(recorded.workloads[change.other.index()]) : change.text) + "\n";
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
  app.add_option(
         "FILE", typed->path,
         "A journal written with --journal, a snapshot, or a folder of journals: the newest, or that of --until")
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
