#include "state/network.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "model/gpu_hardware.h"
#include "model/quantity.h"
#include "model/topology.h"
#include "model/usual_levels.h"

namespace berth {
namespace {

constexpr std::int64_t kPortMbPerS = 50'000;
constexpr std::int64_t kTaper = 7;
// GPUs of whose links nothing is known: a card's 16 lanes of the fourth generation.
constexpr std::int64_t kLanesMbPerS = 32'000;
constexpr std::int64_t kInNodeStepNs = 3'400;
constexpr std::int64_t kNetworkStepNs = 14'000;

// Behind the leaves of a pod that does not block up to a twentieth is lost.
constexpr std::int64_t kPodMbPerS = kPortMbPerS - kPortMbPerS / 20;

// 0: of NVLink, as in a node.
constexpr std::int64_t usual_bandwidth_of(Reach reach) {
  switch (reach) {
    case Reach::kNvlink:
      return 0;
    case Reach::kLeaf:
      return kPortMbPerS;
    case Reach::kPod:
      return kPodMbPerS;
    case Reach::kZone:
      return kPortMbPerS / kTaper;
    case Reach::kRegion:
      return kPortMbPerS / kTaper / kTaper;
  }
  return 0;
}

std::string_view name_of_level(std::string_view label) { return label.substr(label.rfind('/') + 1); }

// Of HyperNodes of a tier, from the first on; those of higher tiers are as the last.
constexpr std::string_view kTierPrefix = "hypernode-tier-";
constexpr std::array kTiersMbPerS = {kPortMbPerS, kPodMbPerS, kPortMbPerS / kTaper};

std::optional<std::int64_t> usual_bandwidth(std::string_view label) {
  const std::string_view name = name_of_level(label);
  if (name.starts_with(kTierPrefix)) {
    const auto tier = parse_integer(name.substr(kTierPrefix.size()), 0, std::numeric_limits<std::int64_t>::max());
    if (!tier) return std::nullopt;
    return kTiersMbPerS[static_cast<std::size_t>(std::clamp<std::int64_t>(*tier, 1, std::ssize(kTiersMbPerS)) - 1)];
  }
  const auto usual = usual_level(label);
  return usual ? std::optional(usual_bandwidth_of(kUsualLevels[*usual].reach)) : std::nullopt;
}

// Between the GPUs of a node.
std::int64_t bandwidth_inside(const Node& node, const std::vector<Flavor>& flavors) {
  const GpuHardware* const hardware = node.flavor.is_none() ? nullptr : hardware_of(flavors[node.flavor.index()]);
  if (hardware == nullptr) return kLanesMbPerS;
  if (hardware->nvlink_gb_per_s > 0) return std::int64_t{hardware->nvlink_gb_per_s} * 1000 / 2;
  return kLanesMbPerS * (1 << std::max(0, hardware->pcie_generation - 3)) / 2;
}

// A label that may be a level, in the order in which they are found.
struct FoundLevel {
  std::string label;
  std::set<std::string> values = {};
  std::size_t without = 0;  // nodes
};

using SomeNodes = std::vector<const Node*>;

// The names of the levels of which somebody says a bandwidth.
std::set<std::string> said_of(const SomeNodes& nodes) {
  std::set<std::string> said;
  for (const Node* const node : nodes) {
    for (const Label& label : node->labels) {
      if (label.key.starts_with(kBandwidthPrefix)) said.insert(label.key.substr(kBandwidthPrefix.size()));
    }
  }
  return said;
}

// The widest first.
std::vector<std::string> levels_in(const SomeNodes& nodes, const std::set<std::string>& said) {
  std::set<std::string> known;
  std::vector<FoundLevel> levels;
  for (const Node* const node : nodes) {
    for (const Label& label : node->labels) {
      const bool is_level = !label.key.starts_with(kBandwidthPrefix) &&
                            (usual_bandwidth(label.key) || said.contains(std::string(name_of_level(label.key))));
      if (is_level && known.insert(label.key).second) levels.push_back({label.key});
    }
  }
  for (FoundLevel& level : levels) {
    for (const Node* const node : nodes) {
      const std::string* const value = find_label(node->labels, level.label);
      value == nullptr ? void(++level.without) : void(level.values.insert(*value));
    }
  }
  // Of as many domains the slower is the wider; of these the one that was found first.
  std::ranges::stable_sort(levels, {}, [](const FoundLevel& level) {
    const std::int64_t usual = usual_bandwidth(level.label).value_or(kPortMbPerS);
    return std::tuple(level.values.size() + level.without, usual == 0 ? kBandwidthMbPerSMax : usual);
  });
  std::vector<std::string> names;
  for (FoundLevel& level : levels) names.push_back(std::move(level.label));
  return names;
}

using DomainsOfNodes = std::vector<std::uint32_t>;  // by node

// By level, that of all nodes first and their own last: from above each level cuts the domains of the one before; nodes are
// numbered at last, domain by domain.
std::vector<DomainsOfNodes> domains_by_level(const std::vector<std::string>& between, const SomeNodes& nodes) {
  std::vector<DomainsOfNodes> domain_of(between.size() + 2, DomainsOfNodes(nodes.size()));
  std::vector<std::size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t level = 1; level <= between.size(); ++level) {
    const DomainsOfNodes& above = domain_of[level - 1];
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> first_of;  // the place where it begins
    DomainsOfNodes begins(nodes.size());
    for (std::size_t at = 0; at < order.size(); ++at) {
      const std::string* const value = find_label(nodes[order[at]]->labels, between[level - 1]);
      const auto place = static_cast<std::uint32_t>(at);
      begins[order[at]] =
          value == nullptr ? place : first_of.emplace(std::pair(above[order[at]], *value), place).first->second;
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t node) { return std::pair(above[node], begins[node]); });
    std::uint32_t domain = 0;
    for (std::size_t at = 0; at < order.size(); ++at) {
      const bool is_new =
          at > 0 && (begins[order[at]] != begins[order[at - 1]] || above[order[at]] != above[order[at - 1]]);
      domain += is_new ? 1 : 0;
      domain_of[level][order[at]] = domain;
    }
  }
  for (std::size_t at = 0; at < order.size(); ++at) domain_of.back()[order[at]] = static_cast<std::uint32_t>(at);
  return domain_of;
}

}  // namespace

