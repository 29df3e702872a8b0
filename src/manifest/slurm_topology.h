#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "manifest/topology_file.h"

namespace berth {

// Whether it is one, by its first word.
bool is_slurm_topology(std::string_view text);
// Slurm's topology.conf. The levels have their own names; nothing of them was checked.
Result<TopologyFile> read_slurm_topology(const std::string& file, std::string_view text);

}  // namespace berth
