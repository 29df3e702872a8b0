// The engine kept true to API objects: facts about queues, flavors, nodes, pods and disruption budgets go in, in any order;
// what to bind, whom to evict, what to tell and what to take back comes out. No threads, clocks or sockets: a test plays
// the API server.
//
// Pods that must start together are one workload, while they wait and while they run; each gives back its place when it
// ends. A gang that loses a pod keeps its place for the one that is made anew (live_engine_repairs.cc); who joins later
// than that is a workload of its own. An evicted workload is over when its
// pods are gone: what comes in their place is submitted anew. What cannot be told to the engine as one more event (a
// machine that is gone or another, a queue that changed) makes it anew from all facts, which is also what a restart does.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/time.h"
#include "manifest/window_times.h"
#include "model/calendar.h"
#include "model/gpu_hardware.h"
#include "service/asked_moves.h"
#include "service/circle_facts.h"
#include "service/facts.h"
#include "service/reservation_facts.h"
#include "service/round.h"
#include "sim/asked_kinds.h"
#include "sim/session.h"

namespace berth {

// Whether what is left on GPUs is made clean when all have left, and somebody on the node says when.
enum class Scrubs : std::uint8_t { kNone, kByNodes };

class LiveEngine {
 public:
  // Called for each new life of the engine; what it returns records that life.
  using NewJournal = std::function<Session::Recorder()>;
  explicit LiveEngine(Seed seed, PlacementPolicy policy = PlacementPolicy::kBestFit, NewJournal new_journal = nullptr,
                      Scrubs scrubs = Scrubs::kNone);

  // So late it is: what is set from now on happened then. Windows that open or close until then do so.
  void it_is(Time now);

  void set_queue(const QueueFacts& queue);
  void remove_queue(const std::string& name);
  void set_flavor(const FlavorFacts& flavor);
  void remove_flavor(const std::string& name);
  // Those of Kueue, all of them; of two of one name Berth's own holds.
  void set_other_flavors(std::vector<FlavorFacts> flavors);
  void set_circle(const CircleFacts& circle);
  void remove_circle(const std::string& name);
  void set_reservation(const ReservationFacts& reservation);
  void remove_reservation(const std::string& name);
  void set_budget(const BudgetFacts& budget);
  void remove_budget(const std::string& name_space, const std::string& name);
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
  // Whatever stands in such an object, or whether there is one: how its group stands is told anew, if there is one.
  void tell_workload_anew(const WorkloadKey& workload);
  // Takes out those of which there are pods, be it that they have ended.
  void leave_out_workloads_of_groups(std::set<WorkloadKey>& workloads) const;
  // How many groups have lost their last pod.
  std::size_t groups_gone() const { return groups_gone_; }
  // Moves that somebody was shown are asked for at the next decision, which says what came of them; of those asked for before, no more.
  void ask_for_moves(AskedMoves asked) { asked_moves_ = std::move(asked); }
  // The pods of those who run as they are to be, and may be moved by name; each in the order of its pods.
  std::map<WorkloadId, std::vector<PodName>> pods_of_runs() const;

  // The engine begins a new life at the next decision, and with it a new journal.
  void begin_anew() { anew_ = true; }

  // Folds in what was set, and decides.
  Round decide(Time now);

  std::map<std::string, QueueStanding> queue_standings();
  // By name. PRE: the engine has decided since the last change.
  std::map<std::string, CircleStanding> circle_standings() const;
  // By name.
  std::vector<ReservationStanding> reservation_standings(Time now);
  // By queue, and by LocalQueue ("NAMESPACE/NAME"); of whom there is no work is left out.
  const std::map<std::string, Holding>& holdings_by_queue();
  const std::map<std::string, Holding>& holdings_by_door();
  // Of the engine's present life; none: there is no such flavor.
  std::optional<FlavorId> flavor_named(const std::string& name) const;
  // What the queue holds above its floor in thousandths of the cluster, over its weight, rounded down; none where no queue has
  // a floor, or there is no such queue.
  std::optional<std::int64_t> share_milli(const std::string& queue) const;
  // What is true of the queue; none where there is none.
  const std::vector<QueueCondition>& conditions_of(const std::string& queue) const;
  // Pods that hold more than their node has, or whose node there is not: with the reason.
  std::map<std::string, std::string> pods_without_room() const;
  // How many pods of who is moved its state counts as there, and have gone before the last of them, or have yet to be made.
  std::size_t pods_not_there() const;
  // Those of which something is of no use.
  std::map<std::string, NodeNews> nodes_left_out() const;
  const State& state() const { return session_->state(); }
  // Who waits in the engine, and how people call him: "NAMESPACE/NAME" of a pod that is alone, else its group.
  std::vector<std::pair<WorkloadId, std::string>> who_waits() const;
  // The same by the first of its pods, and how those are called who run.
  std::vector<std::pair<WorkloadId, PodName>> first_pods_waiting() const;
  std::map<WorkloadId, std::string> who_runs() const;
  // The same of those who wait.
  std::map<WorkloadId, std::string> who_waits_in_words() const;
  // The runs that have ended since this was asked last, up to the last 10,000.
  std::vector<EndedRun> take_ended_runs() { return std::exchange(ended_runs_, {}); }
  // Of how much it knows anything beside its state: pods, groups and what is to be done about them.
  std::size_t remembered() const;

