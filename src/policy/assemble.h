// Parts into a policy: names become numbers, parents come before their children, and what Kueue and Volcano mean without
// saying it is said.
#pragma once

#include "policy/parts.h"
#include "policy/policy.h"

namespace berth {

// Whether the parts are all that there is. Of a single object that is looked at by itself, names of others are believed.
enum class Whole : bool { kNo, kYes };

Policy assemble(PolicyParts parts, Whole whole = Whole::kYes);

}  // namespace berth
