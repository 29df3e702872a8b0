// Where nodes are, as a file says it: Slurm's topology.conf (topology.conf(5), the plugins tree and block), or Berth's own YAML:
//
//   levels: [zone, rack]              # labels of nodes, the widest first
//   domains:
//     z1: {r1: "gpu[1-4]", r2: "gpu[5-8]"}
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

inline constexpr std::size_t kTopologyFileBytesMax = 16u << 20u;
inline constexpr std::size_t kFileLevelsMax = 16;

struct PlacedNode {
  std::string name;
  std::vector<std::string> domains;  // by level; empty: it is in none of that level

  friend bool operator==(const PlacedNode&, const PlacedNode&) = default;
};

// INVARIANT: each level is the key of a label, and each domain's name the value of one, that says by itself which domain of its
// level it is; no node is there twice; nodes are in the order of the file.
struct TopologyFile {
  std::vector<std::string> levels;  // the widest first
  std::vector<PlacedNode> nodes;

  friend bool operator==(const TopologyFile&, const TopologyFile&) = default;
};

// `levels`: what the levels are to be called, the widest first; none: as the file says, and of Slurm's switch-2, switch-1 (the
// switch next to nodes), or block-8, block for blocks of blocks.
Result<TopologyFile> read_topology_file(const std::string& file, std::string_view text,
                                        const std::vector<std::string>& levels = {});

}  // namespace berth
