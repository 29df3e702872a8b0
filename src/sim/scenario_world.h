// The cluster of a scenario under virtual time, and those who do in it what nobody writes down: runs and graces that end,
// windows that open. It also keeps what was not as the scenario says, and what the scenario may still cost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/wide.h"
#include "model/event.h"
#include "sim/scenario_parse.h"
#include "sim/scenario_policy.h"
#include "sim/session.h"
#include "sim/stopped_for_a_loss.h"

namespace berth::scenario {

// What a scenario may cost, in looks at a node or a pod: a few seconds. Scenarios are one screen long; this is for the
// text that wants to keep us busy for ever.
inline constexpr std::int64_t kStepsMax = 20'000'000;

// Pod sets in all its ways.
inline std::int64_t sets_of(const Shape& shape) { return std::ssize(shape.ways) * std::ssize(shape.ways.front()); }

struct Evicted {
  WorkloadId workload;
  Time at;
  Eviction decision;  // what was decided about it; of a lost node: nothing
};

// INVARIANT: `submitted_` is numbered as the state numbers its workloads.
class ScenarioWorld {
 public:
  ScenarioWorld(const std::string& file, const Scenario& scenario, Session::Recorder recorder = nullptr)
      : file_(file),
        zero_since_1970_(scenario.zero_since_1970),
        sizes_(scenario.sizes),
        taints_(scenario.toleration_lengths),
        session_(std::move(recorder)) {
    places_.file = file;
  }

  const State& state() const { return session_.state(); }
  Time now() const { return now_; }
  std::int64_t nodes() const { return static_cast<std::int64_t>(state().nodes()); }
  // As it is, or as it was when it ended: the state forgets those that ended long ago.
  const Workload& workload(WorkloadId id) const;
  const std::string& name_of_workload(WorkloadId id) const { return submitted_[id.index()].name; }
  std::vector<std::string> names_of_workloads() const;
  const std::string& name_of_queue(QueueId id) const { return state().queues()[id.index()].name; }
  const std::string& name_of_flavor(FlavorId id) const { return state().flavors()[id.index()].name; }
  const std::vector<Evicted>& evictions() const { return evictions_; }
  // For how long it waited, if it was cancelled for that.
  std::optional<Duration> waited_in_vain(WorkloadId id) const { return submitted_[id.index()].waited_in_vain; }
  const ScenarioPlaces& places() const { return places_; }
  // Nothing where it was refused.
  std::optional<NodeId> find_node(const std::string& name) const;
  // Pod sets of all workloads, in all their ways.
  std::int64_t sets() const { return sets_; }

  // ---- what is wrong, and what it costs ---------------------------------------------------------------------------

  // Where in the text complaints belong from here on.
  void stand_at(std::int64_t line) { line_ = line; }
  void fail(std::string text) { failures_.add({file_, line_}, std::move(text)); }
  void compare(const std::string& what, const std::string& expected, const std::string& found);
  // Whether no further statement may be carried out.
  bool stopped() const { return stopped_; }
  // Whether so many steps are left; takes them. What cannot be afforded is not done, and the scenario ends there.
  [[nodiscard]] bool afford(Wide steps);
  // The same of looking for what would start somebody: each thing that is tried is a fork and a cycle.
  [[nodiscard]] bool afford_changes(WorkloadId id);

  // ---- what happens -----------------------------------------------------------------------------------------------

  // Whether it happened: what the state refuses ends the scenario.
  bool apply(const Event& event);
  // A fact that the text tells, with all that follows from it.
  void declare(const Event& event);
  void declare(const DeclareWindow& window);
  void declare(const DeclareReservation& declared);
  void cancel(const CancelReservation& action);
  void defragment(const Defragment& asked);
  void fail_recut(const FailRecut& action);
  // Over or not.
  const std::string& name_of_reservation(ReservationId id) const { return reservations_[id.index()]; }
  // The workload is over by this event, in that phase. PRE: it is not over yet.
  void finish(const Event& event, WorkloadId id, Phase phase);
  // Whether it happened.
  bool prioritize(WorkloadId id, std::int32_t priority);
  // A node that was refused is passed over.
  void change_node(const ChangeNode& action);
  void relabel_node(const RelabelNode& action);
  // Delivers what is due, that moment included: the ends of runs and of graces, at one moment the runs first, and then what
  // the calendar changes.
  void pass_time(Time until);
  void fail_pod(const FailPod& action);
  void end_pod(const EndPod& action);
  // What it did so far is safe. PRE: it runs, or stops.
  void note_checkpoint(WorkloadId id);
  // When the next grace ends; the next scrub.
  Time next_stop() const;
  Time next_scrub() const;
  // When the next GPU has been cut anew; the decision of one that is being; none: it is not.
  Time next_recut() const;
  const Repartition* find_repartition(Device device) const;
  void fail_next_scrub(const DeviceName& name);
  // None, and the scenario has failed, if there is no such device.
  std::optional<Device> find_device(const DeviceName& name);
  // Whether it changed anything.
  bool run_cycle();
  // For what depends on how long something has lasted.
  void bring_state_to_now() { session_.pass_time(now_); }

  // Nothing may happen after this.
  std::uint64_t close() { return session_.close(); }
  Complaints take_failures() { return std::move(failures_); }

