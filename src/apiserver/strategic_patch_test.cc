#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "apiserver/json_of_test.h"
#include "apiserver/patches.h"
#include "manifest/json.h"

namespace berth::strategic_patch_test {

struct Case {
  const char* what;
  const char* type;
  const char* object;
  const char* patch;
  const char* result;  // an object, or what the complaint says
  bool fails = false;
};

void check(const Case& each) {
  SCOPED_TRACE(each.what);
  const auto patched = apply_strategic_patch(type_named(each.type), json(each.object), json(each.patch));
  if (!each.fails) {
    ASSERT_TRUE(patched) << patched.error().message;
    EXPECT_EQ(to_json(*patched), to_json(json(each.result)));
    return;
  }
  ASSERT_FALSE(patched) << to_json(*patched);
  EXPECT_EQ(patched.error().code, 400);
  EXPECT_NE(patched.error().message.find(each.result), std::string::npos) << patched.error().message;
}

TEST(StrategicPatch, MergesListsByTheKeysOfTheSchema) {
  const Case cases[] = {
      {"a container's image", "PodSpec", R"({"containers":[{"name":"a","image":"1"},{"name":"b","image":"1"}]})",
       R"({"containers":[{"name":"b","image":"2"}]})",
       R"({"containers":[{"name":"a","image":"1"},{"name":"b","image":"2"}]})"},
      {"a new container goes to the end", "PodSpec", R"({"containers":[{"name":"a"}]})",
       R"({"containers":[{"name":"b"}]})", R"({"containers":[{"name":"a"},{"name":"b"}]})"},
      {"the first container of all", "PodSpec", R"({})", R"({"containers":[{"name":"b","image":null}]})",
       R"({"containers":[{"name":"b"}]})"},
      {"a number as the key", "Container", R"({"ports":[{"containerPort":80},{"containerPort":90}]})",
       R"({"ports":[{"containerPort":90,"name":"x"}]})",
       R"({"ports":[{"containerPort":80},{"containerPort":90,"name":"x"}]})"},
      {"lists within lists", "PodSpec", R"({"containers":[{"name":"a","env":[{"name":"X","value":"1"}]}]})",
       R"({"containers":[{"name":"a","env":[{"name":"Y","value":"2"}]}]})",
       R"({"containers":[{"name":"a","env":[{"name":"X","value":"1"},{"name":"Y","value":"2"}]}]})"},
      {"conditions by their type", "PodStatus", R"({"conditions":[{"type":"Ready","status":"False"}]})",
       R"({"conditions":[{"type":"PodScheduled","status":"False"},{"type":"Ready","status":"True"}]})",
       R"({"conditions":[{"type":"Ready","status":"True"},{"type":"PodScheduled","status":"False"}]})"},
      {"tolerations have no key and are replaced", "PodSpec", R"({"tolerations":[{"key":"a"},{"key":"b"}]})",
       R"({"tolerations":[{"key":"c"}]})", R"({"tolerations":[{"key":"c"}]})"},
      {"finalizers are a set", "ObjectMeta", R"({"finalizers":["a","b"]})", R"({"finalizers":["b","c"]})",
       R"({"finalizers":["a","b","c"]})"},
      {"maps merge", "ObjectMeta", R"({"labels":{"a":"1","b":"2"}})", R"({"labels":{"a":null,"c":"3"}})",
       R"({"labels":{"b":"2","c":"3"}})"},
      {"a null removes", "PodSpec", R"({"nodeName":"n","priority":1})", R"({"nodeName":null})", R"({"priority":1})"},
      {"unknown fields merge as JSON does", "PodSpec", R"({"x":{"a":1,"l":[1]}})", R"({"x":{"b":2,"l":[2]}})",
       R"({"x":{"a":1,"l":[2],"b":2}})"},
      {"stored items without a key stay", "PodSpec", R"({"containers":[{"image":"lost"},{"name":"a"}]})",
       R"({"containers":[{"name":"a","image":"1"}]})", R"({"containers":[{"image":"lost"},{"name":"a","image":"1"}]})"},
  };
  for (const Case& each : cases) check(each);
}

TEST(StrategicPatch, ObeysItsDirectives) {
  const Case cases[] = {
      {"an item is deleted", "PodSpec", R"({"containers":[{"name":"a"},{"name":"b"}]})",
       R"({"containers":[{"$patch":"delete","name":"a"}]})", R"({"containers":[{"name":"b"}]})"},
      {"a list is replaced", "PodSpec", R"({"containers":[{"name":"a"},{"name":"b"}]})",
       R"({"containers":[{"name":"c"},{"$patch":"replace"}]})", R"({"containers":[{"name":"c"}]})"},
      {"an item is merged by order", "PodSpec", R"({"containers":[{"name":"a"}]})",
       R"({"containers":[{"$patch":"merge","name":"a","image":"1"}]})", R"({"containers":[{"name":"a","image":"1"}]})"},
      {"a map is replaced", "ObjectMeta", R"({"labels":{"a":"1","b":"2"}})",
       R"({"labels":{"$patch":"replace","c":"3"}})", R"({"labels":{"c":"3"}})"},
      {"a map is emptied", "ObjectMeta", R"({"labels":{"a":"1"}})", R"({"labels":{"$patch":"delete"}})",
       R"({"labels":{}})"},
      {"scalars leave a set", "ObjectMeta", R"({"finalizers":["a","b","c"]})",
       R"({"$deleteFromPrimitiveList/finalizers":["a","x"],"finalizers":["d"]})", R"({"finalizers":["b","c","d"]})"},
      {"only the named keys stay", "PodSpec", R"({"volumes":[{"name":"v","emptyDir":{}}]})",
       R"({"volumes":[{"name":"v","hostPath":{"path":"/x"},"$retainKeys":["name","hostPath"]}]})",
       R"({"volumes":[{"name":"v","hostPath":{"path":"/x"}}]})"},
      {"the order is set", "PodSpec", R"({"containers":[{"name":"a"},{"name":"b"}]})",
       R"({"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],"containers":[{"name":"a","image":"1"}]})",
       R"({"containers":[{"name":"b"},{"name":"a","image":"1"}]})"},
      {"the order is set without changes", "ObjectMeta", R"({"finalizers":["a","b"]})",
       R"({"$setElementOrder/finalizers":["b","a"]})", R"({"finalizers":["b","a"]})"},
      {"the server's own items stay where they were", "Container",
       R"({"env":[{"name":"own"},{"name":"a"},{"name":"b"}]})",
       R"({"$setElementOrder/env":[{"name":"new"},{"name":"b"},{"name":"a"}],"env":[{"name":"new"}]})",
       R"({"env":[{"name":"own"},{"name":"new"},{"name":"b"},{"name":"a"}]})"},
      {"what the order names and is not there", "Container", R"({"env":[{"name":"a"}]})",
       R"({"$setElementOrder/env":[{"name":"gone"},{"name":"a"}]})", R"({"env":[{"name":"a"}]})"},
  };
  for (const Case& each : cases) check(each);
}

