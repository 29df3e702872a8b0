#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/property_seeds.h"
#include "manifest/arbitrary_value.h"
#include "manifest/json.h"
#include "manifest/value.h"

namespace berth::value_json_test {

TEST(Value, HoldsWhatItWasMadeFrom) {
  EXPECT_TRUE(Value().is_null());
  EXPECT_TRUE(Value(true).truth());
  EXPECT_EQ(Value(7).integer(), 7);
  EXPECT_EQ(Value("x").text(), "x");
  EXPECT_EQ(Value::number("1e3").number_text(), "1e3");
  EXPECT_EQ(Value("x").integer(5), 5);
  EXPECT_EQ(Value(7).text("none"), "none");
  EXPECT_TRUE(Value::list().is_list());
  EXPECT_TRUE(Value::map().is_map());
}

TEST(Value, MembersAreMadeFoundAndErased) {
  Value object;
  object.at("metadata").at("uid") = "u1";
  object.set("spec", Value::map_of({{"a", 1}, {"b", "x"}, {"a", 2}}));
  object.at("items").push_back(3);
  EXPECT_EQ(to_json(object), R"({"metadata":{"uid":"u1"},"spec":{"a":2,"b":"x"},"items":[3]})");
  EXPECT_EQ(object["spec"]["a"].integer(), 2);
  EXPECT_TRUE(object["status"]["phase"].is_null());
  EXPECT_EQ(object.find("status"), nullptr);
  EXPECT_TRUE(object.erase("spec"));
  EXPECT_FALSE(object.erase("spec"));
}

TEST(Value, IsEmptyWhenThereIsNothingInIt) {
  for (const Value& empty : {Value(), Value(""), Value::list(), Value::map()}) EXPECT_TRUE(empty.is_empty());
  for (const Value& full : {Value(false), Value(0), Value::number("0.0"), Value(" ")}) EXPECT_FALSE(full.is_empty());
}

TEST(Value, MapsCompareWhateverTheirOrder) {
  const Value a = Value::map_of({{"a", 1}, {"b", Value::map_of({{"x", 1}, {"y", 2}})}});
  const Value b = Value::map_of({{"b", Value::map_of({{"y", 2}, {"x", 1}})}, {"a", 1}});
  EXPECT_EQ(a, b);
  EXPECT_NE(a, Value::map_of({{"a", 1}, {"c", a["b"]}}));
  EXPECT_NE(Value(1), Value::number("1.0"));
}

TEST(Json, ReadsWhatItWrites) {
  const std::string_view texts[] = {
      "null",
      "true",
      "[]",
      "{}",
      "-9223372036854775808",
      "9223372036854775807",
      "18446744073709551616",
      "0.5",
      "1e3",
      "-0.0E-5",
      R"("a\"\\\n\u0001ä€😀")",
      R"({"a":[1,{"b":null}],"c":""})",
  };
  for (const std::string_view text : texts) {
    const Result<Value> value = parse_json(text);
    ASSERT_TRUE(value) << text << ": " << value.error().to_string();
    EXPECT_EQ(to_json(*value), text);
  }
}

TEST(Json, ReadsEscapesAndSpace) {
  EXPECT_EQ(parse_json(R"( "\u00e4\ud83d\ude00\/\b\f\n\r\t" )")->text(), "ä😀/\b\f\n\r\t");
  EXPECT_EQ(to_json(*parse_json("\t{ \"a\" :\r\n[ 1 , 2 ] } ")), R"({"a":[1,2]})");
  EXPECT_EQ(to_json("\xff x\xc3"), "\"\xef\xbf\xbd x\xef\xbf\xbd\"");
}

