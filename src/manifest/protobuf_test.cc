#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"
#include "manifest/json.h"
#include "manifest/schema.h"
#include "manifest/timestamp.h"

namespace berth::protobuf_test {

// ---- a small encoder -----------------------------------------------------------------------------------------------

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}
std::string number(std::uint32_t field, std::int64_t value) {
  return varint(std::uint64_t{field} << 3) + varint(static_cast<std::uint64_t>(value));
}
std::string bytes(std::uint32_t field, std::string_view value) {
  return varint(std::uint64_t{field} << 3 | 2) + varint(value.size()) + std::string(value);
}

std::string encode(const Type& type, const Value& object);

std::string encode_time(const Value& value) {
  const std::string_view text = value.text();
  const std::string micros = text.size() > 20 ? std::string(text.substr(20, 6)) : "0";
  const std::string seconds = std::string(text.substr(0, 19)) + "Z";
  return number(1, parse_timestamp(seconds)->ms / 1000) + number(2, std::stoll(micros) * 1000);
}

std::string from_base64(std::string_view text) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::uint32_t group = 0;
    std::size_t count = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const bool padding = text[i + k] == '=';
      if (!padding) ++count;
      group = group << 6 | (padding ? 0U : static_cast<std::uint32_t>(kDigits.find(text[i + k])));
    }
    for (std::size_t k = 0; k + 1 < count; ++k) out += static_cast<char>(group >> (16 - 8 * k) & 0xff);
  }
  return out;
}

std::string encode_item(const Field& field, std::uint32_t as, const Value& value) {
  switch (field.scalar) {
    case Scalar::kInteger:
      return number(as, value.integer());
    case Scalar::kBool:
      return number(as, value.truth() ? 1 : 0);
    case Scalar::kText:
      return bytes(as, value.text());
    case Scalar::kBytes:
      return bytes(as, from_base64(value.text()));
    case Scalar::kQuantity:
      return bytes(as, bytes(1, value.text()));
    case Scalar::kTime:
    case Scalar::kMicroTime:
      return bytes(as, encode_time(value));
    case Scalar::kIntOrText:
      return bytes(as, value.is_text() ? number(1, 1) + number(2, 0) + bytes(3, value.text())
                                       : number(1, 0) + number(2, value.integer()) + bytes(3, ""));
    case Scalar::kAny:
      return bytes(as, bytes(1, to_json(value)));
    case Scalar::kObject:
      return bytes(as, encode(*field.type, value));
  }
  return {};
}

std::string encode(const Type& type, const Value& object) {
  std::string out;
  for (const Field& field : type.fields) {
    const Value* const value = type.wrapped_list() != nullptr ? &object : object.find(field.name);
    if (field.inlined && field.plurality == Plurality::kOne) {
      out += bytes(field.number, encode(*field.type, object));
    } else if (value == nullptr || field.number == 0) {
      continue;
    } else if (field.plurality == Plurality::kOne) {
      out += encode_item(field, field.number, *value);
    } else if (field.plurality == Plurality::kList) {
      for (const Value& item : value->items()) out += encode_item(field, field.number, item);
    } else {
      for (const auto& [key, item] : value->members()) {
        out += bytes(field.number, bytes(1, key) + encode_item(field, 2, item));
      }
    }
  }
  return out;
}

// ---- random objects ------------------------------------------------------------------------------------------------

class RandomObjects {
 public:
  explicit RandomObjects(Seed seed) : rng_(seed) {}

  // One as JSON has it after Go wrote it: what is neither required nor a pointer is there only when it is not zero.
  Value object(const Type& type) {
    if (const Field* const list = type.wrapped_list()) return some(*list);
    Value value = Value::map();
    add_fields(type, value);
    return value;
  }

 private:
  void add_fields(const Type& type, Value& value) {
    for (const Field& field : type.fields) {
      if (field.inlined) {
        add_fields(*field.type, value);
      } else if (field.number != 0 && (field.required || rng_.below(4) == 0)) {
        Value member = some(field);
        if (member.is_null()) continue;
        const bool zeros_stay = field.plurality == Plurality::kOne && (field.pointer || field.required);
        if (zeros_stay || !(member.is_empty() || member == Value(0) || member == Value(false))) {
          value.set(field.name, std::move(member));
        }
      }
    }
  }

  Value some(const Field& field) {
    if (field.plurality == Plurality::kOne) return item(field);
    Value many = field.plurality == Plurality::kList ? Value::list() : Value::map();
    for (std::uint64_t count = 1 + rng_.below(2); count > 0; --count) {
      if (field.plurality == Plurality::kList) {
        many.push_back(item(field));
      } else {
        many.set(text(), item(field));
      }
    }
    return many;
  }

