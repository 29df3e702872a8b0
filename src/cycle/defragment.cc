#include "cycle/defragment.h"

#include <algorithm>
#include <utility>

#include "cycle/moving.h"
#include "model/gpu_hardware.h"
#include "state/fragments.h"

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

}  // namespace

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
  fork.apply(probe(request, now));
  Defragmentation made;
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

}  // namespace berth
