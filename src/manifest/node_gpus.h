// What a Node object says of its GPUs: by its allocatable amounts and the labels of NVIDIA's feature discovery, and by
// Berth's own label that they are shared, and how.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/node_cut.h"
#include "manifest/value.h"
#include "model/node.h"
#include "model/quantity.h"

namespace berth {

struct NodeGpus {
  std::int32_t count = 0;
  std::string model;            // the catalogue's short name where it knows the model; empty without GPUs
  std::int64_t memory_mib = 0;  // of each; 0 = not known
  Sharing sharing = Sharing::kExclusive;
  SharingSet other_modes = {};           // what the node may be instead, as long as no pod has a GPU of it
  std::int32_t replicas = 1;             // as how many each counts, if they are time-sliced
  MigPlaceSet fixed_slices = {};         // into which somebody else has cut each of them, or is about to
  Duration recut{0};                     // it takes so long to cut these anew, all at once; none: they stay
  std::vector<NodeLayout> layouts = {};  // into one of which
  MigPlaceSet offered = {};              // into which they are cut by what the node offers now, if that is a layout
  NodeCut cut = {};                      // what was asked for last
  std::string cut_state = {};            // and what whoever cuts them says of it
  std::vector<std::string> unused_slices = {};  // resources of slices that somebody else has cut, and nobody is sent to
  std::string why_unused = {};                  // and what to do about it
  std::string problem = {};  // why they cannot be used at all, and what to write instead; empty: they can

  bool may_be(Sharing mode) const { return sharing == mode || other_modes.contains(mode); }
  // How they are shared, or may be; kExclusive: in no way.
  Sharing shared_as() const;
};
NodeGpus read_node_gpus(const Value& node);

// As the label berth.dev/gpu-mode has them: "mig", "exclusive.mig", the first before the others.
std::string modes_text(Sharing first, SharingSet others);
Parsed<std::vector<Sharing>> parse_modes(std::string_view text);

// What NVIDIA's feature discovery calls it in the label nvidia.com/gpu.sharing-strategy.
std::string_view sharing_strategy_of(Sharing sharing);

// The catalogue's short name where it knows the product, with or without the maker's name before it, or "-SHARED" behind it.
std::string gpu_model_of(std::string_view product);

// What a node of such GPUs that are shared, or may be, offers by the name of a resource: whole ones, if it may have some; if they
// are cut as pods ask, of each profile as many as if it were cut into nothing else; if they were cut beforehand, these slices; if they are time-sliced, all replicas; of vGPUs of each profile as many as if there were no other.
void set_shared_amounts(const NodeGpus& gpus, Value& amounts);

}  // namespace berth
