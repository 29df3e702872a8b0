#include "apiserver/managed_fields.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/json_of_test.h"
#include "apiserver/manager_entries.h"
#include "apiserver/owned_fields.h"
#include "base/property_seeds.h"
#include "manifest/json.h"

namespace berth::managed_fields_test {

const KindInfo& pod_kind() { return *find_served("", "v1", "pods"); }

FieldManager manager(const char* name, std::int64_t second = 0, const char* subresource = "") {
  return {.name = name, .subresource = subresource, .now = Time{second * 1000}};
}

// "me Update 00:05 [status] {...}" for each entry.
std::vector<std::string> owners(const Value& object) {
  std::vector<std::string> lines;
  for (const Value& entry : object["metadata"]["managedFields"].items()) {
    EXPECT_EQ(entry["fieldsType"].text(), "FieldsV1");
    EXPECT_EQ(entry["apiVersion"].text(), "v1");
    std::string line = std::string(entry["manager"].text()) + " " + std::string(entry["operation"].text()) + " " +
                       std::string(entry["time"].text()).substr(14, 5) + " ";
    if (const Value* sub = entry.find("subresource")) line += std::string(sub->text()) + " ";
    lines.push_back(line + to_json(entry["fieldsV1"]));
  }
  return lines;
}

using Lines = std::vector<std::string>;

struct Step {
  const char* who;
  char what;  // 'u' update, 's' update of the status, 'a' apply, 'f' apply by force
  const char* object;
};
struct Story {
  const char* what;
  std::vector<Step> steps;
  const char* object;  // without managedFields; or what the conflict of the last step says
  Lines owners;
};

// The step's object: written as it stands (with the ownership there was), or applied.
std::expected<Value, ApiError> after_step(const Value& live, const Step& step, std::int64_t second) {
  const Value sent = json(step.object);
  if (step.what == 'a' || step.what == 'f') {
    return server_side_apply(pod_kind(), live, sent, manager(step.who, second), step.what == 'f');
  }
  Value written = sent;
  if (!live.is_null()) written.at("metadata").set("managedFields", live["metadata"]["managedFields"]);
  note_write(pod_kind(), live, written, manager(step.who, second, step.what == 's' ? "status" : ""));
  return written;
}

void tell(const Story& story) {
  SCOPED_TRACE(story.what);
  Value live;
  std::int64_t second = 0;
  for (const Step& step : story.steps) {
    const auto next = after_step(live, step, ++second);
    if (!next) {
      EXPECT_EQ(next.error().code, 409);
      EXPECT_EQ(next.error().message, story.object);
      return;
    }
    live = *next;
  }
  EXPECT_EQ(owners(live), story.owners);
  live.at("metadata").erase("managedFields");
  EXPECT_EQ(live, json(story.object)) << to_json(live);
}

TEST(NoteWrite, GivesTheWriterWhatItChanged) {
  const Story stories[] = {
      {"a creation",
       {{"me", 'u',
         R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"d","uid":"1","generation":1,
             "creationTimestamp":"2026-11-21T07:36:25Z","labels":{"app":"a"}},
             "spec":{"containers":[{"name":"c","image":"b","ports":[{"containerPort":80}]}],"tolerations":[{"key":"x"}],
             "securityContext":{}},"status":{"phase":"Pending"}})"}},
       R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"d","uid":"1","generation":1,
             "creationTimestamp":"2026-11-21T07:36:25Z","labels":{"app":"a"}},
             "spec":{"containers":[{"name":"c","image":"b","ports":[{"containerPort":80}]}],"tolerations":[{"key":"x"}],
             "securityContext":{}},"status":{"phase":"Pending"}})",
       {R"(me Update 00:01 {"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":)"
        R"({"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{},"f:ports":{".":{},)"
        R"("k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}},)"
        R"("f:securityContext":{},"f:tolerations":{}}})"}},
      {"a change moves one leaf",
       {{"a", 'u', R"({"metadata":{"labels":{"x":"1","y":"1"}}})"},
        {"b", 'u', R"({"metadata":{"labels":{"x":"2","y":"1"}}})"}},
       R"({"metadata":{"labels":{"x":"2","y":"1"}}})",
       {R"(a Update 00:01 {"f:metadata":{"f:labels":{".":{},"f:y":{}}}})",
        R"(b Update 00:02 {"f:metadata":{"f:labels":{"f:x":{}}}})"}},
      {"nothing changed, nothing noted",
       {{"a", 'u', R"({"metadata":{"labels":{"x":"1"}}})"}, {"b", 'u', R"({"metadata":{"labels":{"x":"1"}}})"}},
       R"({"metadata":{"labels":{"x":"1"}}})",
       {R"(a Update 00:01 {"f:metadata":{"f:labels":{".":{},"f:x":{}}}})"}},
      {"what is removed is nobody's",
       {{"a", 'u', R"({"metadata":{"labels":{"x":"1","y":"1"}},"spec":{"containers":[{"name":"c"},{"name":"d"}]}})"},
        {"b", 'u', R"({"metadata":{"labels":{"y":"1"}},"spec":{"containers":[{"name":"d"}]}})"}},
       R"({"metadata":{"labels":{"y":"1"}},"spec":{"containers":[{"name":"d"}]}})",
       {R"(a Update 00:01 {"f:metadata":{"f:labels":{".":{},"f:y":{}}},)"
        R"("f:spec":{"f:containers":{"k:{\"name\":\"d\"}":{".":{},"f:name":{}}}}})"}},
      {"a map that became empty",
       {{"a", 'u', R"({"metadata":{"labels":{"x":"1"}}})"}, {"b", 'u', R"({"metadata":{"labels":{}}})"}},
       R"({"metadata":{"labels":{}}})",
       {R"(a Update 00:01 {"f:metadata":{"f:labels":{}}})"}},
      {"the status has its own entry",
       {{"a", 'u', R"({"metadata":{"name":"p"},"spec":{"nodeName":"n"}})"},
        {"a", 's', R"({"metadata":{"name":"p"},"spec":{"nodeName":"n"},"status":{"phase":"Running"}})"}},
       R"({"metadata":{"name":"p"},"spec":{"nodeName":"n"},"status":{"phase":"Running"}})",
       {R"(a Update 00:01 {"f:spec":{"f:nodeName":{}}})",
        R"(a Update 00:02 status {"f:status":{".":{},"f:phase":{}}})"}},
      {"what the server sets is nobody's",
       {{"a", 'u', R"({"metadata":{"labels":{"x":"1"},"resourceVersion":"1"}})"},
        {"b", 'u', R"({"metadata":{"labels":{"x":"1"},"resourceVersion":"2","deletionTimestamp":"x"}})"}},
       R"({"metadata":{"labels":{"x":"1"},"resourceVersion":"2","deletionTimestamp":"x"}})",
       {R"(a Update 00:01 {"f:metadata":{"f:labels":{".":{},"f:x":{}}}})"}},
      {"containers that cannot be told apart are owned as a whole",
       {{"a", 'u', R"({"metadata":{},"spec":{"containers":[{"name":"c"},{"name":"c"}]}})"}},
       R"({"metadata":{},"spec":{"containers":[{"name":"c"},{"name":"c"}]}})",
       {R"(a Update 00:01 {"f:spec":{"f:containers":{}}})"}},
  };
  for (const Story& story : stories) tell(story);
}

