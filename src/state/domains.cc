#include "state/domains.h"

#include <map>

namespace berth {

Domains::Domains(const std::string& level, const std::vector<Node>& nodes) {
  std::map<std::string, DomainId> known;
  of_node_.resize(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string* const label = level == kNodeLevel ? &nodes[i].name : find_label(nodes[i].labels, level);
    if (label == nullptr) {
      ++outside_;
      continue;
    }
    const auto [at, is_new] = known.emplace(*label, DomainId(names_.size()));
    // Nodes may have one name; each is a domain of its own all the same.
    if (is_new || level == kNodeLevel) {
      of_node_[i] = DomainId(names_.size());
      names_.push_back(*label);
      nodes_.emplace_back();
    } else {
      of_node_[i] = at->second;
    }
    nodes_[of_node_[i].index()].emplace_back(i);
  }
}

std::uint64_t digest_of(const Topology& topology) {
  Hasher hasher;
  topology.add_to(hasher);
  return hasher.digest();
}

Topologies::Topologies() {
  kinds_.intern(Topology());
  level_of_.push_back(0);
  inner_level_of_.push_back(0);
}

TopologyId Topologies::intern(const Topology& topology, const std::vector<Node>& nodes) {
  const std::size_t id = kinds_.intern(topology);
  if (id == level_of_.size()) {
    level_of_.push_back(topology.together == Togetherness::kAnywhere ? 0 : level(topology.level, nodes));
    const std::string& inner = topology.inner_level();
    inner_level_of_.push_back(inner.empty() ? 0 : level(inner, nodes));
  }
  return TopologyId(id);
}

void Topologies::know_network(const std::vector<Node>& nodes, const std::vector<Flavor>& flavors) {
  if (network_ == nullptr) network_ = std::make_shared<const Network>(nodes, flavors);
}

void Topologies::look_at(const std::vector<Node>& nodes, const std::vector<Flavor>& flavors) {
  for (Level& level : levels_) level.domains = std::make_shared<const Domains>(level.name, nodes);
  if (network_ != nullptr) network_ = std::make_shared<const Network>(nodes, flavors);
}

void Topologies::look_at(const std::vector<Node>& nodes, const std::vector<Flavor>& flavors, const Labels& before,
                         const Labels& now) {
  if (network_ != nullptr && network_->heeds_change(before, now)) {
    network_ = std::make_shared<const Network>(nodes, flavors);
  }
  for (Level& level : levels_) {
    const std::string* const old_value = find_label(before, level.name);
    const std::string* const value = find_label(now, level.name);
    const bool same = old_value == nullptr ? value == nullptr : value != nullptr && *value == *old_value;
    if (!same && level.name != kNodeLevel) level.domains = std::make_shared<const Domains>(level.name, nodes);
  }
}

std::size_t Topologies::level(const std::string& name, const std::vector<Node>& nodes) {
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    if (levels_[i].name == name) return i;
  }
  levels_.push_back({name, std::make_shared<const Domains>(name, nodes)});
  return levels_.size() - 1;
}

}  // namespace berth
