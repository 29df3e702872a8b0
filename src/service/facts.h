// What the scheduler needs of an API object, and what of it the scheduler does not follow yet: said, never guessed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "base/wide.h"
#include "manifest/given_gpus.h"
#include "manifest/gpu_uses.h"
#include "manifest/labels.h"
#include "manifest/node_cut.h"
#include "manifest/pod_group.h"
#include "manifest/pod_neighbours.h"
#include "manifest/queue_spec.h"
#include "manifest/selector.h"
#include "manifest/time_request.h"
#include "manifest/value.h"
#include "model/gpu_hardware.h"
#include "model/neighbours.h"
#include "model/node.h"
#include "model/node_constraints.h"
#include "model/queue.h"
#include "model/request.h"
#include "model/topology.h"
#include "model/workload.h"

namespace berth {

struct NodeFacts {
  std::string name;
  std::string gpu_model;  // the catalogue's short name where it knows the model; empty without GPUs
  std::int64_t gpu_memory_mib = 0;
  std::int32_t gpus = 0;
  Sharing sharing = Sharing::kExclusive;
  SharingSet other_modes = {};  // what it may be instead, as long as no pod has a GPU of it
  std::int32_t replicas = 1;    // as how many each counts
  MigPlaceSet fixed_slices;     // into which each GPU was cut beforehand; empty: as pods ask
  Duration recut{0};            // these are cut anew, all at once, into one of the layouts, which takes so long
  std::vector<NodeLayout> layouts = {};
  MigPlaceSet offered = {};                // into which they are cut by what it offers now, if that is a layout
  NodeCut cut = {};                        // as its annotation has it,
  std::string cut_state = {};              // and what whoever cuts them says
  std::vector<std::string> unused_slices;  // resources of slices that are cut beforehand: nobody is sent to them,
  std::string why_unused;                  // and why
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  std::int32_t pods_max = kPodsUnbounded;
  HostAmounts kept_per_gpu = {};  // for pods that ask GPUs
  HostAmounts extra = {};         // for best effort, beyond what there is
  std::int32_t numa_zones = 1;
  NumaPolicy numa_policy = NumaPolicy::kNone;
  GpuLinks links = {};
  Value labels;
  // As the engine has them.
  struct Says {
    Labels labels;
    std::vector<Taint> taints;
    bool spare = false;

    friend bool operator==(const Says&, const Says&) = default;
  };
  Says says;
  std::string uid = {};     // of the object
  GpuRecords records = {};  // what is left on its GPUs
  bool open = true;         // ready, not cordoned
  std::optional<Time> not_ready_since = {};
  std::string problem;                 // why it cannot be used at all; empty: it can
  std::vector<NodeImage> images = {};  // by their names, each once

