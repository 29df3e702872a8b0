#include "manifest/selector.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

namespace berth::selector_test {

const Value& labels() {
  static const Value kLabels = Value::map_of({{"app", "web"}, {"tier", "a"}, {"n", "7"}, {"x.io/y", ""}, {"in", "1"}});
  return kLabels;
}

TEST(LabelSelector, MatchesAsKubernetesDoes) {
  struct Case {
    std::string_view text;
    bool matches;
    std::string_view written;
  };
  const Case cases[] = {
      {"", true, ""},
      {"app=web", true, "app=web"},
      {"app==web", true, "app=web"},
      {" app = web , tier in ( b , a ) ", true, "app=web,tier in (a,b)"},
      {"app!=web", false, "app!=web"},
      {"none!=web", true, "none!=web"},
      {"tier notin (a,b)", false, "tier notin (a,b)"},
      {"none notin (a)", true, "none!=a"},
      {"app", true, "app"},
      {"none", false, "none"},
      {"!app", false, "!app"},
      {"! none", true, "!none"},
      {"n>6,n<8", true, "n>6,n<8"},
      {"n>7", false, "n>7"},
      {"app>1", false, "app>1"},
      {"none<5", false, "none<5"},
      {"x.io/y=", true, "x.io/y="},
      {"x.io/y in ()", true, "x.io/y="},
      {"app in (,web)", true, "app in (,web)"},
      {"in in (1, notin)", true, "in in (1,notin)"},
      {"tier=a,app", true, "app,tier=a"},
  };
  for (const Case& each : cases) {
    const Result<LabelSelector> selector = LabelSelector::parse(each.text);
    ASSERT_TRUE(selector) << each.text << ": " << selector.error().to_string();
    EXPECT_EQ(selector->matches(labels()), each.matches) << each.text;
    EXPECT_EQ(selector->to_string(), each.written);
    EXPECT_EQ(selector->matches_everything(), each.text.empty());
  }
}

TEST(LabelSelector, RefusesWhatIsNoSelector) {
  struct Case {
    std::string_view text;
    std::string_view complaint;
  };
  const Case cases[] = {
      {",", "found ',' where a label key"},
      {"app,", "found the end where a label key"},
      {"app web", "found 'web' where one of"},
      {"app=web tier", "found 'tier' where ',' or the end"},
      {"!app=web", "found '=' where ',' or the end"},
      {"app in a", "found 'a' where '('"},
      {"app in (a", "found the end where ',' or ')'"},
      {"app in (a b)", "found 'b' where ',' or ')'"},
      {"a_/b=1", "'a_/b' is no label key"},
      {"-a", "'-a' is no label key"},
      {"a/b/c", "'a/b/c' is no label key"},
      {"a=b:c", "'b:c' is no label value"},
      {"n>x", "'x' is no whole number"},
      {"n<", "'' is no whole number"},
  };
  for (const Case& each : cases) {
    const Result<LabelSelector> selector = LabelSelector::parse(each.text);
    ASSERT_FALSE(selector) << each.text;
    EXPECT_TRUE(selector.error().to_string().starts_with("unable to parse requirement: " + std::string(each.complaint)))
        << selector.error().to_string();
  }
  EXPECT_FALSE(LabelSelector::parse(std::string(64, 'a')));
  EXPECT_FALSE(LabelSelector::parse("a=" + std::string(64, 'a')));
}

Value expression(const std::string& key, const std::string& op, Value values) {
  return Value::map_of({{"key", key}, {"operator", op}, {"values", std::move(values)}});
}

Value expressions(Value one) { return Value::map_of({{"matchExpressions", Value(Value::List{std::move(one)})}}); }

TEST(LabelSelector, ReadsObjects) {
  EXPECT_TRUE(LabelSelector::from_object(Value::map())->matches(Value()));
  EXPECT_FALSE(LabelSelector::from_object(Value())->matches(labels()));
  EXPECT_FALSE(LabelSelector::from_object(Value())->matches_everything());
  Value object = expressions(expression("tier", "NotIn", Value::List{"b", "c"}));
  object.set("matchLabels", Value::map_of({{"app", "web"}}));
  const Result<LabelSelector> selector = LabelSelector::from_object(object);
  EXPECT_EQ(selector->to_string(), "app=web,tier notin (b,c)");
  EXPECT_TRUE(selector->matches(labels()));
}

TEST(LabelSelector, RefusesObjectsThatAreNoSelectors) {
  const Value bad[] = {
      "app=web",
      Value::map_of({{"matchLabels", Value::list()}}),
      Value::map_of({{"matchLabels", Value::map_of({{"a", 1}})}}),
      Value::map_of({{"matchLabels", Value::map_of({{"a b", "1"}})}}),
      Value::map_of({{"matchExpressions", "x"}}),
      expressions(expression("a", "Gt", Value::List{"1"})),
      expressions(expression("a", "In", Value())),
      expressions(expression("a", "Exists", Value::List{"1"})),
      expressions(expression("a", "In", Value::List{1})),
      expressions(expression("", "Exists", Value())),
      expressions("x"),
  };
  for (const Value& object : bad) EXPECT_FALSE(LabelSelector::from_object(object));
}

TEST(FieldSelector, ComparesFields) {
  const Result<FieldSelector> selector =
      FieldSelector::parse("status.phase!=Failed,spec.nodeName==n1,a=x\\,y\\=z\\\\,b=");
  ASSERT_TRUE(selector);
  const auto lookup_on = [](std::string_view node) {
    return [node](std::string_view field) -> std::string_view {
      if (field == "spec.nodeName") return node;
      return field == "a" ? "x,y=z\\" : field == "status.phase" ? "Running" : "";
    };
  };
  EXPECT_EQ(selector->requirements().size(), 4U);
  EXPECT_TRUE(selector->matches(lookup_on("n1")));
  EXPECT_FALSE(selector->matches(lookup_on("n2")));
  EXPECT_TRUE(FieldSelector::parse("")->requirements().empty());
}

TEST(FieldSelector, RefusesWhatComparesNothing) {
  for (const std::string_view text : {"a", "=b", "a!b", "!=b", "a=b=c", "a=b\\", "a=\\x", "a==b!=c", "a=b,c"}) {
    EXPECT_FALSE(FieldSelector::parse(text)) << text;
  }
}

}  // namespace berth::selector_test
