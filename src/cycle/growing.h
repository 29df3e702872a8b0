// The phase in which elastic workloads take steps (docs/semantics.md, rule 18).
#pragma once

#include "cycle/cycle.h"

namespace berth {

// They take what nobody who waits had any use for: one step after the other, each of whoever comes first by rule 9. Where somebody has
// to go, only those who begin: for them there is no later moment at which it costs nothing.
void grow(OneCycle& cycle);

}  // namespace berth