 private:
  struct Member {
    PodFacts facts;
    std::string group;
    std::uint64_t sequence = 0;  // of arrival
    WorkloadId running;          // of runs_; none: it holds no place and is not about to leave one
    std::string node;            // where it holds one
    GivenGpus given;
    std::optional<Time> stop_by;        // it was told to leave it
    bool confirmed = false;             // the API server says so too
    bool refused = false;               // its last binding was
    bool was_ready = false;             // once, or when it was found its time was over
    bool node_failed = false;           // the node on which it is or was, and has not come back before it left
    std::optional<std::uint32_t> rank;  // among those with whom it started; none: it started alone
    bool stands_in = false;             // it was given the place of one that its gang had lost
    bool best_effort = false;           // a budget had not enough left for it
    bool beyond_promise = false;  // found so: of CPUs and memory that its node promised more than once it has none
    bool only_borrows = false;    // it was given its place on others' whole domains
    std::string leaves_for;       // the reservation that it was evicted for
    std::string told;
    Time told_at;
    bool telling = false;            // it is on its way
    bool tell_more = false;          // and what there is to tell has changed since
    std::optional<AskedKind> asked;  // as which it counts among the typical pods; none: it does not
  };
  // A run that stops where it is and has its room elsewhere already. In the order of the workload's pods.
  struct Moving {
    std::string maker;  // what makes other pods in their place: those of its group, or of what controls it
    std::vector<PodFacts> asked;
    std::vector<std::pair<std::string, GivenGpus>> places;  // node, and what of it
    std::vector<std::string> heirs;  // uids of those made in their place; empty: not all are there
    std::optional<Time> until;       // its room is free; without heirs it is given up then
  };
  // A member that a run has lost, and in whose place what made it makes another.
  struct Vacancy {
    std::uint32_t number = 0;  // of the workload's pod
    PodFacts asked;
    std::string heir = {};                // uid of who is to be in its place; none: nobody has been made yet
    std::optional<Time> kept_until = {};  // without an heir; none: that has yet to be said
  };
  // Pods that were given their places together, or were found to run together.
  struct Run {
    std::vector<std::string> uids;       // of those that have not ended, in the order of the workload's pods
    std::vector<std::uint32_t> numbers;  // of these, ascending: which of the workload's pods each is
    bool starting = false;               // its room is its own, and others have yet to leave it: nothing is bound
    std::optional<Time> stop_by;         // it was evicted, or is moved
    std::optional<Moving> moving;
    std::vector<Vacancy> vacancies = {};  // only while it runs
  };
  struct Group {
    std::set<std::uint64_t> members;                // by sequence
    WorkloadId pending;                             // none: nothing of it waits in the engine
    std::vector<std::string> submitted;             // its pods in the order of the workload's pod sets
    std::string unsubmitted_code, unsubmitted_why;  // why nothing waits in the engine
    bool refused = false;                           // the engine takes nothing of it in as it is now
    bool given_up = false;                          // it has waited for as long as it was to, and is being ended
    std::optional<Time> partial_since;
    std::optional<Time> whole_by;  // it has lost some: until then others are to be in their place
    std::optional<WorkloadPhase> told_phase;
    std::string told_queue;
    std::int64_t told_size = 0;
    std::string told;
    std::optional<Shortfall> told_shortfall;
    Time told_at;
    std::optional<NetworkUse> network;                                // as these many pods of these have it
    std::pair<std::vector<WorkloadId>, std::size_t> network_of = {};  // ascending
    std::optional<NetworkUse> told_network;
    std::string evicted_why;  // of the last eviction
    bool telling = false, tell_more = false;
  };
  // What the members of a group amount to.
  struct Tally {
    std::vector<Member*> waiting;   // in the order of arrival
    std::vector<Member*> heirs;     // wait for the place of one that is lost
    std::vector<Member*> starting;  // have their room, and wait until others have left it
    std::int64_t placed = 0;        // those that start too
    std::int64_t leaving = 0, succeeded = 0, failed = 0, size = 1;
    const PodFacts* first = nullptr;
    std::optional<Time> first_bound_at;

