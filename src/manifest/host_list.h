// Names of nodes as Slurm's configuration has them: "gpu[1-4,07],login" (slurm.conf(5), "hostlist expressions").
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

inline constexpr std::size_t kHostsMax = 100'000;

// In the order in which they are written; numbers keep their leading zeros: n[08-10] is n08, n09, n10. Several brackets in one name
// are counted through from the last. Complaints carry `place`.
Result<std::vector<std::string>> expand_host_list(std::string_view text, const Place& place);

}  // namespace berth
