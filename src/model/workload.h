// What is admitted as one: its pods start together or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/failure_policy.h"
#include "model/ids.h"
#include "model/neighbours.h"
#include "model/node_constraints.h"
#include "model/request.h"
#include "model/topology.h"

namespace berth {

// Identical pods of a workload.
struct PodSet {
  PodRequest request;
  std::int64_t count = 1;
  NodeConstraints constraints = {};  // on where each of its pods may be
  Topology topology = {};            // on how close together they are
  Neighbours neighbours = {};        // on who else is there
  Parallelism parallel =
      {};  // of its whole GPUs, all of them; then it has no slices, spreads nothing and asks no neighbours
  // In the domains of this level in which they are nobody else's pods have GPUs; empty: they do not mind. Then they have GPUs.
  std::string exclusive_level = {};
  // Nor have those of other parts of the workload; empty: of those that name none. Only beside a level.
  std::string exclusive_part = {};

  friend bool operator==(const PodSet&, const PodSet&) = default;
};

// One way in which a workload may run: all its pod sets, each with the flavors it then uses.
using PodSets = std::vector<PodSet>;

// Nobody said how long it will run.
inline constexpr Duration kRunNotDeclared{-1};

// Most pods of one workload, in all its pod sets.
inline constexpr std::int64_t kPodsPerWorkloadMax = 1'000'000;

inline constexpr std::int32_t kPriorityMax = 1'000'000'000;

// What becomes of a workload that has waited for as long as it was to.
enum class AfterWait : std::uint8_t {
  kCancel,
  kBestEffort,  // it may start as best effort from then on
  kRaise,  // it goes ahead of others of its line, as if its priority were higher; it takes from nobody by that (rule 12)
};
inline constexpr std::string_view kAfterWaitNames[] = {"cancel", "best-effort", "raise"};

// How long a workload waits at most, from when it was submitted until it first begins. INVARIANT: length > 0; 1 <= raise <=
// kPriorityMax, where that is what is to be done, else 0.
struct MaxWait {
  Duration length;
  AfterWait then = AfterWait::kCancel;
  std::int32_t raise = 0;

  friend bool operator==(const MaxWait&, const MaxWait&) = default;
};

// On what terms it runs. INVARIANT: |priority| <= kPriorityMax; grace >= 0; 0 <= disruption_permille <= 1000; a run
// limit is longer than nothing.
struct Terms {
  std::int32_t priority = 0;
  bool preempts = true;                  // may take from lower priorities (Kubernetes' preemptionPolicy)
  bool guaranteed_only = false;          // rather waits than borrows (rule 8)
  bool best_effort = false;              // neither counts nor protects
  bool latency_critical = false;         // shares no GPU but in slices, whomever it might trust
  bool movable = false;                  // consents to being stopped here and started elsewhere (rule 20)
  bool resizes_live = false;             // its other pods go on when some come or go (rule 18); else all restart
  bool replaces = false;                 // it stands in for pods that a gang has lost: spares are for it, too (rule 23)
  Duration grace{0};                     // between the signal and the end
  std::int32_t disruption_permille = 0;  // of its pods that may not be taken at a time: its disruption budget
  std::optional<Duration> run_limit{};   // an attempt is ended so long after its start, wherever it is
  std::optional<std::uint32_t> hours{};  // it runs only while this window of the calendar is open

  friend bool operator==(const Terms&, const Terms&) = default;
};

// What a workload asks, apart from who asks and when. INVARIANT: at least one way, the preferred first; every way has
// the same pod sets but for their flavors and whether a GPU or a replica of one will do, and at least one pod; replicas are for
// best effort that is not critical.
struct WorkloadShape {
  std::vector<PodSets> ways;
  Terms terms = {};