    // So many more are to have places.
    std::int64_t lacks() const { return size - placed - succeeded; }
  };

  void touch(const std::string& group);
  void forget_counts();
  void count_anew();
  struct Counted {
    std::string queue, door;
    Holding holding;
  };
  Counted counted_of(const std::string& key) const;
  Holding holding_of(const Group& group) const;

  void tell_asked_moves();
  std::optional<MoveAsked> move_of(const AskedMove& move) const;
  void note_moves_decided(const Plan& plan, Round& round) const;

  void rebuild(Time now);
  void add_flavors();
  std::vector<Flavor> declared_and_of_nodes() const;
  std::string model_of_cut_nodes(const std::string& flavor) const;
  bool is_of_its_flavor(const NodeFacts& node) const;
  void note_left_out_flavors(Time now);
  void add_queues();
  Quota quota_of(const QueueFacts& queue) const;
  void close_other_flavors(Quota& quota) const;
  AmountList amounts_of(const std::vector<FlavorAmount>& amounts) const;
  QueueId add_queue(const std::string& name, std::set<std::string>& on_the_way);
  void add_new_nodes(Time now);
  // The one that is declared for such nodes, the most exactly if there are several; else the one of its GPU model.
  std::string flavor_name_of(const NodeFacts& node) const;
  std::vector<const FlavorFacts*> declared_flavors() const;
  std::optional<std::vector<FlavorId>> flavors_of(const PodFacts& pod) const;
  std::string why_no_flavor(const PodFacts& pod) const;
  std::string of_unused_slices(const std::string& profile) const;
  std::string why_no_slice(const PodFacts& pod, const std::string& models) const;
  std::string of_named_slices() const;
  std::optional<PodRequest> request_of(const PodFacts& pod, FlavorId flavor) const;
  PodRequest request_in(const PodFacts& pod, const std::vector<FlavorId>& flavors, FlavorId flavor) const;
  std::string of_modes(Sharing asked) const;
  std::int64_t memory_of(FlavorId flavor) const;
  std::int64_t memory_most_of(FlavorId flavor) const;
  bool lowers_memory(const NodeFacts& node) const;
  bool raises_memory(const NodeFacts& node) const;
  Terms terms_of(const std::vector<Member*>& members) const;
  // What one life of the engine has to know of the last one, and of those before it.
  void remember();
  void tell_what_was_before(Time now);
  void tell_windows(Time now);
  std::optional<std::uint32_t> hours_of(const PodFacts& pod, Time now, std::string& why_not);
  SeriesId series_of(const PodFacts& pod);
  void end_waits(Time now);
  void give_up(WorkloadId waiting, const MaxWait& waited);
  bool tell_window(std::size_t number, Time now);
  void tell_floor_use();
  std::optional<FloorRecord> floor_record_of(QueueId queue) const;
  std::optional<Dim> dim_named(const FlavorAmount& amount) const;
  // Of slices; else nothing.
  std::string profile_named(Dim dim) const;
  void tell_past(const std::string& name, const QueueRecord& record);
  void tell_budget(const std::string& name);
  std::vector<FlavorAmount> by_name(const AmountList& amounts) const;
  void tell_what_was_missed(Time now);
  void note_gave_back(const std::string& controller, const std::string& queue, Time at);
  void forget_cooled_down(Time now);
  void note_who_borrows_again();
  void forget_shape_of(WorkloadId pending, const std::string& key);
  void cool_down(WorkloadId submitted, const PodFacts& first);
  Duration cooldown_of(const std::string& queue) const;
  void note_cooling_down(std::map<std::string, QueueStanding>& standings) const;
  void note_tries(std::map<std::string, QueueStanding>& standings) const;
  void note_condition(const std::string& queue, QueueCondition condition);
  void note_stops(Time now);
  std::optional<Time> drained_since(const std::string& queue) const;
  bool came_after_the_drain(const PodFacts& pod) const;
  bool needs_a_new_life(const std::string& key, Time now);
  void drain_queues();