  bool may_be(Sharing mode) const { return sharing == mode || other_modes.contains(mode); }
  // As the engine has them.
  std::vector<MigPlaceSet> slices_of_layouts() const {
    std::vector<MigPlaceSet> all;
    for (const NodeLayout& each : layouts) all.push_back(each.slices);
    return all;
  }
  // The same machine to the engine, whether open or closed, and whatever it says of itself.
  bool same_machine(const NodeFacts& other) const;
};

// A gang that has lost a pod keeps its place for so long, where it says nothing else.
inline constexpr Duration kRepairByDefault{10 * 60'000};

enum class PodStage : std::uint8_t {
  kGated,    // has scheduling gates, or is being deleted before it was bound
  kWaiting,  // for a place
  kBound,    // holds its place until it has ended, also while it is being deleted
  kSucceeded,
  kFailed,
};

// What controls an object: its controlling owner reference.
struct OwnerFacts {
  std::string api_version, kind, name, uid;
};

// What keeps work from the engine: a code and a text; both empty: nothing.
struct Obstacle {
  std::string code = {}, text = {};

  friend bool operator==(const Obstacle&, const Obstacle&) = default;
};

struct PodFacts {
  std::string uid, name_space, name;
  std::string revision;  // of the object
  OwnerFacts owner;      // of a pod that nothing controls: empty
  std::string queue;
  std::string group;  // pods that start together: "NAMESPACE/NAME/UID"; alone: empty
  std::string group_name;
  std::string maker_uid;        // of what makes its pods anew, all of a group's; nothing does: empty
  std::string workload_name;    // of the Workload that tells how its group stands; alone: empty
  std::int64_t group_size = 1;  // so many of them at least
  // For so long its gang waits for another in its place; none: not at all.
  Duration repair = kRepairByDefault;
  std::string user;  // in whose name it was submitted
  // Its flavors are still open: gpu_models; of a slice the shape, too, and of a part by memory its thousandths.
  PodRequest request;
  std::string slice = {};  // the profile that it asks; empty: none, or which goes by what it needs
  std::optional<SliceNeed> slice_need = {};
  std::string vgpu = {};                // the profile of the vGPU that it asks; empty: none
  std::vector<std::string> gpu_models;  // empty: any
  std::string need_counted = {};  // of what the memory is made that each of its GPUs must have; empty: it said how much
  NodeConstraints constraints;    // without images
  std::vector<std::string> images = {};  // of its containers, one each
  Topology topology;                     // with those of its group who ask the same
  std::string exclusive_level = {};      // its pod set is alone with its GPUs in the domains of this level
  std::string pod_set = {};              // of its group those who name the same go by themselves
  Neighbours neighbours = {};
  std::vector<NamespacesByLabel> namespaces_by_label = {};  // looked up by Namespaces
  Parallelism parallel = {};                                // with those of its group who say the same
  std::int64_t number = 0;                                  // among those of its Job, or of what else numbers its pods
  std::int64_t job_number = 0;                              // of its Job among those of its JobSet
  bool leads = false;                      // its controller calls it the first of them: a master, chief, leader or head
  std::string host_name = {};              // by which others reach it, "HOSTNAME.SUBDOMAIN"; empty: it has none
  std::optional<std::uint32_t> rank = {};  // as which of its gang it was bound
  bool ends_by_scheduler = false;          // its run limit is, and no node's; then
  Duration extended{0};                    // the part of it by which it was extended in this attempt,
  std::int32_t extensions = 0;             // and how often that was
  PodStage stage = PodStage::kGated;
  std::string node;                // kBound: where
  std::optional<GivenGpus> given;  // kBound: which devices, where the binding named them
  Time created;
  Time queued;  // since when it waits or runs, also as another pod of the same Job
  std::optional<Time> bound_at;
  bool ready = false;            // its node says so
  std::optional<Time> ended_at;  // kSucceeded, kFailed: as its node says
  Duration run = kRunNotDeclared;
  Terms terms = {};                   // its disruption budget is another object's word: BudgetFacts
  std::optional<Time> leaving_until;  // the scheduler told it to stop by then
  std::string leaves_for = {};        // the Reservation for which it was told so
  bool deleted = false;               // somebody did
  std::optional<Time> gave_back;      // when it was told that what it had borrowed was taken (rules 13, 14)
  std::optional<Time> checkpoint;     // the last that it reported
  bool only_borrows = false;          // the scheduler said so when it gave it its place
  std::optional<Time> moved_at;       // when the scheduler moved it here (rule 20)
  Value labels;
  std::string told;           // message of its condition PodScheduled=False
  bool told_changes = false;  // its condition berth.dev/WouldStart says something
  std::string problem;        // what it asks that the scheduler does not follow; empty: nothing
  TimeRequest time = {};
  bool has_begun = false;  // it, or what its Job made before it: looked up by Predecessors
  Obstacle follows = {};   // those for whom it waits: the same
  // Of Kueue, looked up by OtherQueues: a LocalQueue of its namespace, in place of a queue, and a WorkloadPriorityClass.
  std::string local_queue = {}, priority_class = {};
  std::optional<PodGroupName> pod_group = {};  // looked up by PodGroups
  Obstacle shut = {};                          // its LocalQueue lets nothing in
  // Flavors of its ClusterQueue whose Topology lacks a level that it asks; for a pod with GPUs alone.
  std::vector<std::string> closed_flavors = {};

  bool asks_slice() const { return !slice.empty() || slice_need.has_value(); }
  // A part of one GPU, as large as so much memory.
  bool asks_memory() const { return request.gpus == 1 && request.gpu_milli == 0 && request.gpu_memory_mib > 0; }
  // Whole GPUs with so much memory each.
  bool needs_memory() const { return request.gpu_milli == kMilliPerGpu && request.gpu_memory_mib > 0; }
};

// What is true of a queue, or of a circle of trust, in its status.
struct QueueCondition {
  std::string type;
  bool holds = false;
  std::string reason, message;
  Time since;

  friend bool operator==(const QueueCondition&, const QueueCondition&) = default;
};

// By these a queue tells that it is held or drained, and that four fifths of its budget are used or reserved.
inline constexpr std::string_view kStoppedCondition = "Stopped";
inline constexpr std::string_view kDrainedReason = "Drained";
inline constexpr std::string_view kBudgetCondition = "BudgetNearlyUsed";
// By this one it says what of its spec counts for nothing.
inline constexpr std::string_view kNotFollowedCondition = "NotFollowed";

// So much was held until then, and no more since.
struct HeldUntil {
  FlavorAmount held;
  Time until;

  friend bool operator==(const HeldUntil&, const HeldUntil&) = default;
};

// What a queue that names an `idleAfter` held of its floor, when that was so large.
struct FloorRecord {
  std::vector<FlavorAmount> floor = {};
  std::vector<HeldUntil> held = {};  // of each flavor and resource the later are smaller

  friend bool operator==(const FloorRecord&, const FloorRecord&) = default;
};

// For BackOff::times.
std::uint8_t times_in_a_byte(int times);

// What became of earlier starts of a gang, or of what one maker made.
struct Tries {
  int lost_nodes = 0;                // in a row, one for each beginning
  int never_ready = 0;               // in a row
  std::optional<Time> lost_at = {};  // when the last lost node was counted
  std::optional<BackOff> backs_off = {};
  Time noted = {};  // when any of it was counted last

  friend bool operator==(const Tries&, const Tries&) = default;
};

// What no object but the queue's own status knows any more: the scheduler writes it down for one that is started anew.
struct QueueRecord {
  std::optional<Time> as_of;
  Wide used_gpu_us = 0;                 // of its budget, without its grants
  std::map<Time, Wide> of_grants = {};  // by the moment when they are void
  std::vector<FlavorAmount> past_use = {};
  std::vector<QueueCondition> conditions = {};
  std::map<std::string, Time> gave_back = {};  // by uid of what controls the pods
  std::map<std::string, Tries> tries = {};     // by the group's name, or by who makes the pods
  FloorRecord floor_use = {};
};

struct QueueFacts {
  std::string name;
  QueueSpec spec = {};
  std::string problem = {};  // of its spec; empty: none
  bool only_listed = false;  // its work may have GPUs of those flavors alone that its guarantee names
  std::string uid = {};
  QueueRecord record = {};

  // What it is meant to be.
  bool same_queue(const QueueFacts& other) const {
    return name == other.name && spec == other.spec && problem == other.problem && only_listed == other.only_listed &&
           uid == other.uid;
  }
};

// The flavor of an amount that names none: of the one that nodes with GPUs have, if it is one.
inline constexpr std::string_view kOnlyFlavor = "*";

// A kind of GPU under a name of its own, which quotas use; without one for them, nodes' GPUs have their model's name.
struct FlavorFacts {
  std::string name;                 // in small letters
  std::string gpu_model;            // empty: any
  std::int64_t gpu_memory_mib = 0;  // 0: whatever they have
  Value node_labels;
  std::int64_t weight = 1;

  bool has(const NodeFacts& node) const;
  friend bool operator==(const FlavorFacts&, const FlavorFacts&) = default;
};

// A PodDisruptionBudget. As a workload goes whole, one that would keep any of its pods protects all of them.
struct BudgetFacts {
  std::string name_space, name;
  LabelSelector pods;
  bool protects = false;
};

NodeFacts read_node(const Value& node);
PodFacts read_pod(const Value& pod);
QueueFacts read_queue(const Value& queue);
// In the place of the one of its type; what holds since a moment keeps that moment.
void set_condition(std::vector<QueueCondition>& conditions, QueueCondition condition);
std::vector<QueueCondition> read_conditions(const Value& status);
FlavorFacts read_flavor(const Value& flavor);
BudgetFacts read_budget(const Value& budget);

// By this condition a pod knows that it was evicted, and by whom; Kubernetes' scheduler writes the same.
inline constexpr std::string_view kEvictedCondition = "DisruptionTarget";
inline constexpr std::string_view kEvictedReason = "PreemptionByScheduler";

// By this one it knows that its budget is used up while it runs: it goes on as best effort.
inline constexpr std::string_view kBestEffortCondition = "berth.dev/BestEffort";

}  // namespace berth
