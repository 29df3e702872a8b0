// A scenario is a text with one statement a line, in the language of docs/scenarios.md. Here it becomes statements that
// can be carried out: names are looked up, amounts are numbers, times are moments. All complaints come at once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "base/time.h"
#include "manifest/window_times.h"
#include "model/event.h"
#include "sim/scenario_taints.h"

namespace berth {

// Beyond these a text is taken for a mistake.
inline constexpr std::size_t kScenarioBytesMax = 1 << 20;
inline constexpr std::int64_t kScenarioStatementsMax = 10'000;
inline constexpr std::int64_t kScenarioNodesMax = 100'000;
inline constexpr std::int64_t kScenarioPodsMax = 100'000;
// Of one node and of one pod: so that the largest fleet stays within what the core believes.
inline constexpr std::int64_t kScenarioMemoryBytesMax = std::int64_t{1} << 45;

namespace scenario {

// Nodes are meant by name: the core numbers them in an order drawn from the seed. Workloads are numbered by `submit`
// lines, which is what the core does, too.

struct PassTime {
  Time until;
  std::optional<Duration> by;  // from whenever it is then: a settle may have let time pass
};
struct EndWorkload {
  WorkloadId workload;
};
// One member of several has done its work; the others go on.
struct EndPod {
  WorkloadId workload;
  std::uint32_t pod = 0;  // from 0
};
// All its pods say so.
struct ReportReady {
  WorkloadId workload;
};
struct CancelWorkload {
  WorkloadId workload;
};
// What is not given stays.
struct SetWorkload {
  WorkloadId workload;
  std::optional<std::int32_t> priority;
  std::optional<QueueId> queue;
};
struct ReportCheckpoint {
  WorkloadId workload;
};
// When it is open is found as time comes.
struct DeclareWindow {
  Window window;
  WindowTimes times;
  std::string hours = {};  // as they were written
};
enum class NodeChange : std::uint8_t { kFail, kDrain, kRestore };
struct ChangeNode {
  NodeChange change = NodeChange::kFail;
  std::string node;
};
// What a node says of itself from now on; none: as before.
struct RelabelNode {
  std::string node;
  std::optional<Labels> labels;
  std::optional<std::vector<Taint>> taints;
  std::optional<bool> spare = {};
  std::optional<std::vector<NodeImage>> images = {};
};
// Of one GPU of a node.
struct DeviceName {
  std::string node;
  std::int64_t gpu = 0;
};
// The next time that it is scrubbed this fails.
struct FailNextScrub {
  DeviceName device;
};
// Its GPUs, which are being cut anew at once, are as they were, and stay so for a while.
struct FailRecut {
  std::string node;
  Duration rests;
};
// One member of a workload ends without having done its work, and its node stays.
struct FailPod {
  WorkloadId workload;
  std::uint32_t pod = 0;       // from 0
  std::int32_t exit_code = 0;  // 0: nobody knows
};
// Of nodes by name, where it is maintenance; and where it comes again on days of the calendar, when that is is found as time comes.
struct DeclareReservation {
  struct OnDays {
    std::string days;  // "weekly", or as windows have them
    std::string zone;
    bool begins_by_its_clock = false;  // the first time, too: at that time of the zone's clock, and not at that moment
  };
  Reservation reservation;
  std::vector<std::string> nodes = {};
  std::optional<OnDays> on_days = {};
};
struct CancelReservation {
  ReservationId reservation;
};
// Moves are planned as things are, and asked for.
struct Defragment {
  std::int32_t gpus = 0;
  Duration horizon;
  std::string slice = {};     // instead: room for slices of this profile
  std::int64_t attempts = 0;  // at a better plan
};
struct Cycle {};
struct Settle {};

enum class Coverage : std::uint8_t { kFloor, kBorrowed, kBestEffort };

// What is not given is not compared.
struct ExpectRunning {
  WorkloadId workload;
  std::optional<std::int64_t> pods;
  std::vector<std::string> on;     // exactly these nodes, sorted
  std::vector<std::string> ranks;  // of its pods, in the order of their numbers
  FlavorSet flavors;               // exactly these
  std::optional<Time> started;
  bool started_on_any_day = false;  // only the clock time of `started` counts
  std::optional<Coverage> covered;
  std::optional<QueueId> against;  // none inside: everyone
  std::string has;                 // of what is said about its coverage
};
struct ExpectWaits {
  WorkloadId workload;
  std::string reason;  // the name of a code; some are never found in this version
  std::string has;
  std::optional<std::vector<WorkloadId>> ahead;  // exactly these, the first first
  std::optional<Time> shadow;                    // when it is promised to start at the latest
  bool shadow_on_any_day = false;                // only the clock time of `shadow` counts
  bool no_shadow = false;                        // nothing is promised to it
  std::string would_start;                       // what one of the smallest changes says; "none": there is none
};
struct ExpectImpossible {
  WorkloadId workload;
  std::string reason;
  std::string has;
};
// How its last attempt ended.
struct ExpectEvicted {
  WorkloadId workload;
  bool stopping = false;  // it is within its grace
  std::string rule;       // its name
  std::optional<WorkloadId> claimant;
  std::optional<ReservationId> reservation;
  std::optional<std::int64_t> lost_gpu_s;
};
// What is promised for a time, and is not over.
struct ExpectReservation {
  ReservationId reservation;
  std::optional<std::int64_t> holds;           // GPUs
  std::optional<std::int64_t> missing;         // of those that were reserved
  std::optional<std::vector<std::string>> on;  // exactly these nodes, sorted
  bool over = false;
};
// It has room where it was moved to.
struct ExpectMigrated {
  WorkloadId workload;
  std::optional<WorkloadId> claimant;
  std::optional<std::int64_t> lost_gpu_s;
};
// It runs, and lacks some of its pods.
struct ExpectRepairing {
  WorkloadId workload;
  std::optional<Time> until;
  bool until_on_any_day = false;  // only the clock time of `until` counts
  std::optional<std::int64_t> lost_gpu_s;
  std::string has;
};
// So many of its pods were taken, and it runs on with the others.
struct ExpectShrunk {
  WorkloadId workload;
  std::int64_t pods = 0;
  std::optional<WorkloadId> claimant;
};
struct ExpectOver {
  WorkloadId workload;
  Phase phase = Phase::kEnded;  // or kCancelled
  bool failed = false;          // ended, and not done
  std::string has = {};
};
struct ExpectNoneEvicted {
  bool since_start = true;  // else since the last expectations
};
// How much on nodes of a flavor, or on all.
struct UsageAmount {
  std::optional<FlavorId> flavor;
  Resource resource = Resource::kGpu;
  std::int64_t amount = 0;
  std::size_t shape = 0;  // of slices
};
// Of all that is held, of what is above the floor, of what others hold of the floor, or of what was not used for long.
enum class UsageKind : std::uint8_t { kUsage, kBorrowed, kLent, kIdle };
struct ExpectUsage {
  QueueId queue;
  std::vector<UsageAmount> amounts;
  UsageKind kind = UsageKind::kUsage;
};
struct ExpectShare {
  QueueId queue;
  std::int64_t part = 0;
  std::int64_t whole = 1;
};
// GPU time of a queue, in GPU-microseconds.
struct ExpectBudget {
  QueueId queue;
  std::optional<std::int64_t> used_gpu_us;
  std::optional<std::int64_t> reserved_gpu_us;
  std::optional<std::int64_t> left_gpu_us;
  std::optional<bool> warned;  // that it is nearly gone
};
// The whole domains that a queue's floor comes in: of one level, or of all together.
struct ExpectCells {
  struct Part {
    std::string level;  // empty: all
    std::string what;   // in_use, lent, free or lacking
    std::int64_t count = 0;
  };
  QueueId queue;
  std::vector<Part> parts;
};
struct ExpectFragments {
  std::int32_t gpus = 8;
  std::int64_t count = 0;
  std::string slice = {};  // instead: for slices of this profile
};

// How one GPU is cut: each slice by its profile and the first of its memory slices, ascending by that.
struct ExpectMig {
  struct Slice {
    std::int64_t start = 0;
    std::string profile;
    friend auto operator<=>(const Slice&, const Slice&) = default;
  };
  std::string node;
  std::int64_t gpu = 0;
  std::vector<Slice> slices;
};

enum class DeviceState : std::uint8_t { kClean, kDirty, kQuarantined, kRecutting };
inline constexpr std::string_view kDeviceStateNames[] = {"clean", "dirty", "quarantined", "recutting"};
struct ExpectDevice {
  DeviceName device;
  DeviceState state = DeviceState::kClean;
  std::optional<WorkloadId> claimant;      // for whom it is cut anew
  std::optional<std::int64_t> lost_gpu_s;  // by that
};

// Of what is declared so far.
struct ExpectLint {
  std::optional<std::string> text;  // none: it says nothing
  std::optional<QueueId> at;
};

using Expectation =
    std::variant<ExpectRunning, ExpectWaits, ExpectImpossible, ExpectEvicted, ExpectMigrated, ExpectRepairing,
                 ExpectShrunk, ExpectOver, ExpectNoneEvicted, ExpectUsage, ExpectShare, ExpectBudget, ExpectCells,
                 ExpectFragments, ExpectMig, ExpectDevice, ExpectLint, ExpectReservation>;
using Action =
    std::variant<Event, PassTime, EndWorkload, EndPod, ReportReady, CancelWorkload, SetWorkload, ReportCheckpoint,
                 ChangeNode, RelabelNode, DeclareWindow, DeclareReservation, CancelReservation, FailNextScrub,
                 FailRecut, FailPod, Defragment, Cycle, Settle, Expectation>;

struct Statement {
  std::int64_t line = 0;
  Action action;
  // Of a fact with a moment (begin=, until=): so long after it is told, as a settle may have let time pass by then.
  std::optional<Duration> from_now = {};
};

}  // namespace scenario

struct Scenario {
  // Of elastic workloads: with so many pods they run as long as they say.
  std::map<WorkloadId, std::int64_t> sizes;
  // Of each workload, by pod set, in the order of its tolerations.
  scenario::TaintEvictions::Lengths toleration_lengths;
  // The first is the run's configuration. A `group` is part of its `submit`.
  std::vector<scenario::Statement> statements;
  std::int64_t lines = 0;  // statements as they were written
  std::int64_t expectations = 0;
  Duration zero_since_1970{0};  // 00:00 of its first day
};

// `file_name` is for the complaints.
Result<Scenario> parse_scenario(const std::string& file_name, std::string_view text);

}  // namespace berth
