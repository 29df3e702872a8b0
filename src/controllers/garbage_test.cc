#include "controllers/garbage.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/namespace_plan.h"

namespace berth::garbage_test {

Value object(const std::string& name, const std::vector<std::string>& owners = {},
             const std::vector<std::string>& finalizers = {}, bool deleted = false) {
  Value object;
  Value& metadata = object.at("metadata");
  metadata.set("name", name);
  metadata.set("uid", "uid-" + name);
  for (const std::string& owner : owners) {
    metadata.at("ownerReferences")
        .push_back(Value::map_of({{"uid", "uid-" + owner}, {"blockOwnerDeletion", !owner.starts_with("loose")}}));
  }
  for (const std::string& finalizer : finalizers) metadata.at("finalizers").push_back(finalizer);
  if (deleted) metadata.set("deletionTimestamp", "2026-11-21T07:00:00Z");
  return object;
}

using What = GarbageChore::What;
using enum OwnerState;

TEST(Garbage, GoesWhenAllItsOwnersAreGone) {
  const Value child = object("child");
  const std::vector<const Value*> some = {&child};
  const struct {
    const char* what;
    std::vector<OwnerState> owners;
    std::vector<std::string> finalizers;
    std::vector<const Value*> dependents;
    What chore;
    const char* propagation;
  } cases[] = {
      {"owned by nobody", {}, {}, {}, What::kNothing, ""},
      {"its owner is there", {kThere}, {}, {}, What::kNothing, ""},
      {"its owner is gone", {kGone}, {}, {}, What::kDelete, "Background"},
      {"nobody knows", {kUnsure}, {}, {}, What::kAskForOwners, ""},
      {"one is gone, of the other nobody knows", {kGone, kUnsure}, {}, {}, What::kAskForOwners, ""},
      {"one is gone, one there", {kGone, kThere}, {}, {}, What::kDropReferences, ""},
      {"one is there, of the other nobody knows", {kThere, kUnsure}, {}, {}, What::kNothing, ""},
      {"its owner waits for it", {kWaits}, {}, {}, What::kDelete, "Background"},
      {"its owner waits, and others behind it", {kWaits}, {}, some, What::kDelete, "Foreground"},
      {"it frees its own first", {kGone}, {"orphan"}, some, What::kDelete, "Orphan"},
  };
  for (const auto& each : cases) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < each.owners.size(); ++i) names.push_back("o" + std::to_string(i));
    const GarbageChore chore = garbage_chore(object("x", names, each.finalizers), each.owners, each.dependents);
    EXPECT_EQ(chore.what, each.chore) << each.what;
    EXPECT_EQ(chore.propagation, each.propagation) << each.what;
  }
}

TEST(Garbage, OnlyReferencesToWhatIsGoneAreDropped) {
  const Value owned = object("x", {"a", "b", "c"});
  const GarbageChore chore = garbage_chore(owned, {kGone, kThere, kUnsure}, {});
  ASSERT_EQ(chore.what, What::kDropReferences);
  const Value::List& left = chore.change["metadata"]["ownerReferences"].items();
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0]["uid"].text(), "uid-b");
  EXPECT_EQ(left[1]["uid"].text(), "uid-c");
}

TEST(Garbage, AnOwnerInTheForegroundWaitsForThoseThatBlockIt) {
  const Value owner = object("job", {}, {"foregroundDeletion", "example.com/mine"}, true);
  const Value blocking = object("p1", {"job"});
  const Value going = object("p2", {"job"}, {"x/y"}, true);
  Value loose = object("p3", {"job"});
  loose.at("metadata").at("ownerReferences").edit_items()[0].set("blockOwnerDeletion", false);
  GarbageChore chore = garbage_chore(owner, {}, {&blocking, &going, &loose});
  EXPECT_EQ(chore.what, What::kDeleteDependents);
  EXPECT_EQ(chore.dependents, (std::vector<const Value*>{&blocking}));
  chore = garbage_chore(owner, {}, {&going});
  EXPECT_EQ(chore.what, What::kDeleteDependents);
  EXPECT_TRUE(chore.dependents.empty());
  chore = garbage_chore(owner, {}, {&loose});
  ASSERT_EQ(chore.what, What::kFinish);
  ASSERT_EQ(chore.change["metadata"]["finalizers"].items().size(), 1u);
  EXPECT_EQ(chore.change["metadata"]["finalizers"].items()[0].text(), "example.com/mine");
}

