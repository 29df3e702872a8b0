#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "apiserver/json_of_test.h"
#include "apiserver/object_size.h"
#include "apiserver/patches.h"
#include "manifest/json.h"

namespace berth::json_patch_test {

struct Case {
  const char* what;
  const char* object;
  const char* patch;
  const char* result;  // an object, or what the complaint says
  int code = 200;
};

using Patcher = std::expected<Value, ApiError> (*)(const Value&, const Value&);

void check(const Case& each, Patcher patcher) {
  SCOPED_TRACE(each.what);
  const auto patched = patcher(json(each.object), json(each.patch));
  if (each.code == 200) {
    ASSERT_TRUE(patched) << patched.error().message;
    EXPECT_EQ(to_json(*patched), to_json(json(each.result)));
    return;
  }
  ASSERT_FALSE(patched) << to_json(*patched);
  EXPECT_EQ(patched.error().code, each.code);
  EXPECT_NE(patched.error().message.find(each.result), std::string::npos) << patched.error().message;
}

TEST(JsonPatch, DoesWhatItsOperationsSay) {
  const Case cases[] = {
      {"no operations", R"({"a":1})", R"([])", R"({"a":1})"},
      {"a member is added", R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])", R"({"a":1,"b":2})"},
      {"a member that is there is replaced", R"({"a":1})", R"([{"op":"add","path":"/a","value":2}])", R"({"a":2})"},
      {"an item goes before another", R"({"l":[1,3]})", R"([{"op":"add","path":"/l/1","value":2}])",
       R"({"l":[1,2,3]})"},
      {"an item goes to the end", R"({"l":[1]})", R"([{"op":"add","path":"/l/-","value":2}])", R"({"l":[1,2]})"},
      {"the end may be counted", R"({"l":[1]})", R"([{"op":"add","path":"/l/1","value":2}])", R"({"l":[1,2]})"},
      {"a null is a value", R"({})", R"([{"op":"add","path":"/a","value":null}])", R"({"a":null})"},
      {"~1 is a slash and ~0 a tilde", R"({"a/b":{"c~d":1}})", R"([{"op":"replace","path":"/a~1b/c~0d","value":2}])",
       R"({"a/b":{"c~d":2}})"},
      {"~01 is ~1", R"({})", R"([{"op":"add","path":"/~01","value":1}])", R"({"~1":1})"},
      {"a key may be empty", R"({"":1})", R"([{"op":"replace","path":"/","value":2}])", R"({"":2})"},
      {"the whole object is replaced", R"({"a":1})", R"([{"op":"replace","path":"","value":{"b":2}}])", R"({"b":2})"},
      {"a member is removed", R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"}])", R"({"b":2})"},
      {"an item is removed", R"({"l":[1,2,3]})", R"([{"op":"remove","path":"/l/1"}])", R"({"l":[1,3]})"},
      {"a value is moved", R"({"a":{"x":1}})", R"([{"op":"move","from":"/a/x","path":"/b"}])", R"({"a":{},"b":1})"},
      {"a value is moved to itself", R"({"a":1})", R"([{"op":"move","from":"/a","path":"/a"}])", R"({"a":1})"},
      {"a value is copied", R"({"a":[1]})", R"([{"op":"copy","from":"/a","path":"/b"}])", R"({"a":[1],"b":[1]})"},
      {"a test that holds", R"({"a":{"x":1,"y":2}})", R"([{"op":"test","path":"/a","value":{"y":2,"x":1}}])",
       R"({"a":{"x":1,"y":2}})"},
      {"a gate is taken away", R"({"spec":{"schedulingGates":[{"name":"g"}]}})",
       R"([{"op":"test","path":"/spec/schedulingGates/0/name","value":"g"},)"
       R"({"op":"remove","path":"/spec/schedulingGates"}])",
       R"({"spec":{}})"},
  };
  for (const Case& each : cases) check(each, apply_json_patch);
}

