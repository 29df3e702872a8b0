// Where and when those who wait for room will start at the latest, and whom that lets ahead of them (docs/semantics.md, rules
// 24 and 25). EASY backfill is Lifka's ("The ANL/IBM SP Scheduling System", JSSPP 1995), conservative backfill Mu'alem's and
// Feitelson's ("Utilization, Predictability, Workloads, and User Runtime Estimates", IEEE TPDS 2001); here shadows are real
// places on real nodes, with topology and quotas, and only ends that are enforced count.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "cycle/for_each_place.h"
#include "cycle/reserved.h"
#include "model/plan.h"
#include "placement/score_index.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// What is free on a node at the moment of a shadow beside it, once all have ended who have by then.
struct NodeThen {
  NodeId node;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  HostAmounts rest;                                       // for pods without GPUs
  ExtraLeft extra;                                        // for best effort, beyond these
  std::array<std::int64_t, kNumaZonesMax> zones_milli{};  // CPUs of each zone, where the kubelet has a policy
  std::array<bool, kNumaZonesMax> is_owed{};              // of these the shadow has some that are to be in one zone
  std::int32_t pods = 0;
  std::vector<std::int16_t> gpu_milli;  // of each GPU
  std::vector<std::int32_t> gpu_memory_mib;
  std::vector<MigPlaceSet> layouts;  // slices that are taken, those of the shadow included
  std::optional<Sharing> mode;       // which the node has for the shadow's sake; none: the shadow has no GPU there
  std::vector<SharerId> parts;       // of each GPU: in whose name the shadow has a part of it; none: it has not
};

// The shadows of one cycle. INVARIANT: the trial is as it was found after each call but hold().
class Shadows {
 public:
  // PRE: `trial` is on the state's own ledgers; `plan` is the one that is being made.
  // `reserved`: what is to be left alone besides; none: nothing.
  Shadows(const State& state, Trial& trial, ScoreIndex& index, const Plan& plan, const Reserved* reserved = nullptr);

  const std::vector<Shadow>& all() const { return all_; }
  bool none() const { return all_.empty(); }
  // They are others than the state knows.
  bool have_changed() const;

  // Those of the state, as things are now: each at the same place and time, unless it can start earlier, or its room is not
  // there any more.
  void renew();
  // For one who did not fit: when he will at the latest, if the ends that are enforced suffice. False: they do not.
  bool promise(WorkloadId workload);
  // Of one who found no room: before then he could not start beside what is reserved, if nobody else were there; kForever: at no moment
  // that is known. Now, where that is not easily told, or he could not either if nothing were reserved.
  Time could_start_from(WorkloadId workload);

  // Looks at what each leaves, before this one is tried: so it is known while the trial has his places. He is in nobody's way by what
  // he was promised himself.
  void look(WorkloadId candidate);
  // By when it would have to be gone, and what it leaves be scrubbed, so as to be let ahead of somebody in whose room it is; none: of
  // whom it would delay nothing, as its claim is the stronger. PRE: as of let().
  std::optional<Time> has_to_be_gone_by(WorkloadId workload, WorkloadId promised) const;
  // Whether everybody else still starts in his shadow if this one begins by then, or his claim is the stronger. PRE: look() was
  // called, and nothing was decided since.
  bool let(const Start& start, Time begins);
  // The same of one who is moved for somebody's sake, whose claim it is; none: for nobody's, whose claim is the weakest.
  bool let_moved(const Start& moved, WorkloadId claimant, Time begins);
  // Whether it may start on loan where that would keep others from starting in their shadows: it is foretold to have ended before
  // these are due; else it is taken back. Then it says until when. PRE: as of let().
  bool lend(Start& start, Time foretold_end);
  // Who runs on loan and has to be told to stop now, as somebody was promised its room for when its grace is over.
  std::vector<WorkloadId> loans_due();
  // When the first of them is to start that are not due yet; now, if there are none.
  Time next_due() const;
  // Somebody is told to stop whose room the trial has back.
  void look_again();
  // It is in the plan now. Whoever may not start in his shadow any more is promised other room. Whether any shadow has changed.
  bool started(const Start& start);

  // Takes out of the trial what is free now and will not be when those want it whom this workload would delay, so that places
  // are looked for beside it. The moves are to be given back by give_back(). PRE: as of let().
  std::vector<Move> hold(WorkloadId workload);
  // The GPUs in which it would be in somebody's way then, by node, whether they are free now or not.
  std::vector<GpusOfNode> kept_from(WorkloadId workload) const;
  // The nodes of domains that others will have for themselves then, or where they will be who keep it away as a stranger; ascending.
  std::vector<NodeId> nodes_kept_from(WorkloadId workload) const;
  // What is promised to it, if that is free now; its moves stay in the trial.
  std::optional<Start> own_room(WorkloadId workload);
  void give_back(const std::vector<Move>& moves);

 private:
  // One whose room comes free at a moment that is known: the pods of a running workload, with those that this plan puts in the place
  // of others that it had lost, or of a start of this plan.
  struct End {
    Time at;
    WorkloadId workload;
    const Start* start = nullptr;
    const Repair* repair = nullptr;

    friend auto operator<=>(const End& a, const End& b) {
      if (const auto order = a.at <=> b.at; order != 0) return order;
      return a.workload <=> b.workload;
    }
    friend bool operator==(const End& a, const End& b) { return (a <=> b) == 0; }
  };
  class Later;
  // A node whose maintenance goes on, and until when.
  struct Opening {
    Time at;
    NodeId node;

