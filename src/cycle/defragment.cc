#include "cycle/defragment.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "cycle/deciding.h"
#include "cycle/deliverable.h"
#include "cycle/moving.h"
#include "cycle/run_cycle.h"
#include "model/gpu_hardware.h"
#include "placement/place.h"
#include "state/fragments.h"
#include "state/room.h"

namespace berth {
namespace {

// A workload that nobody submitted, for its request's sake.
WorkloadSubmitted probe(const PodRequest& request, Time now) {
  WorkloadSubmitted asked{.name = "", .queue = QueueId(0), .at = now, .shape = {}};
  asked.shape.ways.push_back({PodSet{.request = request}});
  return asked;
}

// By the processors that are free, and by how many an idle GPU is cut into: more there cannot be, whatever is moved.
std::int64_t slices_that_could_fit(const State& state, const PodRequest& request) {
  std::int64_t free_milli = 0;
  std::int64_t if_idle = 0;
  for (std::size_t i = 0; i < state.nodes(); ++i) {
    const NodeFree& node = state.ledger().node(NodeId(i));
    if (!node.open || node.gpus == 0 || !state.ledger().may_be(NodeId(i), Sharing::kMig) ||
        !node.has_flavor_of(request.flavors))
      continue;
    const MigPlaceSet fixed = state.ledger().fixed_slices(NodeId(i));
    free_milli += node.gpu_milli;
    if_idle += node.gpus * node.geometry().room_for(request.slice, MigPlaceSet(), fixed);
  }
  return std::min(free_milli / request.gpu_milli, if_idle);
}

// By room alone: what a queue may have is not looked at, nor what pods say of nodes.
std::int64_t pods_like_that_fit(const State& state, const PodRequest& request) {
  if (!request.is_slice()) return pods_that_fit(state, request.gpus);
  std::int64_t pods = 0;
  for (std::size_t i = 0; i < state.nodes(); ++i) pods += room_for(state.ledger(), NodeId(i), request);
  return pods;
}

// GPU-seconds.
Wide worth_of(const PodRequest& request, std::int64_t pods, Duration horizon) {
  return Wide{request.gpu_milli_total()} * pods * horizon.ms / (std::int64_t{kMilliPerGpu} * 1'000);
}

PodRequest request_of(const State& state, const DefragmentationAsked& asked) {
  PodRequest request{.gpus = asked.gpus, .gpu_milli = kMilliPerGpu};
  request.flavors = FlavorSet::first(state.flavors().size());
  if (asked.slice == kNoSlice) return request;
  request.gpu_milli = find_slice(state.flavors()[asked.flavor.index()], std::size_t{asked.slice})->gpu_milli;
  request.flavors = FlavorSet::of(asked.flavor);
  request.sharing = Sharing::kMig;
  request.slice = asked.slice;
  return request;
}

// Moves that were asked for, as the cycle finds things.
class Moves {
 public:
  Moves(OneCycle& cycle, const DefragmentationAsked& asked)
      : cycle_(cycle), state_(cycle.engine.state), trial_(cycle.trial), asked_(asked) {}

  // Those that hold, all together; in the trial then. Where one does not, the others are proven again without him: some may have
  // gone to where he was.
  std::vector<Migration> that_hold() {
    Asked left;
    for (const MoveAsked& move : asked_.moves) {
      if (still_runs(move)) left.push_back(&move);
    }
    const Trial::Mark mark = trial_.mark();
    while (!left.empty()) {
      std::vector<Migration> made;
      const auto refused = first_refused(left, made);
      if (refused == left.end()) return made;
      trial_.rollback_to(mark);
      left.erase(refused);
    }
    return {};
  }

 private:
  using Asked = std::vector<const MoveAsked*>;

  // All leave, and come one after the other.
  Asked::const_iterator first_refused(const Asked& all, std::vector<Migration>& made) {
    const Time now = cycle_.plan.now;
    Vacating vacating = cycle_.vacating;
    for (const MoveAsked* const each : all) {
      const Time stops = now + state_.shape(state_.workload(each->workload).shape).terms.grace;
      for_each_pod(state_, each->workload, [&](const Pod& pod) { leave(state_, trial_, pod); });
      vacating.leaves(state_, each->workload, stops <= now);
    }
    return std::ranges::find_if_not(all, [&](const MoveAsked* each) {
      auto migration = prove(*each, vacating);
      if (migration) made.push_back(std::move(*migration));
      return !made.empty() && made.back().start.workload == each->workload;
    });
  }

  bool still_runs(const MoveAsked& move) const {
    return state_.workloads().find(move.workload) != nullptr && may_be_moved(state_, move.workload, cycle_.plan.now) &&
           !is_there(move.workload, move.to);
  }

  bool is_there(WorkloadId id, const std::vector<PodPlacement>& places) const {
    std::vector<PodPlacement> now;
    for_each_pod(state_, id, [&](const Pod& pod) { now.push_back(pod.place()); });
    return now == places;
  }

  std::optional<Migration> prove(const MoveAsked& move, const Vacating& vacating) {
    const Mover mover = mover_of(state_, move.workload, cycle_.plan.now);
    auto start = packs_well(state_, mover) ? as_asked(mover, move.to) : placed_as_ever(mover);
    if (!start || is_there(move.workload, start->pods) || vacating.holds_up(state_, *start) ||
        !holds_what_it_held(state_, *start))
      return std::nullopt;
    Migration migration = migration_of(state_, mover, std::move(*start), WorkloadId(), cycle_.plan.now);
    if (!leaves_others_alone(migration)) return std::nullopt;
    return migration;
  }

  std::optional<Start> as_asked(const Mover& mover, const std::vector<PodPlacement>& places) {
    std::size_t at = 0;
    for (const NumberedPodSet& set : state_.shape(state_.workload(mover.workload).shape).ways[mover.way]) {
      const PodRequest& request = state_.request(set.request);
      for (std::int64_t i = 0; i < set.count; ++i, ++at) {
        if (at == places.size() || !fits(request, places[at])) return std::nullopt;
        trial_.apply(move_of(request, places[at]));
      }
    }
    if (at != places.size()) return std::nullopt;
    return Start{.workload = mover.workload, .way = static_cast<std::uint32_t>(mover.way), .pods = places};
  }

  bool fits(const PodRequest& request, const PodPlacement& place) const {
    const Ledger& ledger = trial_.ledger();
    const bool asks_gpus = request.gpus > 0;
    return place.gpus.size() == request.gpus &&
           (!asks_gpus || ledger.node(place.node).has_flavor_of(request.flavors)) &&
           room_for(ledger, place.node, request) > 0 && is_free(ledger, request, place) &&
           ledger.matches().allows(request.constraints, place.node);
  }

  std::optional<Start> placed_as_ever(const Mover& mover) {
    Rng rng(state_.seed(), mover.workload.value());
    auto outcome = place_in_way(state_, trial_, cycle_.engine.index, mover.workload, mover.way, rng);
    if (Start* const start = std::get_if<Start>(&outcome)) return std::move(*start);
    return std::nullopt;
  }

  bool leaves_others_alone(const Migration& migration) {
    const bool let =
        cycle_.shadows.none() || cycle_.shadows.let_moved(migration.start, WorkloadId(), migration.stop_by);
    return let && cycle_.reserved.lets(migration.start, migration.stop_by) &&
           leaves_floors_whole_elsewhere(state_, trial_, migration.start);
  }

  OneCycle& cycle_;
  const State& state_;
  Trial& trial_;
  const DefragmentationAsked& asked_;
};

}  // namespace

DefragmentationAsked asked_for(const Defragmentation& made, const PodRequest& request, Duration horizon) {
  DefragmentationAsked asked{.moves = {}, .gpus = request.gpus, .horizon = horizon};
  if (request.is_slice()) {
    asked.slice = request.slice;
    asked.flavor = FlavorId(static_cast<std::size_t>(std::countr_zero(request.flavors.bits())));
  }
  for (const Migration& each : made.plan.migrations) asked.moves.push_back({each.start.workload, each.start.pods});
  return asked;
}

void defragment(OneCycle& cycle) {
  const State& state = cycle.engine.state;
  const DefragmentationAsked* const asked = state.defragmentation();
  if (asked == nullptr) return;
  if (cycle.plan.moves_somebody() || !cycle.plan.finished || cycle.leads_to_another) {
    cycle.leads_to_another = true;
    return;
  }
  const Trial::Mark mark = cycle.trial.mark();
  const PodRequest request = request_of(state, *asked);
  const std::int64_t before = pods_like_that_fit(state, request);
  if (!cycle.shadows.none()) cycle.shadows.look(WorkloadId());
  const std::vector<Migration> moves = Moves(cycle, *asked).that_hold();
  const std::int64_t freed = pods_like_that_fit(state, request) - before;
  const Wide worth = worth_of(request, freed, asked->horizon);
  cycle.plan.defragmented = true;
  if (freed <= 0 || lost_gpu_s(moves) >= worth) return cycle.trial.rollback_to(mark);
  for (const Migration& each : moves) migrate(cycle, each);
}

std::optional<PodRequest> request_of(const State& state, const DefragmentOptions& options) {
  PodRequest request{.gpus = options.gpus, .gpu_milli = kMilliPerGpu};
  request.flavors = FlavorSet::first(state.flavors().size());
  if (options.slice.empty()) return request;
  for (std::size_t flavor = 0; flavor < state.flavors().size(); ++flavor) {
    const auto slice = find_slice(state.flavors()[flavor], options.slice);
    bool cut = false;
    for (std::size_t i = 0; slice && !cut && i < state.nodes(); ++i) {
      const NodeFree& node = state.ledger().node(NodeId(i));
      cut =
          node.gpus > 0 && state.ledger().may_be(NodeId(i), Sharing::kMig) && FlavorId(node.flavor) == FlavorId(flavor);
    }
    if (!cut) continue;
    request.gpus = 1;
    request.gpu_milli = slice->gpu_milli;
    request.flavors = FlavorSet::of(FlavorId(flavor));
    request.sharing = Sharing::kMig;
    request.slice = slice->shape;
    return request;
  }
  return std::nullopt;
}

Defragmentation plan_defragmentation(const State& state, Time now, const DefragmentOptions& options) {
  State fork = state.fork();
  const WorkloadId asking = fork.workloads().next_id();
  const PodRequest request = *request_of(state, options);
  Defragmentation made;
  if (fork.queues().empty() || fork.refusal(probe(request, now))) return made;
  fork.apply(probe(request, now));
  made.plan.now = now;
  made.plan.revision = state.revision();
  made.plan.finished = false;
  made.pods_ideal =
      request.is_slice() ? slices_that_could_fit(state, request) : pods_that_could_fit(state, options.gpus);
  const Wide worth = Wide{request.gpu_milli_total()} * options.horizon.ms / 1'000'000;
  const MoveBounds bounds{.moves_max = options.moves_max,
                          .lost_gpu_s_below = narrow(worth * made.pods_ideal).value_or(INT64_MAX),
                          .lost_gpu_s_of_each_below = worth,
                          .in_vain_max = INT32_MAX};
  ScoreIndex index;
  const Vacating vacating(fork);
  Trial trial(fork.ledger_for_trial(), fork.quotas_for_trial());
  MadeRoom room =
      make_room_for_pods_like(fork, trial, index, vacating, asking, made.pods_ideal, bounds, now, options.attempts);
  made.pods_before = room.pods_before;
  made.pods_after = std::ssize(room.plan.rooms);
  made.plan.migrations = std::move(room.plan.migrations);
  made.lost_gpu_s = lost_gpu_s(made.plan.migrations);
  made.unlocked_gpu_s = narrow(worth * (made.pods_after - made.pods_before)).value_or(INT64_MAX);
  return made;
}

Defragmentation plan_that_holds(const State& state, Time now, const DefragmentOptions& options) {
  Defragmentation made = plan_defragmentation(state, now, options);
  Engine engine{.state = state.fork()};
  const PodRequest request = *request_of(state, options);
  const DefragmentationAsked asked = asked_for(made, request, options.horizon);
  made.plan.migrations.clear();
  made.pods_before = made.pods_after = pods_like_that_fit(state, request);
  made.pods_ideal = std::max(made.pods_ideal, made.pods_before);
  if (!asked.moves.empty()) {
    engine.state.apply(asked);
    while (engine.state.defragmentation() != nullptr) {
      Plan plan = run_cycle(engine, now, Effort::unbounded());
      engine.state.adopt(plan);
      if (plan.defragmented) made.plan.migrations = std::move(plan.migrations);
    }
    made.pods_after = std::max(made.pods_before, pods_like_that_fit(engine.state, request));
  }
  made.lost_gpu_s = lost_gpu_s(made.plan.migrations);
  const Wide worth = worth_of(request, made.pods_after - made.pods_before, options.horizon);
  made.unlocked_gpu_s = narrow(worth).value_or(INT64_MAX);
  return made;
}

}  // namespace berth
