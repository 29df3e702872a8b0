#include "manifest/schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "manifest/gang_owner.h"
#include "manifest/json.h"
#include "manifest/kinds.h"

namespace berth::schema_test {

Value json(std::string_view text) {
  Result<Value> value = parse_json(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value ? *value : Value();
}

void expect_consistent(const Type& type, const Field& field) {
  SCOPED_TRACE(type.name + "." + field.name);
  EXPECT_EQ(field.scalar == Scalar::kObject, field.type != nullptr);
  if (!field.inlined) {
    EXPECT_EQ(type.find(field.name), &field);
  }
  const bool travels_as_json =
      !type.package.starts_with("io.k8s.") || field.name == "apiVersion" || field.name == "kind";
  EXPECT_TRUE(field.number != 0 || travels_as_json);
  EXPECT_TRUE(field.allowed.empty() || field.scalar == Scalar::kText);
  EXPECT_TRUE(!field.atomic || field.plurality == Plurality::kMap || field.scalar == Scalar::kObject);

  const bool of_lists = !field.merge_key.empty() || field.ownership != ListOwnership::kAtomic;
  EXPECT_TRUE(!of_lists || field.plurality == Plurality::kList);
  if (field.merge_key == "-") {
    EXPECT_EQ(field.type, nullptr);
  } else if (!field.merge_key.empty()) {
    ASSERT_NE(field.type, nullptr);
    EXPECT_NE(field.type->find(field.merge_key), nullptr);
  }
  EXPECT_EQ(field.ownership == ListOwnership::kKeyed, !field.owner_keys.empty());
  for (const std::string& key : field.owner_keys) {
    ASSERT_NE(field.type, nullptr);
    EXPECT_NE(field.type->find(key), nullptr) << key;
  }
}

TEST(Schema, EveryFieldSaysWhatItsTypeCanKeep) {
  for (const Type* const type : all_types()) {
    EXPECT_LE(type->fields.size(), 64U) << type->name;
    for (const Field& field : type->fields) expect_consistent(*type, field);
  }
}

void expect_no_loop(const Type& type, std::vector<const Type*>& above) {
  ASSERT_EQ(std::ranges::find(above, &type), above.end()) << type.name;
  above.push_back(&type);
  for (const Field& field : type.fields) {
    if (field.type != nullptr) expect_no_loop(*field.type, above);
  }
  above.pop_back();
}

TEST(Schema, NoTypeContainsItselfSoThatTheDepthOfMessagesIsBounded) {
  std::vector<const Type*> above;
  for (const Type* const type : all_types()) expect_no_loop(*type, above);
}

TEST(Schema, FieldsOfInlinedMessagesAreTheParentsOwn) {
  const Field* const host_path = type_named("Volume").find("hostPath");
  ASSERT_NE(host_path, nullptr);
  EXPECT_EQ(host_path->type, &type_named("HostPathVolumeSource"));
  EXPECT_EQ(type_named("Volume").find("volumeSource"), nullptr);
  EXPECT_EQ(type_named("Volume").find_number(2)->name, "volumeSource");
}

TEST(Schema, ListsMergeByTheKeysThatKubernetesUses) {
  const struct {
    const char* type;
    const char* field;
    const char* merge_key;
    std::vector<std::string> owner_keys;
  } cases[] = {
      {"PodSpec", "containers", "name", {"name"}},
      {"PodSpec", "tolerations", "", {}},
      {"Container", "ports", "containerPort", {"containerPort", "protocol"}},
      {"Container", "volumeMounts", "mountPath", {"mountPath"}},
      {"PodSpec", "topologySpreadConstraints", "topologyKey", {"topologyKey", "whenUnsatisfiable"}},
      {"PodStatus", "conditions", "type", {"type"}},
      {"NodeStatus", "addresses", "type", {"type"}},
      {"NodeSpec", "taints", "", {}},
      {"ObjectMeta", "ownerReferences", "uid", {"uid"}},
      {"ObjectMeta", "finalizers", "-", {}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.type) + "." + c.field);
    const Field* const field = type_named(c.type).find(c.field);
    ASSERT_NE(field, nullptr);
    EXPECT_EQ(field->merge_key, c.merge_key);
    EXPECT_EQ(field->owner_keys, c.owner_keys);
  }
  EXPECT_TRUE(type_named("PodSpec").find("volumes")->retain_keys);
}

TEST(CheckFields, SaysWhatIsWrongInTheDecodersWords) {
  const struct {
    const char* type;
    const char* object;
    std::vector<std::string> messages;
  } cases[] = {
      {"Pod",
       R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"x":"y"}},
                  "spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":1,"nvidia.com/gpu":"2"}}}]}})",
       {}},
      {"Pod", R"({"spec":{"foo":1}})", {R"(unknown field "spec.foo")"}},
      {"Pod",
       R"({"spec":{"containers":[{"name":"a"},{"imag":"x","Image":"y"}]},"x":null})",
       {R"(unknown field "spec.containers[1].imag")", R"(unknown field "spec.containers[1].Image")",
        R"(unknown field "x")"}},
      {"Pod",
       R"({"spec":{"containers":"c"}})",
       {"json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type []v1.Container"}},
      {"Pod",
       R"({"spec":{"containers":[{"image":5}]}})",
       {"json: cannot unmarshal number into Go struct field Container.spec.containers[0].image of type string"}},
      {"Pod",
       R"({"spec":{"nodeSelector":{"a":true}}})",
       {"json: cannot unmarshal bool into Go struct field PodSpec.spec.nodeSelector.a of type string"}},
      {"Pod",
       R"({"spec":{"priority":1.5,"hostNetwork":"yes","volumes":null}})",
       {"json: cannot unmarshal number into Go struct field PodSpec.spec.priority of type int64",
        "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool"}},
      {"Pod", R"({"spec":[]})", {"json: cannot unmarshal array into Go struct field Pod.spec of type v1.PodSpec"}},
      {"Pod", R"([])", {"json: cannot unmarshal array into Go value of type v1.Pod"}},
      {"Pod",
       R"({"metadata":{"creationTimestamp":"yesterday","managedFields":[{"fieldsV1":{"f:a":{".":{}}}}]}})",
       {"metadata.creationTimestamp: 'yesterday' is no time: write one as in 2026-01-31T12:00:00Z (RFC 3339)"}},
      {"ResourceQuota",
       R"({"spec":{"hard":{"pods":"many","cpu":0.5}}})",
       {"spec.hard.pods: 'many' is no quantity: quantities must match the regular expression "
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"}},
      {"Secret", R"({"data":{"a":"aGk=","b":"x"}})", {"data.b: 'x' is not base64 (illegal base64 data)"}},
      {"SubjectAccessReview",
       R"({"spec":{"extra":{"a":["x"],"b":"y","c":[1]}}})",
       {"json: cannot unmarshal string into Go struct field SubjectAccessReviewSpec.spec.extra.b of type []string",
        "json: cannot unmarshal number into Go struct field SubjectAccessReviewSpec.spec.extra.c[0] of type string"}},
      {"PodDisruptionBudget", R"({"spec":{"minAvailable":"50%","maxUnavailable":1}})", {}},
      {"PodDisruptionBudget",
       R"({"spec":{"minAvailable":[]}})",
       {"json: cannot unmarshal array into Go struct field PodDisruptionBudgetSpec.spec.minAvailable of type "
        "intstr.IntOrString"}},
      {"Queue", R"({"spec":{"order":"fifo","submitters":{"users":["a"]},"wait":3}})", {R"(unknown field "spec.wait")"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.object);
    std::vector<std::string> messages;
    for (const SchemaComplaint& each : check_fields(type_named(c.type), json(c.object))) {
      messages.push_back(each.message);
      EXPECT_EQ(each.what == SchemaComplaint::What::kUnknownField, each.message.starts_with("unknown field"));
      EXPECT_NE(each.message.find(each.path), std::string::npos);
    }
    EXPECT_EQ(messages, c.messages);
  }
}

TEST(CheckFields, StopsAtAHundredComplaintsAndCutsMonstrousKeys) {
  Value object = Value::map();
  for (int i = 0; i < 500; ++i) object.set("x" + std::to_string(i), i);
  EXPECT_EQ(check_fields(type_named("Pod"), object).size(), 100U);

  std::string key;
  while (key.size() < 100'000) key += "\xc3\xa4";
  const auto complaints = check_fields(type_named("Pod"), Value::map_of({{key, 1}}));
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_LT(complaints[0].message.size(), 400U);
  EXPECT_TRUE(parse_json(to_json(Value(complaints[0].message))).has_value());
}

TEST(DropUnknownFields, LeavesWhatTheTypeHas) {
  const struct {
    const char* type;
    const char* before;
    const char* after;
  } cases[] = {
      {"Pod", R"({"a":1,"kind":"Pod","spec":{"b":2,"containers":[{"name":"c","d":null,"e":[]}],"volumes":null}})",
       R"({"kind":"Pod","spec":{"containers":[{"name":"c"}]}})"},
      {"Pod", R"({"metadata":{"labels":{"anything":"stays","but":null},"managedFields":[{"fieldsV1":{"f:x":null}}]}})",
       R"({"metadata":{"labels":{"anything":"stays"},"managedFields":[{"fieldsV1":{"f:x":null}}]}})"},
      {"TokenReview", R"({"status":{"user":{"extra":{"a":["b"]}}}})", R"({"status":{"user":{"extra":{"a":["b"]}}}})"},
      {"Pod", R"("no map")", R"("no map")"},
  };
  for (const auto& c : cases) {
    Value value = json(c.before);
    drop_unknown_fields(type_named(c.type), value);
    EXPECT_EQ(value, json(c.after)) << to_json(value);
  }
}

TEST(Canonicalise, RewritesQuantitiesAndTimesWhereverTheyAre) {
  const struct {
    const char* type;
    const char* before;
    const char* after;
  } cases[] = {
      {"Pod", R"({"spec":{"containers":[{"resources":{"limits":{"memory":"1024Mi","cpu":0.5,"nvidia.com/gpu":2}}}]}})",
       R"({"spec":{"containers":[{"resources":{"limits":{"memory":"1Gi","cpu":"500m","nvidia.com/gpu":"2"}}}]}})"},
      {"Pod", R"({"spec":{"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1000m"}}]}})",
       R"({"spec":{"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1"}}]}})"},
      {"Pod", R"({"metadata":{"creationTimestamp":"2026-11-21T08:36:25.987+01:00","annotations":{"a":"1024Mi"}}})",
       R"({"metadata":{"creationTimestamp":"2026-11-21T07:36:25Z","annotations":{"a":"1024Mi"}}})"},
      {"Lease", R"({"spec":{"renewTime":"2026-11-21T07:36:25.1234567Z","acquireTime":"2026-11-21T07:36:25Z"}})",
       R"({"spec":{"renewTime":"2026-11-21T07:36:25.123456Z","acquireTime":"2026-11-21T07:36:25.000000Z"}})"},
      {"Pod", R"({"spec":{"overhead":{"cpu":"nonsense","memory":null}},"metadata":{"creationTimestamp":null}})",
       R"({"spec":{"overhead":{"cpu":"nonsense","memory":null}},"metadata":{"creationTimestamp":null}})"},
  };
  for (const auto& c : cases) {
    Value value = json(c.before);
    canonicalise(type_named(c.type), value);
    EXPECT_EQ(value, json(c.after)) << to_json(value);
    const Value once = value;
    canonicalise(type_named(c.type), value);
    EXPECT_EQ(value, once);
  }
}

TEST(Kinds, AreFoundByTheirNames) {
  const KindInfo* const pods = find_served("", "v1", "pods");
  ASSERT_NE(pods, nullptr);
  EXPECT_EQ(pods, find_served_kind("v1", "Pod"));
  EXPECT_EQ(pods->qualified(), "pods");
  EXPECT_TRUE(pods->has_subresource("binding"));
  EXPECT_FALSE(pods->has_subresource("scale"));
  EXPECT_EQ(find_served_kind("batch/v1", "Job")->qualified(), "jobs.batch");
  EXPECT_EQ(find_served_kind("events.k8s.io/v1", "Event")->type, &type_named("events.Event"));
  EXPECT_EQ(find_served_kind("v1", "Event")->type, &type_named("Event"));
  EXPECT_EQ(find_served("", "v1", "evictions"), nullptr);
  EXPECT_EQ(find_served_kind("batch/v1", "Pod"), nullptr);
  EXPECT_TRUE(group_version_is_served("berth.dev", "v1alpha1"));
  EXPECT_FALSE(group_version_is_served("berth.dev", "v1"));
}

TEST(Kinds, EachIsServedOnceAndItsNamesLeadToOneKind) {
  std::set<std::string> qualified, short_names;
  for (const KindInfo& kind : served_kinds()) {
    SCOPED_TRACE(kind.qualified());
    if (!kind.other_view || kind.plural == "events") {
      EXPECT_TRUE(qualified.insert(kind.qualified()).second);
    } else {
      EXPECT_TRUE(qualified.contains(kind.qualified()));
    }
    for (const std::string& name : kind.short_names) {
      // Two views share theirs, as in Kubernetes.
      EXPECT_TRUE(short_names.insert(name).second || kind.other_view) << name;
    }
    ASSERT_NE(kind.type, nullptr);
    EXPECT_NE(kind.type->find("metadata"), nullptr);
    EXPECT_NE(kind.type->find("apiVersion"), nullptr);
    EXPECT_EQ(kind.has_subresource("status"), kind.has_verb("get") && kind.type->find("status") != nullptr);
    EXPECT_EQ(kind.custom, kind.group == "berth.dev" || kind.group.ends_with(".x-k8s.io") ||
                               kind.group.ends_with(".volcano.sh") || kind.plural == "podgroups" ||
                               find_gang_owner_kind(kind.qualified()) != nullptr ||
                               kind.group == "trainer.kubeflow.org");
    EXPECT_TRUE(kind.has_verb("create"));
  }
}

}  // namespace berth::schema_test