TEST(ServerSideApply, SharesTakesAndReleasesFields) {
  const Story stories[] = {
      {"a creation",
       {{"a", 'a',
         R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","labels":{"x":"1"}},"spec":{"nodeName":"n"}})"}},
       R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","labels":{"x":"1"}},"spec":{"nodeName":"n"}})",
       {R"(a Apply 00:01 {"f:metadata":{"f:labels":{"f:x":{}}},"f:spec":{"f:nodeName":{}}})"}},
      {"the same again changes nothing, not even times",
       {{"a", 'a', R"({"metadata":{"name":"p","labels":{"x":"1"}}})"},
        {"a", 'a', R"({"metadata":{"name":"p","labels":{"x":"1"}}})"}},
       R"({"metadata":{"name":"p","labels":{"x":"1"}}})",
       {R"(a Apply 00:01 {"f:metadata":{"f:labels":{"f:x":{}}}})"}},
      {"equal values are shared",
       {{"a", 'a', R"({"metadata":{"labels":{"x":"1"}}})"}, {"b", 'a', R"({"metadata":{"labels":{"x":"1","y":"2"}}})"}},
       R"({"metadata":{"labels":{"x":"1","y":"2"}}})",
       {R"(a Apply 00:01 {"f:metadata":{"f:labels":{"f:x":{}}}})",
        R"(b Apply 00:02 {"f:metadata":{"f:labels":{"f:x":{},"f:y":{}}}})"}},
      {"another value is a conflict",
       {{"a", 'a', R"({"metadata":{"labels":{"x":"1"}}})"}, {"b", 'a', R"({"metadata":{"labels":{"x":"2"}}})"}},
       R"(Apply failed with 1 conflict: conflict with "a": .metadata.labels.x)",
       {}},
      {"also with who wrote plainly",
       {{"a", 'u', R"({"metadata":{},"spec":{"containers":[{"name":"c","image":"1"}],"tolerations":[{"key":"x"}]}})"},
        {"b", 'a', R"({"metadata":{},"spec":{"containers":[{"name":"c","image":"2"}],"tolerations":[]}})"}},
       "Apply failed with 2 conflicts: conflicts with \"a\" using v1:\n- .spec.containers[name=\"c\"].image\n"
       "- .spec.tolerations",
       {}},
      {"and with the status",
       {{"a", 'u', R"({"metadata":{"labels":{"x":"1"}}})"},
        {"b", 's', R"({"metadata":{"labels":{"x":"2"}}})"},
        {"c", 'a', R"({"metadata":{"labels":{"x":"3"}}})"}},
       R"(Apply failed with 1 conflict: conflict with "b" with subresource "status" using v1: .metadata.labels.x)",
       {}},
      {"force takes over",
       {{"a", 'a', R"({"metadata":{"labels":{"x":"1"}}})"}, {"b", 'f', R"({"metadata":{"labels":{"x":"2"}}})"}},
       R"({"metadata":{"labels":{"x":"2"}}})",
       {R"(b Apply 00:02 {"f:metadata":{"f:labels":{"f:x":{}}}})"}},
      {"what is left out goes",
       {{"a", 'a', R"({"metadata":{"labels":{"x":"1","y":"1"}},"spec":{"containers":[{"name":"c"},{"name":"d"}]}})"},
        {"a", 'a', R"({"metadata":{"labels":{"x":"1"}},"spec":{"containers":[{"name":"d"}]}})"}},
       R"({"metadata":{"labels":{"x":"1"}},"spec":{"containers":[{"name":"d"}]}})",
       {R"(a Apply 00:02 {"f:metadata":{"f:labels":{"f:x":{}}},"f:spec":{"f:containers":)"
        R"({"k:{\"name\":\"d\"}":{".":{},"f:name":{}}}}})"}},
      {"unless somebody else owns it",
       {{"a", 'a', R"({"metadata":{"labels":{"x":"1","y":"1"}}})"},
        {"b", 'a', R"({"metadata":{"labels":{"y":"1"}}})"},
        {"a", 'a', R"({"metadata":{}})"}},
       R"({"metadata":{"labels":{"y":"1"}}})",
       {R"(b Apply 00:02 {"f:metadata":{"f:labels":{"f:y":{}}}})"}},
      {"an item stays while others own something in it",
       {{"a", 'a', R"({"metadata":{},"spec":{"containers":[{"name":"c","image":"1","command":["x"]}]}})"},
        {"b", 'a', R"({"metadata":{},"spec":{"containers":[{"name":"c","image":"1"}]}})"},
        {"a", 'a', R"({"metadata":{},"spec":{}})"}},
       R"({"metadata":{},"spec":{"containers":[{"name":"c","image":"1"}]}})",
       {R"(b Apply 00:02 {"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{}}}}})",
        R"(a Apply 00:03 {"f:spec":{}})"}},
      {"finalizers are owned one by one",
       {{"a", 'a', R"({"metadata":{"finalizers":["a/x","a/y"]}})"},
        {"b", 'a', R"({"metadata":{"finalizers":["b/z","a/x"]}})"},
        {"a", 'a', R"({"metadata":{"finalizers":["a/y"]}})"}},
       R"({"metadata":{"finalizers":["b/z","a/x","a/y"]}})",
       {R"(b Apply 00:02 {"f:metadata":{"f:finalizers":{"v:\"a/x\"":{},"v:\"b/z\"":{}}}})",
        R"(a Apply 00:03 {"f:metadata":{"f:finalizers":{"v:\"a/y\"":{}}}})"}},
      {"an update takes from who applied",
       {{"a", 'a', R"({"metadata":{"labels":{"x":"1","y":"1"}}})"},
        {"a", 'u', R"({"metadata":{"labels":{"x":"2","y":"1"}}})"}},
       R"({"metadata":{"labels":{"x":"2","y":"1"}}})",
       {R"(a Apply 00:01 {"f:metadata":{"f:labels":{"f:y":{}}}})",
        R"(a Update 00:02 {"f:metadata":{"f:labels":{"f:x":{}}}})"}},
      {"what the server sets cannot be applied, nor the status here",
       {{"a", 'u', R"({"metadata":{"uid":"1","resourceVersion":"7"},"status":{"phase":"Running"}})"},
        {"a", 'a',
         R"({"metadata":{"uid":"2","resourceVersion":"7","labels":{"x":null,"y":"1"}},"status":{"phase":"Failed"}})"}},
       R"({"metadata":{"uid":"1","resourceVersion":"7","labels":{"y":"1"}},"status":{"phase":"Running"}})",
       {R"(a Apply 00:02 {"f:metadata":{"f:labels":{"f:y":{}}}})"}},
  };
  for (const Story& story : stories) tell(story);
}

