// Some objects are one store with two views, and are kept in the form of one of them: events as core/v1 and as
// events.k8s.io/v1; Kueue's kinds as v1beta2 and as v1beta1, which has other names for some fields.
#pragma once

#include <string>

#include "manifest/kinds.h"
#include "manifest/value.h"

namespace berth {

// The first part of the keys of its objects: "pods", "jobs.batch"; "events" for both views.
std::string key_word(const KindInfo& kind);
// As it is kept, from the kind's own form; the other way round. Unchanged for every kind that is no other view.
Value as_kept(const KindInfo& kind, Value object);
Value as_shown(const KindInfo& kind, Value object);

}  // namespace berth
