// Which labels of nodes are the levels of a cluster: as somebody wrote them, as a Topology says, or as they are found.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "manifest/value.h"

namespace berth {

inline constexpr std::string_view kHostnameLabel = "kubernetes.io/hostname";

struct TopologyLevels {
  std::string name;                 // of the Topology; empty: none says so
  std::vector<std::string> labels;  // the widest first
  std::string title = {};           // what else makes them; empty: nothing

  friend bool operator==(const TopologyLevels&, const TopologyLevels&) = default;
};

// "zone,rack,kubernetes.io/hostname", with all that is wrong with it.
Result<std::vector<std::string>> parse_levels(std::string_view text);

// Of Kueue's Topologies, in the order of their names.
std::vector<TopologyLevels> levels_of_topologies(const std::vector<Value>& topologies);

// The tiers of Volcano's HyperNodes, the highest first; none: there is no HyperNode.
std::optional<TopologyLevels> levels_of_hyper_nodes(const std::vector<Value>& hyper_nodes);

// The labels by which clusters usually tell where a node is, and those that pods ask for, if nodes have them: those of few
// domains first. The nodes themselves are the last level.
TopologyLevels levels_in_labels(const std::vector<Value>& nodes, const std::vector<Value>& pods,
                                const std::vector<TopologyLevels>& topologies);

// What of these no node has; and those that nodes have, near it.
std::string unknown_level(const std::vector<std::string>& labels, const std::vector<Value>& nodes);

// "rack" of "example.com/rack", "node" of the hostname.
std::string short_level(std::string_view label);

}  // namespace berth
