// Finds keys given twice while a map is read, in n log n whatever the keys: a hostile document is not slower to refuse
// than an honest one is to accept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

#include "manifest/value.h"

namespace berth {

// For one map while members are only appended, each right after it was asked for here.
class KeyIndex {
 public:
  // Where the key stands among the members; their number if it is new.
  std::size_t place_of(const Value::Map& members, const std::string& key) {
    if (members.size() < kSearchedMax) {
      return static_cast<std::size_t>(std::ranges::find(members, key, &Value::Member::key) - members.begin());
    }
    if (places_.empty()) {
      for (std::size_t i = 0; i < members.size(); ++i) places_.emplace(members[i].key, i);
    }
    return places_.emplace(key, members.size()).first->second;
  }

 private:
  // Nearly all maps are smaller, and for them looking through is the fastest.
  static constexpr std::size_t kSearchedMax = 16;
  std::map<std::string, std::size_t> places_;
};

}  // namespace berth