  // Circles of trust: live_engine_trust.cc.
  struct LiveCircle {
    CircleFacts facts;
    bool gone = false;               // there is no such object any more
    std::vector<std::string> holds;  // who trusts each other now; at first, who did when the last scheduler ended
    Apart apart;                     // how far they are kept from strangers; the same
    std::vector<EndedTrust> ended;
    std::vector<QueueCondition> conditions;
  };
  std::vector<std::string> may_hold(const LiveCircle& circle) const;
  std::vector<std::string> to_hold(const LiveCircle& circle) const;
  bool is_one_too_many(const LiveCircle& circle) const;
  bool can_be_tenant(const std::string& queue) const;
  bool hold(LiveCircle& circle, Time now);
  Apart to_keep_apart(const LiveCircle& circle) const;
  bool keep_apart(LiveCircle& circle, Time now);
  bool some_keep_apart() const;
  void give_up_starts_among_strangers(const TrustChanged& changed);
  void tell_circles(const std::vector<const EndedTrust*>& still, Time part_by);
  void tell_who_trusted(Time now);
  void tell_who_has_to_part();
  void settle_circles(Time now);
  void forget_who_parted();
  void note_parting();
  void note_circle(LiveCircle& circle, Time now) const;
  std::optional<QueueId> queue_named(const std::string& name) const;

  // What is promised for a time: live_engine_reservations.cc.
  struct LiveReservation {
    ReservationFacts facts;
    ReservationId id;  // of the engine's present life; none: it is not one there, or
    Obstacle why_not;  // nobody is told why: it is over
    std::optional<Time> held_from;
    std::vector<NamedGpus> held;  // when it began, or begins, at that time: of the last life, or of the last scheduler
    std::vector<QueueCondition> conditions;
  };
  static std::pair<Time, std::string_view> age_of(const ReservationFacts& facts);
  void remove_reservation(const std::string& name, const ReservationFacts& facts);
  void cancel(LiveReservation& reservation);
  bool is_maintained(const std::string& node) const;
  void remember_reservations();
  std::vector<NamedGpus> held_by(ReservationId id) const;
  void tell_reservations(Time now);
  void tell_reservation(LiveReservation& reservation, Time now);
  void tell_later_times(Time now);
  std::optional<ReservationAdded> reservation_of(const ReservationSpec& spec, Time now, Obstacle& why_not) const;
  std::string nodes_lacking_in_words(const ReservationSpec& spec) const;
  std::vector<GpusOfNode> places_of(const std::vector<NamedGpus>& held, FlavorId flavor) const;
  void give_up_starts_on_closed_nodes(const Reservation& reservation, Time now);
  ReservationStanding standing_of(LiveReservation& reservation, Time now) const;
  void note_places(const Reservation& now_so, LiveReservation& reservation, Value& status, Time now) const;
  static void note_short(LiveReservation& reservation, std::int64_t gpus, Time now);
  static std::string in_words(const ReservationSpec& spec, Time drains_at);
  std::vector<std::string> who_leaves_for(const std::string& reservation) const;
  std::string reservation_in_words(ReservationId id) const;

  // What is left on GPUs: live_engine_scrubs.cc.
  GpuRecords records_of(const std::string& node) const;
  void note_records(const NodeFacts& node);
  std::set<std::tuple<std::string, int, std::string>> who_is_there() const;
  void tell_what_is_left(const std::vector<std::string>& nodes, Time now);
  bool leave_behind(Device device, const std::string& tenant, Time now);
  void note_use(const Member& member);
  void settle_scrubs();
  void settle_quarantine(const std::string& name);
  void ask_for_scrubs();
  std::string failed_scrubs_of(const std::string& node) const;
  std::vector<NodeUses> uses_to_write();

  // Nodes whose GPUs are cut anew: live_engine_cuts.cc.
  void note_cut(const NodeFacts& node);
  const NodeLayout* layout_asked(const std::string& node) const;
  Time rests_until(const std::string& node) const;
  void tell_cut(const std::string& name);
  void settle_cuts(Time now);
  void settle_cut(const std::string& name, NodeCut& cut, Time now);
  void end_cut(const std::string& name, NodeCut& cut, Time now);
  void fail_cut(const std::string& name, NodeCut& cut, const std::string& why, Time now);
  void tell_of_cut(const std::string& name, std::string reason, std::string text);
  void ask_for_cuts(Time now);
  std::optional<Time> next_cut_moment(Time now) const;
  std::string of_failed_cuts(Time now) const;

