// A fact. The state is the fold of all facts and of the plans that were adopted; nothing else changes it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "base/time.h"
#include "model/calendar.h"
#include "model/circle.h"
#include "model/flavor.h"
#include "model/ids.h"
#include "model/node.h"
#include "model/plan.h"
#include "model/policy.h"
#include "model/queue.h"
#include "model/reservation.h"
#include "model/workload.h"

namespace berth {

// The first event of every run.
struct RunConfigured {
  Seed seed;
  PlacementPolicy policy = PlacementPolicy::kBestFit;
};

struct FlavorAdded {
  Flavor flavor;
};

// Pods whose needs fragmentation is measured by; replaces those named before.
struct TypicalPodsChosen {
  std::vector<TypicalPod> pods;
};

struct QueueAdded {
  Queue queue;
};

// Nodes that join together. Their order among each other is drawn from the run's seed; all come after earlier ones.
struct NodesAdded {
  std::vector<Node> nodes;
};

// The machine is gone, and with it whatever ran there: each workload that loses a pod stops whole and waits again; where
// repair was chosen (RepairChosen), a gang some of whose pods are elsewhere is repaired.
struct NodeFailed {
  NodeId node;
};

// Nothing new is started there; what runs may end.
struct NodeDrained {
  NodeId node;
};

// A failed or drained node takes work again.
struct NodeRestored {
  NodeId node;
};

// What a node says of itself. Who runs there stays.
struct NodeRelabelled {
  NodeId node;
  Labels labels;
  std::vector<Taint> taints;
  bool spare = false;
};

// What another waits for.
enum class DependsOn : std::uint8_t {
  kEnd,    // that he has ended, in whatever way
  kDone,   // the same, and that he is done: not cancelled, nor ended by his run limit
  kBegin,  // that he has begun once, or has ended without
};
inline constexpr std::size_t kDependsOnCount = 3;

// Somebody for whom another waits.
struct Dependency {
  WorkloadId on;
  DependsOn what = DependsOn::kEnd;

