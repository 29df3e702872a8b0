#include "model/node_constraints.h"

#include <gtest/gtest.h>

namespace berth::node_constraints_test {

using enum LabelOperator;

const Labels kLabels = {{"cores", "64"}, {"empty", ""}, {"rack", "r1"}, {"zone", "z1"}};

// Kubernetes' documentation of node affinity: "In", "NotIn" and "DoesNotExist" (also for a key that is not there), "Gt" and
// "Lt" of integers.
TEST(NodeConstraints, OperatorsMeanWhatKubernetesSays) {
  struct Case {
    LabelRequirement asked;
    bool met;
  };
  const Case cases[] = {
      {{"rack", kIn, {"r1"}}, true},       {{"rack", kIn, {"r2", "r1"}}, true}, {{"rack", kIn, {"r2"}}, false},
      {{"rack", kIn, {}}, false},          {{"row", kIn, {"r1"}}, false},       {{"row", kIn, {""}}, false},
      {{"empty", kIn, {""}}, true},        {{"rack", kNotIn, {"r2"}}, true},    {{"rack", kNotIn, {"r2", "r1"}}, false},
      {{"row", kNotIn, {"r1"}}, true},     {{"rack", kExists}, true},           {{"empty", kExists}, true},
      {{"row", kExists}, false},           {{"rack", kDoesNotExist}, false},    {{"row", kDoesNotExist}, true},
      {{"cores", kGt, {"63"}}, true},      {{"cores", kGt, {"64"}}, false},     {{"cores", kGt, {"-1"}}, true},
      {{"cores", kLt, {"65"}}, true},      {{"cores", kLt, {"64"}}, false},     {{"cores", kGt, {"many"}}, false},
      {{"cores", kGt, {"1", "2"}}, false}, {{"cores", kLt, {}}, false},         {{"rack", kGt, {"0"}}, false},
      {{"rack", kLt, {"0"}}, false},       {{"row", kLt, {"9"}}, false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(selects({.select = {c.asked}}, "n", kLabels), c.met)
        << c.asked.key << " " << kLabelOperatorNames[static_cast<std::size_t>(c.asked.op)];
    EXPECT_EQ(selects({.any_of = {{{c.asked}}}}, "n", kLabels), c.met) << c.asked.key;
  }
}

TEST(NodeConstraints, TermsAreAlternativesAndWhatStandsInOneHoldsTogether) {
  const LabelRequirement here{"rack", kIn, {"r1"}};
  const LabelRequirement there{"rack", kIn, {"r2"}};
  const LabelRequirement zone{"zone", kIn, {"z1"}};
  struct Case {
    const char* what;
    NodeConstraints constraints;
    bool selected;
  };
  const Case cases[] = {
      {"nothing asked", {}, true},
      {"all of the selector", {.select = {here, zone}}, true},
      {"one of it fails", {.select = {zone, there}}, false},
      {"one of the terms", {.any_of = {{{there}}, {{here}}}}, true},
      {"none of the terms", {.any_of = {{{there}}, {{here, there}}}}, false},
      {"selector and terms", {.select = {there}, .any_of = {{{here}}}}, false},
      {"a term that asks nothing selects nothing", {.any_of = {{{}}}}, false},
      {"beside another it does no harm", {.any_of = {{{}}, {{zone}}}}, true},
      {"the name of the node", {.any_of = {{{}, {{"metadata.name", kIn, {"n"}}}}}}, true},
      {"another name", {.any_of = {{{}, {{"metadata.name", kIn, {"m"}}}}}}, false},
      {"any name but this", {.any_of = {{{}, {{"metadata.name", kNotIn, {"n"}}}}}}, false},
      {"labels and name", {.any_of = {{{there}, {{"metadata.name", kIn, {"n"}}}}}}, false},
  };
  for (const Case& c : cases) EXPECT_EQ(selects(c.constraints, "n", kLabels), c.selected) << c.what;
}

// "A toleration matches a taint if the keys are the same and the effects are the same, and the operator is Exists or the
// values are equal"; an empty key with Exists is every taint, an empty effect every effect.
TEST(NodeConstraints, TolerationsMeanWhatKubernetesSays) {
  using enum TaintEffect;
  struct Case {
    const char* what;
    Toleration toleration;
    Taint taint;
    bool tolerated;
  };
  const Toleration equal{.key = "team", .value = "a", .any_effect = false, .effect = kNoSchedule};
  const Toleration exists{.key = "team", .any_value = true, .any_effect = false, .effect = kNoSchedule};
  const Case cases[] = {
      {"equal", equal, {"team", "a", kNoSchedule}, true},
      {"another value", equal, {"team", "b", kNoSchedule}, false},
      {"another key", equal, {"spot", "a", kNoSchedule}, false},
      {"another effect", equal, {"team", "a", kNoExecute}, false},
      {"whatever value", exists, {"team", "b", kNoSchedule}, true},
      {"whatever value, another effect", exists, {"team", "b", kNoExecute}, false},
      {"whatever value, another key", exists, {"spot", "", kNoSchedule}, false},
      {"an empty value is a value", {.key = "team"}, {"team", "", kNoExecute}, true},
      {"and no other", {.key = "team"}, {"team", "a", kNoExecute}, false},
      {"any effect", {.key = "team", .value = "a"}, {"team", "a", kNoExecute}, true},
      {"everything", {.any_value = true}, {"x", "y", kNoExecute}, true},
      {"everything of one effect",
       {.any_value = true, .any_effect = false, .effect = kNoExecute},
       {"x", "y", kNoSchedule},
       false},
  };
  for (const Case& c : cases) EXPECT_EQ(tolerates(c.toleration, c.taint), c.tolerated) << c.what;
}

TEST(NodeConstraints, EachTaintMustBeTolerated) {
  using enum TaintEffect;
  const NodeConstraints of_team{.tolerations = {{.key = "team", .any_value = true}}};
  struct Case {
    std::vector<Taint> taints;
    bool none, team;
  };
  const Case cases[] = {
      {{}, true, true},
      {{{"team", "a", kNoSchedule}}, false, true},
      {{{"team", "a", kNoSchedule}, {"team", "b", kNoExecute}}, false, true},
      {{{"team", "a", kNoSchedule}, {"spot", "", kNoSchedule}}, false, false},
      {{{"spot", "", kPreferNoSchedule}}, true, true},
      {{{"spot", "", kNoExecute}}, false, false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(tolerates(NodeConstraints(), c.taints), c.none);
    EXPECT_EQ(tolerates(of_team, c.taints), c.team);
  }
}

// As kube-scheduler counts them: nothing up to 23 MB, all from 1000 MB for each container, and evenly between.
TEST(NodeConstraints, ImagesMakePointsAsInKubeScheduler) {
  constexpr std::int64_t kMegabyte = 1024 * 1024;
  const struct {
    std::int64_t megabytes;
    std::size_t containers;
    std::int64_t points;
  } cases[] = {
      {0, 1, 0},        {23, 1, 0},    {33, 1, 1},     {250, 1, 23}, {1000, 1, 100},
      {20'000, 1, 100}, {1000, 2, 49}, {2000, 2, 100}, {1000, 0, 0},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(image_points(each.megabytes * kMegabyte, each.containers), each.points)
        << each.megabytes << " MB, " << each.containers << " containers";
  }
}

}  // namespace berth::node_constraints_test
