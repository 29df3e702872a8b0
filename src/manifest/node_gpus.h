// What a Node object says of its GPUs: by its allocatable amounts and the labels of NVIDIA's feature discovery, and by
// Berth's own label that they are cut into slices as Berth decides.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/value.h"
#include "model/node.h"

namespace berth {

struct NodeGpus {
  std::int32_t count = 0;
  std::string model;            // the catalogue's short name where it knows the model; empty without GPUs
  std::int64_t memory_mib = 0;  // of each; 0 = not known
  Sharing sharing = Sharing::kExclusive;
  std::vector<std::string> fixed_slices =
      {};                    // resources of slices that somebody else has cut, and Berth does not follow
  std::string problem = {};  // why they cannot be used at all, and what to write instead; empty: they can
};
NodeGpus read_node_gpus(const Value& node);

// The catalogue's short name where it knows the product, with or without the maker's name before it.
std::string gpu_model_of(std::string_view product);

// What a node of such GPUs that are cut offers: of each profile as many as if it were cut into nothing else.
void set_slice_amounts(const NodeGpus& gpus, Value& amounts);

}  // namespace berth
