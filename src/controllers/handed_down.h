// What a Job hands down to its pods, and a JobSet to its Jobs: the queue, and the words for which Kubernetes has no field.
#pragma once

#include "manifest/value.h"

namespace berth {

// From the metadata of who makes it into that of what is made, where that says nothing itself.
void hand_down(const Value& maker, Value& made);

}  // namespace berth
