// Who set which field: metadata.managedFields (FieldsV1) for plain writes, and server-side apply on top of it. Source: the
// structured-merge-diff rules as Kubernetes documents them. Pure functions.
#pragma once

#include <expected>
#include <string>

#include "apiserver/api_error.h"
#include "base/time.h"
#include "manifest/kinds.h"
#include "manifest/value.h"

namespace berth {

struct FieldManager {
  std::string name;         // of the query's fieldManager, else the User-Agent up to its "/"
  std::string subresource;  // "status" or empty
  Time now;
};

// After a create (`before` null) or an update: the manager owns what changed, others lose it. `after` gets its managedFields;
// they stay as they were when nothing changed.
void note_write(const KindInfo& kind, const Value& before, Value& after, const FieldManager& manager);

// Server-side apply. `live` is null for a creation. 409 with causes on conflicts unless `force`; what the manager applied
// before and left out now goes, unless somebody else owns it.
std::expected<Value, ApiError> server_side_apply(const KindInfo& kind, const Value& live, const Value& applied,
                                                 const FieldManager& manager, bool force);

}  // namespace berth
