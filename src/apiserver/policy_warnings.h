// What the linter has to say when a queue is written, as warnings: with the queues that there are.
#pragma once

#include <string>
#include <vector>

#include "apiserver/validation.h"
#include "manifest/kinds.h"
#include "manifest/value.h"
#include "store/store.h"

namespace berth {

// Errors and warnings of the linter about this object, and the fields of it that are not followed. With more queues in
// the cluster than a few hundred it looks at the object alone: `berth lint` sees all.
std::vector<std::string> policy_warnings(const Store& store, const KindInfo& kind, const Value& object);

// What the readers of policies refuse of one object: of Kueue's and Volcano's kinds.
void check_policy_object(const AdmissionRequest& request, Causes& causes);

}  // namespace berth
