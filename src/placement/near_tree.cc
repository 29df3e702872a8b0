#include "placement/near_tree.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace berth {
namespace {

constexpr std::uint32_t kInNone = std::numeric_limits<std::uint32_t>::max();

}  // namespace

LevelsAround levels_around(const Topologies& topologies, TopologyId asked) {
  const Network& network = *topologies.network();
  const Domains& own = topologies.domains(asked);
  const auto named = network.level_named(topologies[asked].level);
  LevelsAround around;
  for (std::size_t level = 1; level < network.node_level(); ++level) {
    if (level == named) continue;
    const bool is_wider = named ? level < *named : network.domains(level) < own.size() + own.outside();
    (is_wider ? around.wider : around.narrower).push_back(level);
  }
  return around;
}

std::vector<NodeId> nearest_to(std::span<const NodeId> others, std::span<const NodeId> nodes,
                               std::span<const std::size_t> levels, const Network& network) {
  std::vector<NodeId> nearest(nodes.begin(), nodes.end());
  for (std::size_t i = levels.size(); i-- > 0;) {
    const std::size_t level = levels[i];
    std::vector<std::int64_t> in_domain(network.domains(level));
    for (const NodeId node : others) in_domain[network.domain(level, node)] += network.says(level, node) ? 1 : 0;
    std::int64_t most = 0;
    for (const NodeId node : nearest) most = std::max(most, in_domain[network.domain(level, node)]);
    std::erase_if(nearest, [&](NodeId node) { return in_domain[network.domain(level, node)] < most; });
  }
  return nearest;
}

NearTree::NearTree(const Topologies& topologies, TopologyId asked)
    : network_(*topologies.network()), own_(topologies.domains(asked)), around_(own_.size()) {
  LevelsAround levels = levels_around(topologies, asked);
  if (topologies[asked].together == Togetherness::kPreferred) wider_ = std::move(levels.wider);
  narrower_ = std::move(levels.narrower);
}

void NearTree::add(std::size_t item, std::int64_t room, DomainId domain, std::span<const NodeId> nodes) {
  const std::span<const std::uint32_t> wider = around(domain);
  leaves_.push_back({item, room, paths_.size()});
  paths_.insert(paths_.end(), wider.begin(), wider.end());
  paths_.push_back(domain.value());
  for (const std::size_t level : narrower_) {
    paths_.push_back(network_.says(level, nodes.front()) ? domain_of(level, nodes) : kInNone);
  }
}

void NearTree::sort() {
  const auto is_before = [&](const Leaf& a, const Leaf& b) {
    return std::ranges::lexicographical_compare(path(a), path(b));
  };
  // They come domain by domain: of few levels they often are.
  if (!std::ranges::is_sorted(leaves_, is_before)) std::ranges::stable_sort(leaves_, is_before);
}

NearTree::Group NearTree::all() const {
  Group all{.count = leaves_.size()};
  for (const Leaf& leaf : leaves_) all.room += leaf.room;
  return all;
}

std::vector<NearTree::Group> NearTree::groups(const Group& in, std::size_t depth) const {
  std::vector<Group> groups;
  for (std::size_t at = in.first; at < in.first + in.count; ++at) {
    const auto begins = [&](std::size_t leaf) { return path(leaves_[leaf]).first(depth); };
    if (at == in.first || !std::ranges::equal(begins(at), begins(at - 1))) {
      groups.push_back({at, 0, depth, 0, begins(at).back() != kInNone});
    }
    ++groups.back().count;
    groups.back().room += leaves_[at].room;
  }
  return groups;
}

std::int64_t NearTree::fewest_domains(const Group& in, std::int64_t pods) const {
  std::vector<std::int64_t> rooms;
  for (const Group& each : groups(in, own_depth())) rooms.push_back(each.room);
  std::ranges::sort(rooms, std::ranges::greater());
  std::int64_t domains = 0;
  for (; pods > 0; ++domains) pods -= rooms[static_cast<std::size_t>(domains)];
  return domains;
}

std::uint32_t NearTree::domain_of(std::size_t level, std::span<const NodeId> nodes) {
  const auto domain = network_.domain_of_all(level, nodes);
  return domain ? *domain : kInNone - ++by_themselves_;
}

std::span<const std::uint32_t> NearTree::around(DomainId domain) {
  std::vector<std::uint32_t>& known = around_[domain.index()];
  for (std::size_t i = known.size(); i < wider_.size(); ++i) {
    known.push_back(domain_of(wider_[i], own_.nodes(domain)));
  }
  return known;
}

}  // namespace berth
