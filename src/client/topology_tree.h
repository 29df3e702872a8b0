// The domains of a cluster as a tree: what is in each, what of it is free, and the largest gang that would start there now.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "client/listing.h"
#include "client/node_devices.h"
#include "client/pieces.h"
#include "client/topology_levels.h"
#include "manifest/value.h"

namespace berth {

// Of some nodes, of one model of GPU: "H100", "H100/mig".
struct ModelUse {
  std::int64_t gpus = 0;
  std::int64_t used = 0;         // of which anything is taken
  std::int64_t free = 0;         // wholly, on nodes that take pods
  std::int64_t gang = 0;         // of these those that a pod may have whole: the largest gang that would fit
  std::int64_t whole_nodes = 0;  // of which all GPUs are among these
};

struct DomainUse {
  std::int64_t nodes = 0;
  std::int64_t closed_nodes = 0;  // not ready, cordoned, or spares
  std::int64_t uplink_gpus = 0;   // of gangs that have others outside of it, and say how their GPUs share a model
  std::map<std::string, ModelUse> models = {};

  void add(const NodeInUse& node);
  ModelUse all_models() const;
};

// A domain inside those of wider levels. Nodes without the label are in one of their own, without a name.
struct DomainNode {
  std::string label;  // of the level
  std::string name;
  DomainUse use = {};
  std::vector<DomainNode> inner = {};
  std::vector<const NodeInUse*> nodes = {};  // where no narrower level is
};

// Where a gang of one model would find the most room at one level. As the scheduler has them: nodes with one value of the
// level's label are one domain, whatever they are in else.
struct LargestGang {
  std::string label, model;
  std::int64_t domains = 0;  // with such GPUs
  std::int64_t gpus = 0;
  std::string domain = {};       // empty: nowhere is one free
  std::int64_t whole_nodes = 0;  // the most that one domain has
};

// What a gang puts on the network, as the scheduler says it.
struct GangOnNetwork {
  std::string name;  // with its namespace
  std::string cost;
  const Value* uplinks = nullptr;
};

struct TopologyTree {
  TopologyLevels levels;
  std::vector<DomainNode> domains;
  std::vector<LargestGang> largest;       // level by level
  std::vector<std::string> notes;         // what is not as it was meant
  std::vector<GangOnNetwork> gangs = {};  // by name
};

// PRE: the nodes, and the Workloads of `berth.dev`, outlive it.
TopologyTree topology_tree(const TopologyLevels& levels, const std::vector<NodeInUse>& nodes,
                           const std::vector<Value>& workloads = {});

// Two tables, that of the domains with single nodes only where it is wide; or all of it for programs.
// `pieces`: below them, in words; of all nodes.
std::string trees_to_text(const std::vector<TopologyTree>& trees, OutputStyle style,
                          const std::vector<FreePieces>& pieces = {});

// Domain by domain the maps of their nodes, in so many columns: "rack r1   5/16   [####.+..] [####....]".
std::string map_of_tree(const TopologyTree& tree, std::size_t columns, bool colors);

}  // namespace berth
