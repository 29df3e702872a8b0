// What a decision of the LiveEngine comes to: what to bind, whom to evict, what to tell; and how queues stand.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "manifest/given_gpus.h"
#include "manifest/told_changes.h"
#include "manifest/value.h"
#include "model/request.h"
#include "service/asked_moves.h"
#include "service/facts.h"
#include "service/network_use.h"
#include "service/shortfall.h"
#include "sim/run_times.h"
#include "state/quota_tree.h"

namespace berth {

// Which pod is meant, as the API wants to hear it.
struct PodName {
  std::string uid, name_space, name;
};

// Where a pod and those are who started together with it, for what runs in them.
struct Rendezvous {
  std::uint32_t rank = 0;
  std::int64_t world_size = 0;
  std::string hosts;   // empty: they are too many to be written down
  std::string leader;  // how the first of them is reached: its host name, or else its node

  friend bool operator==(const Rendezvous&, const Rendezvous&) = default;
};

struct Binding {
  PodName pod;
  std::string node;
  GivenGpus given;
  std::string coverage = {};  // who may take the room back, in words; empty where there are no floors
  bool best_effort = false;   // it has become so, for a budget had not enough left: its pod has to say so from now on
  bool only_borrows = false;  // it comes into no floor while it runs, and its pod has to say so from now on
  std::optional<Time> moved_at = {};          // it was moved here, and is not moved again for a while
  std::optional<Rendezvous> rendezvous = {};  // of who starts together with others
};

// Others of a gang that runs are elsewhere from now on.
struct RendezvousChanged {
  PodName pod;
  Rendezvous now;
};

// It goes on beyond its run limit, as its queue allows it.
struct LimitExtension {
  PodName pod;
  Duration extended;  // in all, in this attempt
  std::int32_t extensions = 0;
  std::string text;
};

// A pod whose workload has to make room.
struct PodEviction {
  PodName pod;
  OwnerFacts owner;
  Time signal_at;   // its pods are told then, and not before
  Time stop_by;     // and are gone by then
  std::string why;  // in words: by which rule, for whom
};

// Whose room a workload takes; told of one of its pods, and of what controls them.
struct RoomTaken {
  PodName pod;
  OwnerFacts owner;
  std::string text;
};

// What somebody who runs should know; told once.
struct PodNotice {
  PodName pod;
  OwnerFacts owner;
  std::string text;
};

// Why a pod waits, when that has changed.
struct WaitingReason {
  PodName pod;
  std::string revision;  // of the pod that waits: of one that has changed since, nothing is said
  OwnerFacts owner;
  std::string text;    // "Capacity: no node has 8 GPUs free (4 nodes: each has 2 or fewer free)"
  bool first = false;  // nothing was told of it before
};

// A pod of a gang that was begun and could not be completed: to be deleted, if it is still as it was then.
struct Rollback {
  PodName pod;
  std::string revision;
  std::string why;
};

// Of a Workload object: its namespace and name.
using WorkloadKey = std::pair<std::string, std::string>;

enum class WorkloadPhase : std::uint8_t { kPending, kAdmitted, kEvicted, kFinished };

// How a group of pods that start together stands, when that has changed: what its Workload object says.
struct WorkloadNews {
  std::string group;  // which; the same group always has the same key
  std::string name_space, name;
  OwnerFacts owner;
  std::string queue;
  PodRequest request;          // of its first pod
  std::string slice;           // its profile, if it asks one
  std::string vgpu = {};       // the profile of its vGPU, if it asks one
  bool slice_by_need = false;  // it asks one that has what it needs, whatever it is called
  std::int64_t size = 1;
  WorkloadPhase phase = WorkloadPhase::kPending;
  bool phase_changed = false;
  std::string text;                         // kPending, kEvicted: why
  std::optional<Shortfall> shortfall = {};  // kPending, for want of a domain with room
  std::optional<NetworkUse> network = {};   // kAdmitted, of who says how its GPUs share a model
};

// What of a node is not used, and why.
struct NodeNews {
  std::string reason;  // "TooManyFlavors"
  std::string text;

