// What still fits where the fleet is in pieces. Counted from the ledger when somebody asks; nothing is kept for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "state/state.h"

namespace berth {

// Whether its GPUs are to be had whole, if they are free; of one flavor, or of any where none is named.
inline bool gives_whole_gpus(const NodeFree& node, FlavorId flavor) {
  return node.open && node.gpus > 0 && node.suits(Sharing::kExclusive) &&
         (flavor.is_none() || FlavorId(node.flavor) == flavor);
}

// Pods of so many whole GPUs for which there is room now on open nodes that are not shared: a gang of so many could start, as
// far as GPUs go. Of one flavor; of all where none is named.
std::int64_t pods_that_fit(const State& state, std::int64_t gpus, FlavorId flavor = {});
// The same if whatever runs there could be moved anywhere: no repacking makes room for more.
std::int64_t pods_that_could_fit(const State& state, std::int64_t gpus);

// Of one flavor.
struct Fragments {
  struct Size {
    std::int64_t gpus = 0;  // of each pod
    std::int64_t pods = 0;  // of the largest gang that would start now
  };
  struct Slices {
    std::string profile;
    std::int64_t count = 0;  // so many of it alone could still be cut
  };

  FlavorId flavor;
  std::int64_t free_milli = 0;  // on open nodes that are not shared, parts of GPUs too
  std::int64_t node_gpus = 0;   // of the largest such node
  std::vector<Size> sizes;      // 1, 2, 4, ... and that of the largest node
  std::vector<Slices> slices;   // by profile, where nodes are cut
  // Of what is free, the part that no pod of the largest node's size could use; in thousandths, 0 where nothing is free.
  std::int64_t fragmented_permille = 0;
};

// Of each flavor that has an open node.
std::vector<Fragments> fragments_of(const State& state);

}  // namespace berth