  friend bool operator==(const WorkloadShape&, const WorkloadShape&) = default;
};

// All its pods that ask CPUs or memory may have what nodes promise beyond what they have. PRE: it is best effort.
inline void offer_extra(WorkloadShape& shape) {
  for (PodSets& way : shape.ways) {
    for (PodSet& set : way) set.request.in_extra = set.request.cpu_milli > 0 || set.request.memory_bytes > 0;
  }
}

// Later than anything.
inline constexpr Time kForever{INT64_MAX};

// When an attempt that starts at this moment is ended.
constexpr Time enforced_end(const Terms& terms, Time started) {
  return terms.run_limit ? started + *terms.run_limit : kForever;
}

enum class Phase : std::uint8_t {
  kPending,
  kStarting,  // its room is its own, and whoever was there is still stopping
  kRunning,
  kStopping,   // evicted: told to stop, and not stopped yet; its room is no longer its own
  kMigrating,  // told to stop, and not stopped yet; its room is elsewhere from now on
  kEnded,
  kCancelled,
};

// It holds room of its own.
constexpr bool has_room(Phase phase) {
  return phase == Phase::kStarting || phase == Phase::kRunning || phase == Phase::kMigrating;
}
// It is in the world: it runs, or is still stopping.
constexpr bool is_there(Phase phase) {
  return phase == Phase::kRunning || phase == Phase::kStopping || phase == Phase::kMigrating;
}

// Why the last attempt ended before its time.
enum class EvictionRule : std::uint8_t {
  kNone,
  kNode,        // it lost its node, or a member that nothing replaced in time (rule 23)
  kReclaim,     // the owner took back what it had lent (rule 13)
  kFairShare,   // a borrower further below its share took its room (rule 14)
  kPreempt,     // a higher priority of its queue did (rule 15); of best effort, anyone who counts
  kOverRun,     // it ran as long as its run limit allows
  kWindow,      // the calendar lowered the limit of a queue below what it held (rule 7)
  kBudget,      // a budget was gone while it ran (rule 26)
  kTrust,       // it was on a device with others, and they do not trust each other any more (rule 29)
  kDefragment,  // it consents to that, and was moved so that another fits (rule 20)
  kLoan,        // it was let ahead of another on loan, and that one's start is due (rule 25)
  kRestart,     // a member failed, and all of it is to start again (rule 23)
  kNeverReady,  // its pods were not all ready in time (rule 23)
};
inline constexpr std::string_view kEvictionRuleNames[] = {
    "none",   "node",  "reclaim",    "fair-share", "preempt", "over-run",   "window",
    "budget", "trust", "defragment", "loan",       "restart", "never-ready"};
constexpr std::string_view name_of(EvictionRule rule) { return kEvictionRuleNames[static_cast<std::size_t>(rule)]; }

// What is believed to be lost of work that never reported a checkpoint, so that never saying anything does not pay.
inline constexpr Duration kUnreportedWorkMax{4 * 3'600'000};

// Who was moved is not moved again before that.
inline constexpr Duration kMoveCooldown{3'600'000};

// Who was made smaller, or restarted to be larger, does not grow before that.
inline constexpr Duration kResizeCooldown{600'000};

// A node that fails so soon after a workload began there, or went on, may have failed of it. After so many in a row, one for each
// beginning, it backs off: it waits so long, and with each further one twice as long, but never longer than the last (rule 23).
inline constexpr Duration kNodeLostSoon{3'600'000};
inline constexpr int kNodesLostMax = 3;
inline constexpr Duration kBackOffFirst{600'000};
inline constexpr Duration kBackOffMax{24 * 3'600'000};

// Twice as long with each further time, and never longer than the last.
constexpr Duration back_off_after(Duration first, int times) {
  Duration wait = first;
  for (; times > 1 && wait < kBackOffMax; --times) wait = wait + wait;
  return wait < kBackOffMax ? wait : kBackOffMax;
}

// What was tried before in a workload's place: it was stopped for one cause so many times in a row. INVARIANT: kNode or kNeverReady;
// times > 0.
struct BackOff {
  Time until;
  EvictionRule why = EvictionRule::kNode;
  std::uint8_t times = 0;

  friend bool operator==(const BackOff&, const BackOff&) = default;
};

// A workload as the state holds it. INVARIANT: it has pods exactly while it has room or is stopping, and a unit exactly
// while it has room; pods that leave exactly while it migrates. While it is repaired (state/repairing.h) it runs, and lacks some.
struct Workload {
  ShapeId shape;
  QueueId queue;
  UserId user;
  Time submitted;
  Duration declared_run = kRunNotDeclared;
  std::int64_t rank = 0;  // as it was submitted with
  Time started;           // of the current or the last attempt
  Time checkpoint;        // the last that it reported in this attempt; before `started` if it reported none
  Time resumed;  // when it went on from its last checkpoint in this attempt; before `started` if it never had to
  Time stop_by;  // while it is stopping, or migrating
  WorkloadId evicted_for;                // whose claim ended the last attempt
  std::uint64_t lost_to_a_share_in = 0;  // the stretch (state.h) in which rule 14 last took its room
  std::optional<Time> gave_back;         // when an owner or another borrower last took its room (rules 13, 14)
  std::optional<Time> moved;             // when it was last moved (rule 20)
  std::optional<Time> lent_until;  // in this attempt it was let ahead of others on loan: then their starts are due
  // Half of its kind that ran as long had ended by then, where some queue looks ahead so; none: not known. Past: not looked at since.
  std::optional<Time> foretold_end;
  Duration extended{0};             // beyond its run limit, in this attempt
  std::int32_t extensions = 0;      // how often that was
  std::optional<Time> resized;      // when this attempt was last made smaller, or restarted to be larger (rule 18)
  WorkloadId step_of;               // as it was submitted with
  SeriesId series;                  // the same
  std::optional<MaxWait> max_wait;  // the same, until it begins, or that is over
  std::int32_t raised = 0;          // so much higher counts its priority in its line, for it waited too long
  Time not_before;                  // as it was submitted with, or when it has backed off for long enough
  Time backs_off_until;             // the second alone
  std::optional<Time> ready_by;     // all its pods are to be ready then, and are not yet
  PodId first_pod;
  PodId first_leaving;  // while it migrates: where it still is
  UnitId unit;
  std::int64_t gpu_milli = 0;  // that those of its pods hold, or held, that have not ended in this attempt
  std::uint32_t attempts = 0;
  std::uint8_t nodes_lost = 0;  // soon, in a row
  std::uint8_t failures = 0;    // soon, in a row, for which it backs off (model/failure_policy.h)
  std::int32_t retries = 0;     // that were made, of its policy's
  Failure failure = Failure::kNone;
  std::int32_t exit_code = 0;     // of the member that failed last; 0: nobody knows
  bool lost_node = false;         // since it began, or last went on
  std::int64_t ended_gpu_us = 0;  // GPU time that they had used by then
  bool best_effort = false;       // this attempt counts for nothing
  bool only_borrows = false;      // this attempt is in no floor, whatever comes free of one (cycle/deliverable.h)
  Phase phase = Phase::kPending;
  EvictionRule evicted_by = EvictionRule::kNone;
  bool shut_out = false;     // it came to a closed queue, and waits until that is released
  bool too_early = false;    // it waits for the moment before which it is not to start
  bool follows = false;      // it waits for others to end (state/followers.h)
  bool awaits_turn = false;  // as many of its series as may have a turn
  bool goes_first = false;   // it waited for a repair in vain: ahead of its line's others of its priority

  bool backs_off() const { return too_early && backs_off_until == not_before && not_before > Time{}; }
};

}  // namespace berth
