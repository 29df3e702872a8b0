// The domains of the topology, level by level, and what pods ask of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/intern.h"
#include "model/ids.h"
#include "model/node.h"
#include "model/topology.h"
#include "state/network.h"

namespace berth {

// The domains of one level, in the order of their first nodes. Nodes that do not have its label are in none.
class Domains {
 public:
  Domains(const std::string& level, const std::vector<Node>& nodes);

  std::size_t size() const { return names_.size(); }
  // How many nodes are in none.
  std::size_t outside() const { return outside_; }
  DomainId of(NodeId node) const { return of_node_[node.index()]; }
  std::span<const NodeId> nodes(DomainId domain) const { return nodes_[domain.index()]; }
  const std::string& name(DomainId domain) const { return names_[domain.index()]; }

  friend bool operator==(const Domains&, const Domains&) = default;

 private:
  std::vector<DomainId> of_node_;
  std::vector<std::vector<NodeId>> nodes_;  // by domain
  std::vector<std::string> names_;          // by domain
  std::size_t outside_ = 0;
};

std::uint64_t digest_of(const Topology& topology);

// Every topology that was ever asked for, numbered, with the domains of its levels. Number 0 asks nothing.
class Topologies {
 public:
  Topologies();

  TopologyId intern(const Topology& topology, const std::vector<Node>& nodes);
  // From now on there is a network: somebody asks for nodes that are near each other.
  void know_network(const std::vector<Node>& nodes, const std::vector<Flavor>& flavors);
  // Nodes have come.
  void look_at(const std::vector<Node>& nodes, const std::vector<Flavor>& flavors);
  // One of them says something else of itself than before.
  void look_at(const std::vector<Node>& nodes, const std::vector<Flavor>& flavors, const Labels& before,
               const Labels& now);

  std::size_t size() const { return level_of_.size(); }
  const Topology& operator[](TopologyId topology) const { return kinds_[topology.index()]; }
  // Of the level that the topology names. PRE: it is not anywhere.
  const Domains& domains(TopologyId topology) const { return *levels_[level_of_[topology.index()]].domains; }
  // Of the level of its slices, or over which it is spread. PRE: it has either.
  const Domains& inner_domains(TopologyId topology) const {
    return *levels_[inner_level_of_[topology.index()]].domains;
  }
  // nullptr until somebody asks for a level, or declares how his GPUs share a model.
  const Network* network() const { return network_.get(); }

 private:
  struct Level {
    std::string name;
    std::shared_ptr<const Domains> domains;
  };
  std::size_t level(const std::string& name, const std::vector<Node>& nodes);

  InternTable<Topology, digest_of> kinds_;
  std::vector<std::size_t> level_of_;        // by topology
  std::vector<std::size_t> inner_level_of_;  // by topology
  std::vector<Level> levels_;
  std::shared_ptr<const Network> network_;
};

}  // namespace berth
