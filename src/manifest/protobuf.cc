// The wire format is Protocol Buffers' (proto2, as Kubernetes' clients write it): tags of a number and a wire type,
// varints, and lengths followed by as many bytes.
#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/wording.h"
#include "manifest/json.h"
#include "manifest/key_index.h"
#include "manifest/schema.h"
#include "manifest/timestamp.h"

namespace berth {
namespace {

constexpr std::size_t kValuesMax = 2'000'000;
// What RFC 3339 can write: the years 1 to 9999.
constexpr std::int64_t kSecondsMin = -62'135'596'800;
constexpr std::int64_t kSecondsMax = 253'402'300'799;

enum class Wire : std::uint8_t { kVarint = 0, kEightBytes = 1, kBytes = 2, kFourBytes = 5 };

// One field of a message as it stands on the wire.
struct WireField {
  std::uint32_t number = 0;
  Wire wire = Wire::kVarint;
  std::uint64_t varint = 0;
  std::string_view bytes;  // of kBytes
};

class WireReader {
 public:
  explicit WireReader(std::string_view rest) : rest_(rest) {}

  bool at_end() const { return rest_.empty(); }

  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<std::uint8_t>(rest_[0]);
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  // None if what comes next is no field.
  std::optional<WireField> field() {
    const std::optional<std::uint64_t> tag = varint();
    if (!tag || *tag >> 3 == 0 || *tag > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    WireField field{.number = static_cast<std::uint32_t>(*tag >> 3), .wire = static_cast<Wire>(*tag & 7), .bytes = {}};
    switch (field.wire) {
      case Wire::kVarint:
        return value_of_varint(field);
      case Wire::kEightBytes:
        return bytes_of(field, 8);
      case Wire::kFourBytes:
        return bytes_of(field, 4);
      case Wire::kBytes:
        if (const std::optional<std::uint64_t> length = varint()) return bytes_of(field, *length);
        return std::nullopt;
    }
    return std::nullopt;  // groups, which nobody writes any more
  }

 private:
  std::optional<WireField> value_of_varint(WireField field) {
    const std::optional<std::uint64_t> value = varint();
    if (!value) return std::nullopt;
    field.varint = *value;
    return field;
  }
  std::optional<WireField> bytes_of(WireField field, std::uint64_t length) {
    if (length > rest_.size()) return std::nullopt;
    field.bytes = rest_.substr(0, static_cast<std::size_t>(length));
    rest_.remove_prefix(static_cast<std::size_t>(length));
    return field;
  }

  std::string_view rest_;
};

std::string to_base64(std::string_view bytes) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < count ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

Wire wire_of(Scalar scalar) {
  return scalar == Scalar::kInteger || scalar == Scalar::kBool ? Wire::kVarint : Wire::kBytes;
}

bool is_zero(const Field& field, const Value& value) {
  if (field.scalar == Scalar::kQuantity) return value.text() == "0";
  return value.is_empty() || value == Value(0) || value == Value(false);
}

// What JSON says when the wire says nothing of a map's value.
Value zero_of(const Field& field) {
  switch (field.scalar) {
    case Scalar::kInteger:
    case Scalar::kIntOrText:
      return 0;
    case Scalar::kBool:
      return false;
    case Scalar::kQuantity:
      return "0";
    case Scalar::kObject:
      return field.type->wrapped_list() != nullptr ? Value::list() : Value::map();
    case Scalar::kText:
    case Scalar::kBytes:
      return "";
    case Scalar::kTime:
    case Scalar::kMicroTime:
    case Scalar::kAny:
      return nullptr;
  }
  return nullptr;
}

class MessageReader {
 public:
  Result<Value> read(const Type& type, std::string_view bytes) && {
    const bool has_numbers = std::ranges::any_of(type.fields, [](const Field& each) { return each.number != 0; });
    if (!has_numbers) return Complaints("a " + type.name + " has no protobuf form; send it as JSON");
    Value value;
    if (read_object(type, bytes, value)) return value;
    return Complaints("the protobuf message cannot be read: " + (path_.empty() ? type.name : path_) + ": " + error_ +
                      "; send the object as JSON, or with a client of this API version");
  }

