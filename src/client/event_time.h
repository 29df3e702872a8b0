// When an event was last told, whichever of its fields says so.
#pragma once

#include "base/time.h"
#include "manifest/value.h"

namespace berth {

// The oldest moment there is, if none says so.
Time time_of_event(const Value& event);

}  // namespace berth
