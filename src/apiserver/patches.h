// The three ways to patch: pure functions from an object and a patch to the new object.
#pragma once

#include <expected>

#include "apiserver/api_error.h"
#include "manifest/schema.h"
#include "manifest/value.h"

namespace berth {

// RFC 6902; at most 10,000 operations. A failed test or a missing path is 422 Invalid, a malformed patch 400.
std::expected<Value, ApiError> apply_json_patch(const Value& object, const Value& patch);
// RFC 7396.
std::expected<Value, ApiError> apply_merge_patch(const Value& object, const Value& patch);
// Kubernetes' strategic merge patch with the schema's merge keys; $patch, $retainKeys, $setElementOrder/...,
// $deleteFromPrimitiveList/... .
std::expected<Value, ApiError> apply_strategic_patch(const Type& type, const Value& object, const Value& patch);

}  // namespace berth