 private:
  using MapKeys = std::map<const Field*, KeyIndex>;  // of one message's maps

  // All of these: false, with the reason in error_ and the place in path_, when the input is malformed.
  bool fail(std::string reason) {
    error_ = std::move(reason);
    return false;
  }
  bool fail_at(std::string_view name, std::string reason) {
    enter(name);
    return fail(std::move(reason));
  }
  void enter(std::string_view name) {
    if (!path_.empty()) path_ += '.';
    path_ += name;
  }

  bool read_message(const Type& type, std::string_view bytes, Value& into) {
    std::uint64_t seen = 0;  // a bit for each field
    MapKeys keys;
    BERTH_ASSERT(type.fields.size() <= 64);
    for (WireReader reader(bytes); !reader.at_end();) {
      const std::optional<WireField> part = reader.field();
      if (!part) return fail("it is cut short or is no protobuf");
      const Field* const field = type.find_number(part->number);
      if (field == nullptr) continue;
      const std::uint64_t bit = std::uint64_t{1} << (field - type.fields.data());
      // A merge of the two, which protobuf would allow, is what no client means.
      if (field->plurality == Plurality::kOne && (seen & bit) != 0) return fail_at(field->name, "it is given twice");
      seen |= bit;
      const std::size_t length = path_.size();
      if (!field->inlined || field->plurality == Plurality::kList) enter(field->name);
      if (!read_field(*field, *part, into, keys)) return false;
      path_.resize(length);
    }
    return true;
  }

  bool read_field(const Field& field, const WireField& part, Value& into, MapKeys& keys) {
    switch (field.plurality) {
      case Plurality::kOne:
        return read_single(field, part, into);
      case Plurality::kList:
        return read_into_list(field, part, into.at(field.name));
      case Plurality::kMap:
        return read_into_map(field, part, into.at(field.name), keys[&field]);
    }
    return false;
  }

  bool read_single(const Field& field, const WireField& part, Value& into) {
    if (field.inlined) {
      return part.wire == Wire::kBytes ? read_message(*field.type, part.bytes, into) : fail("it is no message");
    }
    Value value;
    if (!read_item(field, part, value)) return false;
    if (!value.is_null() && (field.pointer || field.required || !is_zero(field, value))) {
      into.set(field.name, std::move(value));
    }
    return true;
  }

  bool read_into_list(const Field& field, const WireField& part, Value& list) {
    if (list.is_null()) list = Value::list();
    if (wire_of(field.scalar) == Wire::kVarint && part.wire == Wire::kBytes) {
      for (WireReader packed(part.bytes); !packed.at_end();) {
        const std::optional<std::uint64_t> number = packed.varint();
        if (!number) return fail("its numbers are cut short");
        Value item;
        const WireField one{.number = part.number, .wire = Wire::kVarint, .varint = *number, .bytes = {}};
        if (!read_item(field, one, item)) return false;
        list.push_back(std::move(item));
      }
      return true;
    }
    path_ += '[' + std::to_string(list.items().size()) + ']';
    Value item;
    if (!read_item(field, part, item)) return false;
    list.push_back(std::move(item));
    return true;
  }

  bool read_into_map(const Field& field, const WireField& part, Value& map, KeyIndex& keys) {
    if (part.wire != Wire::kBytes) return fail("it is no map");
    std::string key;
    Value value = zero_of(field);
    for (WireReader reader(part.bytes); !reader.at_end();) {
      const std::optional<WireField> half = reader.field();
      if (!half) return fail("an entry of the map is cut short");
      if (half->number == 1) {
        if (half->wire != Wire::kBytes || !is_utf8(half->bytes)) return fail("a key is no text in UTF-8");
        key = half->bytes;
      } else if (half->number == 2 && !read_item(field, *half, value)) {
        return false;
      }
    }
    Value::Map& members = map.edit_members();
    const std::size_t place = keys.place_of(members, key);
    if (place == members.size()) {
      members.push_back({std::move(key), std::move(value)});
    } else {
      members[place].value = std::move(value);
    }
    return true;
  }

