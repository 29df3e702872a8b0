// Slices (MIG) as Kubernetes' objects name them: by a resource for each profile, "nvidia.com/mig-1g.10gb".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/quantity.h"

namespace berth {

bool is_slice_resource(std::string_view resource);

// "1g.10gb+me" -> "nvidia.com/mig-1g.10gb.me": no resource may have a '+'.
std::string slice_resource(std::string_view profile);

// The profile as models of the catalogue call it; else what to write instead. PRE: it is such a resource.
Parsed<std::string> profile_of(std::string_view resource);

// Why one pod cannot ask all of this, and what to write instead; empty: it can. `slices` by resource, each more than 0.
std::string why_not_in_one_pod(const std::map<std::string, std::int64_t>& slices, std::int64_t whole_gpus);

}  // namespace berth