  // What is usually asked for: live_engine_typical.cc.
  std::optional<AskedKind> kind_asked_by(const PodFacts& pod) const;
  void note_asked(Member& member);
  void forget_asked(Member& member);
  void count_asked_anew();
  void learn_typical_pods();

  void settle(Time now);
  std::vector<std::string> take_unsettled();
  void place_found(Time now);
  bool holds_otherwise(const Member& member) const;
  void close_what_is_held_otherwise();
  bool takes_work(const NodeFacts& node) const {
    return node.open && !held_otherwise_.contains(node.name) && !cut_unknown_.contains(node.name);
  }
  bool find_places(const std::vector<Member*>& members, const std::vector<Member*>& heirs, Time now,
                   std::string& why_not);
  bool is_found_beyond_the_promise(Member& member, Time now, std::string& why_not);
  const std::optional<NetworkUse>& network_use_of_group(Group& group) const;
  std::optional<NamedSlice> slice_on(const NodeFacts& node, const std::string& profile) const;
  static std::optional<NamedSlice> slice_in(const PodFacts& pod, const Flavor& flavor);
  std::int64_t memory_given(const PodFacts& pod, FlavorId flavor) const;
  std::string profile_on(const std::string& node, const PodFacts& pod) const;
  PodRequest holds_on(const std::string& node, const PodFacts& pod) const;
  PodRequest vgpu_on(const std::string& node, PodRequest request) const;
  bool overcommits_cpus(const std::string& node) const;
  GivenGpus given_at(const PodPlacement& place, const PodFacts& pod) const;
  static const std::string& where(const Member& member);
  WorkloadFound found_as(const std::vector<Member*>& members, const std::vector<Member*>& heirs, Time now,
                         std::vector<Member*>& in_order);
  void settle_group(const std::string& key, Time now);
  Tally tally(const Group& group);
  const PodFacts* first_of(const Group& group) const;
  // The code and text of what keeps a group from the engine; empty code: nothing does.
  std::pair<std::string, std::string> obstacle(const Tally& tally) const;
  void note_failure(const NodeFacts& node);
  void note_who_is_on(const NodeFacts& node);
  void tell_failures(const std::string& name);
  WorkloadId one_at_work(const Group& group) const;
  const Member* one_that_runs(const Group& group, const PodFacts& pod) const;
  bool are_alike(const PodFacts& a, const PodFacts& b) const;
  // Which domains of its gang are its own; empty: those of all who name no pod set.
  static std::string part_of(const PodFacts& pod) { return pod.exclusive_level.empty() ? std::string() : pod.pod_set; }
  static std::tuple<bool, std::int64_t, std::int64_t> rank_order(const Member* member) {
    const PodFacts& pod = member->facts;
    return {!pod.leads, pod.job_number, pod.number};
  }
  static bool asks_the_same(const PodFacts& a, const PodFacts& b);
  static bool may_stand_in(const PodFacts& heir, const PodFacts& lost);
  void note_who_is_selected(const Neighbours& asked);
  Neighbours neighbours_of(const PodFacts& pod) const;
  PodSet set_of(const Group& group, const PodFacts& pod, const PodRequest& request, std::size_t pods) const;
  std::vector<PodSets> ways_of(const Group& group, const std::vector<Member*>& members,
                               std::vector<std::string>& uids) const;
  // Of a node's images those that some pod has asked.
  std::vector<NodeImage> images_of(const NodeFacts& node) const;
  void tell_images(NodeId id, const NodeFacts& node);
  void note_images(const PodFacts& pod);
  void count_images(const std::vector<NodeImage>& images, std::int64_t more);
  void change_node(NodeId id, const NodeFacts& before, const NodeFacts& now);
  void submit(const std::string& key, Group& group, const Tally& tally, Time now);
  void withdraw(Group& group);
  static bool is_partial(const Tally& tally);
  void note_partial(const std::string& key, Group& group, const Tally& tally, Time now);
  void carry_out(const Plan& plan, Round& round, Time now);
  void take(const Start& start);
  void bind(WorkloadId run, Round& round);
  void rank_who_begins(const Run& run);
  void rank_who_comes(const Run& run, const std::vector<std::string>& heirs);
  std::optional<Rendezvous> rendezvous_of(const Run& run) const;
  void tell_rendezvous(const Run& run, const std::vector<std::string>& heirs, Round& round) const;
  void bind_member(Member& member, WorkloadId id, const std::string& coverage,
                   const std::optional<Rendezvous>& rendezvous, Round& round);