  bool read_item(const Field& field, const WireField& part, Value& value) {
    if (++values_ > kValuesMax) return fail("it has more than 2000000 values");
    if (part.wire != wire_of(field.scalar)) return fail("it is on the wire as another type than this API version has");
    switch (field.scalar) {
      case Scalar::kInteger:
        value = static_cast<std::int64_t>(part.varint);
        return true;
      case Scalar::kBool:
        value = part.varint != 0;
        return true;
      case Scalar::kText:
        return read_text(part.bytes, value);
      case Scalar::kBytes:
        value = to_base64(part.bytes);
        return true;
      case Scalar::kQuantity:
        return read_quantity(part.bytes, value);
      case Scalar::kTime:
      case Scalar::kMicroTime:
        return read_time(field.scalar, part.bytes, value);
      case Scalar::kIntOrText:
        return read_int_or_text(part.bytes, value);
      case Scalar::kAny:
        return read_any(part.bytes, value);
      case Scalar::kObject:
        return read_object(*field.type, part.bytes, value);
    }
    return false;
  }

  bool read_object(const Type& type, std::string_view bytes, Value& value) {
    value = Value::map();
    if (!read_message(type, bytes, value)) return false;
    if (const Field* const list = type.wrapped_list()) {
      Value* const items = value.find(list->name);
      value = items == nullptr ? Value::list() : Value(std::move(*items));
    }
    return true;
  }

  bool read_text(std::string_view bytes, Value& value) {
    if (!is_utf8(bytes)) return fail("it is no text in UTF-8");
    value = bytes;
    return true;
  }

  // The fields of a small message by their number, up to 3; the last one of a number stays.
  std::optional<std::array<WireField, 4>> parts_of(std::string_view bytes) {
    std::array<WireField, 4> parts{};
    for (WireReader reader(bytes); !reader.at_end();) {
      const std::optional<WireField> part = reader.field();
      if (!part) return std::nullopt;
      if (part->number < parts.size()) parts[part->number] = *part;
    }
    return parts;
  }

  bool read_quantity(std::string_view bytes, Value& value) {
    const auto parts = parts_of(bytes);
    if (!parts) return fail("the quantity is cut short");
    if (!read_text((*parts)[1].bytes, value)) return false;
    if (value.is_empty()) value = "0";
    return true;
  }

  bool read_time(Scalar scalar, std::string_view bytes, Value& value) {
    value = nullptr;
    if (bytes.empty()) return true;  // Go's zero time
    const auto parts = parts_of(bytes);
    if (!parts) return fail("the time is cut short");
    const auto seconds = static_cast<std::int64_t>((*parts)[1].varint);
    const auto nanos = static_cast<std::int64_t>((*parts)[2].varint);
    if (seconds < kSecondsMin || seconds > kSecondsMax || nanos < 0 || nanos > 999'999'999) {
      return fail("the time is not within the years 1 to 9999");
    }
    std::string text = format_timestamp(Time{seconds * 1000});
    if (scalar == Scalar::kMicroTime) {
      const std::string micros = std::to_string(nanos / 1000);
      text.insert(text.size() - 1, "." + std::string(6 - micros.size(), '0') + micros);
    }
    value = std::move(text);
    return true;
  }

  bool read_int_or_text(std::string_view bytes, Value& value) {
    const auto parts = parts_of(bytes);
    if (!parts) return fail("the number or text is cut short");
    if ((*parts)[1].varint == 1) return read_text((*parts)[3].bytes, value);
    value = static_cast<std::int64_t>((*parts)[2].varint);
    return true;
  }

  bool read_any(std::string_view bytes, Value& value) {
    const auto parts = parts_of(bytes);
    if (!parts) return fail("it is cut short");
    const std::string_view raw = (*parts)[1].bytes;
    if (raw.empty()) {
      value = nullptr;
      return true;
    }
    Result<Value> json = parse_json(raw);
    if (!json) return fail("its JSON cannot be read: " + json.error().kept().front().to_string());
    value = std::move(*json);
    return true;
  }

  std::string path_;
  std::string error_;
  std::size_t values_ = 0;
};

}  // namespace

Result<Value> from_protobuf(const Type& type, std::string_view message) { return MessageReader().read(type, message); }

}  // namespace berth
