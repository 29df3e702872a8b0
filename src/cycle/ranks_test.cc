#include "cycle/ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/property_seeds.h"
#include "cycle/run_cycle.h"
#include "state/network.h"
#include "state/random_world.h"

namespace berth::ranks_test {

Labels some_labels(Rng& rng) {
  Labels labels;
  for (const char* const level : {"rack", "row", "zone"}) {
    if (rng.below(6) > 0) labels.push_back({level, std::to_string(rng.below(3))});
  }
  return labels;
}

Topology some_topology(Rng& rng) {
  Topology topology;
  const char* const levels[] = {"rack", "row", "zone"};
  if (rng.below(2) == 0) {
    topology.together = rng.below(3) == 0 ? Togetherness::kRequired : Togetherness::kPreferred;
    topology.level = levels[rng.below(3)];
  }
  if (rng.below(3) == 0) {
    topology.slice_pods = 2;
    topology.slice_level = rng.below(2) == 0 ? std::string(kNodeLevel) : "rack";
  }
  return topology;
}

// Once left it is not come back to; of no domain nothing is said.
bool are_rows(const std::vector<std::int64_t>& domains) {
  std::set<std::int64_t> left;
  for (std::size_t i = 1; i < domains.size(); ++i) {
    if (domains[i] != domains[i - 1]) left.insert(domains[i - 1]);
    if (domains[i] >= 0 && left.contains(domains[i])) return false;
  }
  return true;
}

class Ranks {
 public:
  explicit Ranks(Seed seed) : rng_(seed) {
    engine_.state = new_state(seed, PlacementPolicy::kBestFit, 0, {Order::kFifoSkip});
    std::vector<Node> nodes(static_cast<std::size_t>(rng_.between(2, 8)));
    for (Node& node : nodes) {
      node.name = "node";
      node.cpu_milli = rng_.between(1, 4);
      node.memory_bytes = 1;
      node.labels = some_labels(rng_);
    }
    engine_.state.apply(NodesAdded{nodes});
  }

  // How many sets of several nodes started.
  std::int64_t run() {
    WorkloadShape shape{{{}}};
    for (std::int64_t left = rng_.between(1, 2); left > 0; --left) {
      shape.ways.front().push_back({{.cpu_milli = 1}, 2 * rng_.between(1, 5)});
      shape.ways.front().back().topology = some_topology(rng_);
    }
    engine_.state.apply(submission(QueueId(0), shape));
    const Plan plan = run_cycle(engine_, Time{}, Effort::unbounded());
    for (const Start& start : plan.starts) check(start);
    return checked_;
  }

 private:
  void check(const Start& start) {
    const State& state = engine_.state;
    const Shape& shape = state.shape(state.workload(start.workload).shape);
    std::size_t first = 0;
    for (const NumberedPodSet& set : shape.ways[start.way]) {
      const auto count = static_cast<std::size_t>(set.count);
      check(set, std::span(start.pods).subspan(first, count));
      first += count;
    }
  }

  void check(const NumberedPodSet& set, std::span<const PodPlacement> pods) {
    const State& state = engine_.state;
    const Topology& topology = state.topologies()[set.topology];
    const auto size = static_cast<std::size_t>(topology.unit_pods());
    std::vector<const PodPlacement*> units;
    for (std::size_t at = 0; at < pods.size(); at += size) {
      units.push_back(&pods[at]);
      if (!topology.has_slices()) continue;
      const Domains& inner = state.topologies().inner_domains(set.topology);
      for (const PodPlacement& pod : pods.subspan(at, size)) EXPECT_EQ(inner.of(pod.node), inner.of(pods[at].node));
    }
    const bool anywhere = topology.together == Togetherness::kAnywhere;
    if (!anywhere) {
      std::vector<std::int64_t> asked;
      for (const PodPlacement* const unit : units) {
        const DomainId domain = state.topologies().domains(set.topology).of(unit->node);
        asked.push_back(domain.is_none() ? -1 : static_cast<std::int64_t>(domain.index()));
      }
      EXPECT_TRUE(are_rows(asked)) << "level " << topology.level;
    }
    // A level that the network does not know, or that crosses the others, goes before them; slices of racks do, too.
    if (!anywhere && topology.together == Togetherness::kPreferred) return;
    if (topology.has_slices() && topology.slice_level != kNodeLevel) return;
    check_tree(pods);
  }

  void check_tree(std::span<const PodPlacement> pods) {
    std::set<NodeId> known;
    for (const PodPlacement& pod : pods) known.insert(pod.node);
    std::vector<Node> nodes;
    for (const NodeId node : known) nodes.push_back(engine_.state.node(node));
    const Network network(nodes, {});
    for (std::size_t level = 0; level < network.levels(); ++level) {
      std::vector<std::int64_t> domains;
      for (const PodPlacement& pod : pods) {
        domains.push_back(network.domain(
            level, NodeId(static_cast<std::size_t>(std::distance(known.begin(), known.find(pod.node))))));
      }
      EXPECT_TRUE(are_rows(domains)) << "level " << network.name(level);
    }
    checked_ += known.size() > 1 ? 1 : 0;
  }

  Rng rng_;
  Engine engine_;
  std::int64_t checked_ = 0;
};

TEST(RanksProperty, NoDomainIsComeBackTo) {
  std::int64_t checked = 0;
  const auto seeds = property_seeds(1000);
  for (const Seed seed : seeds) {
    SCOPED_TRACE(name_of(seed));
    checked += Ranks(seed).run();
    if (::testing::Test::HasFailure()) return;
  }
  if (seeds_are_fresh()) return;
  EXPECT_GE(checked, std::ssize(seeds) / 4);
}

}  // namespace berth::ranks_test