  // Gangs that lose pods: live_engine_repairs.cc.
  bool is_made_anew(const Member& lost) const;
  void settle_losses(Time now);
  void settle_losses_of(WorkloadId id, const std::string& key, Time now);
  bool heirs_are_well(const Run& run, const std::string& key) const;
  std::int64_t vacancies_of(const std::string& key) const;
  void let_go(WorkloadId id, const Vacancy& vacancy);
  bool let_go_of_some(WorkloadId id, std::int64_t count);
  std::vector<std::uint32_t> name_heirs(WorkloadId id, std::vector<Member*>& waiting);
  void keep_places(WorkloadId id, Time whole_by, Time now);
  void tell_losses(WorkloadId id, const std::vector<std::uint32_t>& numbers, Time by, Time now);
  void fill(WorkloadId id, Round& round);
  void forget_vacancies(WorkloadId id);
  void give_up_repairs(Round& round, Time now);
  void give_up_repair(WorkloadId id, Round& round, Time now);
  std::vector<Member*> who_stand_in(const std::string& key, const std::vector<Member*>& found);
  std::string node_it_counts_at(const Member& heir, const std::vector<Member*>& found) const;
  bool is_repaired_anew(const std::string& key, const Group& group, const Tally& tally, Time now) const;
  static bool may_join(const Member& waiting, const PodFacts& gang);
  void forget_other_losses();
  bool lacks_some(const std::string& key) const;
  void forget_who_went_first(Time now);
  std::string repairing_in_words(WorkloadId id) const;
  void evict(const Eviction& eviction, Round& round, Time now);
  void tell_to_stop(const Run& run, const std::string& why, Round& round, Time now);
  bool unbind(const Run& run, Round& round) const;
  void move(const Migration& migration, Round& round, Time now);
  void begin(WorkloadId run, Round& round, Time now);
  void leave_old_place(Member& member);
  bool has_room_already(const Group& group, const Tally& tally);
  std::vector<std::string> heirs_among(const Moving& moving, const std::vector<Member*>& waiting) const;
  void move_in(WorkloadId run, std::vector<std::string> heirs);
  void forget_move(WorkloadId run);
  void give_up_moves(Time now);
  std::string move_in_words(const Migration& migration) const;
  Holding holding_on_its_way(const std::string& maker) const;
  std::string eviction_in_words(const Eviction& eviction) const;
  std::string coverage_in_words(WorkloadId workload) const;
  Run* run_of(const Member& member);
  const Run* run_of(const Member& member) const;
  enum class Ending : std::uint8_t { kEnded, kLost };
  void end(Member& member, Ending ending = Ending::kEnded);
  void note_ended_run(const Member& member);
  void note_lost_with_node(const Member& member);
  void count_lost_nodes(Time now);
  void stop_who_loses_nodes(Round& round, Time now);
  void ask_whether_ready(WorkloadId run);
  Time ready_by(WorkloadId run) const;
  bool is_ready(const Run& run) const;
  void believe_who_is_found(Time now);
  void stop_who_is_never_ready(Round& round, Time now);
  void stop_never_ready(WorkloadId run, Round& round, Time now);
  void end_for_good(const Run& run, const std::string& reason, const std::string& why, Round& round) const;
  void stop_for(EvictionRule rule, WorkloadId run, const std::string& why, Round& round, Time now);
  Tries& tries_of(const std::string& key, const std::string& queue, Time now);
  void forget_tries(Time now);
  std::optional<BackOff> backs_off(const PodFacts& pod, Time now) const;
  void give_up_start(WorkloadId run);
  void note_checkpoints(Time now);
  void note_unpaid(WorkloadId run, Round& round);
  std::optional<Time> end_of_budget(QueueId queue, Time now) const;
  void note_limit(WorkloadId run);
  void note_movable(WorkloadId run);
  void note_moved_before(const PodFacts& found, Time now);
  void note_overruns(Round& round, Time now);
  bool ends_by_scheduler(const Run& run) const;
  bool extend(WorkloadId run, Round& round, Time now);
  // When time alone may give somebody a right, or the calendar turns.
  std::optional<Time> next_moment(Time now) const;
  Time end_of_patience(const ShapeInLine& entry) const;
  void leave_group(Member& member);
  void roll_back(Round& round, Time now);
  void tell(Round& round, Time now);
  void tell_group(const std::string& key, Round& round, Time now);
  void tell_pod(Member& member, const std::string& key, const std::string& text, Round& round, Time now);
  std::pair<std::string, std::string> reason_of_group(const Group& group);
  std::string vacating_in_words(WorkloadId id) const;
  void note_amounts(QueueId queue, QueueStanding& standing) const;
  void note_lending(std::map<std::string, QueueStanding>& standings) const;
  struct Lenders {
    std::map<std::string, std::string> named = {};
    std::int64_t more = 0;
  };
  Lenders lenders_of(const std::vector<Dim>& dims, std::vector<QueueId> lenders,
                     const std::vector<AmountsByDim>& lent) const;
  void note_turns(std::map<std::string, QueueStanding>& standings) const;
  Value share_parts_of(QueueId queue) const;
  std::string key_of(Dim dim) const;
  std::string pending_name(WorkloadId id) const;
  std::string claimant_name(WorkloadId id) const;
  const PodFacts* claimant_pod(WorkloadId id) const;
  std::string name_in_words(const PodFacts& first) const;
  std::string loss_in_words(WorkloadId id, Time now) const;
  std::optional<RoomTaken> room_taken(const Eviction& eviction) const;
  void note_past(const std::string& name, QueueStanding& standing);
  std::optional<Shortfall> shortfall_of_group(const Group& group) const;
  void tell_workload(const std::string& key, Group& group, const Tally& tally, const std::string& waits, Round& round,
                     Time now);

