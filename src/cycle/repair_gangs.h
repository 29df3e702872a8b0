// The phase in which gangs get pods in the place of those that they have lost (docs/semantics.md, rule 23).
#pragma once

#include "cycle/cycle.h"

namespace berth {

// Before anybody starts, but for who waits with a higher claim. What cannot be repaired in this cycle stays as it is.
void repair_gangs(OneCycle& cycle);

}  // namespace berth