TEST(JsonPatch, SaysWhatIsWrongWithIt) {
  const Case cases[] = {
      {"no list", R"({})", R"({"op":"add"})", "is a list of operations", 400},
      {"no object", R"({})", R"([1])", "operation 0: is no object", 400},
      {"another operation", R"({})", R"([{"op":"merge","path":"/a"}])", "op 'merge' is none of add", 400},
      {"no path", R"({})", R"([{"op":"remove"}])", "has no path", 400},
      {"no value", R"({})", R"([{"op":"add","path":"/a"}])", "add has no value", 400},
      {"no from", R"({})", R"([{"op":"copy","path":"/a"}])", "copy has no from", 400},
      {"a path without slash", R"({})", R"([{"op":"remove","path":"a"}])", "'a' is no JSON pointer", 400},
      {"a bad escape", R"({})", R"([{"op":"remove","path":"/a~2"}])", "is no JSON pointer", 400},
      {"nothing to remove", R"({})", R"([{"op":"remove","path":"/a"}])", "there is nothing at '/a'", 422},
      {"nothing to replace", R"({})", R"([{"op":"replace","path":"/a","value":1}])", "nothing at the path", 422},
      {"no parent", R"({})", R"([{"op":"add","path":"/a/b","value":1}])", "nothing at the path above it", 422},
      {"a scalar has no members", R"({"a":1})", R"([{"op":"add","path":"/a/b","value":1}])", "neither an object nor",
       422},
      {"beyond the list", R"({"l":[1]})", R"([{"op":"add","path":"/l/2","value":1}])", "the list has 1 items", 422},
      {"a signed index", R"({"l":[1]})", R"([{"op":"remove","path":"/l/-1"}])", "there is nothing at", 422},
      {"a leading zero", R"({"l":[1]})", R"([{"op":"remove","path":"/l/00"}])", "there is nothing at", 422},
      {"the end cannot be removed", R"({"l":[1]})", R"([{"op":"remove","path":"/l/-"}])", "there is nothing at", 422},
      {"a test that fails", R"({"a":1})", R"([{"op":"test","path":"/a","value":"1"}])", "(test '/a'): the value there",
       422},
      {"into itself", R"({"a":{}})", R"([{"op":"move","from":"/a","path":"/a/b"}])", "moved into itself", 422},
      {"the whole object", R"({"a":1})", R"([{"op":"remove","path":""}])", "cannot be removed", 422},
      {"no object any more", R"({"a":1})", R"([{"op":"replace","path":"","value":1}])", "would be no object", 422},
      {"the second operation", R"({})", R"([{"op":"add","path":"/a","value":1},{"op":"remove","path":"/b"}])",
       "json patch operation 1 (remove '/b')", 422},
  };
  for (const Case& each : cases) check(each, apply_json_patch);
}

