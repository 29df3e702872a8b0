// Fields that an object left out.
#pragma once

#include <string_view>
#include <utility>

#include "manifest/value.h"

namespace berth {

// Where there is none, or null.
inline void set_if_absent(Value& object, std::string_view key, Value value) {
  if (object[key].is_null()) object.set(key, std::move(value));
}
// Where there is none, or null, "", {} or [].
inline void set_if_empty(Value& object, std::string_view key, Value value) {
  if (object[key].is_empty()) object.set(key, std::move(value));
}

}  // namespace berth
