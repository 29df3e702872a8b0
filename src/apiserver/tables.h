// What `kubectl get` shows: meta.k8s.io/v1 Tables, with the columns people know (facts: replies of 1.36).
#pragma once

#include <string_view>

#include "base/time.h"
#include "manifest/kinds.h"
#include "manifest/value.h"

namespace berth {

enum class RowObject : unsigned char { kNone, kMetadata, kObject };  // includeObject

Value table_columns(const KindInfo& kind);                                             // columnDefinitions
Value table_row(const KindInfo& kind, const Value& object, RowObject with, Time now);  // {cells, object}

}  // namespace berth