TEST(ServerSideApply, RefusesConfigurationsThatMakeNoSense) {
  const struct {
    const char* applied;
    const char* message;
  } cases[] = {
      {R"([])", "is an object with apiVersion"},
      {R"({"metadata":1})", "is an object with apiVersion"},
      {R"({"metadata":{"managedFields":[]}})", "metadata.managedFields must be nil"},
      {R"({"metadata":{"name":"p"},"spec":{"containers":[{"image":"x"}]}})",
       "failed to create typed patch object (p; v1, Kind=Pod): .spec.containers: element 0: has no name"},
      {R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c"},{"name":"c"}]}})",
       ".spec.containers: element 1: duplicates {\"name\":\"c\"}"},
      {R"({"metadata":{"finalizers":["a","a"]}})", ".metadata.finalizers: element 1: duplicates \"a\""},
      {R"({"metadata":{"finalizers":[{}]}})", ".metadata.finalizers: element 0: is no scalar"},
  };
  for (const auto& each : cases) {
    const auto merged = server_side_apply(pod_kind(), {}, json(each.applied), manager("a"), true);
    ASSERT_FALSE(merged) << each.applied;
    EXPECT_EQ(merged.error().code, 400);
    EXPECT_NE(merged.error().message.find(each.message), std::string::npos) << merged.error().message;
  }
  const auto conflict = server_side_apply(
      pod_kind(), *server_side_apply(pod_kind(), {}, json(R"({"metadata":{"labels":{"x":"1"}}})"), manager("a"), false),
      json(R"({"metadata":{"labels":{"x":"2"}}})"), manager("b"), false);
  ASSERT_EQ(conflict.error().causes.size(), 1U);
  EXPECT_EQ(conflict.error().causes[0].reason, "FieldManagerConflict");
  EXPECT_EQ(conflict.error().causes[0].message, "conflict with \"a\"");
  EXPECT_EQ(conflict.error().causes[0].field, ".metadata.labels.x");
}