  Value item(const Field& field) {
    switch (field.scalar) {
      case Scalar::kInteger:
        return integer();
      case Scalar::kBool:
        return rng_.below(2) == 0;
      case Scalar::kText:
        return text();
      case Scalar::kBytes:
        return std::vector<std::string>{"", "aA==", "aGk=", "AP/+", "AAECAwQ="}[rng_.below(5)];
      case Scalar::kQuantity:
        return std::vector<std::string>{"1", "500m", "16Gi", "-3"}[rng_.below(4)];
      case Scalar::kTime:
        return format_timestamp(moment());
      case Scalar::kMicroTime:
        return format_micro_timestamp(moment());
      case Scalar::kIntOrText:
        return rng_.below(2) == 0 ? Value(integer()) : Value(text());
      case Scalar::kAny:
        return Value::map_of({{"f:spec", Value::map_of({{text(), Value::map()}})}});
      case Scalar::kObject:
        return object(*field.type);
    }
    return nullptr;
  }

  std::int64_t integer() { return rng_.below(3) == 0 ? rng_.between(-2, 2) : static_cast<std::int64_t>(rng_.next()); }
  Time moment() { return {rng_.between(0, 4'000'000'000'000)}; }
  std::string text() {
    return std::vector<std::string>{"", "0", "a", "gr\xc3\xbc\xc3\x9f", std::string(200, 'x')}[rng_.below(5)];
  }

  Rng rng_;
};

TEST(FromProtobuf, PropertyGivesBackTheJsonOfWhatWasEncoded) {
  for (const Seed seed : property_seeds(10)) {
    SCOPED_TRACE(name_of(seed));
    RandomObjects objects(seed);
    for (const Type* const type : all_types()) {
      if (!type->package.starts_with("io.k8s.")) continue;  // travels as JSON only
      const Value object = objects.object(*type);
      const Result<Value> decoded = from_protobuf(*type, encode(*type, object));
      ASSERT_TRUE(decoded.has_value()) << type->name << ": " << decoded.error().to_string();
      ASSERT_EQ(*decoded, object) << type->name << "\n" << to_json(*decoded) << "\n" << to_json(object);
      EXPECT_TRUE(type->wrapped_list() != nullptr || check_fields(*type, *decoded).empty()) << to_json(*decoded);
    }
  }
}

TEST(FromProtobuf, PropertyAnswersWhateverPrefixOrChangedByteItIsGiven) {
  for (const Seed seed : property_seeds(3)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const std::string message = encode(type_named("Pod"), RandomObjects(seed).object(type_named("Pod")));
    for (int i = 0; i < 300; ++i) {
      std::string damaged = message.substr(0, rng.below(message.size() + 1));
      if (!damaged.empty() && i % 2 == 0) damaged[rng.below(damaged.size())] = static_cast<char>(rng.below(256));
      const Result<Value> decoded = from_protobuf(type_named("Pod"), damaged);
      if (decoded) {
        EXPECT_TRUE(parse_json(to_json(*decoded)).has_value());
      } else {
        EXPECT_FALSE(decoded.error().empty());
      }
    }
  }
}

