// How large an object is, and how large patches may make it.
#pragma once

#include <cstddef>
#include <optional>

#include "apiserver/api_error.h"
#include "manifest/value.h"

namespace berth {

// As large as a request's body may be: what nobody could have sent, nobody shall build up by patches either.
inline constexpr std::size_t kObjectBytesMax = 3 * 1024 * 1024;
// What the JSON reader allows; patches may not nest deeper.
inline constexpr std::size_t kDepthMax = 200;

// About the bytes of its JSON.
std::size_t approximate_bytes(const Value& value);
// 0 of a scalar, one more than the deepest part's of a list or map.
std::size_t depth_of(const Value& value);

// 413 if the object has become larger than kObjectBytesMax. What was too large before may stay or shrink.
std::optional<ApiError> refuse_growth(const Value& before, const Value& after);

}  // namespace berth
