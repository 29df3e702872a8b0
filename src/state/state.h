// The cluster as it is: the fold of all events and of the plans that were adopted. What is kept beside the facts (free
// capacity, who waits where) is derived from them and can be recomputed at any time (state/invariants.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/intern.h"
#include "base/rng.h"
#include "base/sorted_blocks.h"
#include "model/event.h"
#include "model/plan.h"
#include "state/domains.h"
#include "state/ended_runs.h"
#include "state/followers.h"
#include "state/idle_floors.h"
#include "state/ledger.h"
#include "state/node_failures.h"
#include "state/partings.h"
#include "state/past_use.h"
#include "state/pending.h"
#include "state/quota_ledger.h"
#include "state/repairing.h"
#include "state/series_turns.h"
#include "state/turns.h"
#include "state/workload_table.h"

namespace berth {

// A pod of a workload that has room or is stopping. Those of one workload form a list, in the order of its pod sets; while it
// migrates those that leave form another.
struct Pod {
  RequestId request;
  NodeId node;
  GpuSet gpus;
  WorkloadId workload;  // none: this entry is free
  PodId next;
  std::uint8_t slice_start = 0;
  bool comes = false;        // in the place of a lost one: it has room, and is not there as others have yet to leave
  std::uint32_t number = 0;  // from 0, among all of its workload in the order of the pod sets

  PodPlacement place() const { return {node, gpus, slice_start}; }
};

// A way of a shape with its requests numbered.
struct NumberedPodSet {
  RequestId request;
  std::int64_t count = 0;
  TopologyId topology{0};
  RequestId in_first_flavor;  // the same, kept to the first of the flavors that it leaves open
  Parallelism parallel = {};  // where it is declared, the cost of the network decides among places

  bool asks_for_domains() const { return topology != TopologyId(0); }
  // Where their pods could be swapped: of these nobody says whose a step of an elastic gang is.
  bool is_like(const NumberedPodSet& other) const { return request == other.request && topology == other.topology; }
  friend bool operator==(const NumberedPodSet&, const NumberedPodSet&) = default;
};

std::uint64_t digest_of(const Node& node);
std::uint64_t digest_of(const std::string& name);

// Every kind of node that was ever added, closed ones included.
struct NodeTypes {
  InternTable<Node, digest_of> nodes;  // without names, labels and taints
  std::vector<std::int64_t> counts;    // of each
  std::vector<std::uint32_t> of_node;  // by node
  Ledger idle;                         // one idle node of each
  bool keep_for_gpus = false;          // some of them, CPUs or memory
  bool overcommit = false;             // some of them, to best effort
  bool have_zones = false;             // some of them, which matter to their kubelets
  bool restrict_zones = false;         // and of these some, by NumaPolicy::kRestricted
};

struct Shape {
  std::vector<std::vector<NumberedPodSet>> ways;
  Terms terms = {};
  UserId user;         // where users make a difference: else identical work of two is the same
  bool cools = false;  // it had to give back what it had borrowed: until it may borrow again it insists on a floor
  FlavorSet flavors;   // any that one of its ways could use; all() if one of its pods asks no GPU
  std::int64_t pods = 0;
  std::int64_t gpu_milli = 0;  // of the first way; the ways ask the same amounts

  bool has_sharers = false;  // whose some of its pods are matters: on devices, or near others with GPUs

