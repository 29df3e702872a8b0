#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controllers/node_health.h"
#include "manifest/json.h"

namespace berth::node_lifecycle_test {

Value node(const std::string& ready, const std::vector<std::vector<std::string>>& taints = {}) {
  Value node;
  node.at("metadata").set("name", "n1");
  Value conditions = Value::list();
  conditions.push_back(Value::map_of({{"type", "MemoryPressure"}, {"status", "False"}}));
  if (!ready.empty()) {
    conditions.push_back(
        Value::map_of({{"type", "Ready"}, {"status", ready}, {"lastHeartbeatTime", "2026-11-21T07:00:00Z"}}));
  }
  node.at("status").set("conditions", std::move(conditions));
  for (const auto& taint : taints) {
    node.at("spec").at("taints").push_back(Value::map_of({{"key", taint[0]}, {"effect", taint[1]}}));
  }
  return node;
}

std::set<std::string> taints_in(const Value& changed) {
  std::set<std::string> texts;
  for (const Value& each : changed["spec"]["taints"].items()) {
    texts.insert(std::string(each["key"].text()) + ":" + std::string(each["effect"].text()));
  }
  return texts;
}

TEST(NodeHealth, SilenceIsSaidOnceAndKeepsWhatElseWasSaid) {
  const struct {
    const char* ready;
    NodeHealth health;
    const char* reason;  // of the silence; empty: nothing is said
  } cases[] = {
      {"True", NodeHealth::kReady, "NodeStatusUnknown"},
      {"False", NodeHealth::kNotReady, "NodeStatusUnknown"},
      {"", NodeHealth::kNeverSaid, "NodeStatusNeverUpdated"},
      {"Unknown", NodeHealth::kUnknown, ""},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(health_of(node(each.ready)), each.health) << each.ready;
    const auto change = silent_status(node(each.ready), Time{0});
    ASSERT_EQ(change.has_value(), *each.reason != '\0') << each.ready;
    if (!change) continue;
    const Value::List& conditions = (*change)["status"]["conditions"].items();
    ASSERT_EQ(conditions.size(), 2u);
    EXPECT_EQ(conditions[0]["type"].text(), "MemoryPressure");
    EXPECT_EQ(conditions[1]["status"].text(), "Unknown");
    EXPECT_EQ(conditions[1]["reason"].text(), each.reason);
  }
}

TEST(NodeHealth, SignsOfLifeAreTheLeaseAndTheAgentsOwnWord) {
  const auto lease = [](const char* renewed) {
    return Value::map_of({{"spec", Value::map_of({{"renewTime", renewed}})}});
  };
  const std::string first = sign_of_life(node("True"), lease("1"));
  EXPECT_EQ(first, sign_of_life(node("True"), lease("1")));
  EXPECT_NE(first, sign_of_life(node("True"), lease("2")));
  EXPECT_NE(first, sign_of_life(node("True"), Value()));
  Value silent = node("True");
  silent.set("status", (*silent_status(silent, Time{0}))["status"]);
  EXPECT_EQ(first, sign_of_life(silent, lease("1"))) << "what is said about it is no sign of life";
}

TEST(NodeHealth, TaintsFollowIt) {
  const std::string not_ready = kNotReadyTaint;
  const std::string unreachable = kUnreachableTaint;
  const struct {
    const char* what;
    Value node;
    std::optional<std::set<std::string>> taints;  // none: nothing changes
  } cases[] = {
      {"new, tainted by the server", node("", {{not_ready, "NoSchedule"}}), std::nullopt},
      {"ready", node("True"), std::nullopt},
      {"ready at last", node("True", {{not_ready, "NoSchedule"}, {"own", "NoSchedule"}}), {{"own:NoSchedule"}}},
      {"silent",
       node("Unknown", {{"own", "NoExecute"}}),
       {{"own:NoExecute", unreachable + ":NoSchedule", unreachable + ":NoExecute"}}},
      {"silent, and said so", node("Unknown", {{unreachable, "NoSchedule"}, {unreachable, "NoExecute"}}), std::nullopt},
      {"not ready any more",
       node("False", {{unreachable, "NoSchedule"}, {unreachable, "NoExecute"}}),
       {{not_ready + ":NoSchedule", not_ready + ":NoExecute"}}},
      {"half said",
       node("False", {{not_ready, "NoSchedule"}}),
       {{not_ready + ":NoSchedule", not_ready + ":NoExecute"}}},
  };
  for (const auto& each : cases) {
    const auto change = taint_change(each.node, Time{0});
    ASSERT_EQ(change.has_value(), each.taints.has_value()) << each.what;
    if (!change) continue;
    EXPECT_EQ(taints_in(*change), *each.taints) << each.what;
    for (const Value& taint : (*change)["spec"]["taints"].items()) {
      const bool ours = taint["key"].text() != "own";
      EXPECT_EQ(!taint["timeAdded"].is_null(), ours && taint["effect"].text() == "NoExecute") << each.what;
    }
  }
}

TEST(NodeHealth, PodsStayAsLongAsTheyTolerateIt) {
  const auto toleration = [](const char* key, const char* op, const char* effect, Value for_s) {
    Value made = Value::map_of({{"key", key}, {"operator", op}, {"effect", effect}});
    if (!for_s.is_null()) made.set("tolerationSeconds", std::move(for_s));
    return made;
  };
  const struct {
    const char* what;
    std::vector<Value> tolerations;
    std::optional<Duration> patience;
  } cases[] = {
      {"says nothing", {}, seconds(77)},
      {"what the server says for all", {toleration(kUnreachableTaint, "Exists", "NoExecute", 300)}, seconds(77)},
      {"two hours", {toleration(kUnreachableTaint, "Exists", "NoExecute", 7200)}, seconds(7200)},
      {"for ever", {toleration(kUnreachableTaint, "Exists", "NoExecute", {})}, std::nullopt},
      {"everything for ever", {toleration("", "Exists", "", {})}, std::nullopt},
      {"the shortest counts",
       {toleration("", "Exists", "", {}), toleration(kUnreachableTaint, "Exists", "", 5)},
       seconds(5)},
      {"another taint", {toleration(kNotReadyTaint, "Exists", "NoExecute", {})}, seconds(77)},
      {"another effect", {toleration(kUnreachableTaint, "Exists", "NoSchedule", {})}, seconds(77)},
      {"not at all", {toleration(kUnreachableTaint, "Exists", "NoExecute", -5)}, seconds(0)},
  };
  for (const auto& each : cases) {
    Value pod;
    for (const Value& tolerated : each.tolerations) pod.at("spec").at("tolerations").push_back(tolerated);
    EXPECT_EQ(patience_of(pod, NodeHealth::kUnknown, seconds(77)), each.patience) << each.what;
  }
}

TEST(NodeHealth, PodsLeaveWhenATaintIsExecuted) {
  const Time came{1000};
  const Time tainted{5000};
  const auto taint = [&](const char* key, const char* value, Time since) {
    return ExecutingTaint{{key, value, TaintEffect::kNoExecute}, since};
  };
  const std::vector<ExecutingTaint> one = {taint("team", "a", tainted)};
  const struct {
    const char* what;
    const char* tolerations;  // JSON
    std::vector<ExecutingTaint> taints;
    std::optional<Time> leaves;
  } cases[] = {
      {"no taint", "[]", {}, std::nullopt},
      {"not tolerated", "[]", one, tainted},
      {"another value", R"([{"key":"team","value":"b"}])", one, tainted},
      {"another effect", R"([{"key":"team","value":"a","effect":"NoSchedule"}])", one, tainted},
      {"for ever", R"([{"key":"team","value":"a","effect":"NoExecute"}])", one, std::nullopt},
      {"any effect", R"([{"key":"team","operator":"Exists"}])", one, std::nullopt},
      {"everything", R"([{"operator":"Exists"}])", one, std::nullopt},
      {"for a while", R"([{"operator":"Exists","effect":"NoExecute","tolerationSeconds":9}])", one, Time{14'000}},
      {"not at all", R"([{"operator":"Exists","effect":"NoExecute","tolerationSeconds":-1}])", one, tainted},
      {"the first counts",
       R"([{"key":"team","operator":"Exists","effect":"NoExecute","tolerationSeconds":9},{"operator":"Exists"}])", one,
       Time{14'000}},
      {"came later",
       R"([{"operator":"Exists","effect":"NoExecute","tolerationSeconds":9}])",
       {taint("team", "a", Time{0})},
       Time{10'000}},
      {"the shorter of two",
       R"([{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":9},)"
       R"({"key":"b","operator":"Exists","effect":"NoExecute","tolerationSeconds":2}])",
       {taint("a", "", tainted), taint("b", "", tainted)},
       Time{7000}},
      {"one of two is not tolerated",
       R"([{"key":"a","operator":"Exists"}])",
       {taint("a", "", tainted), taint("b", "", Time{6000})},
       Time{6000}},
  };
  for (const auto& each : cases) {
    Value pod;
    pod.at("spec").set("tolerations", *parse_json(each.tolerations));
    EXPECT_EQ(leaves_at(pod, came, each.taints), each.leaves) << each.what;
  }
}

TEST(NodeHealth, OfTaintsOthersThanItsOwnAreExecuted) {
  const Value tainted = node("False", {{"team", "NoExecute"}, {"team", "NoSchedule"}, {kNotReadyTaint, "NoExecute"}});
  EXPECT_EQ(executing_taints(tainted), (std::vector<Taint>{{"team", "", TaintEffect::kNoExecute}}));
}

TEST(NodeHealth, MostNodesAtOnceDoNotFail) {
  EXPECT_FALSE(is_mass_failure(1, 1));
  EXPECT_FALSE(is_mass_failure(2, 2));
  EXPECT_FALSE(is_mass_failure(1, 3));
  EXPECT_TRUE(is_mass_failure(2, 3));
  EXPECT_FALSE(is_mass_failure(55, 100));
  EXPECT_TRUE(is_mass_failure(56, 100));
}

}  // namespace berth::node_lifecycle_test
