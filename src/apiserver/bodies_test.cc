#include "apiserver/bodies.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "manifest/json.h"

namespace berth::bodies_test {

std::string field(int number, std::string_view bytes) {
  std::string out;
  out += static_cast<char>(number << 3 | 2);
  std::size_t length = bytes.size();
  for (; length >= 0x80; length >>= 7) out += static_cast<char>((length & 0x7f) | 0x80);
  out += static_cast<char>(length);
  return out + std::string(bytes);
}

std::string envelope(std::string_view api_version, std::string_view kind, std::string_view message,
                     std::string_view rest = {}) {
  return std::string("k8s\0", 4) + field(1, field(1, api_version) + field(2, kind)) + field(2, message) +
         std::string(rest);
}

constexpr const char* kProtobuf = "application/vnd.kubernetes.protobuf";

TEST(DecodeBody, ReadsJsonYamlAndProtobuf) {
  const std::string named = field(1, field(1, "a"));  // metadata.name
  const struct {
    const char* what;
    const char* content_type;
    std::string body;
    const char* value;
  } cases[] = {
      {"JSON", "application/json", R"({"a":1})", R"({"a":1})"},
      {"with parameters", "Application/JSON; charset=utf-8", R"({"a":1})", R"({"a":1})"},
      {"without a type", "", R"({"a":1})", R"({"a":1})"},
      {"a JSON patch", "application/json-patch+json", R"([])", R"([])"},
      {"a merge patch", "application/merge-patch+json", R"({"a":null})", R"({"a":null})"},
      {"YAML", "application/yaml", "a: 1\nb: [x]\n", R"({"a":1,"b":["x"]})"},
      {"an applied configuration in YAML", "application/apply-patch+yaml", "a: 1\n", R"({"a":1})"},
      {"an applied configuration in JSON", "application/apply-patch+yaml", R"({"a":1})", R"({"a":1})"},
      {"YAML's own flow style", "application/yaml", "{a: 1}", R"({"a":1})"},
      {"protobuf", kProtobuf, envelope("v1", "Namespace", named),
       R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a"}})"},
      {"JSON within protobuf's envelope", kProtobuf,
       envelope("v1", "Namespace", R"({"a":1})", field(4, "application/json")), R"({"a":1})"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.what);
    const auto decoded = decode_body(each.content_type, each.body);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(to_json(decoded->value), to_json(*parse_json(each.value)));
  }
}

TEST(DecodeBody, RefusesWhatItCannotRead) {
  const struct {
    const char* what;
    const char* content_type;
    std::string body;
    int code;
    const char* message;
  } cases[] = {
      {"another type", "text/plain", "x", 415, "accepted media types include: application/json, application/yaml"},
      {"nothing", "application/json", "", 400, "is empty"},
      {"broken JSON", "application/json", "{\n\"a\": }", 400, "no readable JSON"},
      {"broken YAML", "application/yaml", "a: [", 400, "no readable YAML"},
      {"two documents", "application/yaml", "a: 1\n---\nb: 2\n", 400, "2 YAML documents"},
      {"no document", "application/yaml", "# nothing\n", 400, "0 YAML documents"},
      {"no envelope", kProtobuf, "xyz", 400, "does not begin with"},
      {"a cut envelope", kProtobuf, envelope("v1", "Pod", "").substr(0, 7), 400, "malformed"},
      {"a length beyond the end", kProtobuf, std::string("k8s\0\x12\x7f", 6), 400, "malformed"},
      {"a compressed message", kProtobuf, envelope("v1", "Pod", "", field(3, "gzip")), 400, "content encoding 'gzip'"},
      {"an unknown kind", kProtobuf, envelope("v1", "Gizmo", ""), 400,
       "no kind 'Gizmo' is registered for version 'v1'"},
      {"a broken message", kProtobuf, envelope("v1", "Pod", "\x0a\x7f"), 400, "no readable protobuf"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.what);
    const auto decoded = decode_body(each.content_type, each.body);
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, each.code);
    EXPECT_NE(decoded.error().message.find(each.message), std::string::npos) << decoded.error().message;
  }
}

TEST(DecodeBody, NotesKeysGivenTwice) {
  const auto decoded = decode_body("application/json", R"({"metadata":{"name":"a","name":"b"}})");
  ASSERT_TRUE(decoded) << decoded.error().message;
  ASSERT_EQ(decoded->duplicates.size(), 1U);
  EXPECT_EQ(decoded->duplicates[0], "metadata.name");
  EXPECT_EQ(decoded->value["metadata"]["name"].text(), "b");
}

}  // namespace berth::bodies_test
