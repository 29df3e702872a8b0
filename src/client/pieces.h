// Into how small pieces the free GPUs of a cluster are: which sizes of pods still fit, model by model. The same as the engine counts
// (state/fragments.h), from the objects of the API.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "client/node_devices.h"
#include "manifest/value.h"

namespace berth {

struct FreePieces {
  std::string model;
  std::int64_t free = 0;       // whole GPUs, on nodes that take pods and are not shared
  std::int64_t node_gpus = 0;  // of the largest such node
  std::vector<std::pair<std::int64_t, std::int64_t>>
      fit;  // pods of 1, 2, 4, ... GPUs and of those of that node: for how many there is room
  std::int64_t useless_permille =
      0;  // of what is free, what no pod of that node's size could use; 0 where nothing is free
  // By profile, of GPUs that are cut: for how many of it alone there is a place, as they are cut now. Empty: none are.
  std::vector<std::pair<std::string, std::int64_t>> slices = {};
};

// By model.
std::vector<FreePieces> pieces_of(const std::vector<NodeInUse>& nodes);

// A line for each model, and one for its slices.
std::string pieces_in_words(const std::vector<FreePieces>& pieces);
Value pieces_as_value(const std::vector<FreePieces>& pieces);

}  // namespace berth
