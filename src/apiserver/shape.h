// What the schema says of one value inside an object, and how the items of its lists are told apart. Strategic patches
// and the ownership of fields walk objects with it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/schema.h"
#include "manifest/value.h"

namespace berth {

// INVARIANT: refers to a type or field of the schema, which lives for ever; or knows nothing.
class ObjectShape {
 public:
  ObjectShape() = default;  // nothing is known
  explicit ObjectShape(const Type& type) : type_(&type) {}
  explicit ObjectShape(const Field& field) : ObjectShape(field, field.plurality) {}

  ObjectShape member(std::string_view key) const;  // of an object or map
  ObjectShape item() const;                        // of a list

  bool is_object() const { return type_ != nullptr; }
  bool is_map() const { return field_ != nullptr && plurality_ == Plurality::kMap; }
  bool is_list() const { return field_ != nullptr && plurality_ == Plurality::kList; }
  // The field that the value is the whole of; none of the root and of parts of lists and maps.
  const Field* field() const { return whole_ ? field_ : nullptr; }

  // Whether the value is owned as a whole: scalars, what is atomic or unknown, and what is not of this shape.
  bool is_atomic(const Value& value) const;
  // Those, and what has no parts to own.
  bool is_leaf(const Value& value) const { return is_atomic(value) || value.is_empty(); }

 private:
  ObjectShape(const Field& field, Plurality plurality);

  const Type* type_ = nullptr;
  const Field* field_ = nullptr;
  Plurality plurality_ = Plurality::kOne;
  bool whole_ = false;
};

// How FieldsV1 names the items of a list whose items are owned one by one (`k:{"name":"c"}`, `v:"x"`), in their order.
// None if items cannot be told apart; `why` then says so: "element 1: has no name".
std::optional<std::vector<std::string>> item_elements(const ObjectShape& list, const Value& value,
                                                      std::string* why = nullptr);

// The order of a merged list: `wanted` as it stands there, and those of `live` that are not wanted where they stood
// between the wanted ones. Both without duplicates.
std::vector<std::string> merged_order(const std::vector<std::string>& wanted, const std::vector<std::string>& live);

}  // namespace berth