  friend bool operator==(const Dependency&, const Dependency&) = default;
};

struct WorkloadSubmitted {
  std::string name;
  QueueId queue;
  Time at;
  Duration declared_run = kRunNotDeclared;
  std::int64_t rank = 0;  // where order sjf finds nothing else to tell two apart, the smaller goes first: a trace's row
  WorkloadShape shape;
  std::string user = {};               // who submitted it; whoever is not named is one user like another
  Time not_before = {};                // it does not start earlier
  std::vector<Dependency> after = {};  // nor before all of these have ended
  // One more pod for that elastic workload, of the same kind as its others: a unit of its own, which runs beside it while it
  // does and ends with it. Then it is of one pod, in that one's queue, and waits for nothing else.
  WorkloadId step_of = {};
  // If that one, which has not ended, or this one has domains for itself, they are those of both.
  WorkloadId at_home_with = {};
  // Of those of one series at most so many have a turn at a time, in the order in which they came: from then on until they end
  // they may start. What the last of them said of how many holds for all.
  SeriesId series = {};
  std::int32_t at_most = 1;
  std::optional<MaxWait> max_wait = {};
  bool goes_first = false;  // ahead of its line's others of its priority: what it comes in place of was given up (23)
  std::optional<BackOff> backs_off = {};  // for what it comes in place of was stopped, several times in a row
  // What follows when members fail or end; none: others take their places. Of a step its one set, which says what follows for all.
  std::optional<FailurePolicy> on_failure = {};
};

// All its pods ended by themselves.
struct WorkloadEnded {
  WorkloadId workload;
};

// An evicted workload has stopped, and waits again.
struct WorkloadStopped {
  WorkloadId workload;
};

// A running workload has written down how far it is: so much is not lost if it is stopped.
struct CheckpointReported {
  WorkloadId workload;
  Time at;
};

// Its owner no longer wants it, waiting or running.
struct WorkloadCancelled {
  WorkloadId workload;
};

// Pods that run already, met in the world: after a restart, or put there by somebody else. They are one workload from now
// on, with the one way that its shape names. Of devices that nobody named, the shell has chosen free ones.
struct WorkloadFound {
  WorkloadSubmitted workload;
  std::vector<PodPlacement> pods;  // in the order of the pod sets
  Time started;
  bool only_borrows = false;  // as it was decided when it started
  // These of its pods, ascending and not all, are not there: it had lost them, and is repaired until then. Their places name
  // only a node, as which they count.
  std::vector<std::uint32_t> lost = {};
  Time repair_until = {};
};

// One pod of several that a workload has left ended by itself; the others go on.
struct PodEnded {
  WorkloadId workload;
  std::uint32_t pod = 0;  // among those that it has left, in the order of its pod sets
};

// A running workload was told to stop before this state began, or by somebody else: its room is no longer its own.
struct LeavingFound {
  WorkloadId workload;
  Time stop_by;
};

// It ran as long as its run limit allows, and was ended. It does not wait again.
struct WorkloadOverran {
  WorkloadId workload;
};

// Another order, other amounts or policies; or it is held, closed, or neither any more. Its name, its parent and whether it
// has a line of its own stay.
struct QueueChanged {
  QueueId queue;
  Queue now;
};

struct WorkloadPrioritized {
  WorkloadId workload;
  std::int32_t priority = 0;
};

// A waiting workload waits in another queue from now on, in the place that its submission gives it.
struct WorkloadMoved {
  WorkloadId workload;
  QueueId queue;
};

// It is later; what is held was held up to now. Shells say so before anything else that happened and before each cycle, where
// time makes a difference: to the past of queues, to the calendar, to budgets.
struct TimePassed {
  Time now;
};

// A window of the calendar is so from now on, or known further ahead: the one with this number, or one more.
struct WindowChanged {
  std::uint32_t number = 0;
  Window window;
};

// Windows that open or close at this moment have done so.
struct CalendarTurned {
  Time at;
};

// GPU time beside a queue's budget, void from `until` on.
struct GrantAdded {
  QueueId queue;
  std::int64_t gpu_us = 0;
  Time until;
};

// So much of a queue's budget (0), or of the grant with this number (from 1), was used before this state began: what is not
// charged to anybody who is found to run.
struct GpuTimeUsed {
  QueueId queue;
  std::uint32_t pot = 0;
  std::int64_t gpu_us = 0;
};

// What a queue held above its floor on average, as it was known at that moment, before this state began.
struct PastUseFound {
  QueueId queue;
  Time at;
  AmountList average;
};

// Of a queue's budget and grants all that was used until then is in what GpuTimeUsed says: who is found from now on to have
// run before is charged from that moment on.
struct GpuTimeCounted {
  QueueId queue;
  Time until;
};

// So many GPUs ran in the queue's name between these moments, and were gone before this state began: paid as any that run.
struct GpuTimeMissed {
  QueueId queue;
  std::int64_t gpu_milli = 0;
  Time from;
  Time until;
};

// At that moment room was taken by rule 13 or 14 from work in whose place this one was made: it cools down as that would.
struct RoomGivenBack {
  WorkloadId workload;
  Time at;
};

// The same as it stood within a step of that average (state/past_use.h), so that a state may begin at any moment, and often,
// and nothing is forgotten. In 2^-kPastFractionBits of an amount.
struct PastUseKept {
  QueueId queue;
  Time begun;          // this step, or the part of it of which anything is known
  Time at;             // until then
  AmountList average;  // of the steps before
  AmountList in_step;  // the mean of what was held in this one
};

// So much was held of a dimension until then, and no more since.
struct FloorUse {
  Dim dim;
  std::int64_t amount = 0;
  Time until;

  friend bool operator==(const FloorUse&, const FloorUse&) = default;
};

// What a queue that names an `idle_after` held of its floor before this state began, when that floor was so large. Of each
// dimension the later ones are smaller.
struct FloorUseFound {
  QueueId queue;
  AmountList floor;
  std::vector<FloorUse> held;
};

// These tenants trust each other from now on, and no others. Whose work is on one device, or otherwise nearer to a stranger's than
// it may be from now on, has to part by that moment.
struct TrustChanged {
  std::vector<Circle> circles;
  Time part_by;
  // Circles may keep strangers further away than from one device, now or later: said before anybody is there, and never taken back.
  bool beyond_devices = false;
};

// So long a device is scrubbed when all have left it; it is dirty until then.
struct ScrubChosen {
  Duration takes;
};

// A device on which nobody was. If it failed, nobody gets the device before its node is restored.
struct DeviceScrubbed {
  NodeId node;
  std::int32_t gpu = 0;
  bool failed = false;
};

// A gang that loses some of its members, not all, keeps the others' devices and its quota for so long while those are
// replaced; none: it stops whole and waits again. Said again it counts for those who lose their first from then on.
struct RepairChosen {
  Duration within;
};

// A pod of a running workload failed, and its node is still there: the workload has lost it.
struct PodFailed {
  WorkloadId workload;
  std::uint32_t pod = 0;       // from 0, among all with which it started, in the order of its pod sets
  std::int32_t exit_code = 0;  // 0: nobody knows
};

// These of its pods have to leave their nodes, which bear them no longer (a taint with NoExecute): it has lost them, as when their
// nodes fail, and the nodes go on. Of whom that leaves nobody that one is told to stop.
struct PodsEvicted {
  WorkloadId workload;
  std::vector<std::uint32_t> pods;  // as PodFailed numbers them, ascending
  Time stop_by;
};

// Nothing has replaced in time what a gang has lost: it stops whole, and waits again at the head of its line.
struct RepairGivenUp {
  WorkloadId workload;
};

// Capacity is promised for a time; they are numbered as they come.
struct ReservationAdded {
  Reservation reservation;
  // It was made before this state began, or may have been: it may have begun, and be of more GPUs than are there now; then it is
  // short.
  bool found = false;
  std::vector<GpusOfNode> had = {};  // what was held for it then; of one that was found alone
};

// It is taken back, before it begins or while it lasts.
struct ReservationRemoved {
  ReservationId reservation;
};

// It has waited for as long as it was to, and has not begun: what was to be done then is done.
struct MaxWaitPassed {
  WorkloadId workload;
};

// Somebody who is to go elsewhere.
struct MoveAsked {
  WorkloadId workload;
  std::vector<PodPlacement> to;  // of its pods, in their order

