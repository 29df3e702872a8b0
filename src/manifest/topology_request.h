// How close together a pod asks to be with those who start with it, in its annotations: Berth's own and Kueue's.
#pragma once

#include <string>
#include <string_view>

#include "manifest/value.h"
#include "model/topology.h"

namespace berth {

// The level of nodes that have this label.
std::string level_named(std::string_view label);

struct ReadTopology {
  Topology topology;
  std::string problem;  // what has no meaning here, and what to write instead; empty: nothing
};
// Berth's words go before Kueue's. The level of single nodes has their label's name, kubernetes.io/hostname.
ReadTopology read_topology(const Value& annotations);

}  // namespace berth
