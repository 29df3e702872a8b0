#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/wording.h"
#include "manifest/canonical_quantity.h"
#include "manifest/schema.h"
#include "manifest/timestamp.h"

namespace berth {
namespace {

constexpr std::size_t kComplaintsMax = 100;
constexpr std::size_t kKeyShownMax = 300;  // in paths: a hundred complaints about one monstrous key stay readable

std::string_view word_for(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kBool:
      return "bool";
    case Value::Kind::kInteger:
    case Value::Kind::kNumber:
      return "number";
    case Value::Kind::kText:
      return "string";
    case Value::Kind::kList:
      return "array";
    case Value::Kind::kMap:
      return "object";
  }
  return "value";
}

// Of a package "io.k8s.api.core.v1" and a type "events.Event" the Go name "v1.Event".
std::string go_name(const Type& type) {
  return type.package.substr(type.package.rfind('.') + 1) + "." + type.name.substr(type.name.rfind('.') + 1);
}

std::string go_scalar(const Field& field) {
  switch (field.scalar) {
    case Scalar::kText:
      return "string";
    case Scalar::kInteger:
      return "int64";
    case Scalar::kBool:
      return "bool";
    case Scalar::kQuantity:
      return "resource.Quantity";
    case Scalar::kTime:
      return "v1.Time";
    case Scalar::kMicroTime:
      return "v1.MicroTime";
    case Scalar::kIntOrText:
      return "intstr.IntOrString";
    case Scalar::kBytes:
      return "[]uint8";
    case Scalar::kAny:
      return "v1.FieldsV1";
    case Scalar::kObject:
      return go_name(*field.type);
  }
  return "value";
}

enum class Part : unsigned char { kWhole, kItem };  // of a list or map

std::string go_type(const Field& field, Part part) {
  if (part == Part::kItem || field.plurality == Plurality::kOne) return go_scalar(field);
  return (field.plurality == Plurality::kList ? "[]" : "map[string]") + go_scalar(field);
}

// Standard base64, whose length with padding is a multiple of four.
bool is_base64(std::string_view text) {
  if (text.size() % 4 != 0) return false;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
  });
}

bool is_quantity(const Value& value) {
  return value.is_integer() || Quantity::parse(value.is_text() ? value.text() : value.number_text()).has_value();
}

class Checker {
 public:
  std::vector<SchemaComplaint> check(const Type& type, const Value& value) && {
    check_object(type, type.name, value);
    return std::move(complaints_);
  }

 private:
  bool full() const { return complaints_.size() >= kComplaintsMax; }

  void add(SchemaComplaint::What what, std::string message) {
    complaints_.push_back({what, path_, std::move(message)});
  }
  void wrong_type(std::string_view owner, const Value& value, const std::string& wanted) {
    const std::string where = path_.empty() ? "value" : "struct field " + std::string(owner) + "." + path_;
    add(SchemaComplaint::What::kWrongType,
        "json: cannot unmarshal " + std::string(word_for(value)) + " into Go " + where + " of type " + wanted);
  }
  void enter(std::string_view key) {
    if (!path_.empty()) path_ += '.';
    if (key.size() <= kKeyShownMax) {
      path_ += key;
      return;
    }
    std::size_t end = kKeyShownMax;
    while (end > 0 && (static_cast<unsigned char>(key[end]) & 0xc0) == 0x80) --end;  // not inside a character
    path_.append(key.substr(0, end)).append("...");
  }
  void malformed(const Value& value, const std::string& why) {
    const std::string written(value.is_text() ? value.text() : value.number_text());
    add(SchemaComplaint::What::kWrongType, path_ + ": " + quote(written) + " " + why);
  }

  void check_object(const Type& type, std::string_view owner, const Value& value) {
    if (!value.is_map()) {
      wrong_type(owner, value, go_name(type));
      return;
    }
    const std::size_t length = path_.size();
    for (const Value::Member& member : value.members()) {
      if (full()) return;
      enter(member.key);
      if (const Field* const field = type.find(member.key)) {
        check_field(*field, type.name, member.value);
      } else {
        add(SchemaComplaint::What::kUnknownField, "unknown field \"" + path_ + "\"");
      }
      path_.resize(length);
    }
  }

  void check_field(const Field& field, std::string_view owner, const Value& value) {
    if (value.is_null()) return;
    if (field.plurality == Plurality::kOne) {
      check_item(field, owner, value);
    } else if (field.plurality == Plurality::kList ? !value.is_list() : !value.is_map()) {
      wrong_type(owner, value, go_type(field, Part::kWhole));
    } else if (field.plurality == Plurality::kList) {
      check_list(field, owner, value);
    } else {
      check_map(field, owner, value);
    }
  }

  void check_list(const Field& field, std::string_view owner, const Value& value) {
    const std::size_t length = path_.size();
    for (std::size_t i = 0; i < value.items().size() && !full(); ++i) {
      path_ += '[' + std::to_string(i) + ']';
      check_item(field, owner, value.items()[i]);
      path_.resize(length);
    }
  }

  void check_map(const Field& field, std::string_view owner, const Value& value) {
    const std::size_t length = path_.size();
    for (const Value::Member& member : value.members()) {
      if (full()) return;
      enter(member.key);
      check_item(field, owner, member.value);
      path_.resize(length);
    }
  }

