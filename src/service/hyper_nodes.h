// Volcano's HyperNodes in a live engine: each tier is a level, by a label that the engine's nodes have and the objects have not.
// No threads, clocks or sockets.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "manifest/hyper_nodes.h"
#include "manifest/value.h"
#include "service/live_engine.h"
#include "service/other_queues.h"

namespace berth {

inline constexpr std::string_view kHyperNodes = "hypernodes.topology.volcano.sh";

class HyperNodes {
 public:
  // PRE: the engine outlives it, and hears of nodes from nobody else.
  explicit HyperNodes(LiveEngine& engine) : engine_(engine) {}

  void set(const Value& object);
  void remove(const std::string& name);
  void set_node(const NodeFacts& node);
  void remove_node(const std::string& name);
  // What has changed goes to the engine; before each decision.
  void settle();

  // Of each: how many nodes it has, and whether it is as it was meant.
  std::vector<OtherStatus> statuses(Time now) const;

 private:
  struct Held {
    Value object;
    HyperNode read;
  };
  NodeFacts resolved(const NodeFacts& node) const;

  LiveEngine& engine_;
  std::map<std::string, Held> objects_;
  std::map<std::string, NodeFacts> nodes_;                           // as they say it themselves
  std::map<std::string, std::map<std::int64_t, std::string>> told_;  // to the engine: by node and tier
  std::map<std::string, HyperNodeStanding> standings_;
  bool changed_ = false;
};

}  // namespace berth
