#include "kube/token_file.h"

#include <sys/stat.h>

#include <string_view>
#include <utility>

#include "base/wording.h"
#include "kube/small_file.h"

namespace berth {
namespace {

constexpr std::size_t kTokenMax = 64 << 10;

}  // namespace

Result<std::string> token_in(std::string_view text, const std::string& file) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos)
    return Complaints({file}, "there is no token in it; write one line with the token");
  text = text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
  if (has_control_characters(text) || text.find(' ') != std::string_view::npos) {
    return Complaints({file}, "what is in it is no token: a token is one word on one line");
  }
  return std::string(text);
}

const std::string& TokenFile::current() {
  struct stat status = {};
  if (::stat(path_.c_str(), &status) == 0) {
    const Stamp stamp{status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
    if (stamp == stamp_) return token_;
    stamp_ = stamp;
  }
  Result<std::string> read = read_small_file(path_, kTokenMax);
  if (read) read = token_in(*read, path_);
  if (read) {
    token_ = std::move(*read);
    complaint_.clear();
  } else {
    complaint_ = read.error().to_string();
    stamp_ = {};  // read again next time
  }
  return token_;
}

}  // namespace berth