  Seed seed_;
  PlacementPolicy policy_;
  NewJournal new_journal_;
  Scrubs scrubs_;
  std::unique_ptr<Session> session_;

  std::map<std::string, QueueFacts> queues_;
  std::map<std::string, FlavorFacts> flavors_;
  std::vector<FlavorFacts> other_flavors_;
  std::map<std::pair<std::string, std::string>, BudgetFacts> budgets_;  // by namespace and name
  std::map<std::string, NodeFacts> nodes_;
  std::map<std::string, Member> members_;             // by uid
  std::map<std::uint64_t, std::string> by_sequence_;  // uid
  std::map<std::string, Group> groups_;
  std::size_t groups_gone_ = 0;
  std::uint64_t next_sequence_ = 0;

  std::map<std::string, LiveCircle> circles_;            // by name
  std::map<std::string, LiveReservation> reservations_;  // by name
  std::set<std::string> new_reservations_;               // that the engine has not been told of
  std::map<std::string, Time> told_to_part_;             // by uid of a pod: until when
  std::vector<PodNotice> notices_;                       // not handed out yet
  bool strangers_changed_ = false;                       // perhaps others have to part than before
  std::map<std::string, GpuUses> uses_;                  // by node, as they were written last, or are about to be
  std::set<std::string> uses_unwritten_;                 // nodes
  std::map<std::string, NodeCut> cuts_;                  // by node, as they were written last, or are about to be
  std::vector<NodeCutNews> cut_news_;                    // not handed out yet
  std::set<std::string> cut_unknown_;                    // nodes of which it is not known into what they are cut
  std::set<std::string> answered_;                       // nodes that perhaps say that a scrub failed, or no more
  bool look_who_left_ = false;                           // perhaps some GPU has been left by all
  std::optional<QueueId> of_nobody_;  // of the engine's present life: whose residue is of queues that are gone
  std::map<std::string, QueueRecord> records_;  // by queue
  // What controls pods that gave back what they had borrowed, by its uid: whatever it makes in their place cools down.
  struct GaveBack {
    std::string queue;
    Time at;
  };
  std::map<std::string, GaveBack> gave_back_;
  struct TriesIn {
    std::string queue;
    Tries tries = {};
  };
  std::map<std::string, TriesIn> tries_;
  struct LostWithNode {
    std::string group, queue;
    Time began;
  };
  std::vector<LostWithNode> lost_with_nodes_;  // not counted yet
  std::set<std::string> lose_nodes_;           // groups that are to be stopped for it
  std::set<WorkloadId> unready_;               // of the engine's present life: runs whose pods are to be ready in time
  bool has_decided_ = false;
  std::map<std::string, Time> goes_first_;  // groups whose repair was given up, and when: until they have begun anew
  // By queue, of the life that ended last: what its record says in words, exactly.
  struct KeptPast {
    Time begun;
    std::vector<FlavorAmount> average, in_step;
  };
  std::map<std::string, KeptPast> kept_past_;
  std::set<std::string> forgotten_;  // queues that the engine's life now ending knows, and that are no more

