// Where there is room for a set, along the tree of the network: in the domains of the level that it asks for, in what is narrower, and,
// where it only prefers that level, in what is wider, up to the cluster.
//
// INVARIANT: a domain of the level asked for is whole at every wider level: where its nodes lie in several wider domains it is one by
// itself there. So is, at every narrower level, a slice that lies across several of its domains. Nodes that do not say in which
// narrower domain they are, are in none: they are a group like others, but no domain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/ids.h"
#include "state/domains.h"

namespace berth {

// Levels of the network between the cluster and its nodes, the widest first, but for that which is asked for.
struct LevelsAround {
  std::vector<std::size_t> wider = {};
  std::vector<std::size_t> narrower = {};
};
// PRE: there is a network, and the topology asks for a level.
LevelsAround levels_around(const Topologies& topologies, TopologyId asked);

// Those of the nodes around which the most of `others` are: in one domain of the last of these levels, then of the one before it, and
// so on; all, if none of the others is near any. Who does not say in which domain he is, is in none.
std::vector<NodeId> nearest_to(std::span<const NodeId> others, std::span<const NodeId> nodes,
                               std::span<const std::size_t> levels, const Network& network);

class NearTree {
 public:
  // What is never divided: a node, or of a set with slices what is in one domain of theirs.
  struct Leaf {
    std::size_t item = 0;   // as the caller numbers them
    std::int64_t room = 0;  // in pods
    std::size_t path = 0;   // where the domains that it is in begin, the widest first
  };
  // The leaves in one domain of a level. Depth 0 is the cluster.
  struct Group {
    std::size_t first = 0;
    std::size_t count = 0;
    std::size_t depth = 0;
    std::int64_t room = 0;  // in pods
    bool is_domain = true;
  };

  // PRE: as of levels_around().
  NearTree(const Topologies& topologies, TopologyId asked);

  void add(std::size_t item, std::int64_t room, DomainId domain, std::span<const NodeId> nodes);
  // PRE for what follows: all were added.
  void sort();

  // Of the level asked for, and of the narrowest.
  std::size_t own_depth() const { return wider_.size() + 1; }
  std::size_t last_depth() const { return own_depth() + narrower_.size(); }
  Group all() const;
  // Those in it of a deeper level.
  std::vector<Group> groups(const Group& in, std::size_t depth) const;
  std::span<const Leaf> leaves(const Group& group) const {
    return std::span(leaves_).subspan(group.first, group.count);
  }
  // The fewest domains of the level asked for that have room for so many together. PRE: they have room in it.
  std::int64_t fewest_domains(const Group& in, std::int64_t pods) const;

 private:
  std::span<const std::uint32_t> path(const Leaf& leaf) const {
    return std::span(paths_).subspan(leaf.path, last_depth());
  }
  // That of all of them; else one that nothing else is in.
  std::uint32_t domain_of(std::size_t level, std::span<const NodeId> nodes);
  // The wider ones that it is in.
  std::span<const std::uint32_t> around(DomainId domain);

  const Network& network_;
  const Domains& own_;
  std::vector<std::size_t> wider_;  // none where the level is required
  std::vector<std::size_t> narrower_;
  std::vector<std::vector<std::uint32_t>> around_;  // by domain of the level asked for; empty until it is looked for
  std::uint32_t by_themselves_ = 0;                 // so many are in such as nothing else is in
  std::vector<std::uint32_t> paths_;
  std::vector<Leaf> leaves_;
};

}  // namespace berth
