// What a what-if found, but for its timelines, as a value that travels in an object.
#pragma once

#include <cstddef>

#include "manifest/value.h"
#include "sim/what_if.h"

namespace berth {

// Of who waits, and of who is evicted, those for whom it makes a difference, so many at most; the others are counted.
Value what_if_as_value(const WhatIf& what_if, std::size_t waiting_max);

// What it was made of. What is missing in it counts as nothing.
WhatIf what_if_in(const Value& told);

}  // namespace berth
