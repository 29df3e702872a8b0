#include "kube/small_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace berth {

Result<std::string> read_small_file(const std::string& path, std::size_t bytes_max) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return Complaints({path}, "is a folder; name the file in it");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const std::string reason = errno == 0 ? "it cannot be opened" : std::strerror(errno);
    return Complaints({path}, "cannot be read: " + reason + "; check the path and the rights on it");
  }
  std::string text;
  std::array<char, 16384> part;
  while (file.read(part.data(), part.size()) || file.gcount() > 0) {
    text.append(part.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > bytes_max) {
      return Complaints({path}, "is larger than the " + std::to_string(bytes_max) +
                                    " bytes that such a file may have; is it the right one?");
    }
  }
  return text;
}

}  // namespace berth
