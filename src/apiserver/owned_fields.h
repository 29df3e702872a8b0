// Ownership of fields seen from objects: which paths a value has, which of them a change touched, and objects merged
// and pruned by paths.
#pragma once

#include <expected>
#include <string>

#include "apiserver/field_set.h"
#include "apiserver/shape.h"
#include "manifest/value.h"

namespace berth {

// All fields of an applied configuration: leaves, entries of maps, items of lists; objects in between only through what
// is in them. The complaint, with its path, when items of a list cannot be told apart.
std::expected<FieldSet, std::string> fields_of(const ObjectShape& shape, const Value& value);

struct FieldChanges {
  FieldSet written;  // added or of another value
  FieldSet removed;  // with all that was below them

  bool none() const { return written.empty() && removed.empty(); }
};
// Both are maps. A null `before` is the empty object of a creation: metadata, spec, status and whatever Kubernetes
// always writes are there, as in its own types.
FieldChanges changes_between(const ObjectShape& shape, const Value& before, const Value& after);

// What is applied goes over what is there: objects and maps by member, lists by item, leaves as a whole.
void merge_applied(const ObjectShape& shape, Value& live, const Value& applied);

// Removes the fields that are in `dropped` and neither in `kept` nor above something in it.
void prune_fields(const ObjectShape& shape, Value& value, const FieldSet& dropped, const FieldSet& kept);

}  // namespace berth
