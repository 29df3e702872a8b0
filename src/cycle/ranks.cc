#include "cycle/ranks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "state/network.h"

namespace berth {
namespace {

// Of one pod set.
class Numbering {
 public:
  Numbering(const State& state, const NumberedPodSet& set, std::span<PodPlacement> pods)
      : state_(state), set_(set), topology_(state.topologies()[set.topology]), pods_(pods) {
    std::vector<const Node*> nodes;
    for (const PodPlacement& pod : pods) place_of_.emplace(pod.node, 0);
    for (const auto& [node, place] : place_of_) nodes.push_back(&state.node(node));
    if (nodes.size() < 2) return;
    const std::vector<std::uint32_t> places = places_along_the_tree(nodes);
    for (std::size_t i = 0; auto& [node, place] : place_of_) place = places[i++];
  }

  void run() {
    if (place_of_.size() < 2) return;
    std::vector<Unit> units = units_in_domains();
    std::ranges::stable_sort(units, {}, [](const Unit& unit) { return std::tie(unit.domain, unit.place); });
    std::vector<PodPlacement> in_order;
    for (const Unit& unit : units) in_order.insert(in_order.end(), unit.pods.begin(), unit.pods.end());
    std::ranges::move(in_order, pods_.begin());
  }

 private:
  // A slice, or a pod.
  struct Unit {
    std::span<PodPlacement> pods;
    std::uint32_t domain = 0;  // where the first of that domain stands
    std::uint32_t place = 0;   // where its first pod stands
  };

  std::vector<Unit> units_in_domains() {
    const auto size = static_cast<std::size_t>(topology_.unit_pods());
    std::vector<Unit> units;
    std::map<DomainId, std::uint32_t> first_of;
    for (std::size_t at = 0; at < pods_.size(); at += size) {
      const std::span<PodPlacement> pods = pods_.subspan(at, std::min(size, pods_.size() - at));
      std::ranges::stable_sort(pods, {}, [&](const PodPlacement& pod) { return place_of_.at(pod.node); });
      const std::uint32_t place = place_of_.at(pods.front().node);
      const auto [first, is_new] = first_of.emplace(domain_of(pods.front().node), place);
      first->second = std::min(first->second, place);
      units.push_back({pods, 0, place});
    }
    for (Unit& unit : units) {
      const DomainId domain = domain_of(unit.pods.front().node);
      unit.domain = domain.is_none() ? unit.place : first_of.at(domain);
    }
    return units;
  }

  DomainId domain_of(NodeId node) const {
    const bool anywhere = topology_.together == Togetherness::kAnywhere;
    return anywhere ? DomainId() : state_.topologies().domains(set_.topology).of(node);
  }

  const State& state_;
  const NumberedPodSet& set_;
  const Topology& topology_;
  std::span<PodPlacement> pods_;
  std::map<NodeId, std::uint32_t> place_of_;
};

}  // namespace

Start along_the_tree(const State& state, Start start) {
  const Shape& shape = state.shape(state.workload(start.workload).shape);
  std::size_t first = 0;
  for (const NumberedPodSet& set : shape.ways[start.way]) {
    const auto count = static_cast<std::size_t>(set.count);
    if (count > 1 && !set.parallel.is_declared()) {
      Numbering(state, set, std::span(start.pods).subspan(first, count)).run();
    }
    first += count;
  }
  return start;
}

}  // namespace berth
