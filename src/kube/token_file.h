// A token in a file that somebody else renews (a pod's service account): read again when the file has changed.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace berth {

class TokenFile {
 public:
  explicit TokenFile(std::string path) : path_(std::move(path)) {}

  // The token as it is now; the last good one while the file cannot be read. Empty when there never was one:
  // complaint() says why.
  const std::string& current();
  const std::string& complaint() const { return complaint_; }

 private:
  // Tells one state of a file from another; a renewal swaps a link, and then the file has another number.
  struct Stamp {
    std::uint64_t device = 0, number = 0;
    std::int64_t size = 0, changed_s = 0, changed_ns = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };

  std::string path_;
  Stamp stamp_;
  std::string token_;
  std::string complaint_;
};

// What may stand in a header: no control characters. Spaces and line ends around a token are not part of it.
Result<std::string> token_in(std::string_view text, const std::string& file);

}  // namespace berth
