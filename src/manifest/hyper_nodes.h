// Volcano's HyperNodes: nodes that are near each other, tier by tier, as domains of levels. Tier 2 is the level hypernode-tier-2, and
// its domains are the HyperNodes of that tier.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/name_pattern.h"
#include "manifest/selector.h"
#include "manifest/value.h"

namespace berth {

inline constexpr std::string_view kHyperNodeLevelPrefix = "hypernode-tier-";
inline constexpr std::int64_t kHyperNodeTierMax = 1'000;
std::string level_of_tier(std::int64_t tier);

// Nodes, or HyperNodes, by exactly one of three ways.
struct HyperNodeMember {
  bool of_nodes = true;
  std::string name = {};                     // empty: not by its name
  std::optional<NamePattern> pattern = {};   // of names
  std::optional<LabelSelector> labels = {};  // of nodes alone
};

struct HyperNodeProblem {
  std::string field;  // "spec.members[0].selector"
  std::string why;    // what is wrong, and what to write instead
};

struct HyperNode {
  std::string name;
  std::int64_t tier = 0;
  std::vector<HyperNodeMember> members = {};
  std::vector<HyperNodeProblem> problems = {};  // all of them
};
HyperNode read_hyper_node(const Value& object);

struct NamedLabels {
  std::string name;
  const Value* labels;  // of a node
};

struct HyperNodeStanding {
  std::int64_t nodes = 0;
  std::string reason = {}, problem = {};  // why it is not as it was meant; both empty: it is
};

struct HyperNodeDomains {
  // Of each node the HyperNode that it is in, tier by tier.
  std::map<std::string, std::map<std::int64_t, std::string>> of_nodes;
  std::map<std::string, HyperNodeStanding> standings;  // by HyperNode
};
// A HyperNode that is part of itself, or has a member of no lower tier, has no nodes. A node in two of one tier is in no domain of
// that tier: nobody could say in which.
HyperNodeDomains domains_of(const std::vector<HyperNode>& hyper_nodes, const std::vector<NamedLabels>& nodes);

// The nodes with a label for each tier: what the levels are to whoever looks at labels. `nodes` and `hyper_nodes` are objects.
std::vector<Value> with_hyper_node_labels(std::vector<Value> nodes, const std::vector<Value>& hyper_nodes);

}  // namespace berth
