// Files in and out: whole, or a complaint that names the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

inline constexpr std::int64_t kFileBytesMax = std::int64_t{4} << 30;

Result<std::string> read_file(const std::string& path);

// The whole text, making the folder if it is missing; the path written.
Result<std::string> write_file(const std::string& path, std::string_view text);

// For the eyes of who runs this alone. Written beside it, onto the disk, and renamed: there is the old one or the new one, never a
// part.
Result<std::string> write_private_file(const std::string& path, std::string_view text);

}  // namespace berth
