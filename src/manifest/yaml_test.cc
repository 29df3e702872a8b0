#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/property_seeds.h"
#include "manifest/arbitrary_value.h"
#include "manifest/json.h"
#include "manifest/yaml.h"

namespace berth::yaml_test {

// All documents as JSON, or the complaints.
std::string read(std::string_view text, YamlLimits limits = {}) {
  const Result<std::vector<Value>> documents = parse_yaml(text, "f.yaml", limits);
  if (!documents) return documents.error().to_string();
  std::string out;
  for (const Value& document : *documents) out += (out.empty() ? "" : " ") + to_json(document);
  return out;
}

TEST(Yaml, ReadsScalarsAsKubectlDoes) {
  struct Case {
    std::string_view yaml;
    std::string_view json;
  };
  const Case cases[] = {
      {"true", "true"},
      {"True", "true"},
      {"yes", "true"},
      {"on", "true"},
      {"n", "false"},
      {"Off", "false"},
      {"tRue", "\"tRue\""},
      {"12", "12"},
      {"-7", "-7"},
      {"+7", "7"},
      {"0x1F", "31"},
      {"0o17", "15"},
      {"017", "15"},
      {"0b101", "5"},
      {"-0x10", "-16"},
      {"1_000", "1000"},
      {"089", "89"},
      {"08.50", "8.50"},
      {"1.5", "1.5"},
      {".5", "0.5"},
      {"5.", "5"},
      {"+1.5e+3", "1.5e+3"},
      {"1e3", "1e3"},
      {"0", "0"},
      {"1.2.3", "\"1.2.3\""},
      {"1Gi", "\"1Gi\""},
      {"-", "[null]"},
      {"--x", "\"--x\""},
      {"0x", "\"0x\""},
      {"0x-5", "\"0x-5\""},
      {"1e", "\"1e\""},
      {"a: ~", "{\"a\":null}"},
      {"\"true\"", "\"true\""},
      {"'12'", "\"12\""},
      {"\"\"", "\"\""},
      {"!!str 12", "\"12\""},
      {"!!int 12", "12"},
      {"!!float 12", "12"},
      {"12:30:45", "\"12:30:45\""},
      {"2026-11-21", "\"2026-11-21\""},
      {"18446744073709551616", "18446744073709551616"},
      {"a: |\n  x\n  y\n", "{\"a\":\"x\\ny\\n\"}"},
      {"a: >-\n  x\n  y\n", "{\"a\":\"x y\"}"},
  };
  for (const Case& each : cases) EXPECT_EQ(read(each.yaml), each.json) << each.yaml;
}

TEST(Yaml, ReadsAllDocumentsButEmptyOnes) {
  EXPECT_EQ(read("# nothing\n---\na: 1\n---\n---\n- x\n...\n"), R"({"a":1} ["x"])");
  EXPECT_EQ(read(""), "");
  EXPECT_EQ(read(R"({"a": "\ud83d\ude00", "b": [1, 2.50]})"), "{\"a\":\"😀\",\"b\":[1,2.50]}");
  EXPECT_EQ(read("{a: 1, b: [x, z]}"), R"({"a":1,"b":["x","z"]})");
}

TEST(Yaml, KeysBecomeTexts) { EXPECT_EQ(read("8080: a\nyes: b\n1.5: c\n"), R"({"8080":"a","true":"b","1.5":"c"})"); }

TEST(Yaml, FollowsAliasesAndMergeKeys) {
  EXPECT_EQ(read("a: &x {p: 1, q: 2}\nb: *x\n"), R"({"a":{"p":1,"q":2},"b":{"p":1,"q":2}})");
  EXPECT_EQ(read("a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  p: 3\n"), R"({"a":{"p":1,"q":2},"b":{"p":3,"q":2}})");
  EXPECT_EQ(read("a: &x {p: 1}\nb: &y {p: 2, r: 3}\nc: {<<: [*x, *y], s: 4}\n"),
            R"({"a":{"p":1},"b":{"p":2,"r":3},"c":{"s":4,"p":2,"r":3}})");
  EXPECT_EQ(read("\"<<\": 1"), R"({"<<":1})");
}

TEST(Yaml, ComplaintsSayWhereAndWhat) {
  struct Case {
    std::string_view yaml;
    std::string_view complaint;
  };
  const Case cases[] = {
      {"a: 1\nb: 2\na: 3\n", "f.yaml:3:1: the key 'a' is given twice"},
      {"a:\n  - b: 1\n    b: 2\n", "f.yaml:3:5: the key 'b' is given twice"},
      {"a: [1, 2\n", "f.yaml:2:1: this is no YAML: "},
      {"a: b: c\n", "f.yaml:1:5: this is no YAML: "},
      {"a:\n\t- b\n", "f.yaml:2:"},
      {"a: *nothing\n", "f.yaml:1:4: this is no YAML: "},
      {"a: &x [*x]\n", "f.yaml:1:8: an alias stands within what it names"},
      {"? [a]\n: b\n", "f.yaml:1:3: a list or map is used as a key"},
      {"~: b\n", "f.yaml:1:1: a key is empty"},
      {"a: !!binary aGk=\n", "f.yaml:1:4: the tag 'tag:yaml.org,2002:binary' is not supported"},
      {"a: !own {}\n", "f.yaml:1:4: the tag '!own' is not supported"},
      {"a: !!int x\n", "f.yaml:1:4: 'x' does not fit its tag '!!int'"},
      {"a: .inf\n", "f.yaml:1:4: '.inf' is no number"},
      {"a: {<<: 5}\n", "f.yaml:1:9: '<<' does not name a map"},
      {"a: \"\\N\"\n", "f.yaml:1:4: the escapes"},
      {"a: b\nc: \xff\n", "f.yaml:2:4: the text is not valid UTF-8"},
      {",* ", "f.yaml:1:1: this is no YAML; check for a ','"},
      {"a: b\x04\nc: d\n", "f.yaml:1:5: a control character"},
  };
  for (const Case& each : cases) {
    EXPECT_TRUE(read(each.yaml).starts_with(each.complaint)) << each.yaml << "\n" << read(each.yaml);
  }
}

TEST(Yaml, LimitsDepthAndWhatAliasesExpandTo) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(read(nested(200)), nested(200));
  EXPECT_TRUE(read(nested(201)).contains("nested deeper than 200"));
  EXPECT_TRUE(read(std::string(100'000, '[')).starts_with("f.yaml:1:"));

  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  std::string tower = "b0: &b0 []\n";
  for (int i = 1; i < 300; ++i) {
    const std::string last = std::to_string(i - 1);
    const std::string next = std::to_string(i);
    if (i < 12) {
      laughs += "a" + next + ": &a" + next + " [";
      for (int j = 0; j < 10; ++j) laughs += (j > 0 ? ", *a" : "*a") + last;
      laughs += "]\n";
    }
    tower += "b" + next + ": &b" + next + " [*b" + last + "]\n";
  }
  EXPECT_TRUE(read(laughs).contains("holds more than 2000000 values")) << read(laughs).substr(0, 200);
  EXPECT_TRUE(read(tower).contains("nested deeper than 200"));
  const std::string long_text = "a: &a " + std::string(10'000, 'x') + "\nb: [*a, *a, *a]\n";
  EXPECT_TRUE(read(long_text, {.depth_max = 5, .values_max = 500}).contains("holds more than 500 values"));
}

TEST(Yaml, PrintsAsKubectlDoes) {
  const Result<Value> value = parse_json(R"({
    "spec": {"containers": [{"name": "c", "args": ["-v", "a b"], "env": []}], "n": 1, "r": 0.5, "x": null, "e": {}},
    "kind": "Pod", "t": "2026-11-21T07:36:25Z", "yes": "true", "num": "12", "image": "reg.io/a:1", "star": "*",
    "script": "#!/bin/sh\nif true; then\n  echo hi\nfi\n", "cut": "a\nb", "bell": "\u0007", "nested": [[1, 2], [{"a": 1, "b": 2}]]})");
  ASSERT_TRUE(value);
  EXPECT_EQ(to_yaml(*value), R"(bell: "\u0007"
cut: |-
  a
  b
image: reg.io/a:1
kind: Pod
nested:
- - 1
  - 2
- - a: 1
    b: 2
num: "12"
script: |
  #!/bin/sh
  if true; then
    echo hi
  fi
spec:
  containers:
  - args:
    - '-v'
    - a b
    env: []
    name: c
  e: {}
  "n": 1
  r: 0.5
  x: null
star: '*'
t: "2026-11-21T07:36:25Z"
"yes": "true"
)");
}

TEST(Yaml, PrintsTextsSoThatTheyAreReadAsTheSame) {
  const std::string_view texts[] = {
      "",       " ",      "a ",     " a",     "a: b",      "a #b",    "#b",      "- a",
      "-",      "---",    "...",    "? a",    "a:",        "'",       "\"",      "null",
      "~",      "y",      "0x1f",   "1e3",    ".5",        "1_0",     "+.inf",   "<<",
      "=",      "a\nb",   "a\n",    "\n",     "a\n\n",     "a \nb",   " a\nb",   "a\n b",
      "a\n\nb", "a\r\nb", "\ttab",  "a\tb\n", "\xc2\x85x", "{a: b}",  "[a]",     "&a",
      "*a",     "!a",     "%a",     "@a",     "`a",        "|",       ">",       "a, b",
      "ä€😀",   "\x7f",   "\\n",    "a'b",    "a\"b",      "12:30",   "2026-11", "\xef\xbb\xbfx",
      "- a\nb", "# a\nb", "---\na", "a\n---", "a\n...\n",  "x\ny: z", "true\n",  "\xe2\x80\xa8"};
  for (const std::string_view text : texts) {
    for (const Value& value : {Value(text), Value::map_of({{std::string(text), text}, {"z", 1}}),
                               Value(Value::List{text, Value(Value::List{text, 1}), 2})}) {
      const std::string yaml = to_yaml(value);
      const Result<std::vector<Value>> again = parse_yaml(yaml);
      ASSERT_TRUE(again) << yaml << again.error().to_string();
      ASSERT_EQ(again->size(), 1U) << yaml;
      EXPECT_EQ(again->front(), value) << yaml << to_json(again->front());
    }
  }
  const Value long_key = Value::map_of({{std::string(5000, 'k'), Value::map_of({{std::string(2000, 'l'), 1}})}});
  EXPECT_EQ(parse_yaml(to_yaml(long_key))->front(), long_key);
}

TEST(Yaml, KnowsTheLinesOfFields) {
  const auto documents = parse_yaml_with_lines(
      "# first\na: 1\nb:\n  c:\n  - d: 1\n    e: [x,\n      y]\n  - &f\n    g: 2\n---\n- *\n", "f");
  EXPECT_FALSE(documents);
  const auto read = parse_yaml_with_lines(
      "# first\na: 1\nb:\n  c:\n  - d: 1\n    e: [x,\n      {y: 1}]\n  - &f\n    g: 2\n  - *f\n---\n---\nz: 1\n", "f");
  ASSERT_TRUE(read) << read.error().to_string();
  ASSERT_EQ(read->size(), 2U);
  const YamlDocument& first = read->front();
  struct Case {
    const char* field;
    std::int64_t line;
  };
  const Case cases[] = {{"", 2},         {"a", 2},           {"b", 3},      {"b.c", 4},      {"b.c[0]", 5},
                        {"b.c[0].e", 6}, {"b.c[0].e[1]", 7}, {"b.c[1]", 8}, {"b.c[1].g", 9}, {"b.c[0].none.at", 5},
                        {"none", 2}};
  for (const Case& each : cases) EXPECT_EQ(first.line_of(each.field), each.line) << each.field;
  EXPECT_EQ((*read)[1].line_of("z"), 13);
  EXPECT_EQ((*read)[1].value, Value::map_of({{"z", 1}}));
  const auto json = parse_yaml_with_lines("{\"a\": \"\\ud83d\\ude00\"}", "f");
  ASSERT_TRUE(json) << json.error().to_string();
  EXPECT_EQ(json->front().line_of("a"), 0);
}

TEST(YamlProperty, WhateverIsWrittenIsReadAsTheSame) {
  for (const Seed seed : property_seeds(200)) {
    SCOPED_TRACE(name_of(seed));
    const Value value = arbitrary_value(seed);
    const std::string text = to_yaml(value);
    const Result<std::vector<Value>> again = parse_yaml(text);
    ASSERT_TRUE(again) << text << "\n" << again.error().to_string();
    ASSERT_EQ(again->empty() ? Value() : again->front(), value) << text;
  }
}

}  // namespace berth::yaml_test
