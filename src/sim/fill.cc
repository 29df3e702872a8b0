#include "sim/fill.h"

#include <algorithm>
#include <span>
#include <string>

#include "base/wide.h"
#include "sim/asked_kinds.h"
#include "sim/door.h"

namespace berth {
namespace {

// Streams of the seed, apart from those that the core uses for nodes (numbered from 0) and workloads.
constexpr std::uint64_t kArrivalStream = 0x6172726976616c73;

std::int64_t gpu_milli_of(const WorkloadSubmitted& submission) {
  std::int64_t milli = 0;
  for (const PodSet& set : submission.shape.ways.front()) milli += set.count * set.request.gpu_milli_total();
  return milli;
}

// Of a pod as it arrives.
void learn(Session& session, AskedKinds& kinds, const WorkloadSubmitted& arrival) {
  FlavorSet flavors;
  for (const PodSets& way : arrival.shape.ways) flavors = flavors.united_with(way.front().request.flavors);
  for (const PodSet& set : arrival.shape.ways.front()) kinds.add(kind_of(set.request, flavors), set.count);
  if (kinds.typical_pods() != session.state().typical_pods()) session.apply(TypicalPodsChosen{kinds.typical_pods()});
}

struct Fleet {
  std::int64_t gpu_milli = 0;

  explicit Fleet(const State& state) {
    for (std::size_t node = 0; node < state.nodes(); ++node) {
      gpu_milli += std::int64_t{state.node(NodeId(node)).gpus} * kMilliPerGpu;
    }
  }
};

FillPoint measure(Session& session, const Fleet& fleet, std::int64_t percent) {
  const State& state = session.state();
  const Fragmentation& fragmentation = session.engine().index.usual(state).fragmentation;
  std::int64_t free = 0;
  double unusable = 0;
  for (std::size_t i = 0; i < state.ledger().nodes(); ++i) {
    const NodeFree& node = state.ledger().node(NodeId(i));
    if (node.gpus == 0) continue;
    free += node.gpu_milli;
    unusable += static_cast<double>(
        fragmentation.unusable(FlavorId(node.flavor), node.cpu_milli, state.ledger().gpu_milli(NodeId(i))));
  }
  const auto capacity = static_cast<double>(fleet.gpu_milli);
  return {.demand_percent = percent,
          .allocated_percent = 100 * static_cast<double>(fleet.gpu_milli - free) / capacity,
          .fragmented_percent =
              100 * unusable / static_cast<double>(std::max<std::int64_t>(fragmentation.weight(), 1)) / capacity};
}

}  // namespace

Result<FillRun> run_fill(const Trace& trace, const FillOptions& options, Seed seed, const std::string& source,
                         Session::Recorder recorder, const std::function<void(std::int64_t)>& progress) {
  const DoorOptions door_options{.seed = seed, .policy = options.policy, .order = Order::kFifoSkip};
  const Result<Door> door = Door::open(trace, door_options, source);
  if (!door) return door.error();
  std::vector<WorkloadSubmitted> pods;
  std::int64_t asked_milli = 0;
  for (const TraceJob& job : trace.jobs) {
    pods.push_back(door->submission(job, {}));
    asked_milli += gpu_milli_of(pods.back());
  }
  if (asked_milli == 0) return Complaints({source}, "no job asks for a GPU, so demand never grows; add jobs that do");

  Session session(std::move(recorder));
  for (const Event& event : door->opening()) session.apply(event);
  AskedKinds kinds;
  if (!options.learns) session.apply(TypicalPodsChosen{typical_pods(pods)});
  const Fleet fleet(session.state());
  if (fleet.gpu_milli == 0) return Complaints({source}, "no node has a GPU; give nodes with GPUs");

  const Wide arrivals =
      Wide{fleet.gpu_milli} * options.until_percent / 100 * static_cast<Wide>(pods.size()) / asked_milli;
  if (arrivals > kFillArrivalsMax) {
    return Complaints({source},
                      "so few of the pods ask for GPUs that more than 16,000,000 would have to arrive; leave out "
                      "pods without GPUs, or give a smaller fleet");
  }

  Rng rng(seed, kArrivalStream);
  rng.shuffle(std::span(pods));
  FillRun run{.seed = seed, .points = {measure(session, fleet, 0)}};
  std::int64_t arrived_milli = 0;
  for (std::int64_t row = 0; arrived_milli * 100 < fleet.gpu_milli * options.until_percent; ++row) {
    const bool original = row < static_cast<std::int64_t>(pods.size());
    const auto drawn = original ? static_cast<std::size_t>(row) : static_cast<std::size_t>(rng.below(pods.size()));
    WorkloadSubmitted arrival = pods[drawn];
    arrival.at = Time{row * 1000};
    if (!original) arrival.name += "-copy-" + std::to_string(row);
    if (options.learns) learn(session, kinds, arrival);
    session.apply(arrival);
    session.decide(arrival.at,
                   [&](const Plan& plan) { run.placed_pods += static_cast<std::int64_t>(plan.starts.size()); });
    arrived_milli += gpu_milli_of(arrival);
    for (std::int64_t percent = run.points.back().demand_percent + 1;
         percent <= options.until_percent && arrived_milli * 100 >= fleet.gpu_milli * percent; ++percent) {
      run.points.push_back(measure(session, fleet, percent));
      if (progress) progress(percent);
    }
    run.arrived_pods = row + 1;
  }
  run.state_hash = session.close();
  return run;
}

}  // namespace berth
