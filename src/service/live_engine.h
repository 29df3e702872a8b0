// The engine kept true to API objects: facts about queues, nodes and pods go in, in any order; what to bind, what to
// tell and what to take back comes out. No threads, clocks or sockets: a test plays the API server.
//
// Pods that must start together wait as one workload. Once they have places, each is a workload of its own, so that each
// gives back its place when it ends. What cannot be told to the engine as one more event (a machine that is gone or
// another, a queue that changed) makes it anew from all facts, which is also what a restart does.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "service/facts.h"
#include "sim/session.h"

namespace berth {

// Which pod is meant, as the API wants to hear it.
struct PodName {
  std::string uid, name_space, name;
};

struct Binding {
  PodName pod;
  std::string node;
  GpuSet gpus;
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

enum class WorkloadPhase : std::uint8_t { kPending, kAdmitted, kFinished };

// How a group of pods that start together stands, when that has changed: what its Workload object says.
struct WorkloadNews {
  std::string group;  // which; the same group always has the same key
  std::string name_space, name;
  OwnerFacts owner;
  std::string queue;
  PodRequest request;  // of its first pod
  std::int64_t size = 1;
  WorkloadPhase phase = WorkloadPhase::kPending;
  bool phase_changed = false;
  std::string text;  // kPending: why
};

struct Round {
  std::vector<Binding> bindings;
  std::vector<WaitingReason> reasons;
  std::vector<Rollback> rollbacks;
  std::vector<WorkloadNews> workloads;
  std::optional<Time> again_at;  // something becomes due then, even if nothing happens
};

// Workloads: a gang is one, and runs as soon as one of its pods does.
struct QueueCounts {
  std::int64_t pending = 0, running = 0;
  friend bool operator==(const QueueCounts&, const QueueCounts&) = default;
};

class LiveEngine {
 public:
  // Called for each new life of the engine; what it returns records that life.
  using NewJournal = std::function<Session::Recorder()>;
  explicit LiveEngine(Seed seed, PlacementPolicy policy = PlacementPolicy::kBestFit, NewJournal new_journal = nullptr);

  void set_queue(const QueueFacts& queue);
  void remove_queue(const std::string& name);
  void set_node(const NodeFacts& node);
  void remove_node(const std::string& name);
  void set_pod(const PodFacts& pod);
  void remove_pod(const std::string& uid);
  // The API server took the binding back: the pod waits again.
  void refuse_binding(const std::string& uid);

  // The API server has heard why this pod waits, or did not: then it is told again. Until one of the two is noted nothing
  // more is told of the pod: of two calls on their way the first could be the last to arrive.
  void note_told(const std::string& uid);
  void note_not_told(const std::string& uid);
  // The same of how a group stands.
  void note_workload_told(const std::string& group);
  // The engine begins a new life at the next decision, and with it a new journal.
  void begin_anew() { anew_ = true; }

  // Folds in what was set, and decides.
  Round decide(Time now);

  std::map<std::string, QueueCounts> count_by_queue() const;
  // Pods that hold more than their node has, or whose node there is not: with the reason.
  std::map<std::string, std::string> pods_without_room() const;
  const State& state() const { return session_->state(); }

 private:
  struct Member {
    PodFacts facts;
    std::string group;
    std::uint64_t sequence = 0;  // of arrival
    WorkloadId running;          // none: it holds no place
    std::string node;            // where it holds one
    GpuSet gpus;
    bool confirmed = false;  // the API server says so too
    bool refused = false;    // its last binding was
    std::string told;
    Time told_at;
    bool telling = false;    // it is on its way
    bool tell_more = false;  // and what there is to tell has changed since
  };
  struct Group {
    std::set<std::uint64_t> members;                // by sequence
    WorkloadId pending;                             // none: nothing of it waits in the engine
    std::vector<std::string> submitted;             // its pods in the order of the workload's pod sets
    std::string unsubmitted_code, unsubmitted_why;  // why nothing waits in the engine
    std::optional<Time> partial_since;
    std::optional<WorkloadPhase> told_phase;
    std::string told;
    bool telling = false, tell_more = false;
  };
  // What the members of a group amount to.
  struct Tally {
    std::vector<Member*> waiting;  // in the order of arrival
    std::int64_t placed = 0, succeeded = 0, failed = 0, size = 1;
    const PodFacts* first = nullptr;
    std::optional<Time> first_bound_at;
  };

  void rebuild(Time now);
  void add_queues();
  QueueId add_queue(const std::string& name, std::set<std::string>& on_the_way);
  void add_new_nodes();
  FlavorId flavor_of(const NodeFacts& node);
  std::string held_by(const std::string& queue) const;
  std::optional<FlavorSet> flavors_of(const PodFacts& pod) const;
  void settle(Time now);
  void place_found(Time now);
  void find_place(Member& member, Time now);
  void settle_group(const std::string& key, Time now);
  Tally tally(const Group& group);
  // The code and text of what keeps a group from the engine; empty code: nothing does.
  std::pair<std::string, std::string> obstacle(const Tally& tally) const;
  void submit(const std::string& key, Group& group, const Tally& tally);
  void withdraw(Group& group);
  static bool is_partial(const Tally& tally);
  void note_partial(const std::string& key, Group& group, const Tally& tally, Time now);
  void take(const Start& start, Time now);
  void hold(Member& member, const WorkloadSubmitted& as, const PodPlacement& place);
  void end(Member& member);
  void leave_group(Member& member);
  void roll_back(Round& round, Time now);
  void tell(Round& round, Time now);
  void tell_group(const std::string& key, Round& round, Time now);
  std::pair<std::string, std::string> reason_of_group(const Group& group);
  void tell_workload(const std::string& key, Group& group, const Tally& tally, const std::string& text, Round& round);

  Seed seed_;
  PlacementPolicy policy_;
  NewJournal new_journal_;
  std::unique_ptr<Session> session_;

  std::map<std::string, QueueFacts> queues_;
  std::map<std::string, NodeFacts> nodes_;
  std::map<std::string, Member> members_;             // by uid
  std::map<std::uint64_t, std::string> by_sequence_;  // uid
  std::map<std::string, Group> groups_;
  std::uint64_t next_sequence_ = 0;

  // Of the engine's present life.
  std::map<std::string, QueueId> queue_ids_;
  std::map<std::string, NodeId> node_ids_;
  std::map<std::string, FlavorId> flavor_ids_;
  std::map<WorkloadId, std::string> pending_groups_;
  std::map<ShapeId, std::set<std::string>> groups_by_shape_;
  std::map<std::string, std::string> without_room_;  // uid -> why

  bool anew_ = true;  // the engine must be made anew
  bool room_came_free_ = false;
  std::set<std::string> new_nodes_;
  std::set<std::string> found_;      // pods that run somewhere and hold no place in the engine yet
  std::set<std::string> unsettled_;  // groups
  std::set<std::string> untold_;     // groups
  std::set<std::string> partial_;    // groups
  struct Explained {
    std::string code, text;
  };
  std::map<std::pair<QueueId, ShapeId>, Explained> explained_;  // in this round
};

}  // namespace berth
