// In which words work names its queue, and a priority beside it: as long as nobody of it has a node, its pods follow what these
// say now; then they stay as they were, for a gang has one queue.
#pragma once

#include <optional>

#include "manifest/value.h"

namespace berth {

// What makes the words in the metadata `had` those of `wanted`, as a merge patch of the object; none: they are.
std::optional<Value> queue_change(const Value& had, const Value& wanted);
// The words of `other` in the place of its own.
void take_queue(const Value& other, Value& metadata);

}  // namespace berth
