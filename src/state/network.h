// The network as a tree: the cluster, the levels between that labels of nodes name, the nodes; and what one GPU can send to others in a
// domain of each. A domain is told apart by the labels of all levels down to its own, so that the tree is one whatever labels say;
// a node without the label is a domain of its own.
//
// Levels are the labels whose names (behind the last '/', or there behind `topology-`) are in the table of network.cc, those of HyperNode
// tiers, and those whose bandwidth a node says by `bandwidth.berth.dev/NAME`. The wider of two is the one with fewer domains. What
// nodes of a domain say of it, the least of it, goes before the table; `bandwidth.berth.dev/node` and `/cluster` are said in the
// same way.
//
// Sources of the usual figures: one direction of NVLink by NVIDIA's data sheets; 50 GB/s is a port of 400 Gb/s for each GPU; an
// upper tier has a seventh of it as Meta's "RDMA over Ethernet for distributed AI training at Meta scale" (SIGCOMM 2024) has. Time of
// a step: the constants of NCCL's tuner (src/graph/tuning.cc) for its protocol for large messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/flavor.h"
#include "model/ids.h"
#include "model/node.h"

namespace berth {

inline constexpr std::string_view kBandwidthPrefix = "bandwidth.berth.dev/";
inline constexpr std::string_view kClusterLevel = "cluster";
// Of one GPU in one direction; in labels in GB/s, from 0.1 to a million. (The times of a million pods' groups add up in 64 bits.)
inline constexpr std::int64_t kBandwidthMbPerSMin = 100;
inline constexpr std::int64_t kBandwidthMbPerSMax = 1'000'000'000;

class Network {
 public:
  // The way between the parts of one domain.
  struct Link {
    std::int64_t mb_per_s = 1;  // of one GPU, in one direction
    std::int64_t step_ns = 0;   // until the first byte is there

    friend bool operator==(const Link&, const Link&) = default;
  };

  Network(const std::vector<Node>& nodes, const std::vector<Flavor>& flavors);

  // The widest, the cluster, is 0; nodes are the last.
  std::size_t levels() const { return names_.size(); }
  std::size_t node_level() const { return levels() - 1; }
  const std::string& name(std::size_t level) const { return names_[level]; }
  // But for the cluster.
  std::optional<std::size_t> level_named(std::string_view name) const;
  // How many there are of the level.
  std::size_t domains(std::size_t level) const { return links_[level].size(); }
  // Numbered by level.
  std::uint32_t domain(std::size_t level, NodeId node) const { return domain_of_[level][node.index()]; }
  // Whether it says in which it is; else it is one by itself.
  bool says(std::size_t level, NodeId node) const { return says_[level][node.index()]; }
  // In which all of these are; none: they are in several. PRE: there are some.
  std::optional<std::uint32_t> domain_of_all(std::size_t level, std::span<const NodeId> nodes) const;
  const Link& link(std::size_t level, NodeId node) const { return links_[level][domain(level, node)]; }
  // Nodes of one domain have places in a row, at every level.
  std::uint32_t place(NodeId node) const { return domain(node_level(), node); }
  // The closest level of which both are in one domain.
  std::size_t level_of_both(NodeId a, NodeId b) const;

  // Whether it would be another one if a node had these labels in place of those before.
  bool heeds_change(const Labels& before, const Labels& now) const;

  friend bool operator==(const Network&, const Network&) = default;

 private:
  bool heeds(std::string_view label) const;
  void find_links(const std::vector<Node>& nodes, const std::vector<Flavor>& flavors);

  std::set<std::string> said_;                         // the levels of which a node says a bandwidth, by name
  std::vector<std::string> names_;                     // of their labels
  std::vector<std::vector<std::uint32_t>> domain_of_;  // by level, by node
  std::vector<std::vector<bool>> says_;                // by level, by node
  std::vector<std::vector<Link>> links_;               // by level, by domain
};

// By node: which of these it is, from 0, where they stand along such a tree of them alone, so that those of one domain are beside
// each other at every level. What no level tells apart stays in its order.
std::vector<std::uint32_t> places_along_the_tree(const std::vector<const Node*>& nodes);

// What a label says of a bandwidth, in MB/s; 0: it is none.
std::int64_t bandwidth_in(std::string_view text);

}  // namespace berth
