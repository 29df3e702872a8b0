// Reads files that are small by their nature (configurations, keys, tokens), so that a wrong path ("/dev/zero") does no
// harm.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace berth {

// Complains with the path, the system's reason and what to do.
Result<std::string> read_small_file(const std::string& path, std::size_t bytes_max);

}  // namespace berth