  // Of the engine's present life.
  struct LiveWindow {
    Window window;
    WindowTimes times;
  };
  std::vector<LiveWindow> windows_;             // by their numbers
  std::map<std::string, std::uint32_t> hours_;  // those of windows_ that are hours of work, by how they are written
  std::map<std::pair<std::string, std::string>, SeriesId> series_;  // by user and name
  std::vector<GivenUp> given_up_;                                   // not handed out yet
  std::map<std::string, std::vector<Time>> grants_;  // by queue: when they are void, in the order of their pots
  std::set<std::pair<Time, WorkloadId>>
      limits_;  // when the run limits of those who run end; also of some who have ended
  // When who was moved before the engine's life may be moved again; the engine is made anew for it.
  std::set<Time> movable_again_;
  std::set<std::pair<Time, WorkloadId>>
      movable_from_;  // from when on who consents may be moved; also of some who have ended
  std::map<std::string, std::string> queue_problems_;  // what the engine refuses of a queue
  std::set<std::string> to_drain_;                     // when those wait in them who came before
  std::map<std::string, QueueId> queue_ids_;
  std::map<std::string, NodeId> node_ids_;
  std::map<std::string, FlavorId> flavor_ids_;
  std::set<std::string> left_out_flavors_;     // there are too many
  std::map<FlavorId, std::string> models_;     // of GPUs, by flavor
  std::map<FlavorId, std::int64_t> memories_;  // of one of them in MiB, the least that a node has that says it
  std::map<FlavorId, std::int64_t> memories_most_;
  // Of slices that are cut beforehand, and that nobody is sent to: how many nodes offer them, by resource.
  std::map<std::string, std::int64_t> unused_slices_;
  std::optional<FlavorId> only_flavor_;  // of all nodes with GPUs, if they have one
  std::map<WorkloadId, std::string> pending_groups_;
  std::map<WorkloadId, Run> runs_;
  std::map<std::string, std::set<WorkloadId>> moves_;  // by what makes their pods anew
  std::map<WorkloadId, std::string> lacking_;          // runs with vacancies, and their group
  std::map<std::string, WorkloadId> heirs_;            // by uid: of which run it is to be
  std::vector<WorkloadId> moved_in_;                   // whose room is free, and who have pods for it since
  std::map<ShapeId, std::set<std::string>> groups_by_shape_;
  std::map<WorkloadId, ShapeId>
      cooling_;  // who waits and cools down: as what; when that is over he is of another shape
  std::map<std::string, std::string> without_room_;  // uid -> why
  std::set<std::string> held_otherwise_;             // nodes: in another way than they are shared now

  std::optional<AskedMoves> asked_moves_;
  AskedKinds asked_;
  std::vector<EndedRun> ended_runs_;

  std::set<std::string> asked_images_;
  std::map<std::string, std::int64_t> images_there_;  // on how many nodes each is
  bool anew_ = true;                                  // the engine must be made anew
  // Whether some pod ever selected others, and by which labels.
  bool somebody_selects_ = false;
  std::set<std::string> selected_keys_;
  bool room_came_free_ = false;
  std::set<std::string> new_nodes_;
  std::map<std::string, std::vector<Time>> failures_;  // by node: when it was not ready any more; the last few
  std::set<std::string> checkpoints_;                  // pods that reported one
  std::set<std::string> found_;                        // pods that run somewhere and hold no place in the engine yet
  std::set<std::string> unsettled_;                    // groups
  std::set<std::string> untold_;                       // groups
  std::set<std::string> uncounted_;                    // groups
  std::map<std::string, Counted> counted_;  // by group, and by what makes moved pods anew: what is in the sums
  std::map<std::string, Holding> by_queue_, by_door_;
  std::set<std::string> partial_;  // groups
  struct Explained {
    std::string code, text;
    std::optional<Shortfall> shortfall;  // where the code is about domains, or about what is in pieces
  };
  std::map<std::pair<QueueId, ShapeId>, Explained> explained_;  // in this round; the queue is the workload's own
};

}  // namespace berth
