// Finds the members of one map by their keys. Requests may hold maps with hundreds of thousands of members, and looking
// through all of them for each would take minutes: large maps get a sorted index.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <vector>

#include "manifest/value.h"

namespace berth {

// INVARIANT: knows the members that were there when it was made. More may be added behind them; none may be removed.
class MemberIndex {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  explicit MemberIndex(const Value::Map& members) : members_(members), count_(members.size()) {
    if (count_ <= kScannedMax) return;
    sorted_.resize(count_);
    std::iota(sorted_.begin(), sorted_.end(), std::size_t{0});
    std::ranges::sort(sorted_, {}, [&](std::size_t at) { return std::string_view(members_[at].key); });
  }

  // Its position, or kNone.
  std::size_t find(std::string_view key) const {
    if (count_ <= kScannedMax) {
      for (std::size_t at = 0; at < count_; ++at) {
        if (members_[at].key == key) return at;
      }
      return kNone;
    }
    const auto found =
        std::ranges::lower_bound(sorted_, key, {}, [&](std::size_t at) { return std::string_view(members_[at].key); });
    return found != sorted_.end() && members_[*found].key == key ? *found : kNone;
  }

 private:
  static constexpr std::size_t kScannedMax = 24;

  const Value::Map& members_;
  std::size_t count_;
  std::vector<std::size_t> sorted_;
};

}  // namespace berth
