#include "placement/network_cost.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "base/assert.h"
#include "base/wide.h"

namespace berth {
namespace {

constexpr std::int64_t kBytes = std::int64_t{1} << 30;

// `part` of `whole` of a GiB over such a link; a MB/s is a byte in a microsecond.
std::int64_t bytes_ns(std::int64_t part, std::int64_t whole, std::int64_t mb_per_s) {
  return static_cast<std::int64_t>(Wide{kBytes} * 1000 * part / (Wide{whole} * mb_per_s));
}

// One group whose GPUs stand in the order of their places in the network.
class Group {
 public:
  Group(const Network& network, std::span<const NodeId> gpus) : network_(network), gpus_(gpus) {}

  std::int64_t cheapest_ns() const {
    if (gpus_.size() < 2) return 0;
    const Network::Link slowest = slowest_link();
    return std::min({ring(slowest), tree(slowest), hierarchical_ns()});
  }
  std::int64_t ring_ns() const { return gpus_.size() < 2 ? 0 : ring(slowest_link()); }
  std::int64_t tree_ns() const { return gpus_.size() < 2 ? 0 : tree(slowest_link()); }
  std::int64_t hierarchical_ns() const {
    return hierarchical(gpus_, network_.level_of_both(gpus_.front(), gpus_.back()));
  }

 private:
  std::int64_t ring(const Network::Link& slowest) const {
    const std::int64_t n = std::ssize(gpus_);
    return bytes_ns(2 * (n - 1), n, slowest.mb_per_s) + 2 * (n - 1) * slowest.step_ns;
  }
  std::int64_t tree(const Network::Link& slowest) const {
    const auto depth = static_cast<std::int64_t>(std::bit_width(gpus_.size() - 1));
    return bytes_ns(2, 1, slowest.mb_per_s) + 2 * depth * slowest.step_ns;
  }

  // Between neighbours in their order, which goes through every domain once.
  Network::Link slowest_link() const {
    Network::Link slowest{kBandwidthMbPerSMax, 0};
    for (std::size_t i = 1; i < gpus_.size(); ++i) {
      const Network::Link& link = network_.link(network_.level_of_both(gpus_[i - 1], gpus_[i]), gpus_[i]);
      slowest.mb_per_s = std::min(slowest.mb_per_s, link.mb_per_s);
      slowest.step_ns = std::max(slowest.step_ns, link.step_ns);
    }
    return slowest;
  }

  // Those that are in one domain of the level, which is the closest of which all of them are.
  std::int64_t hierarchical(std::span<const NodeId> gpus, std::size_t level) const {
    const Network::Link& link = network_.link(level, gpus.front());
    std::int64_t parts = 0;
    std::int64_t fewest = std::ssize(gpus);
    std::int64_t inside = 0;
    if (level == network_.node_level()) {
      parts = fewest;
      fewest = 1;
    } else {
      for (std::size_t first = 0, last = 0; first < gpus.size(); first = last) {
        const std::uint32_t domain = network_.domain(level + 1, gpus[first]);
        while (last < gpus.size() && network_.domain(level + 1, gpus[last]) == domain) ++last;
        const std::span<const NodeId> part = gpus.subspan(first, last - first);
        ++parts;
        fewest = std::min(fewest, std::ssize(part));
        inside = std::max(inside, hierarchical(part, network_.level_of_both(part.front(), part.back())));
      }
    }
    return inside + bytes_ns(2 * (parts - 1), parts * fewest, link.mb_per_s) + 2 * (parts - 1) * link.step_ns;
  }

  const Network& network_;
  std::span<const NodeId> gpus_;
};

std::vector<NodeId> by_place(const Network& network, std::span<const NodeId> gpus) {
  std::vector<NodeId> sorted(gpus.begin(), gpus.end());
  std::ranges::sort(sorted, {}, [&](NodeId node) { return network.place(node); });
  return sorted;
}

}  // namespace

std::int64_t ring_ns(const Network& network, std::span<const NodeId> gpus) {
  return Group(network, by_place(network, gpus)).ring_ns();
}
std::int64_t tree_ns(const Network& network, std::span<const NodeId> gpus) {
  return Group(network, by_place(network, gpus)).tree_ns();
}
std::int64_t hierarchical_ns(const Network& network, std::span<const NodeId> gpus) {
  return Group(network, by_place(network, gpus)).hierarchical_ns();
}

std::int64_t send_ns(const Network& network, NodeId from, NodeId to) {
  const Network::Link& link = network.link(network.level_of_both(from, to), to);
  return bytes_ns(1, 1, link.mb_per_s) + link.step_ns;
}

NetworkCost network_cost(const Network& network, const Parallelism& parallel, std::int64_t gpus_of_pod,
                         std::span<const NodeId> nodes) {
  BERTH_ASSERT(parallel.gpus() == std::ssize(nodes) * gpus_of_pod);
  const auto node_of = [&](std::int64_t tensor, std::int64_t stage, std::int64_t replica) {
    const std::int64_t gpu = tensor + parallel.tensor * (stage + parallel.pipeline * replica);
    return nodes[static_cast<std::size_t>(gpu / gpus_of_pod)];
  };
  // GPUs of one tensor group that are in one pod exchange the same with GPUs of the same other pods.
  const std::int64_t alike = std::min(parallel.tensor, gpus_of_pod);
  NetworkCost cost;
  std::vector<NodeId> group;
  const auto reduce = [&](GroupCost& kind, std::int64_t groups) {
    std::ranges::sort(group, {}, [&](NodeId node) { return network.place(node); });
    kind.add(Group(network, group).cheapest_ns(), groups);
    group.clear();
  };
  for (std::int64_t replica = 0; replica < parallel.data; ++replica) {
    for (std::int64_t stage = 0; stage < parallel.pipeline; ++stage) {
      for (std::int64_t tensor = 0; tensor < parallel.tensor; ++tensor)
        group.push_back(node_of(tensor, stage, replica));
      reduce(cost.tensor, 1);
      if (stage == 0) continue;
      for (std::int64_t tensor = 0; tensor < parallel.tensor; tensor += alike) {
        cost.pipeline.add(send_ns(network, node_of(tensor, stage - 1, replica), node_of(tensor, stage, replica)),
                          alike);
      }
    }
  }
  for (std::int64_t stage = 0; stage < parallel.pipeline; ++stage) {
    for (std::int64_t tensor = 0; tensor < parallel.tensor; tensor += alike) {
      for (std::int64_t replica = 0; replica < parallel.data; ++replica) {
        group.push_back(node_of(tensor, stage, replica));
      }
      reduce(cost.data, alike);
    }
  }
  return cost;
}

}  // namespace berth
