// What fields an API object has. One description, written down once in a small language (schema_*.cc), serves five
// uses: strict validation, OpenAPI documents, merge keys of strategic patches, ownership of server-side apply, and
// protobuf request bodies. Source: the Kubernetes API, 1.36.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "manifest/value.h"

namespace berth {

struct Type;

enum class Scalar : std::uint8_t {
  kText,
  kInteger,
  kBool,
  kQuantity,
  kTime,
  kMicroTime,
  kIntOrText,
  kBytes,   // base64 in JSON
  kAny,     // whatever JSON can say; kept as it is
  kObject,  // of Field::type
};
enum class Plurality : std::uint8_t { kOne, kList, kMap };          // kMap: from texts to the scalar
enum class ListOwnership : std::uint8_t { kAtomic, kSet, kKeyed };  // server-side apply's listType

struct Field {
  std::string name;
  std::uint32_t number = 0;  // in protobuf
  Scalar scalar = Scalar::kText;
  Plurality plurality = Plurality::kOne;
  const Type* type = nullptr;  // of kObject
  bool required = false;
  bool pointer = false;      // an absent value and a zero one differ: protobuf zeros are kept
  bool atomic = false;       // server-side apply owns the map or object as a whole
  bool retain_keys = false;  // strategic merge: keys not named go
  bool inlined = false;      // protobuf: a message whose fields are the parent's own in JSON
  std::string merge_key;     // strategic merge of a list by this key; "-" = a set of scalars; empty = replaced whole
  ListOwnership ownership = ListOwnership::kAtomic;
  std::vector<std::string> owner_keys;  // of kKeyed
  std::vector<std::string> allowed;     // of a text: these and no others, if any
  std::string description;              // of Berth's own kinds; empty elsewhere
};

struct Type {
  std::string name;     // "PodSpec"; of events.k8s.io, which has the core's names, "events.Event"
  std::string package;  // "io.k8s.api.core.v1": first part of its name in OpenAPI
  std::string description;
  std::vector<Field> fields;
  const Field* find(std::string_view field) const;  // inlined ones looked through
  const Field* find_number(std::uint32_t number) const;
  // Of a type that is a list in JSON and a message around it in protobuf (one inlined list): that list; else nullptr.
  const Field* wrapped_list() const;
};

// The type of that name. PRE: there is one (names are written in this program only).
const Type& type_named(std::string_view name);
std::vector<const Type*> all_types();

// What is wrong with a value of a type, in the words of Kubernetes' decoder.
struct SchemaComplaint {
  enum class What : std::uint8_t { kUnknownField, kWrongType };
  What what = What::kUnknownField;
  std::string path;     // "spec.containers[0].foo"
  std::string message;  // `unknown field "spec.containers[0].foo"`, or what a decoder says of a wrong type
};
// The first hundred.
std::vector<SchemaComplaint> check_fields(const Type& type, const Value& value);
// Removes members that the type does not have, and nulls.
void drop_unknown_fields(const Type& type, Value& value);
// Quantities into their canonical text; times without fractions.
void canonicalise(const Type& type, Value& value);

// The JSON of a protobuf message (field numbers from the schema). Unknown numbers are skipped; anything malformed is a
// complaint.
Result<Value> from_protobuf(const Type& type, std::string_view message);

}  // namespace berth