  friend bool operator==(const NodeNews&, const NodeNews&) = default;
};

// Who has been on which GPUs of a node, as its annotation is to say; empty: it says nothing.
struct NodeUses {
  std::string node, text;
};

// What is asked of a node whose GPUs are cut anew, or has become of it: its annotation from now on, and an event.
struct NodeCutNews {
  std::string node, record;
  std::string reason, text;
};

// What would start at once who waits, each change by itself, as it was tried on copies of the state of that moment.
struct FoundChanges {
  PodName pod;  // its first
  Time as_of;
  ToldChanges told = {};
  bool kept_aside = false;  // it waits for a moment, for others or for its queue: then nothing was tried
};

// Somebody who has waited for as long as it was to, and is to be ended without ever having begun.
struct GivenUp {
  PodName pod;
  OwnerFacts owner;
  std::string reason;  // MaxWait, NeverReady
  std::string text;
};

struct Round {
  std::vector<NodeUses> uses;  // to be written before those are bound who are given places there
  std::vector<NodeCutNews> cuts;
  std::vector<Binding> bindings;
  std::vector<RendezvousChanged> elsewhere;
  std::vector<LimitExtension> extended;
  std::vector<PodEviction> evictions;
  std::vector<RoomTaken> taken;
  std::vector<WaitingReason> reasons;
  std::vector<Rollback> rollbacks;
  std::vector<WorkloadNews> workloads;
  std::vector<PodNotice> to_part;  // they are on one GPU with some whom they trust no more
  std::vector<GivenUp> given_up;
  std::vector<PodName> best_effort;           // they run, their budget is used up, and they go on as best effort
  std::optional<MovesDecided> moves_decided;  // that were asked for
  std::optional<Time> again_at;               // something becomes due then, even if nothing happens
};

// GPU-hours, in words.
struct BudgetStanding {
  std::string used, reserved, left;
  std::vector<std::pair<Time, std::string>> grants = {};  // until when, and what of them is used

  friend bool operator==(const BudgetStanding&, const BudgetStanding&) = default;
};

// Workloads: a gang is one, and runs as soon as one of its pods does.
struct QueueStanding {
  std::string uid = {};
  std::int64_t pending = 0, running = 0;
  // By "FLAVOR" or "FLAVOR.RESOURCE", with those of the queues below it; what is 0 is left out unless it has a floor.
  std::map<std::string, std::string> used = {}, guaranteed = {}, borrowed = {};
  std::string share = {};                           // "23/161"; empty where no queue has amounts
  std::map<std::string, std::string> floor = {};    // what of the guarantee can be kept
  std::map<std::string, std::string> lent = {};     // of the floor, to others
  std::map<std::string, std::string> lenders = {};  // of those beside it what they lend, where it borrows: "h100:8"
  std::int64_t more_lenders = 0;                    // who are not named there
  std::vector<Value> cells = {};                    // what has become of its whole domains, as its status has it
  Value share_parts = {};                           // for each resource: what is above the floor, of what there is
  std::string turn = {};                            // who goes before it, and why; empty where nobody else waits
  std::vector<std::string> waiting = {};            // of its line the first, as "NAMESPACE/NAME"
  std::optional<BudgetStanding> budget = {};
  std::map<std::string, std::string> past_use = {};  // as `used`
  std::optional<Time> as_of = {};                    // when these two were so
  std::vector<QueueCondition> conditions = {};
  // Controllers of pods that gave back what they had borrowed, by uid: since when. The latest few.
  std::vector<std::pair<std::string, Time>> cooling_down = {};
  std::vector<std::pair<std::string, Tries>> tries = {};  // by group or maker: the latest few
  // What the queue has not held of its floor for its `idleAfter`, as `used`; and what the next scheduler has to know of it.
  std::map<std::string, std::string> idle = {};
  std::optional<FloorRecord> floor_use = {};

  friend bool operator==(const QueueStanding&, const QueueStanding&) = default;
};

// A run that has ended: what was known of it, and how long it took.
struct EndedRun {
  RunOf run;
  Duration took;
};

// What the work that is told apart by some name amounts to.
struct Holding {
  std::int64_t pending = 0, reserving = 0, admitted = 0;  // workloads; who is admitted reserves too
  std::int64_t waiting = 0, running = 0;  // the same, with those of which some have ended or have to leave
  AmountsByDim reserved, used;            // the second of the admitted

  bool is_nothing() const;
  friend bool operator==(const Holding&, const Holding&) = default;
};

}  // namespace berth