std::int64_t bandwidth_in(std::string_view text) {
  const auto parsed = parse_milli(text);
  return parsed && *parsed >= kBandwidthMbPerSMin && *parsed <= kBandwidthMbPerSMax ? *parsed : 0;
}

Network::Network(const std::vector<Node>& nodes, const std::vector<Flavor>& flavors) {
  SomeNodes all;
  for (const Node& node : nodes) all.push_back(&node);
  said_ = said_of(all);
  const std::vector<std::string> between = levels_in(all, said_);
  names_.emplace_back(kClusterLevel);
  names_.insert(names_.end(), between.begin(), between.end());
  names_.emplace_back(kNodeLevel);
  domain_of_ = domains_by_level(between, all);
  says_.assign(levels(), std::vector<bool>(nodes.size(), true));
  for (std::size_t level = 1; level < node_level(); ++level) {
    for (std::size_t i = 0; i < nodes.size(); ++i)
      says_[level][i] = find_label(nodes[i].labels, names_[level]) != nullptr;
  }
  find_links(nodes, flavors);
}

void Network::find_links(const std::vector<Node>& nodes, const std::vector<Flavor>& flavors) {
  links_.resize(levels());
  // What leaves the widest level that is known has a part of what is inside; what leaves nodes alone has their ports.
  std::int64_t outside = kPortMbPerS;
  for (std::size_t level = node_level(); level-- > 1;) {
    if (const std::int64_t usual = usual_bandwidth(names_[level]).value_or(kPortMbPerS); usual > 0)
      outside = usual / kTaper;
  }
  for (std::size_t level = 0; level < levels(); ++level) {
    const std::string key = std::string(kBandwidthPrefix) + std::string(name_of_level(names_[level]));
    const std::int64_t usual = level == 0              ? outside
                               : level == node_level() ? 0
                                                       : usual_bandwidth(names_[level]).value_or(kPortMbPerS);
    std::vector<Link>& links = links_[level];
    std::vector<std::int64_t> said;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::size_t domain = domain_of_[level][i];
      if (domain >= links.size())
        links.resize(domain + 1, {kBandwidthMbPerSMax, usual == 0 ? kInNodeStepNs : kNetworkStepNs});
      if (domain >= said.size()) said.resize(domain + 1);
      const std::int64_t here = usual == 0 ? bandwidth_inside(nodes[i], flavors) : usual;
      links[domain].mb_per_s = std::min(links[domain].mb_per_s, here);
      const std::string* const label = find_label(nodes[i].labels, key);
      const std::int64_t says = label == nullptr ? 0 : bandwidth_in(*label);
      if (says > 0) said[domain] = said[domain] == 0 ? says : std::min(said[domain], says);
    }
    for (std::size_t domain = 0; domain < said.size(); ++domain) {
      if (said[domain] > 0) links[domain].mb_per_s = said[domain];
    }
  }
  // From the nodes outwards: nothing leaves a domain faster than it could get there.
  for (std::size_t level = node_level(); level-- > 0;) {
    std::vector<std::int64_t> inside(links_[level].size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      std::int64_t& most = inside[domain_of_[level][i]];
      most = std::max(most, links_[level + 1][domain_of_[level + 1][i]].mb_per_s);
    }
    for (std::size_t domain = 0; domain < inside.size(); ++domain) {
      links_[level][domain].mb_per_s = std::min(links_[level][domain].mb_per_s, inside[domain]);
    }
  }
}

std::vector<std::uint32_t> places_along_the_tree(const std::vector<const Node*>& nodes) {
  return domains_by_level(levels_in(nodes, said_of(nodes)), nodes).back();
}

std::optional<std::uint32_t> Network::domain_of_all(std::size_t level, std::span<const NodeId> nodes) const {
  const std::uint32_t first = domain(level, nodes.front());
  const bool same = std::ranges::all_of(nodes, [&](NodeId node) { return domain(level, node) == first; });
  return same ? std::optional(first) : std::nullopt;
}

std::optional<std::size_t> Network::level_named(std::string_view name) const {
  const auto found = std::find(names_.begin() + 1, names_.end(), name);
  return found == names_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - names_.begin()));
}

bool Network::heeds(std::string_view label) const {
  return label.starts_with(kBandwidthPrefix) || usual_bandwidth(label) ||
         said_.contains(std::string(name_of_level(label)));
}

bool Network::heeds_change(const Labels& before, const Labels& now) const {
  const auto is_other_in = [](const Labels& labels, const Label& label) {
    const std::string* const value = find_label(labels, label.key);
    return value == nullptr || *value != label.value;
  };
  return std::ranges::any_of(now, [&](const Label& each) { return is_other_in(before, each) && heeds(each.key); }) ||
         std::ranges::any_of(before, [&](const Label& each) { return is_other_in(now, each) && heeds(each.key); });
}

std::size_t Network::level_of_both(NodeId a, NodeId b) const {
  std::size_t level = node_level();
  while (domain(level, a) != domain(level, b)) --level;
  return level;
}

}  // namespace berth
