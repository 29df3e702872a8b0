// Events are one store with two views: core/v1, in which they are kept, and events.k8s.io/v1.
#pragma once

#include <string>

#include "manifest/kinds.h"
#include "manifest/value.h"

namespace berth {

// Whether objects of the kind are kept in another form than they are shown in.
bool is_other_view(const KindInfo& kind);
// The first part of the keys of its objects: "pods", "jobs.batch"; "events" for both views.
std::string key_word(const KindInfo& kind);
// As it is kept, from the kind's own form; the other way round. Unchanged for every kind but events.k8s.io's.
Value as_kept(const KindInfo& kind, Value object);
Value as_shown(const KindInfo& kind, Value object);

}  // namespace berth