TEST(JsonPatch, IsBoundedInOperationsCopiesDepthAndWork) {
  Value many = Value::list();
  for (int i = 0; i < 10'001; ++i) {
    many.push_back(Value::map_of({{"op", "add"}, {"path", "/a"}, {"value", i}}));
  }
  EXPECT_EQ(apply_json_patch(Value::map(), many).error().code, 413);
  many.edit_items().pop_back();
  EXPECT_TRUE(apply_json_patch(Value::map(), many));

  // Each copy doubles the object.
  Value bomb = Value::list();
  for (int i = 0; i < 60; ++i) {
    bomb.push_back(Value::map_of({{"op", "copy"}, {"from", ""}, {"path", "/c" + std::to_string(i)}}));
  }
  const auto exploded = apply_json_patch(json(R"({"a":"0123456789"})"), bomb);
  ASSERT_FALSE(exploded);
  EXPECT_EQ(exploded.error().code, 413);
  EXPECT_EQ(exploded.error().reason, "RequestEntityTooLarge");

  // Each copy doubles the depth.
  Value deep = Value::list();
  std::string path;
  for (int i = 0, depth = 1; i < 12; ++i, depth *= 2) {
    path.clear();
    for (int part = 0; part < depth; ++part) path += "/a";
    deep.push_back(Value::map_of({{"op", "copy"}, {"from", ""}, {"path", path}}));
  }
  const auto sunk = apply_json_patch(Value::map(), deep);
  ASSERT_FALSE(sunk);
  EXPECT_NE(sunk.error().message.find("nested too deeply"), std::string::npos);

  // A few kilobytes of patch that move a large list again and again.
  Value list = Value::list();
  for (int i = 0; i < 100'000; ++i) list.push_back(i);
  Value shifts = Value::list();
  for (int i = 0; i < 5'000; ++i) shifts.push_back(json(R"({"op":"add","path":"/l/0","value":1})"));
  const auto tired = apply_json_patch(Value::map_of({{"l", list}}), shifts);
  ASSERT_FALSE(tired);
  EXPECT_EQ(tired.error().code, 413);
}

TEST(MergePatch, MergesObjectsAndReplacesTheRest) {
  const Case cases[] = {
      {"a member is set", R"({"a":1})", R"({"b":2})", R"({"a":1,"b":2})"},
      {"a null removes", R"({"a":1,"b":2,"c":3})", R"({"a":null,"c":null})", R"({"b":2})"},
      {"a null for nothing", R"({"a":1})", R"({"b":null})", R"({"a":1})"},
      {"objects merge", R"({"a":{"x":1,"y":2}})", R"({"a":{"y":3}})", R"({"a":{"x":1,"y":3}})"},
      {"lists are replaced", R"({"a":[1,2]})", R"({"a":[3]})", R"({"a":[3]})"},
      {"nulls in lists stay", R"({})", R"({"a":[null,{"b":null}]})", R"({"a":[null,{"b":null}]})"},
      {"nulls in new objects go", R"({})", R"({"a":{"b":null,"c":{"d":null}}})", R"({"a":{"c":{}}})"},
      {"an object over a scalar", R"({"a":1})", R"({"a":{"b":null,"c":1}})", R"({"a":{"c":1}})"},
      {"a scalar over an object", R"({"a":{"b":1}})", R"({"a":1})", R"({"a":1})"},
      {"no object", R"({})", R"([1])", "is a JSON object", 400},
  };
  for (const Case& each : cases) check(each, apply_merge_patch);
}

TEST(MergePatch, HandlesHundredsOfThousandsOfMembersAtOnce) {
  Value object = Value::map();
  Value patch = Value::map();
  for (int i = 0; i < 200'000; ++i) {
    object.edit_members().push_back({"k" + std::to_string(i), Value(1)});
    patch.edit_members().push_back({"k" + std::to_string(i), i % 2 == 0 ? Value() : Value(2)});
  }
  const auto patched = apply_merge_patch(object, patch);
  ASSERT_TRUE(patched);
  EXPECT_EQ(patched->members().size(), 100'000U);
  EXPECT_EQ(patched->members().front().key, "k1");
  EXPECT_EQ(patched->members().front().value, Value(2));
}

TEST(MergePatch, DoesNotGrowObjectsBeyondWhatARequestMayCarry) {
  const std::string half(kObjectBytesMax / 2 + 1000, 'x');
  const Value object = Value::map_of({{"a", half}});
  const auto grown = apply_merge_patch(object, Value::map_of({{"b", half}}));
  ASSERT_FALSE(grown);
  EXPECT_EQ(grown.error().code, 413);
  EXPECT_NE(grown.error().message.find("limit is 3145728"), std::string::npos);
  const Value huge = Value::map_of({{"a", half}, {"b", half}});
  EXPECT_TRUE(apply_merge_patch(huge, json(R"({"a":null})"))) << "what is too large may shrink";
}

}  // namespace berth::json_patch_test