  friend bool operator==(const MoveAsked&, const MoveAsked&) = default;
};

// Moves for nobody's sake, as somebody was shown them: what of them still holds is decided by the next cycle that decides nothing
// else, if more pods that ask so many whole GPUs, or one slice of this shape of a flavor, then find room, and less work is lost than they
// are worth: what they ask for so long. INVARIANT: with a slice `gpus` is 1.
struct DefragmentationAsked {
  std::vector<MoveAsked> moves;
  std::int32_t gpus = 0;
  Duration horizon;
  std::uint8_t slice = kNoSlice;
  FlavorId flavor = {};  // of the slice; none without

  friend bool operator==(const DefragmentationAsked&, const DefragmentationAsked&) = default;
};

// A GPU has the slices into which a plan had it cut anew (Repartition). Nobody was on those that had to go.
struct SlicesRecut {
  NodeId node;
  std::int32_t gpu = 0;
};

// What all GPUs of a node are cut into that are cut anew at once (Node::layouts), as the node has told it: it is being cut into that, or
// stays so until then, or neither. So a scheduler that is started anew learns of it, and so a cut that failed is told.
struct CutFound {
  NodeId node;
  MigPlaceSet slices;
  bool is_coming = false;
  Time rests_until;

  friend bool operator==(const CutFound&, const CutFound&) = default;
};

// A node failed then, and what that did to those who were there is told by itself: it counts among its failures.
struct NodeFailureFound {
  NodeId node;
  Time at;
};

// All pods of a running workload are ready.
struct WorkloadReady {
  WorkloadId workload;
};

// Its pods are not all ready, and the moment has passed by which they were to be: it stops, and is tried again or has failed.
struct NeverReady {
  WorkloadId workload;
};

// It has run as long as its run limit allows, its queue extends that, and nobody needs its room before then: it is ended so much
// later (rule 25).
struct LimitExtended {
  WorkloadId workload;
  Duration by;
};

// When a reservation lasts after this time is known further ahead: its later times, all of them.
struct ReservationTimesTold {
  ReservationId reservation;
  std::vector<Interval> later;

  friend bool operator==(const ReservationTimesTold&, const ReservationTimesTold&) = default;
};

// The images of containers that a node has.
struct NodeImagesChanged {
  NodeId node;
  std::vector<NodeImage> images;

  friend bool operator==(const NodeImagesChanged&, const NodeImagesChanged&) = default;
};

using Event =
    std::variant<RunConfigured, FlavorAdded, TypicalPodsChosen, QueueAdded, NodesAdded, NodeFailed, NodeDrained,
                 NodeRestored, WorkloadSubmitted, WorkloadEnded, WorkloadCancelled, WorkloadFound, WorkloadStopped,
                 CheckpointReported, PodEnded, LeavingFound, WorkloadOverran, QueueChanged, WorkloadPrioritized,
                 WorkloadMoved, TimePassed, WindowChanged, CalendarTurned, GrantAdded, GpuTimeUsed, PastUseFound,
                 GpuTimeCounted, GpuTimeMissed, RoomGivenBack, FloorUseFound, PastUseKept, NodeRelabelled, TrustChanged,
                 ScrubChosen, DeviceScrubbed, RepairChosen, PodFailed, RepairGivenUp, ReservationAdded,
                 ReservationRemoved, MaxWaitPassed, DefragmentationAsked, SlicesRecut, NodeFailureFound, WorkloadReady,
                 NeverReady, LimitExtended, ReservationTimesTold, NodeImagesChanged, PodsEvicted, CutFound>;

}  // namespace berth