TEST(NoteWrite, LetsClientsResetOrCorrectOwnershipButNotBreakIt) {
  Value live = json(R"({"metadata":{"labels":{"x":"1"}}})");
  note_write(pod_kind(), {}, live, manager("a"));
  const auto sent = [&](const char* managed_fields) {
    Value object = live;
    object.at("metadata").set("managedFields", json(managed_fields));
    note_write(pod_kind(), live, object, manager("b"));
    return object;
  };
  EXPECT_EQ(sent("[{}]")["metadata"].find("managedFields"), nullptr);
  EXPECT_EQ(sent("[]"), live);
  EXPECT_EQ(sent(R"([{"manager":"x","operation":"Grab"}])"), live);
  EXPECT_EQ(sent(R"("x")"), live);
  EXPECT_EQ(sent(R"([{"manager":"a","operation":"Update","fieldsType":"FieldsV1","fieldsV1":{"x:y":{}}}])"), live);
  const char* const renamed =
      R"([{"manager":"c","operation":"Apply","apiVersion":"v1","time":"1970-01-01T00:00:09Z","fieldsType":"FieldsV1",
          "fieldsV1":{"f:metadata":{"f:labels":{"f:x":{}}}}}])";
  EXPECT_EQ(owners(sent(renamed)), Lines{R"(c Apply 00:09 {"f:metadata":{"f:labels":{"f:x":{}}}})"});
}

TEST(NoteWrite, KeepsTheTenLatestWritersApart) {
  Value live = json(R"({"metadata":{"labels":{}}})");
  for (int i = 0; i < 25; ++i) {
    Value next = live;
    next.at("metadata").at("labels").set("l" + std::to_string(i), "1");
    note_write(pod_kind(), live, next, manager(("m" + std::to_string(i)).c_str(), i));
    live = next;
  }
  const Value::List& entries = live["metadata"]["managedFields"].items();
  ASSERT_EQ(entries.size(), 10U);
  EXPECT_EQ(entries.front()["manager"].text(), "ancient-changes");
  EXPECT_EQ(entries.back()["manager"].text(), "m24");
}

// ---- properties