TEST(Garbage, AnOrphaningOwnerFreesItsDependentsFirst) {
  const Value owner = object("job", {}, {"orphan"}, true);
  const Value pod = object("p1", {"job", "other"});
  EXPECT_EQ(garbage_chore(owner, {}, {&pod}).what, What::kFreeDependents);
  const Value freed = without_owner(pod, "uid-job");
  ASSERT_EQ(freed["metadata"]["ownerReferences"].items().size(), 1u);
  EXPECT_EQ(freed["metadata"]["ownerReferences"].items()[0]["uid"].text(), "uid-other");
  EXPECT_EQ(garbage_chore(owner, {}, {}).what, What::kFinish);
}

Value pod(const std::string& name, const char* phase, const std::string& created, const char* node = "") {
  Value pod = object(name);
  pod.at("metadata").set("creationTimestamp", created);
  pod.at("status").set("phase", phase);
  pod.at("spec").set("nodeName", node);
  return pod;
}

TEST(PodGarbage, TheOldestEndedPodsGoFirst) {
  const Value a = pod("a", "Succeeded", "2026-11-21T07:00:03Z");
  const Value b = pod("b", "Failed", "2026-11-21T07:00:01Z");
  const Value c = pod("c", "Running", "2026-11-21T07:00:00Z");
  const Value d = pod("d", "Succeeded", "2026-11-21T07:00:02Z");
  EXPECT_EQ(superfluous_pods({&a, &b, &c, &d}, 1), (std::vector<const Value*>{&b, &d}));
  EXPECT_TRUE(superfluous_pods({&a, &b, &c, &d}, 3).empty());
}

TEST(PodGarbage, APodOfALostNodeHasFailed) {
  const auto only_n1 = [](std::string_view node) { return node == "n1"; };
  EXPECT_FALSE(is_on_lost_node(pod("a", "Running", "", "n1"), only_n1));
  EXPECT_FALSE(is_on_lost_node(pod("a", "Pending", ""), only_n1));
  EXPECT_TRUE(is_on_lost_node(pod("a", "Running", "", "n2"), only_n1));
  const Value status = lost_pod_status(pod("a", "Running", "", "n2"), "2026-11-21T07:00:00Z");
  EXPECT_EQ(status["status"]["phase"].text(), "Failed");
  EXPECT_EQ(status["status"]["conditions"].items()[0]["reason"].text(), "DeletionByPodGC");
}

TEST(NamespacePlan, SaysWhatIsLeftAndLetsGoOfWhatIsEmpty) {
  Value name_space = object("team");
  name_space.at("spec").at("finalizers").push_back("kubernetes");
  name_space.at("spec").at("finalizers").push_back("example.com/mine");
  const Emptying emptying{.left = {{.kind = "pods", .count = 3, .finalizers = {"a/b", "a/b"}}}, .failures = {}};
  EXPECT_FALSE(is_empty(emptying));
  EXPECT_TRUE(is_empty(Emptying{}));
  const Value change = emptying_status(name_space, emptying, Time{0});
  std::string held;
  for (const Value& each : change["status"]["conditions"].items()) {
    if (each["status"].text() == "True")
      held.append(each["type"].text()).append(": ").append(each["message"].text()).append("\n");
  }
  EXPECT_EQ(held,
            "NamespaceContentRemaining: Some resources are remaining: pods has 3 resource instances\n"
            "NamespaceFinalizersRemaining: Some content in the namespace has finalizers remaining: a/b in 2 resource "
            "instances\n");
  name_space.set("status", change["status"]);
  const Value later = emptying_status(name_space, emptying, Time{5000});
  EXPECT_EQ(later["status"]["conditions"], change["status"]["conditions"]) << "what stays true keeps its time";
  const Value released = released_namespace(name_space);
  ASSERT_EQ(released["spec"]["finalizers"].items().size(), 1u);
  EXPECT_EQ(released["spec"]["finalizers"].items()[0].text(), "example.com/mine");
}

}  // namespace berth::garbage_test
