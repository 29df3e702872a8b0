// What a pod's object says of the pods around it, as the model has it: its labels, pod affinities and anti-affinities,
// topologySpreadConstraints and host ports.
#pragma once

#include <string>

#include "manifest/value.h"
#include "model/neighbours.h"

namespace berth {

struct ReadNeighbours {
  Neighbours neighbours;
  std::string problem;  // what has no meaning here, and what to write instead; empty: nothing
};
ReadNeighbours read_neighbours(const Value& pod);

}  // namespace berth
