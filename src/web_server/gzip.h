// Replies made smaller while they are sent: a piece at a time, so that a large one takes no thread for long and is never
// in memory twice.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

// Whether an Accept-Encoding header takes gzip by name.
bool accepts_gzip(std::string_view accept_encoding);

class GzipBody {
 public:
  // Null if there is no memory for it: then the parts are left as they are.
  static std::unique_ptr<GzipBody> begin(std::vector<std::shared_ptr<const std::string>>& parts);
  virtual ~GzipBody() = default;

  // The next compressed bytes, of about so many of the body. Not empty, but for the last.
  virtual std::string next(std::size_t body_bytes) = 0;
  virtual bool done() const = 0;
};

}  // namespace berth
