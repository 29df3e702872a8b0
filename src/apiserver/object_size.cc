#include "apiserver/object_size.h"

#include <algorithm>
#include <string>

namespace berth {

std::size_t approximate_bytes(const Value& value) {
  std::size_t bytes = 2 + value.text().size() + value.number_text().size();
  if (value.is_integer()) bytes += 6;
  for (const Value& item : value.items()) bytes += 1 + approximate_bytes(item);
  for (const Value::Member& member : value.members()) bytes += 4 + member.key.size() + approximate_bytes(member.value);
  return bytes;
}

std::size_t depth_of(const Value& value) {
  std::size_t deepest = 0;
  for (const Value& item : value.items()) deepest = std::max(deepest, depth_of(item));
  for (const Value::Member& member : value.members()) deepest = std::max(deepest, depth_of(member.value));
  return value.is_list() || value.is_map() ? deepest + 1 : 0;
}

std::optional<ApiError> refuse_growth(const Value& before, const Value& after) {
  const std::size_t bytes = approximate_bytes(after);
  if (bytes <= kObjectBytesMax || bytes <= approximate_bytes(before)) return std::nullopt;
  ApiError error;
  error.code = 413;
  error.reason = "RequestEntityTooLarge";
  error.message = "Request entity too large: the patched object would have about " + std::to_string(bytes) +
                  " bytes, limit is " + std::to_string(kObjectBytesMax);
  return error;
}

}  // namespace berth