    friend auto operator<=>(const Opening&, const Opening&) = default;
  };

  std::optional<std::size_t> index_of(WorkloadId workload) const;
  void find_ends();
  void find_openings();
  template <class Visit>
  void for_each_pod_of(const End& end, Visit visit) const {
    if (end.start != nullptr) return for_each_place(state_, *end.start, visit);
    for_each_pod(state_, end.workload, [&](const Pod& pod) { visit(state_.request(pod.request), pod.place()); });
    if (end.repair != nullptr) for_each_place(state_, *end.repair, visit);
  }
  // The earliest moment after `after` and before `before` at which it fits beside the first `others` of the shadows.
  std::optional<Shadow> earliest(WorkloadId workload, Time before, std::size_t others);
  std::optional<Start> fits_then(WorkloadId workload, Time then, std::size_t others);
  std::optional<Start> place_beside_quotas(WorkloadId workload, std::size_t way, Time then, std::size_t others);
  bool take_out_all();
  // Nodes whose maintenance is over by then, and GPUs that have rested.
  void open_by(Time then);
  void open_no_more();
  bool fits_beside(WorkloadId workload, const KeptRoom& kept);
  Time fits_idle_from(WorkloadId workload);
  bool ends_in_time(const Shadow& shadow) const;
  bool is_still_there(const Shadow& shadow, std::size_t others);
  bool put_if_free(const Start& start);
  bool take_others(WorkloadId workload, Time then, std::size_t others);
  // Not on nodes where something of the workload's `own` is.
  void hold(const Move& move, std::vector<Move>& moves);
  void hold_back_accounts(const NodeThen& then, std::vector<Move>& moves);
  void hold_back(std::size_t shadow, WorkloadId from_whom, std::vector<Move>& moves,
                 const std::vector<GpusOfNode>& own = {});
  void look(std::size_t others, WorkloadId without);
  std::vector<NodeThen> look_then(std::size_t shadow, std::size_t others, WorkloadId without);
  const std::vector<LaterTree>& calendar();
  std::vector<Time> moments(WorkloadId workload, Time before, std::size_t others);
  std::vector<Time> turns(WorkloadId workload, Time until);
  std::size_t enough_come_free_at(WorkloadId workload, const std::vector<Time>& moments) const;
  void foretell(WorkloadId workload);
  std::vector<End> foretold_ends();
  std::optional<Time> foretold_end(const Start& start) const;
  Time due(std::size_t shadow, WorkloadId for_whom) const;
  bool would_delay(std::size_t shadow, WorkloadId workload, Time end) const;
  bool let(std::size_t shadow, const Start& start, Time end, Time due);
  bool fits_beside(std::vector<NodeThen>& then, const Start& start) const;
  bool keep_apart(const Start& start, const Start& other) const;
  bool mind_each_other(WorkloadId workload, WorkloadId other) const;
  bool would_break_floors(const Start& start, Time at);
  std::vector<FloorRise> hours_from(Time at);
  bool host_fits_beside(NodeThen& then, const PodRequest& request, const PodPlacement& place) const;
  bool leaves_others(const Start& start, Time then, std::size_t others, bool is_new);
  UnitId count(const Start& start, Time begins);
  bool may_be_refused(WorkloadId workload, Time then);
  bool shares_budget(WorkloadId workload, WorkloadId other) const;
  bool has_quota(WorkloadId workload, const AmountList& amounts, Time then, std::size_t others, WorkloadId without);
  bool has_quota(const Shadow& shadow, std::size_t others, WorkloadId without);
  bool leaves_hours(const Shadow& shadow, const Start& start, Time begins, std::size_t others);
  bool leaves_quota(const Shadow& shadow, const Start& start, Time begins, std::size_t others);
  bool waits(WorkloadId workload) const;
  void give_to_who_is_ahead();
  void give_way_to(WorkloadId workload);
  void promise_anew_from(std::size_t first);
  void put_stronger_claims_first();
  void replace(std::size_t shadow, std::optional<Shadow> with);
  Time end_of(WorkloadId workload, Time started) const;
  Time end_of(const Start& start) const { return start.waits ? kForever : end_of(start, plan_.now); }
  Time end_of(const Start& start, Time begins) const;
  Time end_of(const Shadow& promised) const;
  Time end_of_running(WorkloadId workload) const;
  Time taken_back_by(WorkloadId workload, Time lent_until) const;
  Time told_by(WorkloadId lent) const;
  bool delays_when_due(WorkloadId lent, const std::vector<WorkloadId>& staying);
  Time loans_gone_by() const;

  const State& state_;
  Trial& trial_;
  ScoreIndex& index_;
  const Plan& plan_;
  const Reserved* reserved_;
  std::vector<Shadow> all_;
  std::vector<std::vector<NodeThen>> then_;  // by shadow, by node; empty: not looked at yet
  // When somebody to whom room is promised is foretold to start, if his queue looks ahead so, and what he was promised then: looked at
  // once a cycle.
  struct Foretold {
    Time promised;
    Time at;
  };
  std::map<WorkloadId, Foretold> foretold_;
  std::vector<End> ends_;  // ascending
  std::vector<Opening> openings_;
  bool known_ends_ = false;
  std::optional<std::vector<LaterTree>>
      calendar_;  // what is promised to queues from each of its next turns on; none: not looked at yet
  // Whose shadows are in then_: those of the first so many, but for this one's.
  std::size_t looked_others_ = 0;
  WorkloadId looked_without_;
};

}  // namespace berth