  // Whoever submitted it would rather wait than borrow, at any time.
  bool insists() const { return terms.guaranteed_only && !cools; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

std::uint64_t digest_of(const PodRequest& request);
std::uint64_t digest_of(const Shape& shape);

class State {
 public:
  // Why an event makes no sense in this state (an id that there is not, an amount out of bounds); empty if it does.
  // Events from outside are asked about before they are applied.
  std::optional<std::string> refusal(const Event& event) const;

  // PRE: refusal(event) has no answer.
  void apply(const Event& event);
  // PRE: the plan was made for this state at this revision.
  void adopt(const Plan& plan);
  // A copy to try things on; it costs its live records, which are flat.
  State fork() const { return *this; }
  // From now on. Of a fork alone: what really is so begins with RunConfigured. PRE: where that policy needs typical pods there are some.
  void place_by(PlacementPolicy policy) { policy_ = policy; }

  State() = default;
  State(State&&) = default;
  State& operator=(State&&) = default;

  std::uint64_t revision() const { return revision_; }
  // Grows with every event and plan that may let somebody through who waits: with all but those that only bring one more
  // who waits, or say why somebody does. These change his line.
  std::uint64_t news() const { return news_; }
  Seed seed() const { return seed_; }
  PlacementPolicy policy() const { return policy_; }
  const std::vector<TypicalPod>& typical_pods() const { return *typical_pods_; }
  std::uint64_t typical_pods_version() const { return typical_pods_version_; }

  const std::vector<Flavor>& flavors() const { return flavors_; }
  const std::vector<Queue>& queues() const { return queues_; }
  const Node& node(NodeId node) const { return (*nodes_)[node.index()]; }
  std::size_t nodes() const { return nodes_->size(); }
  const NodeTypes& node_types() const { return *node_types_; }
  // How its GPUs are cut into slices; nullptr where they are not.
  const MigGeometry* geometry_of(const Node& node) const;
  const Ledger& ledger() const { return ledger_; }
  const QuotaLedger& quotas() const { return quotas_; }
  // For a Trial alone.
  Ledger& ledger_for_trial() { return ledger_; }
  QuotaLedger& quotas_for_trial() { return quotas_; }

  // Time makes a difference: to what is promised, to budgets, to the past of queues and to idle floors, to somebody who waits
  // for it, to those who have to part, or to gangs that lose a member. Cycles have to be told how late it is.
  bool keeps_time() const {
    return !reservations_.empty() || !windows_->empty() || quotas_.budgets().has_any() || past_.counts() ||
           idle_.counts() || ledger_.has_cuts() || !failures_.none() || !wakes_.empty() || !partings_.none() ||
           repair_within_ > Duration{0} || !repairing_.empty() || !steps_.empty() || !max_waits_.empty() ||
           learns_runs_ || extends_limits_ || !failure_policies_.empty();
  }
  // The next moment at which somebody who waits may do more than before, by nothing but that it is later.
  Time next_wake() const {
    const Time next_rested = rests_.empty() ? kForever : rests_.begin()->first;
    return std::min({wakes_.empty() ? kForever : wakes_.begin()->first, next_reserved(), next_rested});
  }
  // What follows when members of this one, or of a step, fail or end; nullptr: it names nothing, and they are replaced.
  const FailurePolicy* failure_policy_of(WorkloadId workload) const {
    const auto found = failure_policies_.find(workload);
    return found == failure_policies_.end() ? nullptr : found->second.get();
  }
  // Who is to be ready first, and when; after WorkloadReady or NeverReady it is not any more.
  const std::set<std::pair<Time, WorkloadId>>& unready() const { return unready_; }
  Time next_unready() const { return unready_.empty() ? kForever : unready_.begin()->first; }
  // Who has waited longest for as long as it was to, and when that is over; it does not wait any more after MaxWaitPassed.
  const std::set<std::pair<Time, WorkloadId>>& max_waits() const { return max_waits_; }
  Time next_max_wait() const { return max_waits_.empty() ? kForever : max_waits_.begin()->first; }
  const std::vector<Window>& windows() const { return *windows_; }
  OpenWindows open_windows() const { return open_; }
  // When the next window opens or closes, as far as is known.
  Time next_turn() const { return next_turn_; }

  const PodRequest& request(RequestId request) const { return requests_[request.index()]; }
  std::size_t requests() const { return requests_.size(); }
  const Topologies& topologies() const { return topologies_; }
  // Of flavors in which somebody's floor comes in whole domains; and the levels of a queue's cells, one by one.
  FlavorSet flavors_with_cells() const { return flavors_with_cells_; }
  const std::vector<TopologyId>& levels_of_cells(QueueId queue) const { return levels_of_cells_[queue.index()]; }
  const Shape& shape(ShapeId shape) const { return shapes_[shape.index()]; }

  const WorkloadTable& workloads() const { return workloads_; }
  const Workload& workload(WorkloadId workload) const { return workloads_[workload]; }
  const Pod& pod(PodId pod) const { return pods_[pod.index()]; }
  const std::vector<Pod>& pods() const { return pods_; }
  const std::string& user_name(UserId user) const { return users_[user.index()]; }
  // None: nobody of that name ever submitted anything.
  UserId find_user(const std::string& name) const;
  // The lowest queue from this one upwards that is a trust boundary: named by a circle, or at the top.
  QueueId tenant_of(QueueId queue) const;
  // GPUs that are being cut anew, or will be when those have left who are on slices that go; of these, in order, the ones that nobody
  // holds up any more: each of them takes Node::recut.
  const std::set<Device>& being_cut() const { return being_cut_; }
  std::vector<Device> to_recut() const;
  // Those that were cut anew and stay as they are, by when that is over.
  const std::set<std::pair<Time, Device>>& resting() const { return rests_; }
  // How long a device is scrubbed that all have left; none: it is clean at once.
  Duration scrub() const { return scrub_; }
  // Which devices that is to be done with now: something is left there, and nobody is. In order.
  std::vector<Device> to_scrub() const;
  // Whether some pod is there, stopping or not.
  bool is_occupied(Device device) const;
  // Whether somebody waits or is there at the queue or below it.
  bool has_work(QueueId queue) const;
  // Those who run whom a change of trust has made strangers where they are. Whom labels have, or who was found so, is not among them.
  const Partings& partings() const { return partings_; }
  std::size_t running() const { return running_; }  // those that have room
  std::size_t pending() const { return pending_; }
  std::size_t movable() const { return movable_; }  // of those that have room, who consent to being moved
  std::size_t limited() const { return limited_; }  // and whose end is enforced, or who are there on loan
  // Those who are repaired, by number; what is known of one of them, nullptr: it lacks nobody.
  const std::map<WorkloadId, Repairing>& repairing() const { return repairing_; }
  const Repairing* find_repairing(WorkloadId workload) const {
    const auto found = repairing_.find(workload);
    return found == repairing_.end() ? nullptr : &found->second;
  }
  // What would be lost of a workload that has pods if it were stopped now, in GPU-microseconds: since its last checkpoint, and
  // while it is repaired in waiting.
  Wide lost_gpu_us(WorkloadId workload, Time now) const;
  // Elastic workloads that have not ended, by number, each with its steps: workloads of one pod that run beside it.
  const std::map<WorkloadId, std::vector<WorkloadId>>& elastic() const { return steps_; }
  const std::vector<WorkloadId>& steps_of(WorkloadId workload) const;
  // Itself, or of a step the workload beside which it runs.
  WorkloadId minimum_of(WorkloadId workload) const {
    const WorkloadId of = workloads_[workload].step_of;
    return of.is_none() ? workload : of;
  }
  // When its run limit ends it if it started at this moment: a step with its minimum.
  Time end_of(WorkloadId workload, Time started) const;
  // Those who migrate are among both, and those who are repaired and have room that others have yet to leave among the first.
  const std::vector<WorkloadId>& starting() const { return starting_; }
  const std::vector<WorkloadId>& stopping() const { return stopping_; }

  // The queue in whose line the workloads of `queue` wait.
  QueueId line_of(QueueId queue) const;
  // By queue; empty for a queue that shares its parent's line.
  const std::vector<std::optional<Line>>& lines() const { return lines_; }
  // Those in which somebody waits, by number.
  const SortedBlocks<QueueId>& lines_in_use() const { return lines_in_use_; }
  PendingKey key_of(WorkloadId workload) const;
  // The lowest queue from this one upwards that has nodes of its own; none.
  QueueId home_of(QueueId queue) const;
  // The lowest queue from this one upwards that is held; that is closed; none.
  QueueId held_at(QueueId queue) const;
  QueueId closed_at(QueueId queue) const;
  // It waits and stands in no line: its queue is held, or was closed when it came; or it is to start later, or after others.
  // So it costs no cycle anything, takes nothing and holds up nobody.
  bool is_kept_aside(WorkloadId workload) const;
  const Followers& followers() const { return followers_; }
  const SeriesTurns& series() const { return series_; }
  // From a moment on, when work on these terms may start by its hours: in them, and so that its run limit ends it before they are
  // over. kForever: at no moment that is known. And when the hours are over in which one runs that started then.
  Time hours_from(const Terms& terms, Time at) const;
  Time hours_end(const Terms& terms, Time started) const;
  // Those that run on loan, by number.
  const std::set<WorkloadId>& lent() const { return lent_; }
  // How long those ran that have ended, where queues give loans.
  const EndedRuns& ended_runs() const { return ended_runs_; }
  // So long such a run is, in as many of a hundred as its queue's loans ask; nothing: it has none, or too few have ended.
  std::optional<Duration> foretold_run(WorkloadId workload) const;
  // What is promised to those who wait for room, in the order in which it was; nullptr: nothing to this one.
  const std::vector<Shadow>& shadows() const { return shadows_; }
  const Shadow* shadow_of(WorkloadId workload) const;
  // What is promised for a time and is not over, by number; and what each of them has, as the last cycle chose it.
  const std::map<ReservationId, Reservation>& reservations() const { return reservations_; }
  const std::vector<HeldPlaces>& holdings() const { return holdings_; }
  const HeldPlaces* holding_of(ReservationId reservation) const;
  // One of its GPUs, as a pod of its tenant would have it. PRE: it is no maintenance.
  PodRequest reserved_gpu(const Reservation& reservation) const;
  // Moves that were asked for, and of which no cycle has decided yet; nullptr: none.
  const DefragmentationAsked* defragmentation() const { return defragmentation_ ? &*defragmentation_ : nullptr; }
  // Failed or drained, and not restored since; closed for maintenance that goes on.
  bool is_down(NodeId node) const { return down_.contains(node); }
  // How often nodes have failed of late.
  const NodeFailures& failures() const { return failures_; }
  bool is_maintained(NodeId node) const { return maintained_.contains(node); }
  // Nodes that are for repairs, and not closed otherwise; ascending.
  std::vector<NodeId> spares() const;
  // The number of the next.
  ReservationId next_reservation() const { return ReservationId(reservations_made_); }
  // Whether the queue is this one, or below it.
  bool is_below(QueueId queue, QueueId above) const;
  // After its room was taken by rule 13 or 14, its queue's cooldown later; long ago if it was not.
  Time borrows_again_at(WorkloadId workload) const;

  // The latest that a plan or TimePassed spoke of; and whether there is a queue whose past counts, so that it matters.
  Time clock() const { return clock_; }
  bool remembers() const { return past_.counts(); }
  // What the queue held above its floor, on average (state/past_use.h); empty where its past does not count.
  AmountsByDim past_use(QueueId queue, Time now) const { return past_.average(quotas_, queue, now); }
  // The same with the part of a step that has passed.
  AmountsByDim past_use_up_to(QueueId queue, Time now) const { return past_.up_to(quotas_, queue, now); }
  // What a state that begins now has to know of it; nothing where its past does not count.
  std::optional<PastUseKept> past_to_keep(QueueId queue, Time now) const { return past_.keep(quotas_, queue, now); }
  // Whether its idle floor is looked at; and what of its floor it has not used for so long, by dimension.
  bool looks_at_idle_floor(QueueId queue) const { return idle_.counts(queue); }
  AmountsByDim idle_floor(QueueId queue, Time now) const { return idle_.idle(quotas_, queue, now); }
  // What a state that begins now has to know of it; by dimension, and by time.
  std::vector<FloorUse> floor_use(QueueId queue, Time now) const { return idle_.held(quotas_, queue, now); }
  // What a workload that has pods has used in this attempt, in GPU-microseconds.
  Wide gpu_us_used_by(WorkloadId workload) const;
  // Of a queue that has one: with what those have used who are there.
  BudgetState budget_of(QueueId queue) const;
  // The same by budget and grants, in the order in which these came: what is used.
  std::vector<Wide> gpu_us_used_of(QueueId queue) const;

  // Whether rule 14 has taken its room since the last arrival, end or change of the fleet. In such a stretch that rule takes
  // it no more, and it takes by it only on the side that lost, so that no two give each other way for ever (rule 21).
  bool lost_to_a_share(WorkloadId workload) const { return workloads_[workload].lost_to_a_share_in == stretch_; }

  // The same history gives the same hash, with every compiler; it covers every event, every decision, and what is free,
  // but not the names of nodes and workloads, which decide nothing.
  std::uint64_t hash() const;

 private:
  State(const State&) = default;

  void on(const RunConfigured& event);
  void on(const FlavorAdded& event);
  void on(const TypicalPodsChosen& event);
  void on(const QueueAdded& event);
  void on(const NodesAdded& event);
  void on(const NodeFailed& event);
  void on(const NodeDrained& event);
  void on(const NodeRestored& event);
  void on(const NodeRelabelled& event);
  void on(const WorkloadSubmitted& event);
  void on(const WorkloadEnded& event);
  void on(const WorkloadCancelled& event);
  void on(const WorkloadFound& event);
  void on(const WorkloadStopped& event);
  void on(const CheckpointReported& event);
  void on(const PodEnded& event);
  void on(const LeavingFound& event);
  void on(const WorkloadOverran& event);
  void on(const QueueChanged& event);
  void on(const WorkloadPrioritized& event);
  void on(const WorkloadMoved& event);
  void on(const WindowChanged& event);
  void on(const TimePassed& event);
  void on(const CalendarTurned& event);
  void on(const GrantAdded& event);
  void on(const GpuTimeUsed& event);
  void on(const PastUseFound& event);
  void on(const GpuTimeCounted& event);
  void on(const GpuTimeMissed& event);
  void on(const RoomGivenBack& event);
  void on(const FloorUseFound& event);
  void on(const PastUseKept& event);
  void on(const TrustChanged& event);
  void on(const ScrubChosen& event);
  void on(const DeviceScrubbed& event);
  void on(const RepairChosen& event);
  void on(const PodFailed& event);
  void on(const PodsEvicted& event);
  void on(const RepairGivenUp& event);
  void on(const ReservationAdded& event);
  void on(const ReservationRemoved& event);
  void on(const ReservationTimesTold& event);
  void on(const MaxWaitPassed& event);
  void on(const DefragmentationAsked& event);
  void on(const SlicesRecut& event);
  void on(const CutFound& event);
  void on(const NodeFailureFound& event);
  void on(const WorkloadReady& event);
  void on(const NeverReady& event);
  void on(const LimitExtended& event);
  void on(const NodeImagesChanged& event);

  void set_open(NodeId node, bool takes_work, AmountsByDim& counted);
  void set_open(NodeId node, bool takes_work);
  void count_slices(NodeId node, std::int64_t sign, std::size_t from, AmountsByDim& counted) const;
  Time next_reserved() const;
  void pass_reservations();
  void drop_reservation(ReservationId reservation);
  void note(const std::vector<Interval>& times);
  void maintain();
  void reopen(NodeId node);
  void hold(const std::vector<HeldPlaces>& holdings);
  AmountsByDim capacity() const;
  // What the queue and those above it hold is about to change.
  void note_what_was_held(QueueId queue);
  void turn_calendar();
  void rebuild_quotas(AmountsByDim capacity);
  AmountList held_by(WorkloadId workload) const;
  ShapeId intern_shape(const WorkloadShape& shape);
  template <class Change>
  void change_requests(Shape& shape, Change change);
  void tell_whose_parts(Workload& workload);
  void tell_whose_domains(const WorkloadSubmitted& event, Workload& workload);
  std::uint32_t number_as_owner(WorkloadId id, WorkloadId at_home_with, const std::string& part);
  void forget_failures();
  void look_at_exclusives();
  void look_at_tenants(NodeId node);
  void know_who_reserves();
  void let_part_by(Time part_by, const Trust& trust_before, const TenantDomains& domains_before);
  void drop_partings(WorkloadId workload);
  void break_down(Device device);
  void cut_anew(const Repartition& decision);
  void end_rests();
  void open_mended(NodeId node);
  std::int64_t gpu_milli_of(const Pod& pod) const;
  NodeConstraintsId number(const NodeConstraints& constraints);
  TopologyId number(const Topology& topology);
  NeighboursId number(const Neighbours& neighbours);
  void start(const Start& start, Time now, std::span<const std::uint32_t> lost = {});
  void take_places(const Start& start, std::span<const std::uint32_t> lost = {});
  void leave(const Migration& migration, Time now);
  void move_to(const Migration& migration, Time now);
  void leave_old_places(WorkloadId workload);
  void begin(WorkloadId workload, Time now);
  void evict(const Eviction& eviction, Time now);
  void stop(WorkloadId workload, Time stop_by);
  void give_room_back(WorkloadId workload);
  void give_room_back(const Pod& pod);
  void lose_room_to_come(WorkloadId workload);
  void migrates_without(WorkloadId workload, NodeId node);
  void note_lost_node(WorkloadId workload);
  void back_off(WorkloadId workload);
  static void back_off(Workload& workload, const BackOff& before, Time now);
  void wait_out(WorkloadId workload, Duration first, int times);
  void follow_policy(WorkloadId workload, const std::optional<FailurePolicy>& policy);
  template <class IsLost>
  MemberAction what_follows(WorkloadId workload, IsLost is_lost, std::optional<std::int32_t> exit_code) const;
  std::size_t set_of(WorkloadId workload, std::uint32_t pod) const;
  void lose_failed(const PodFailed& event);
  void lose_evicted(const PodsEvicted& event);
  bool follow_lost_node(WorkloadId workload, NodeId node);
  template <class IsLost>
  bool follow_eviction(WorkloadId workload, IsLost is_lost, bool backs_off);
  bool retry(WorkloadId workload, Failure otherwise);
  void restart_after_failure(WorkloadId workload, EvictionRule rule);
  void restart(WorkloadId workload, EvictionRule rule);
  void fail(WorkloadId workload, Failure failure);
  std::uint32_t end_pod(const PodEnded& event);
  bool is_complete(WorkloadId workload, std::size_t set) const;
  void ask_whether_ready(WorkloadId workload, Time from);
  void ask_no_more(WorkloadId workload);
  template <class IsLost>
  void lose_members(WorkloadId workload, IsLost is_lost);
  void lose_on(NodeId node, WorkloadId workload);
  template <class IsLost>
  void lose(WorkloadId workload, IsLost is_lost, std::optional<Time> stop_by = {});
  void stop_for_a_loss(WorkloadId workload);
  template <class IsLost>
  void let_steps_stand_in(WorkloadId minimum, IsLost is_lost);
  void stop_steps(WorkloadId minimum);
  void end_steps(WorkloadId minimum, Phase phase);
  void resize(WorkloadId minimum, bool smaller);
  void prioritize(WorkloadId workload, std::int32_t priority);
  void move_to_queue(WorkloadId workload, QueueId queue);
  void repair(const Repair& repair, Time now);
  void join(WorkloadId workload, Time now);
  void count_waiting(WorkloadId workload);
  void give_up_those_to_come(WorkloadId workload);
  PodId& link_before(WorkloadId workload, std::uint32_t number);
  void count_for_nothing(WorkloadId workload);
  void end(WorkloadId workload, Phase phase, bool done);
  void forget_pods(WorkloadId workload);
  void forget_pods_from(PodId& first);
  void wait_again(WorkloadId workload);
  void enqueue(WorkloadId workload);
  void dequeue(WorkloadId workload);
  bool users_matter(QueueId queue) const;
  void dedicate();
  void go_home(Shape& shape, QueueId home);
  void forget_shadow(WorkloadId workload);
  void promise(const std::vector<Shadow>& shadows);
  void retry_who_stands_back();
  void know_as_it_waits(WorkloadId workload);
  void follow(WorkloadId workload, const std::vector<Dependency>& after);
  void tell_followers(WorkloadId workload, Followers::News news);
  void take_turns(WorkloadId workload, SeriesId series, std::int32_t at_most);
  void have_turns(const std::vector<WorkloadId>& workloads);
  void wait_at_most(WorkloadId workload, const std::optional<MaxWait>& max_wait);
  void forget_max_wait(WorkloadId workload);
  bool is_too_early(WorkloadId workload) const;
  void wake_in_time(WorkloadId workload);
  void retry_who_keeps_hours(std::uint32_t window);
  void learn_run(WorkloadId workload);
  void look_for_foresight();
  void foretell_end(WorkloadId workload);
  void lend(WorkloadId workload, Time until);
  void take_back_loan(WorkloadId workload);
  void take_loans_back_for(Time promised);
  void wake_who_is_lent(WorkloadId workload, Time promised);
  void wake();
  std::vector<WorkloadId> waiting_below(QueueId queue) const;
  void number_cells(QueueId queue);
  void add_to_history(const Queue& queue);
  void add_to_history(const Labels& labels, const std::vector<Taint>& taints);
  PodId new_pod(const Pod& pod);
  void count_types(const std::vector<Node>& nodes);
  void retry_the_impossible();
  template <class Asks>
  void retry_who(Asks asks);
  void retry_who_waits_for_room();
  void retry_who_asks_for_domains();
  void retry_who_is_spread_evenly();
  void retry_who_looks_at(const PodRequest& counted);
  // Runs `change`, which may free room on `node`, and counts that room for every blocked shape.
  template <class Change>
  void freeing(NodeId node, Change change);

  std::uint64_t revision_ = 0;
  std::uint64_t news_ = 1;
  Hasher history_;
  Seed seed_;
  PlacementPolicy policy_ = PlacementPolicy::kBestFit;
  // Behind shared pointers stands what changes rarely, so that forks need not copy it; a change makes a new one, unless
  // nobody else has this.
  std::shared_ptr<const std::vector<TypicalPod>> typical_pods_ = std::make_shared<const std::vector<TypicalPod>>();
  std::uint64_t typical_pods_version_ = 0;
  std::shared_ptr<std::vector<Node>> nodes_ = std::make_shared<std::vector<Node>>();
  std::shared_ptr<const NodeTypes> node_types_ = std::make_shared<const NodeTypes>();
  std::shared_ptr<const std::vector<Window>> windows_ = std::make_shared<const std::vector<Window>>();
  OpenWindows open_ = 0;
  std::vector<Turn> later_;  // the first to each other set of open windows
  Time next_turn_ = kForever;
  std::vector<Flavor> flavors_;
  std::vector<Queue> queues_;
  Ledger ledger_;
  QuotaLedger quotas_;
  PastUse past_;
  IdleFloors idle_;
  Time clock_;
  InternTable<PodRequest, digest_of> requests_;
  Topologies topologies_;
  std::vector<std::vector<TopologyId>> levels_of_cells_;  // by queue
  FlavorSet flavors_with_cells_;
  InternTable<Shape, digest_of> shapes_;
  InternTable<std::string, digest_of> users_;
  WorkloadTable workloads_;
  std::vector<Pod> pods_;
  std::vector<PodId> free_pods_;
  std::vector<std::optional<Line>> lines_;
  SortedBlocks<QueueId> lines_in_use_;
  std::vector<std::int64_t> room_before_;  // scratch of freeing()
  std::uint64_t stretch_ = 1;
  std::vector<WorkloadId> starting_;
  std::vector<WorkloadId> stopping_;
  // When to look again at who waits for time to pass. Some have no need of it any more by then.
  std::set<std::pair<Time, WorkloadId>> wakes_;
  Followers followers_;
  SeriesTurns series_;
  std::set<std::pair<Time, WorkloadId>> max_waits_;
  std::map<WorkloadId, std::shared_ptr<const FailurePolicy>> failure_policies_;  // of those that are not over
  std::set<std::pair<Time, WorkloadId>> unready_;
  EndedRuns ended_runs_;
  bool learns_runs_ = false;     // some queue gives loans, or looks ahead
  bool extends_limits_ = false;  // the same
  std::set<WorkloadId> lent_;    // who runs on loan
  std::vector<Shadow> shadows_;
  std::map<ReservationId, Reservation> reservations_;
  std::vector<HeldPlaces> holdings_;
  std::size_t reservations_made_ = 0;
  std::optional<DefragmentationAsked> defragmentation_;
  // Whose each number in the ledger's exclusive domains is, and of whoever is at home with them; empty: nobody's now.
  struct ExclusiveOwner {
    std::vector<WorkloadId> workloads = {};
    std::string part = {};  // of each of them
  };
  std::vector<ExclusiveOwner> exclusive_owners_;
  NodeFailures failures_;
  std::set<NodeId> down_;        // failed or drained, and not restored since
  std::set<NodeId> maintained_;  // closed for a time that goes on
  Partings partings_;
  std::set<Device> being_cut_;
  std::set<std::pair<Time, Device>> rests_;
  std::map<WorkloadId, Repairing> repairing_;
  std::map<WorkloadId, std::vector<WorkloadId>> steps_;  // by minimum
  Duration repair_within_{0};
  Duration scrub_{0};
  std::size_t running_ = 0;
  std::size_t pending_ = 0;
  std::size_t movable_ = 0;
  std::size_t limited_ = 0;
};

// Calls visit(pod) for the pods of a running workload, in the order of its pod sets.
template <class Visit>
void for_each_pod(const State& state, WorkloadId workload, Visit visit) {
  for (PodId at = state.workload(workload).first_pod; !at.is_none(); at = state.pod(at).next) visit(state.pod(at));
}

// Those of one who runs or is told to stop, where it is: while it migrates, in the places that it leaves.
template <class Visit>
void for_each_leaving_pod(const State& state, WorkloadId id, Visit visit) {
  const Workload& workload = state.workload(id);
  const PodId first = workload.phase == Phase::kMigrating ? workload.first_leaving : workload.first_pod;
  for (PodId at = first; !at.is_none(); at = state.pod(at).next) {
    if (!state.pod(at).comes) visit(state.pod(at));
  }
}

// Those who have room and are not there yet, of one of State::starting().
template <class Visit>
void for_each_coming_pod(const State& state, WorkloadId id, Visit visit) {
  const bool all = state.workload(id).phase != Phase::kRunning;
  for_each_pod(state, id, [&](const Pod& pod) {
    if (all || pod.comes) visit(pod);
  });
}

}  // namespace berth
