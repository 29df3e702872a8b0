// Who is said to be kept out for good by others' floors has no place beside them on the empty cluster: tried with every one.
#include "cycle/kept_out.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "cycle/deliverable.h"
#include "cycle/feasibility.h"
#include "cycle/run_cycle.h"
#include "fairness/gates.h"
#include "state/random_world.h"
#include "state/trial.h"

namespace berth::kept_out_test {

// Some pods on few nodes, in all places where they may be together.
class EveryPlace {
 public:
  EveryPlace(State& idle, WorkloadId id)
      : state_(idle),
        trial_(idle.ledger_for_trial(), idle.quotas_for_trial()),
        set_(idle.shape(idle.workload(id).shape).ways.front().front()),
        start_{.workload = id, .pods = {}} {}

  bool some_leaves_floors_whole() { return some(0); }

 private:
  bool some(std::size_t from) {
    if (std::ssize(start_.pods) == set_.count)
      return leaves_floors_whole(state_, trial_, start_, state_.quotas().now());
    const PodRequest& request = state_.request(set_.request);
    for (std::size_t at = from; at < state_.nodes() * kGpusMax; ++at) {
      const NodeId node(at / kGpusMax);
      const GpuSet gpus = gpus_from(node, static_cast<int>(at % kGpusMax), request);
      if (gpus.empty() || !state_.ledger().matches().allows(request.constraints, node)) continue;
      const Trial::Mark mark = trial_.mark();
      start_.pods.push_back({node, gpus});
      trial_.apply(move_of(request, start_.pods.back()));
      const bool found = some(at);
      start_.pods.pop_back();
      trial_.rollback_to(mark);
      if (found) return true;
    }
    return false;
  }

  // So many free ones, in order; none: they are not there.
  GpuSet gpus_from(NodeId node, int first, const PodRequest& request) const {
    std::uint64_t bits = 0;
    int left = request.gpus;
    for (int gpu = first; gpu < state_.ledger().node(node).gpus && left > 0; ++gpu) {
      if (trial_.ledger().gpu_milli(node)[static_cast<std::size_t>(gpu)] < request.gpu_milli) {
        if (gpu == first) return {};
        continue;
      }
      bits |= std::uint64_t{1} << gpu;
      --left;
    }
    return left > 0 ? GpuSet() : GpuSet::from_bits(bits);
  }

  static constexpr std::size_t kGpusMax = 4;

