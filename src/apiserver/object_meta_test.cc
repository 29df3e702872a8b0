#include "apiserver/object_meta.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "manifest/json.h"

namespace berth::object_meta_test {

Value object(const char* json) { return *parse_json(json); }
const KindInfo& kind(const char* plural) { return *find_served("", "v1", plural); }

std::string complaints_about(const char* plural, const char* json) {
  std::string all;
  for (const ErrorCause& cause : check_metadata(kind(plural), object(json)))
    all += cause.field + " " + cause.reason + ";";
  return all;
}

TEST(ObjectMeta, FollowsTheRulesOfNames) {
  for (const char* const good : {"a", "a-b", "a.b-c.9", "0", "x1"}) EXPECT_TRUE(is_dns_subdomain(good)) << good;
  for (const char* const bad : {"", "A", "a_", "-a", "a-", "a..b", ".a", "a.", "a b", "a/b", "\xc3\xa9"}) {
    EXPECT_FALSE(is_dns_subdomain(bad)) << bad;
  }
  EXPECT_TRUE(is_dns_label(std::string(63, 'a')));
  EXPECT_FALSE(is_dns_label(std::string(64, 'a')));
  EXPECT_FALSE(is_dns_label("a.b"));
  EXPECT_TRUE(is_dns_subdomain(std::string(253, 'a')));
  EXPECT_FALSE(is_dns_subdomain(std::string(254, 'a')));
}

TEST(ObjectMeta, ComplainsAboutEverythingAtOnce) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"pods", R"({"metadata":{"name":"p"}})", ""},
      {"pods", R"({"metadata":{"name":"P"}})", "metadata.name FieldValueInvalid;"},
      {"pods", R"({"metadata":{}})", "metadata.name FieldValueRequired;"},
      {"namespaces", R"({"metadata":{"name":"a.b"}})", "metadata.name FieldValueInvalid;"},
      {"pods", R"({"metadata":{"generateName":"web-","name":"web-x"}})", ""},
      {"pods", R"({"metadata":{"generateName":"W-","name":"w"}})", "metadata.generateName FieldValueInvalid;"},
      {"pods", R"({"metadata":{"name":"p","labels":{"a/b/c":"x","ok":"-"}}})",
       "metadata.labels FieldValueInvalid;metadata.labels FieldValueInvalid;"},
      {"pods", R"({"metadata":{"name":"p","annotations":{"Ok/Key":"anything at all","no key":""}}})",
       "metadata.annotations FieldValueInvalid;"},
      {"pods", R"({"metadata":{"name":"p","finalizers":["a.b/c","not ok"]}})",
       "metadata.finalizers FieldValueInvalid;"},
      {"pods", R"({"metadata":{"name":"p","finalizers":["a.b/c","nobody","orphan"]}})",
       "metadata.finalizers[1] FieldValueInvalid;"},
      {"namespaces", R"({"metadata":{"name":"p","finalizers":["kubernetes","foregroundDeletion"]}})", ""},
      {"pods", R"({"metadata":{"name":"p","finalizers":["foregroundDeletion","orphan"]}})",
       "metadata.finalizers FieldValueInvalid;"},
      {"pods", R"({"metadata":{"name":"p","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"o"}]}})",
       "metadata.ownerReferences[0].uid FieldValueRequired;"},
  };
  for (const auto& [plural, json, wrong] : cases) EXPECT_EQ(complaints_about(plural, json), wrong) << json;
}

TEST(ObjectMeta, BerthsOwnKindsTakeAnyFinalizerAsCustomResourcesDo) {
  const Value queue = object(R"({"metadata":{"name":"q","finalizers":["nobody"]}})");
  EXPECT_TRUE(check_metadata(*find_served("berth.dev", "v1alpha1", "queues"), queue).empty());
}

TEST(ObjectMeta, AnnotationsHaveABound) {
  Value pod = object(R"({"metadata":{"name":"p"}})");
  pod.at("metadata").at("annotations").set("a", std::string(262'144, 'x'));
  const auto causes = check_metadata(kind("pods"), pod);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].message, "Too long: may not be more than 262144 bytes");
}

TEST(ObjectMeta, UidsAndNamesAreTheSeedsOwn) {
  NameDice a(7);
  NameDice b(7);
  std::set<std::string> uids;
  for (int i = 0; i < 1000; ++i) {
    const std::string uid = a.uid();
    EXPECT_EQ(uid, b.uid());
    EXPECT_EQ(uid[14], '4');
    EXPECT_NE(std::string("89ab").find(uid[19]), std::string::npos);
    uids.insert(uid);
  }
  EXPECT_EQ(uids.size(), 1000U);
  EXPECT_EQ(generated_name(std::string(80, 'a'), a).size(), 63U);
  EXPECT_EQ(generated_name("g-", a).find_first_not_of("bcdfghjklmnpqrstvwxz2456789", 2), std::string::npos);
}

TEST(ObjectMeta, OnlyTheServerSaysWhatIsItsOwn) {
  NameDice dice(1);
  Value made =
      object(R"({"metadata":{"name":"p","uid":"mine","generation":9,"deletionTimestamp":"2026-01-01T00:00:00Z"}})");
  begin_metadata(kind("pods"), made, dice, {});
  EXPECT_NE(made["metadata"]["uid"].text(), "mine");
  EXPECT_EQ(made["metadata"]["generation"].integer(), 1);
  EXPECT_TRUE(made["metadata"]["deletionTimestamp"].is_null());
  Value changed = object(R"({"metadata":{"name":"p","uid":"x","generation":5},"spec":{"a":1}})");
  keep_metadata(made, changed);
  count_generation(kind("pods"), made, changed);
  EXPECT_EQ(changed["metadata"]["uid"], made["metadata"]["uid"]);
  EXPECT_EQ(changed["metadata"]["generation"].integer(), 2);
}

TEST(ObjectMeta, SameContentLooksPastTheRevision) {
  const Value a = object(R"({"metadata":{"name":"p","resourceVersion":"1"},"spec":{"a":1,"b":2}})");
  EXPECT_TRUE(same_content(a, object(R"({"spec":{"b":2,"a":1},"metadata":{"resourceVersion":"9","name":"p"}})")));
  EXPECT_FALSE(same_content(a, object(R"({"spec":{"b":2,"a":1},"metadata":{"name":"p","labels":{"x":"y"}}})")));
  EXPECT_FALSE(same_content(a, object(R"({"spec":{"b":2},"metadata":{"name":"p"}})")));
}

}  // namespace berth::object_meta_test