Value random_pod(Rng& rng) {
  Value pod = json(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}})");
  const auto digit = [&](std::uint64_t bound) { return std::to_string(rng.below(bound)); };
  for (std::uint64_t i = rng.below(4); i > 0; --i) pod.at("metadata").at("labels").set("l" + digit(3), digit(2));
  if (rng.below(2) == 0) pod.at("metadata").at("finalizers").push_back("f/" + digit(2));
  if (rng.below(3) == 0) pod.at("spec").at("nodeSelector").set("n" + digit(2), digit(2));
  if (rng.below(3) == 0) pod.at("spec").at("tolerations").push_back(Value::map_of({{"key", "t" + digit(2)}}));
  for (int name = 0; name < 3; ++name) {
    if (rng.below(2) == 0) continue;
    Value container = Value::map_of({{"name", "c" + std::to_string(name)}});
    if (rng.below(2) == 0) container.set("image", "i" + digit(2));
    if (rng.below(3) == 0) container.at("ports").push_back(Value::map_of({{"containerPort", rng.below(2) + 80}}));
    if (rng.below(3) == 0) container.at("resources").at("limits").set("cpu", digit(3));
    pod.at("spec").at("containers").push_back(std::move(container));
  }
  return pod;
}

// Everything that somebody owns is there.
void expect_consistent(const Value& object) {
  const auto entries = ManagerEntries::parse(object["metadata"]["managedFields"]);
  ASSERT_TRUE(entries) << to_json(object);
  const FieldSet there = changes_between(ObjectShape(*pod_kind().type), Value::map(), object).written;
  for (const ManagerEntry& entry : entries->all()) {
    EXPECT_FALSE(entry.fields.empty());
    FieldSet beyond = entry.fields;
    beyond.subtract(there);
    EXPECT_TRUE(beyond.empty()) << entry.manager << ": " << testing::PrintToString(beyond.paths()) << "\n"
                                << to_json(object);
  }
}

// Whoever applies nothing any more leaves what the others own.
void expect_releases_only_its_own(const Value& live, const char* name) {
  const FieldManager self = manager(name, 90);
  const auto released = server_side_apply(pod_kind(), live, json(R"({"metadata":{"name":"p"}})"), self, false);
  ASSERT_TRUE(released) << released.error().message;
  expect_consistent(*released);
  Value before = live;
  Value after = *released;
  const auto entries = ManagerEntries::parse(live["metadata"]["managedFields"]);
  const auto left = ManagerEntries::parse(after["metadata"]["managedFields"]);
  before.at("metadata").erase("managedFields");
  after.at("metadata").erase("managedFields");
  const FieldChanges changes = changes_between(ObjectShape(*pod_kind().type), before, after);
  for (const ManagerEntry& entry : entries->all()) {
    if (entry.manager == name && entry.applies) continue;
    const ManagerEntry* const same = left->find(entry);
    ASSERT_NE(same, nullptr) << entry.manager << "\n" << to_json(live) << "\n" << to_json(*released);
    EXPECT_EQ(same->fields, entry.fields);
    FieldSet kept = entry.fields;
    kept.subtract_with_all_below(changes.removed);
    EXPECT_EQ(kept, entry.fields) << to_json(before) << "\n" << to_json(after);
  }
}

TEST(ManagedFieldsProperty, OwnersOwnWhatIsThereAndApplyingTwiceIsApplyingOnce) {
  const char* const kNames[] = {"a", "b", "c"};
  for (const Seed seed : property_seeds(200)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    Value live;
    for (std::int64_t step = 0; step < 25; ++step) {
      const char* const name = kNames[rng.below(3)];
      Value wanted = random_pod(rng);
      if (live.is_null() || rng.below(3) == 0) {
        if (!live.is_null()) wanted.at("metadata").set("managedFields", live["metadata"]["managedFields"]);
        note_write(pod_kind(), live, wanted, manager(name, step));
        live = std::move(wanted);
      } else {
        const auto next = server_side_apply(pod_kind(), live, wanted, manager(name, step), rng.below(2) == 0);
        if (!next) {
          ASSERT_EQ(next.error().code, 409) << next.error().message;
          continue;
        }
        const auto again = server_side_apply(pod_kind(), *next, wanted, manager(name, step + 50), false);
        ASSERT_TRUE(again) << again.error().message;
        ASSERT_EQ(to_json(*again), to_json(*next)) << to_json(wanted);
        live = *next;
      }
      expect_consistent(live);
      expect_releases_only_its_own(live, kNames[rng.below(3)]);
      if (HasFailure()) return;
    }
  }
}

}  // namespace berth::managed_fields_test