TEST(StrategicPatch, SaysWhereItIsWrong) {
  const Case cases[] = {
      {"no object", "Pod", R"({})", R"([])", "is a JSON object", true},
      {"an item without its key", "Pod", R"({})", R"({"spec":{"containers":[{"name":"a"},{"image":"x"}]}})",
       "spec.containers[1]: does not contain declared merge key: name", true},
      {"a scalar as an item", "Pod", R"({})", R"({"spec":{"containers":["x"]}})",
       "spec.containers[0]: does not contain declared merge key: name", true},
      {"an object in a set", "ObjectMeta", R"({})", R"({"finalizers":[{}]})", "finalizers[0]: must be a scalar", true},
      {"a list is wanted", "Pod", R"({})", R"({"spec":{"containers":{"name":"a"}}})", "spec.containers: must be a list",
       true},
      {"an object is wanted", "Pod", R"({})", R"({"spec":[]})", "spec: must be an object", true},
      {"a map is wanted", "Pod", R"({})", R"({"metadata":{"labels":"x"}})", "metadata.labels: must be an object", true},
      {"another directive", "Pod", R"({})", R"({"spec":{"$patch":"drop"}})", "spec.$patch: 'drop' is none of", true},
      {"another directive in a list", "PodSpec", R"({})", R"({"containers":[{"name":"a","$patch":1}]})",
       "containers[0].$patch", true},
      {"keys that are not retained", "PodSpec", R"({})", R"({"volumes":[{"name":"v","$retainKeys":[]}]})",
       "volumes[0].$retainKeys: does not name the key 'name'", true},
      {"retained keys are a list", "PodSpec", R"({})", R"({"$retainKeys":"x"})", "$retainKeys: must be a list", true},
      {"an order for what has none", "PodSpec", R"({})", R"({"$setElementOrder/tolerations":[]})",
       "tolerations: $setElementOrder/tolerations is for lists that are merged", true},
      {"an order that leaves one out", "PodSpec", R"({})",
       R"({"$setElementOrder/containers":[],"containers":[{"name":"a"}]})", "does not name the item \"a\"", true},
      {"an order that is no list", "PodSpec", R"({"containers":[]})", R"({"$setElementOrder/containers":1})",
       "containers ($setElementOrder): must be a list", true},
      {"scalars from a list of objects", "PodSpec", R"({"containers":[]})",
       R"({"$deleteFromPrimitiveList/containers":["a"]})", "is for lists of scalars", true},
  };
  for (const Case& each : cases) check(each);
}

TEST(StrategicPatch, MergesLongListsInReasonableTime) {
  Value object = Value::map();
  Value patch = Value::map();
  for (int i = 0; i < 20'000; ++i) {
    object.at("containers").push_back(Value::map_of({{"name", "c" + std::to_string(i)}}));
    patch.at("containers").push_back(Value::map_of({{"name", "c" + std::to_string(19'999 - i)}, {"image", "x"}}));
    patch.at("$setElementOrder/containers").push_back(Value::map_of({{"name", "c" + std::to_string(19'999 - i)}}));
  }
  const auto patched = apply_strategic_patch(type_named("PodSpec"), object, patch);
  ASSERT_TRUE(patched) << patched.error().message;
  EXPECT_EQ((*patched)["containers"].items().front(), json(R"({"name":"c19999","image":"x"})"));
}

}  // namespace berth::strategic_patch_test