TEST(FromProtobuf, ReadsWhatClientsWrite) {
  const struct {
    const char* what;
    const char* type;
    std::string message;
    const char* json;
  } cases[] = {
      {"nothing at all", "Pod", "", "{}"},
      {"a namespace with the zeros Go writes", "Namespace",
       bytes(1, bytes(1, "team-a") + bytes(2, "") + bytes(3, "") + number(7, 0) + bytes(8, "")) + bytes(2, "") +
           bytes(3, bytes(1, "")),
       R"({"metadata":{"name":"team-a"}})"},
      {"zeros of pointers stay", "Job",
       bytes(2, number(1, 0) + number(10, 0) + number(7, 6) + bytes(6, bytes(1, "") + bytes(2, ""))),
       R"({"spec":{"parallelism":0,"suspend":false,"backoffLimit":6,"template":{}}})"},
      {"required zeros stay", "PriorityClass", bytes(1, bytes(1, "low")) + number(2, 0) + number(3, 0) + bytes(4, ""),
       R"({"metadata":{"name":"low"},"value":0})"},
      {"negative numbers", "PriorityClass", number(2, -5), R"({"value":-5})"},
      {"empty messages behind pointers stay", "Volume", bytes(1, "v") + bytes(2, bytes(2, bytes(1, ""))),
       R"({"name":"v","emptyDir":{}})"},
      {"a text that looks like a zero quantity", "EnvVar", bytes(1, "a") + bytes(2, "0"),
       R"({"name":"a","value":"0"})"},
      {"a map: last entry of a key wins, halves may be missing", "ConfigMap",
       bytes(2, bytes(1, "a") + bytes(2, "1")) + bytes(2, bytes(1, "a") + bytes(2, "2")) + bytes(2, bytes(1, "b")) +
           bytes(3, bytes(1, "c") + bytes(2, "hi")),
       R"({"data":{"a":"2","b":""},"binaryData":{"c":"aGk="}})"},
      {"unknown numbers of every wire type", "EnvVar",
       number(90, 1) + bytes(91, "x") + varint(92 << 3 | 1) + "12345678" + varint(93 << 3 | 5) + "1234" + bytes(1, "a"),
       R"({"name":"a"})"},
      {"packed numbers", "PodSecurityContext", bytes(4, varint(7) + varint(300)), R"({"supplementalGroups":[7,300]})"},
      {"a time at the epoch is a time", "PodStatus", bytes(7, number(1, 0) + number(2, 0)),
       R"({"startTime":"1970-01-01T00:00:00Z"})"},
      {"micro times", "LeaseSpec", bytes(4, number(1, 1) + number(2, 42'000)),
       R"({"renewTime":"1970-01-01T00:00:01.000042Z"})"},
      {"extra values", "UserInfo", bytes(4, bytes(1, "k") + bytes(2, bytes(1, "a") + bytes(1, "b"))),
       R"({"extra":{"k":["a","b"]}})"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    const Result<Value> decoded = from_protobuf(type_named(c.type), c.message);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().to_string();
    EXPECT_EQ(*decoded, *parse_json(c.json)) << to_json(*decoded);
  }
}

TEST(FromProtobuf, SaysWhereAndWhyAMessageCannotBeRead) {
  const auto pod = [](const std::string& spec) { return bytes(2, spec); };
  const struct {
    std::string message;
    const char* place_and_reason;
  } cases[] = {
      {std::string("\x0a\x05xy"), "Pod: it is cut short or is no protobuf"},
      {std::string("\x03"), "Pod: it is cut short or is no protobuf"},
      {std::string(1, '\0'), "Pod: it is cut short or is no protobuf"},
      {std::string(12, '\xff'), "Pod: it is cut short or is no protobuf"},
      {number(2, 1), "spec: it is on the wire as another type than this API version has"},
      {pod(bytes(10, "\xff")), "spec.nodeName: it is no text in UTF-8"},
      {pod(bytes(2, "") + bytes(2, bytes(1, "a") + bytes(1, "b"))), "spec.containers[1].name: it is given twice"},
      {pod(bytes(1, number(2, 1))), "spec.volumes[0]: it is no message"},
      {pod(bytes(7, bytes(1, "\xff"))), "spec.nodeSelector: a key is no text in UTF-8"},
      {pod(number(7, 1)), "spec.nodeSelector: it is no map"},
      {pod(bytes(7, "\x0a\x05")), "spec.nodeSelector: an entry of the map is cut short"},
      {bytes(1, bytes(9, number(1, 1LL << 60))),
       "metadata.deletionTimestamp: the time is not within the years 1 to 9999"},
      {bytes(1, bytes(9, number(2, -1) + number(1, 1))), "metadata.deletionTimestamp: the time is not within"},
      {bytes(1, bytes(17, bytes(7, bytes(1, "{")))), "metadata.managedFields[0].fieldsV1: its JSON cannot be read"},
      {pod(bytes(14, bytes(4, "\x80"))), "spec.securityContext.supplementalGroups: its numbers are cut short"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.place_and_reason);
    const Result<Value> decoded = from_protobuf(type_named("Pod"), c.message);
    ASSERT_FALSE(decoded.has_value()) << to_json(*decoded);
    EXPECT_NE(decoded.error().to_string().find(c.place_and_reason), std::string::npos) << decoded.error().to_string();
  }
}

TEST(FromProtobuf, RefusesKindsThatTravelAsJsonOnly) {
  const Result<Value> queue = from_protobuf(type_named("Queue"), "");
  ASSERT_FALSE(queue.has_value());
  EXPECT_EQ(queue.error().kept().front().text, "a Queue has no protobuf form; send it as JSON");
}

TEST(FromProtobuf, ReadsManyKeysInGoodTimeAndRefusesMillionsOfValues) {
  std::string entries;
  for (int i = 0; i < 100'000; ++i) entries += bytes(2, bytes(1, std::to_string(i)));
  const Result<Value> decoded = from_protobuf(type_named("ConfigMap"), entries);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ((*decoded)["data"].members().size(), 100'000U);

  std::string args;
  for (int i = 0; i < 2'000'001; ++i) args += std::string("\x22\0", 2);
  const Result<Value> refused = from_protobuf(type_named("Container"), args);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().to_string().find("more than 2000000 values"), std::string::npos);
}

}  // namespace berth::protobuf_test