TEST(Json, ComplaintsSayWhereAndWhat) {
  struct Case {
    std::string_view text;
    std::string_view complaint;
  };
  const Case cases[] = {
      {"", ":1:1: the JSON ends where a JSON value is expected"},
      {"{\n  \"a\": 1,\n  \"a\": 2}", ":3:3: the field 'a' is given twice"},
      {R"({"m":{"l":[0,{"x":1,"x":2}]}})", ":1:21: the field 'm.l[1].x' is given twice"},
      {"{\"a\":1} {}", ":1:9: more follows"},
      {"[1,]", ":1:4: ']' stands where a JSON value is expected"},
      {"{\"a\" 1}", ":1:6: '1' stands where ':' is expected"},
      {"{a:1}", ":1:2: 'a' stands where a key in double quotes is expected"},
      {"[1 2]", ":1:4: '2' stands where ',' or ']' is expected"},
      {"{\"a\":1", ":1:7: the JSON ends where ',' or '}' is expected"},
      {"\"a", ":1:1: the text that begins here has no closing quote"},
      {"\"a\nb\"", ":1:3: a control character"},
      {"\"\xff\"", ":1:2: the text is not valid UTF-8"},
      {"\"\xed\xa0\x80\"", ":1:2: the text is not valid UTF-8"},
      {R"("\ud83d")", ":1:2: half of a surrogate pair"},
      {R"("\udc00\ud83d")", ":1:2: half of a surrogate pair"},
      {R"("\u12g4")", ":1:2: \\u is not followed"},
      {R"("\x41")", ":1:2: a text holds an unknown escape"},
      {"01", ":1:1: a number begins with 0"},
      {"-", ":1:2: the JSON ends where a digit is expected"},
      {"1.", ":1:3: the JSON ends where a digit is expected"},
      {"1e+", ":1:4: the JSON ends where a digit is expected"},
      {"nul", ":1:1: 'n' stands where a JSON value is expected"},
      {"\xef\xbb\xbf{}", ":1:1: "},
  };
  for (const Case& each : cases) {
    const Result<Value> value = parse_json(each.text);
    ASSERT_FALSE(value) << each.text;
    EXPECT_TRUE(value.error().to_string().starts_with(each.complaint)) << each.text << "\n"
                                                                       << value.error().to_string();
  }
}

TEST(Json, LimitsDepthAndNumberOfValues) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(parse_json(nested(200)));
  EXPECT_FALSE(parse_json(nested(201)));
  EXPECT_FALSE(parse_json(std::string(1'000'000, '[')));
  EXPECT_TRUE(parse_json("[1,2,3]", {.depth_max = 1, .values_max = 4}));
  EXPECT_FALSE(parse_json("[1,2,3]", {.depth_max = 1, .values_max = 3}));
}

TEST(Json, NotesKeysGivenTwiceAndKeepsTheLastValue) {
  std::vector<std::string> duplicates;
  const Result<Value> value =
      parse_json_noting_duplicates(R"({"a":{"b":1,"b":[2]},"c":[{"d":1,"e":2,"d":3}]})", {}, duplicates);
  ASSERT_TRUE(value);
  EXPECT_EQ(to_json(*value), R"({"a":{"b":[2]},"c":[{"d":3,"e":2}]})");
  EXPECT_EQ(duplicates, (std::vector<std::string>{"a.b", "c[0].d"}));
}

TEST(Json, ManyKeysAreReadFastAndTheOneGivenTwiceIsFound) {
  std::string text = "{";
  for (int i = 0; i < 50'000; ++i) text += "\"key" + std::to_string(i) + "\":0,";
  EXPECT_EQ(parse_json(text + "\"last\":0}")->members().size(), 50'001U);
  EXPECT_FALSE(parse_json(text + "\"key7\":0}"));
  std::vector<std::string> duplicates;
  std::string same = "{\"a\":0";
  for (int i = 0; i < 1000; ++i) same += ",\"a\":0";
  EXPECT_TRUE(parse_json_noting_duplicates(same + "}", {}, duplicates));
  EXPECT_EQ(duplicates.size(), 100U);
}

TEST(Json, PrettyPrintsOneMemberPerLine) {
  const Result<Value> value = parse_json(R"({"a":[1,{}],"b":{"c":[]}})");
  EXPECT_EQ(to_pretty_json(*value), "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": {\n    \"c\": []\n  }\n}");
}

TEST(JsonProperty, WhateverIsWrittenIsReadAsTheSame) {
  for (const Seed seed : property_seeds(200)) {
    SCOPED_TRACE(name_of(seed));
    const Value value = arbitrary_value(seed);
    for (const std::string& text : {to_json(value), to_pretty_json(value)}) {
      const Result<Value> again = parse_json(text);
      ASSERT_TRUE(again) << text << "\n" << again.error().to_string();
      ASSERT_EQ(*again, value) << text;
    }
  }
}

}  // namespace berth::value_json_test