 private:
  // An end that is due, unless the attempt that it belongs to has ended otherwise. At one moment who is done is done,
  // before anybody is ended by his run limit.
  struct End {
    Time at;
    bool enforced = false;
    WorkloadId workload;
    std::uint32_t attempt = 0;

    friend auto operator<=>(const End&, const End&) = default;
  };
  // Somebody, and which time he runs.
  using Attempt = std::pair<WorkloadId, std::uint32_t>;
  struct Submitted {
    std::string name;
    Duration run;
    // As it was when it ended: the state forgets those that ended long ago.
    std::optional<Workload> last;
    std::optional<Duration> waited_in_vain = {};
    std::int64_t size = 1;  // with so many pods it runs as long as it says
    // When this attempt ends by itself; in pods x milliseconds, what of its work is safe, of all attempts, and what of this one
    // is not yet that it did before it was given the pods that it has now; how many these are, and since when.
    Time done_at = kForever;
    Wide safe = 0;
    Wide unsafe = 0;
    std::int64_t pods = 1;
    Time unsafe_since = {};

    Wide done_unsafe(Time now) const { return unsafe + Wide{pods} * (now - unsafe_since).ms; }
  };
  // The dearest workload so far, of which an attempt looks at each node once a set and way.
  struct Largest {
    std::int64_t sets = 0;
    std::int64_t pods = 0;
  };

  void stop(std::string text);
  void add_nodes(const NodesAdded& added);
  void note_submitted(const WorkloadSubmitted& fact);
  void note_begun(WorkloadId id);
  void note_done_at(WorkloadId id);
  void note_repaired(WorkloadId id);
  void note_sizes();
  std::int64_t pods_there(WorkloadId id) const;
  Time next_deadline() const;
  void give_up_one();
  void end_one_wait();
  void note_taints(NodeId node, const std::vector<Taint>& taints);
  void note_who_has_to_leave();
  void evict_one_for_a_taint();
  void evict_those_due();
  void fail_node(NodeId node);
  void fail_for_want_of(WorkloadId id, std::uint32_t pod, const std::string& what);
  void never_ready_one();
  std::vector<std::pair<WorkloadId, Workload>> with_steps(WorkloadId id) const;
  void note_over(const std::vector<std::pair<WorkloadId, Workload>>& before);
  void note_stopped(const StoppedForALoss& loss);
  void end_one();
  void enforce_end(WorkloadId id);
  bool extend_limit(WorkloadId id);
  void stop_one();
  void scrub_one();
  void note_scrubs();
  void recut_one();
  void note_recuts();
  std::set<Attempt> attempts_on(Device device) const;
  // Where a scrub takes no time: who is on the devices of which the next one fails.
  std::map<Device, std::set<Attempt>> attempts_where_scrubs_fail() const;
  void refuse_where_scrubs_fail(const std::map<Device, std::set<Attempt>>& before);
  void tell_window(std::size_t number);
  void turn_calendar(Time at);
  bool place_on_days(const DeclareReservation::OnDays& asked, Reservation& reservation);
  Time next_telling() const;
  void tell_later_times();

  // Room that comes free on a node is counted for every shape that waits for some.
  Wide cost_of_freeing(std::int64_t pods_or_nodes) const;
  Wide cost_of_freeing(WorkloadId id) const;
  // An upper bound of what trying one workload costs.
  std::int64_t cost_of_attempt() const {
    // Who is moved is taken out of his places and tried in others.
    const std::int64_t moves = std::min<std::int64_t>(static_cast<std::int64_t>(state().movable()), 256);
    return (1 + moves) * (1 + largest_.sets * nodes() + largest_.pods * (each_pod_looks_ ? nodes() : 1));
  }
  // The trees of all hours that there are in a year are made anew.
  Wide cost_of_calendar() const;

  const std::string& file_;
  Duration zero_since_1970_;
  std::map<WorkloadId, std::int64_t> sizes_;
  TaintEvictions taints_;
  ScenarioPlaces places_;
  Session session_;
  Complaints failures_;
  std::int64_t line_ = 0;
  Time now_;
  std::vector<Submitted> submitted_;  // by workload
  std::map<std::string, NodeId> node_ids_;
  std::set<End> ends_;
  std::vector<DeclareWindow> windows_;
  struct OnDays {
    Time first;
    WindowTimes times;
  };
  std::map<ReservationId, OnDays> reserved_on_days_;
  std::vector<std::string> reservations_;  // by number
  std::vector<Evicted> evictions_;
  std::map<Device, Time> scrubs_;               // when each ends that has begun
  std::map<Device, Time> recuts_;               // when each is there that has begun
  std::map<Device, Repartition> repartitions_;  // the last of each
  std::set<Device> failing_;                    // of which the next scrub fails
  std::map<Device, std::set<QueueId>> used_;    // of these, on which somebody has been since: of which tenants
  std::int64_t steps_left_ = kStepsMax;
  bool stopped_ = false;
  std::int64_t sets_ = 0;
  Largest largest_;
  bool each_pod_looks_ = false;  // at all nodes: somebody is to be near others, or likes some nodes better
};

}  // namespace berth::scenario
