#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/property_seeds.h"
#include "cycle/explain.h"
#include "cycle/run_cycle.h"
#include "state/invariants.h"
#include "state/plain_neighbours.h"
#include "state/random_world.h"

namespace berth::neighbours_test {

// Pods by CPU alone, on a few small nodes.
class World {
 public:
  explicit World(Seed seed) : rng_(seed) {
    engine_.state = new_state(seed, PlacementPolicy::kBestFit, 0, {Order::kFifoSkip});
    std::vector<Node> nodes(static_cast<std::size_t>(rng_.between(1, 6)));
    for (Node& node : nodes) {
      node.name = "node";
      node.cpu_milli = rng_.between(1, 4);
      node.memory_bytes = 1;
      node.labels = random_labels(rng_);
    }
    state().apply(NodesAdded{nodes});
    relabels_ = rng_.below(3) == 0;
    if (seed.value % 2 == 0) state().apply(RepairChosen{Duration{1000}});
  }

  State& state() { return engine_.state; }
  bool relabels() const { return relabels_; }

  void step() {
    const auto node = NodeId(static_cast<std::size_t>(rng_.below(state().nodes())));
    switch (rng_.below(9)) {
      case 0:
      case 1: {
        const WorkloadId id = one_of_those([](Phase phase) { return phase == Phase::kRunning; });
        if (!id.is_none()) state().apply(WorkloadEnded{id});
        break;
      }
      case 2: {
        const WorkloadId id = one_of_those([](Phase phase) { return phase == Phase::kPending; });
        if (!id.is_none()) state().apply(WorkloadCancelled{id});
        break;
      }
      case 3:
        if (rng_.below(3) == 0) {
          state().apply(NodeFailed{node});
        } else if (rng_.below(2) == 0) {
          state().apply(NodeDrained{node});
        } else {
          state().apply(NodeRestored{node});
        }
        break;
      case 4:
        if (relabels_) state().apply(NodeRelabelled{node, random_labels(rng_), random_taints(rng_)});
        break;
      default:
        state().apply(submission(QueueId(0), random_shape()));
    }
  }

  // Until there is nothing more to try.
  void settle() {
    for (bool finished = false; !finished;) {
      const Plan plan = run_cycle(engine_, Time{}, Effort::unbounded());
      state().adopt(plan);
      finished = plan.finished;
    }
  }

 private:
  WorkloadShape random_shape() {
    WorkloadShape shape{{{}}};
    for (std::int64_t left = rng_.below(4) == 0 ? 2 : 1; left > 0; --left) {
      PodSet set{{.cpu_milli = rng_.between(0, 2)}, rng_.below(3) == 0 ? rng_.between(2, 3) : 1};
      if (rng_.below(4) == 0) set.constraints.select = {{"rack", LabelOperator::kExists}};
      set.neighbours = random_neighbours(rng_);
      shape.ways.front().push_back(std::move(set));
    }
    shape.terms.priority = rng_.below(6) == 0 ? 1 : 0;
    return shape;
  }
  template <class Is>
  WorkloadId one_of_those(Is is) {
    std::vector<WorkloadId> found;
    state().workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (is(workload.phase)) found.push_back(id);
    });
    return found.empty() ? WorkloadId() : found[static_cast<std::size_t>(rng_.below(found.size()))];
  }

  Rng rng_;
  Engine engine_;
  bool relabels_ = false;
};

// Of one pod: a node that is open, has what it asks, and has those around it that it asks for.
bool might_run(const State& state, const PlainWorld& world, const Shape& shape) {
  const PodRequest& request = state.request(shape.ways.front().front().request);
  const NodeConstraints none;
  const NodeMatches& matches = state.ledger().matches();
  const NodeConstraints& constraints = matches.size() == 0 ? none : matches[request.constraints];
  const Neighbours nobody;
  const Neighbours& own =
      request.neighbours == NeighboursId(0) ? nobody : state.ledger().neighbourhood()[request.neighbours];
  for (std::size_t node = 0; node < world.nodes.size(); ++node) {
    const Node& at = world.nodes[node];
    const bool suits = selects(constraints, at.name, at.labels) && tolerates(constraints, at.taints);
    const bool has_room = state.ledger().node(NodeId(node)).cpu_milli >= request.cpu_milli;
    if (world.open[node] && suits && has_room && may_join(world, own, constraints, node)) return true;
  }
  return false;
}

bool is_one_pod(const Shape& shape) { return shape.pods == 1 && shape.ways.size() == 1; }

// Rules hold when somebody starts, whatever becomes of the labels of nodes later.
void expect_that_all_may_be_there(const PlainWorld& world) {
  for (std::size_t a = 0; a < world.pods.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) ASSERT_TRUE(may_both_be_there(world, world.pods[a], world.pods[b]));
  }
}

TEST(NeighboursProperty, NobodyWaitsWhoMightRunAndNobodyIsWhereHeMayNotBe) {
  std::int64_t waiting = 0;
  std::int64_t by_reason = 0;
  for (const Seed seed : property_seeds(600)) {
    SCOPED_TRACE(name_of(seed));
    World made(seed);
    for (std::int64_t steps = 0; steps < 30; ++steps) {
      made.step();
      made.settle();
      const State& state = made.state();
      ASSERT_EQ(violations(state), std::vector<std::string>());
      const PlainWorld world = plain_world(state);
      if (!made.relabels()) expect_that_all_may_be_there(world);
      state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
        const Shape& shape = state.shape(workload.shape);
        if (workload.phase != Phase::kPending || !is_one_pod(shape)) return;
        ++waiting;
        EXPECT_FALSE(might_run(state, world, shape)) << "workload " << id.index();
        const ReasonCode code = reason_of(state, id);
        EXPECT_NE(code, ReasonCode::kNone);
        by_reason += code == ReasonCode::kPorts || code == ReasonCode::kAffinity || code == ReasonCode::kSpread ? 1 : 0;
      });
    }
  }
  EXPECT_GT(waiting, 100);
  EXPECT_GT(by_reason, 10);
}

}  // namespace berth::neighbours_test