  void check_item(const Field& field, std::string_view owner, const Value& value) {
    if (value.is_null()) return;
    if (field.scalar == Scalar::kObject) {
      const Field* const list = field.type->wrapped_list();
      list != nullptr ? check_field(*list, owner, value) : check_object(*field.type, owner, value);
    } else if (!has_right_kind(field, value)) {
      wrong_type(owner, value, go_type(field, Part::kItem));
    } else {
      check_form(field, value);
    }
  }

  static bool has_right_kind(const Field& field, const Value& value) {
    switch (field.scalar) {
      case Scalar::kText:
      case Scalar::kTime:
      case Scalar::kMicroTime:
      case Scalar::kBytes:
        return value.is_text();
      case Scalar::kInteger:
        return value.is_integer();
      case Scalar::kBool:
        return value.is_bool();
      case Scalar::kQuantity:
        return value.is_text() || value.is_integer() || value.kind() == Value::Kind::kNumber;
      case Scalar::kIntOrText:
        return value.is_text() || value.is_integer();
      case Scalar::kAny:
      case Scalar::kObject:
        return true;
    }
    return true;
  }

  void check_form(const Field& field, const Value& value) {
    const bool is_time = field.scalar == Scalar::kTime || field.scalar == Scalar::kMicroTime;
    if (is_time && !parse_timestamp(value.text())) {
      malformed(value, "is no time: write one as in 2026-01-31T12:00:00Z (RFC 3339)");
    } else if (field.scalar == Scalar::kBytes && !is_base64(value.text())) {
      malformed(value, "is not base64 (illegal base64 data)");
    } else if (field.scalar == Scalar::kQuantity && !is_quantity(value)) {
      malformed(value,
                "is no quantity: quantities must match the regular expression "
                "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    }
  }

  std::string path_;
  std::vector<SchemaComplaint> complaints_;
};

// Calls `visit` for every value of the type, innermost ones with their field.
void visit_scalars(const Type& type, Value& value, const std::function<void(const Field&, Value&)>& visit);

void visit_field(const Field& field, Value& value, const std::function<void(const Field&, Value&)>& visit) {
  const auto visit_item = [&](Value& item) {
    if (field.scalar != Scalar::kObject) {
      visit(field, item);
    } else if (const Field* const list = field.type->wrapped_list()) {
      visit_field(*list, item, visit);
    } else {
      visit_scalars(*field.type, item, visit);
    }
  };
  if (field.plurality == Plurality::kOne) {
    visit_item(value);
  } else if (field.plurality == Plurality::kList && value.is_list()) {
    for (Value& item : value.edit_items()) visit_item(item);
  } else if (field.plurality == Plurality::kMap && value.is_map()) {
    for (Value::Member& member : value.edit_members()) visit_item(member.value);
  }
}

void visit_scalars(const Type& type, Value& value, const std::function<void(const Field&, Value&)>& visit) {
  if (!value.is_map()) return;
  for (Value::Member& member : value.edit_members()) {
    if (const Field* const field = type.find(member.key)) visit_field(*field, member.value, visit);
  }
}

// The six digits after the second's point, as far as they were written.
std::string micro_digits(std::string_view time) {
  std::string digits;
  for (std::size_t i = time.find('.'); i != time.npos && ++i < time.size() && digits.size() < 6;) {
    if (time[i] < '0' || time[i] > '9') break;
    digits += time[i];
  }
  digits.resize(6, '0');
  return digits;
}

void canonicalise_scalar(const Field& field, Value& value) {
  if (field.scalar == Scalar::kQuantity && is_quantity(value)) {
    const std::string written = value.is_integer() ? std::to_string(value.integer())
                                                   : std::string(value.is_text() ? value.text() : value.number_text());
    if (const Parsed<Quantity> quantity = Quantity::parse(written)) value = quantity->to_string();
  } else if (field.scalar == Scalar::kTime || field.scalar == Scalar::kMicroTime) {
    const std::optional<Time> time = parse_timestamp(value.text());
    if (!time) return;
    std::string canonical = format_timestamp(*time);
    if (field.scalar == Scalar::kMicroTime) canonical.insert(canonical.size() - 1, "." + micro_digits(value.text()));
    value = std::move(canonical);
  }
}

void drop_in_object(const Type& type, Value& value);

void drop_in_item(const Field& field, Value& item) {
  if (field.scalar == Scalar::kObject && field.type->wrapped_list() == nullptr) drop_in_object(*field.type, item);
}

void drop_in_object(const Type& type, Value& value) {
  if (!value.is_map()) return;
  std::erase_if(value.edit_members(),
                [&](const Value::Member& member) { return member.value.is_null() || !type.find(member.key); });
  for (Value::Member& member : value.edit_members()) {
    const Field& field = *type.find(member.key);
    if (field.plurality == Plurality::kOne) {
      drop_in_item(field, member.value);
    } else if (field.plurality == Plurality::kList && member.value.is_list()) {
      for (Value& item : member.value.edit_items()) drop_in_item(field, item);
    } else if (field.plurality == Plurality::kMap && member.value.is_map()) {
      std::erase_if(member.value.edit_members(), [](const Value::Member& each) { return each.value.is_null(); });
      for (Value::Member& each : member.value.edit_members()) drop_in_item(field, each.value);
    }
  }
}

}  // namespace

std::vector<SchemaComplaint> check_fields(const Type& type, const Value& value) { return Checker().check(type, value); }

void drop_unknown_fields(const Type& type, Value& value) { drop_in_object(type, value); }

void canonicalise(const Type& type, Value& value) { visit_scalars(type, value, canonicalise_scalar); }

}  // namespace berth