  const State& state_;
  Trial trial_;
  const NumberedPodSet& set_;
  Start start_;
};

State few_racks(Rng& rng, Seed seed) {
  State state = new_state(
      seed, one_of(rng, {PlacementPolicy::kBestFit, PlacementPolicy::kSpread, PlacementPolicy::kGpuClustering}), 1, {});
  std::vector<Node> nodes;
  std::int64_t left = 0;
  const auto gpus = static_cast<std::int32_t>(rng.between(1, 3));
  const std::int64_t nodes_of_rack = rng.between(1, 2);
  for (std::int64_t rack = rng.between(1, 4); rack > 0; --rack) {
    for (std::int64_t i = rng.below(4) == 0 ? 1 : 0; i < nodes_of_rack; ++i) {
      nodes.push_back({.name = "n",
                       .flavor = FlavorId(0),
                       .gpus = gpus,
                       .cpu_milli = 64'000,
                       .labels = {{"rack", std::to_string(rack)}, {"even", rack % 2 == 0 ? "yes" : "no"}}});
      left += gpus;
    }
  }
  if (nodes.empty()) {
    nodes.push_back({.name = "n", .flavor = FlavorId(0), .gpus = gpus, .cpu_milli = 64'000});
    left = gpus;
  }
  state.apply(NodesAdded{nodes});
  for (int i = 0; i < 3 && left > 0; ++i) {
    Queue queue{.name = std::to_string(i), .parent = QueueId(), .order = Order::kFifo};
    const std::int64_t promised = rng.between(1, left);
    left -= promised;
    queue.quota.guarantee = {{Dim(FlavorId(0), Resource::kGpu), promised * kMilliPerGpu}};
    if (rng.below(3) == 0) queue.quota.cells.push_back({FlavorId(0), "node", rng.between(1, 3)});
    if (rng.below(2) == 0) queue.quota.cells.push_back({FlavorId(0), "rack", rng.between(1, 2)});
    state.apply(QueueAdded{queue});
  }
  return state;
}

WorkloadId submit_some(State& state, Rng& rng) {
  PodSet set{.request = {.gpus = static_cast<std::int32_t>(rng.between(1, 2)), .gpu_milli = kMilliPerGpu},
             .count = rng.between(1, 4)};
  if (rng.below(2) == 0) set.request = {.gpus = 1, .gpu_milli = one_of(rng, {300, 500, 700})};
  if (rng.below(2) == 0) set.constraints.select = {{.key = "even", .values = {one_of(rng, {"yes", "no"})}}};
  if (rng.below(4) == 0) set.constraints.select = {{.key = "rack", .values = {one_of(rng, {"1", "2"})}}};
  const WorkloadId id = state.workloads().next_id();
  WorkloadShape shape;
  shape.ways = {{set}};
  const QueueId queue(static_cast<std::size_t>(rng.below(state.queues().size())));
  state.apply(WorkloadSubmitted{.name = "w", .queue = queue, .at = Time{}, .shape = shape});
  return id;
}

bool would_be_covered(const State& state, WorkloadId id) {
  const Workload& workload = state.workload(id);
  const Shape& shape = state.shape(workload.shape);
  const AmountList asked = asked_by(state, workload.queue, shape, 0);
  return !state.quotas().would_be_covered_at(workload.queue, asked, kForever).is_none();
}

TEST(KeptOutProperty, IsSaidOfThoseWhoHaveNoPlaceBesideFloors) {
  int said = 0;
  int missed = 0;
  for (const Seed seed : property_seeds(kFewSeeds ? 4'000 : 60'000)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    State state = few_racks(rng, seed);
    const WorkloadId id = submit_some(state, rng);
    if (!would_be_covered(state, id)) continue;
    if (reason_never(state, state.shape(state.workload(id).shape)) != ReasonCode::kNone) continue;
    const bool some = EveryPlace(state, id).some_leaves_floors_whole();
    const std::uint64_t before = state.hash();
    const bool finds = finds_place_beside_floors(state, id);
    ASSERT_EQ(state.hash(), before);
    ASSERT_TRUE(finds || !some);
    said += finds ? 0 : 1;
    missed += finds && !some ? 1 : 0;
  }
  EXPECT_EQ(missed, 0);
  if (seeds_are_fresh()) return;
  EXPECT_GT(said, kFewSeeds ? -1 : 30) << "one in some 1,500 worlds";
}

// Whatever ran, was closed or was reserved.
TEST(KeptOutProperty, IsAskedOfTheEmptyCluster) {
  for (const Seed seed : property_seeds(kFewSeeds ? 300 : 3'000)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    Engine engine{.state = few_racks(rng, seed)};
    const std::vector<std::int64_t> capacity = engine.state.quotas().capacity();
    for (int i = 0; i < 6; ++i) submit_some(engine.state, rng);
    Plan plan = run_cycle(engine, Time{1'000}, Effort::unbounded());
    engine.state.adopt(plan);
    if (rng.below(2) == 0) engine.state.apply(NodeDrained{NodeId(0)});
    const State idle = emptied(engine.state);
    EXPECT_EQ(idle.running(), 0U);
    EXPECT_EQ(idle.quotas().capacity(), capacity);
    for (std::size_t i = 0; i < idle.nodes(); ++i) {
      EXPECT_TRUE(idle.ledger().node(NodeId(i)).open);
      EXPECT_EQ(idle.ledger().node(NodeId(i)).whole_gpus, idle.node(NodeId(i)).gpus);
    }
    EXPECT_EQ(idle.pending(), engine.state.pending());
  }
}

}  // namespace berth::kept_out_test
