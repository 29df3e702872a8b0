#include "cycle/defragment.h"

#include <utility>

#include "cycle/moving.h"
#include "state/fragments.h"

namespace berth {
namespace {

// A workload that nobody submitted, for its request's sake.
WorkloadSubmitted probe(const State& state, Time now, std::int32_t gpus) {
  WorkloadSubmitted asked{.name = "", .queue = QueueId(0), .at = now, .shape = {}};
  PodSet set;
  set.request.gpus = gpus;
  set.request.gpu_milli = kMilliPerGpu;
  set.request.flavors = FlavorSet::first(state.flavors().size());
  asked.shape.ways.push_back({set});
  return asked;
}

}  // namespace

Defragmentation plan_defragmentation(const State& state, Time now, const DefragmentOptions& options) {
  State fork = state.fork();
  const WorkloadId asking = fork.workloads().next_id();
  fork.apply(probe(fork, now, options.gpus));
  Defragmentation made;
  made.plan.now = now;
  made.plan.revision = state.revision();
  made.plan.finished = false;
  made.pods_ideal = pods_that_could_fit(state, options.gpus);
  const Wide worth = Wide{options.gpus} * options.horizon.ms / 1000;
  const MoveBounds bounds{.moves_max = options.moves_max,
                          .lost_gpu_s_below = narrow(worth * made.pods_ideal).value_or(INT64_MAX),
                          .lost_gpu_s_of_each_below = worth,
                          .in_vain_max = INT32_MAX};
  ScoreIndex index;
  const Vacating vacating(fork);
  Trial trial(fork.ledger_for_trial(), fork.quotas_for_trial());
  MadeRoom room = make_room_for_pods_like(fork, trial, index, vacating, asking, bounds, now);
  made.plan.migrations = std::move(room.migrations);
  made.pods_before = room.pods_before;
  made.pods_after = room.pods_after;
  made.lost_gpu_s = lost_gpu_s(made.plan.migrations);
  made.unlocked_gpu_s = narrow(worth * (made.pods_after - made.pods_before)).value_or(INT64_MAX);
  return made;
}

}  // namespace berth
