// What Kubernetes documents of nodeSelector, node affinity, taints and tolerations, from the manifest to the answer.
#include "manifest/node_constraints.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manifest/yaml.h"

namespace berth::node_constraints_test {

Value object(const std::string& yaml) {
  const auto documents = parse_yaml(yaml);
  EXPECT_TRUE(documents && documents->size() == 1) << yaml;
  return documents->at(0);
}

ReadConstraints read(const std::string& spec) { return read_node_constraints(object(spec), ""); }

constexpr std::string_view kNodeName = "n1";
const char* const kNodeLabels =
    "{disktype: ssd, zone: antarctica-east1, cores: '64', empty: '', version: v2, kubernetes.io/hostname: n1}";

bool is_selected(const std::string& spec) {
  const ReadConstraints constraints = read(spec);
  EXPECT_EQ(constraints.problem, "") << spec;
  return selects(constraints.constraints, kNodeName, read_node_labels(object(kNodeLabels)));
}

std::string required(const std::string& terms) {
  return "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" + terms +
         "]}}}}";
}

std::string matching(const std::string& expression) { return required("{matchExpressions: [{" + expression + "}]}"); }

// "For a Pod to be eligible to run on a node, the node must have each of the key-value pairs."
TEST(NodeSelectorInManifests, AsksForEachLabelWithItsValue) {
  EXPECT_TRUE(is_selected("{}"));
  EXPECT_TRUE(is_selected("{nodeSelector: {}}"));
  EXPECT_TRUE(is_selected("{nodeSelector: {disktype: ssd}}"));
  EXPECT_TRUE(is_selected("{nodeSelector: {disktype: ssd, cores: '64'}}"));
  EXPECT_TRUE(is_selected("{nodeSelector: {empty: ''}}"));
  EXPECT_FALSE(is_selected("{nodeSelector: {disktype: hdd}}"));
  EXPECT_FALSE(is_selected("{nodeSelector: {disktype: ssd, cores: '65'}}"));
  EXPECT_FALSE(is_selected("{nodeSelector: {row: r1}}"));
  EXPECT_FALSE(is_selected("{nodeSelector: {row: ''}}"));
  const Value spec = object("{nodeSelector: {disktype: hdd}}");
  EXPECT_TRUE(read_node_constraints(spec, "disktype").constraints.select.empty()) << "somebody else looks at it";
}

TEST(NodeAffinityInManifests, HasTheOperatorsOfKubernetes) {
  struct Case {
    const char* expression;
    bool selected;
  };
  const Case cases[] = {
      {"key: disktype, operator: In, values: [ssd]", true},
      {"key: disktype, operator: In, values: [hdd, ssd]", true},
      {"key: disktype, operator: In, values: [hdd]", false},
      {"key: disktype, operator: In, values: [SSD]", false},
      {"key: row, operator: In, values: [r1]", false},
      {"key: row, operator: In, values: ['']", false},
      {"key: empty, operator: In, values: ['']", true},
      {"key: disktype, operator: NotIn, values: [hdd]", true},
      {"key: disktype, operator: NotIn, values: [hdd, ssd]", false},
      {"key: row, operator: NotIn, values: [r1]", true},
      {"key: disktype, operator: Exists", true},
      {"key: empty, operator: Exists", true},
      {"key: row, operator: Exists", false},
      {"key: disktype, operator: DoesNotExist", false},
      {"key: row, operator: DoesNotExist", true},
      {"key: cores, operator: Gt, values: ['63']", true},
      {"key: cores, operator: Gt, values: ['64']", false},
      {"key: cores, operator: Gt, values: ['-1']", true},
      {"key: cores, operator: Gt, values: ['9']", true},
      {"key: cores, operator: Lt, values: ['65']", true},
      {"key: cores, operator: Lt, values: ['64']", false},
      {"key: cores, operator: Lt, values: ['100']", true},
      {"key: version, operator: Gt, values: ['1']", false},
      {"key: version, operator: Lt, values: ['1']", false},
      {"key: empty, operator: Lt, values: ['1']", false},
      {"key: row, operator: Gt, values: ['1']", false},
      {"key: row, operator: Lt, values: ['1']", false},
  };
  for (const Case& c : cases) EXPECT_EQ(is_selected(matching(c.expression)), c.selected) << c.expression;
}

// "If you specify multiple terms in nodeSelectorTerms, the Pod can be scheduled onto a node if one of the specified terms can
// be satisfied (terms are ORed). If you specify multiple expressions in a single matchExpressions, only if all are
// satisfied (expressions are ANDed). If you specify both nodeSelector and nodeAffinity, both must be satisfied."
TEST(NodeAffinityInManifests, OrsTermsAndAndsExpressions) {
  const std::string here = "{key: disktype, operator: In, values: [ssd]}";
  const std::string also = "{key: cores, operator: Gt, values: ['8']}";
  const std::string not_here = "{key: disktype, operator: In, values: [hdd]}";
  const auto term = [](const std::string& expressions) { return "{matchExpressions: [" + expressions + "]}"; };
  EXPECT_TRUE(is_selected(required(term(here) + ", " + term(not_here))));
  EXPECT_TRUE(is_selected(required(term(not_here) + ", " + term(here))));
  EXPECT_FALSE(is_selected(required(term(not_here) + ", " + term(not_here))));
  EXPECT_TRUE(is_selected(required(term(here + ", " + also))));
  EXPECT_FALSE(is_selected(required(term(here + ", " + not_here))));
  EXPECT_FALSE(is_selected(required("{}"))) << "a term that asks nothing selects nothing";
  EXPECT_FALSE(is_selected(required("{matchExpressions: []}")));
  EXPECT_TRUE(is_selected(required("{}, " + term(here))));
  EXPECT_TRUE(is_selected("{affinity: {nodeAffinity: {}}}"));
  const std::string affinity = required(term(here)).substr(1);
  EXPECT_TRUE(is_selected("{nodeSelector: {cores: '64'}, " + affinity));
  EXPECT_FALSE(is_selected("{nodeSelector: {cores: '65'}, " + affinity));
}

TEST(NodeAffinityInManifests, MatchesTheNameOfTheNodeAsAField) {
  const auto field = [](const std::string& asked) {
    return required("{matchFields: [{key: metadata.name, " + asked + "}]}");
  };
  EXPECT_TRUE(is_selected(field("operator: In, values: [n1]")));
  EXPECT_FALSE(is_selected(field("operator: In, values: [n2]")));
  EXPECT_FALSE(is_selected(field("operator: NotIn, values: [n1]")));
  EXPECT_TRUE(is_selected(field("operator: NotIn, values: [n2]")));
  EXPECT_FALSE(
      is_selected(required("{matchFields: [{key: metadata.name, operator: In, values: [n1]}], matchExpressions: "
                           "[{key: row, operator: Exists}]}")));
}

struct Tainted {
  const char* tolerations;
  const char* taints;
  bool tolerated;
};

bool is_tolerated(const Tainted& c) {
  const ReadConstraints constraints = read(std::string("{tolerations: [") + c.tolerations + "]}");
  EXPECT_EQ(constraints.problem, "") << c.tolerations;
  return tolerates(constraints.constraints, read_taints(object(std::string("[") + c.taints + "]")));
}

// "A toleration matches a taint if the keys are the same and the effects are the same, and the operator is Exists, or the
// operator is Equal and the values are equal. An empty key with operator Exists matches all keys, values and effects. An
// empty effect matches all effects with the key."
TEST(TolerationsInManifests, MatchTaintsAsKubernetesSays) {
  const char* const taint = "{key: team, value: a, effect: NoSchedule}";
  const Tainted cases[] = {
      {"", "", true},
      {"", taint, false},
      {"{key: team, operator: Equal, value: a, effect: NoSchedule}", taint, true},
      {"{key: team, value: a, effect: NoSchedule}", taint, true},
      {"{key: team, operator: Equal, value: b, effect: NoSchedule}", taint, false},
      {"{key: team, operator: Equal, effect: NoSchedule}", taint, false},
      {"{key: crew, operator: Equal, value: a, effect: NoSchedule}", taint, false},
      {"{key: team, operator: Exists, effect: NoSchedule}", taint, true},
      {"{key: crew, operator: Exists, effect: NoSchedule}", taint, false},
      {"{key: team, operator: Exists, effect: NoExecute}", taint, false},
      {"{key: team, operator: Exists, effect: PreferNoSchedule}", taint, false},
      {"{key: team, operator: Exists}", taint, true},
      {"{key: team, value: a}", taint, true},
      {"{operator: Exists}", taint, true},
      {"{operator: Exists, effect: NoSchedule}", taint, true},
      {"{operator: Exists, effect: NoExecute}", taint, false},
      {"{key: team, operator: Exists, effect: NoExecute, tolerationSeconds: 5}",
       "{key: team, value: a, effect: NoExecute}", true},
      {"{key: team, operator: Exists}", "{key: team, effect: NoSchedule}", true},
      {"{key: team, operator: Equal}", "{key: team, effect: NoSchedule}", true},
      {"", "{key: team, value: a, effect: NoExecute}", false},
      {"", "{key: team, value: a, effect: PreferNoSchedule}", true},
      {"{key: team, operator: Exists}", "{key: team, effect: NoSchedule}, {key: spot, effect: NoSchedule}", false},
      {"{key: team, operator: Exists}, {key: spot, operator: Exists}",
       "{key: team, effect: NoSchedule}, {key: spot, effect: NoSchedule}", true},
      {"{key: team, operator: Exists, effect: NoSchedule}",
       "{key: team, effect: NoSchedule}, {key: team, effect: NoExecute}", false},
  };
  for (const Tainted& c : cases) EXPECT_EQ(is_tolerated(c), c.tolerated) << c.tolerations << " of " << c.taints;
}

std::int64_t liked(const std::string& spec, const std::string& taints = "[]") {
  const ReadConstraints constraints = read(spec);
  EXPECT_EQ(constraints.problem, "") << spec;
  return liking(constraints.constraints, kNodeName, read_node_labels(object(kNodeLabels)), read_taints(object(taints)));
}

std::string preferring(const std::string& terms) {
  return "{affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [" + terms + "]}}}";
}

TEST(PreferencesInManifests, AddUpTheWeightsOfTheTermsThatHold) {
  const auto term = [](int weight, const std::string& expressions) {
    return "{weight: " + std::to_string(weight) + ", preference: {matchExpressions: [" + expressions + "]}}";
  };
  const std::string here = "{key: disktype, operator: In, values: [ssd]}";
  const std::string not_here = "{key: disktype, operator: In, values: [hdd]}";
  EXPECT_EQ(liked("{}"), 0);
  EXPECT_EQ(liked(preferring(term(1, here))), 1);
  EXPECT_EQ(liked(preferring(term(100, here) + ", " + term(7, here) + ", " + term(50, not_here))), 107);
  EXPECT_EQ(liked(preferring(term(50, here + ", " + not_here))), 0);
  EXPECT_EQ(liked(preferring("{weight: 50, preference: {}}")), 0) << "a term that asks nothing says nothing";
  EXPECT_TRUE(is_selected(preferring(term(100, not_here)))) << "a preference keeps nobody away";
  const std::string soft = "{key: spot, effect: PreferNoSchedule}";
  const std::int64_t one = liked("{}", "[" + soft + "]");
  EXPECT_LT(one, 0);
  EXPECT_LT(liked(preferring(term(100, here)), "[" + soft + "]"), 0) << "the taint counts before all terms";
  EXPECT_LT(liked("{}", "[" + soft + ", {key: old, effect: PreferNoSchedule}]"), one) << "two are worse than one";
  EXPECT_EQ(liked("{tolerations: [{key: spot, operator: Exists}]}", "[" + soft + "]"), 0);
  EXPECT_EQ(liked("{}", "[{key: spot, effect: NoSchedule}]"), 0);
}

TEST(ConstraintsInManifests, SayWhatHasNoMeaning) {
  struct Case {
    std::string spec;
    const char* problem;
  };
  const Case cases[] = {
      {matching("key: rack, operator: Near, values: [a]"),
       "a node affinity has the operator 'Near'; write In, NotIn, Exists, DoesNotExist, Gt or Lt"},
      {matching("key: rack, operator: In"),
       "a node affinity has for 'rack' with In no values; write some, such as values: [a]"},
      {matching("key: rack, operator: NotIn, values: []"),
       "a node affinity has for 'rack' with NotIn no values; write some, such as values: [a]"},
      {matching("key: rack, operator: Exists, values: [a]"),
       "a node affinity has for 'rack' with Exists values; leave them out"},
      {matching("key: rack, operator: DoesNotExist, values: [a]"),
       "a node affinity has for 'rack' with DoesNotExist values; leave them out"},
      {matching("key: rack, operator: Gt, values: [many]"),
       "a node affinity has for 'rack' with Gt no integer to compare with; write one, such as values: ['8']"},
      {matching("key: rack, operator: Lt, values: ['1', '2']"),
       "a node affinity has for 'rack' with Lt no integer to compare with; write one, such as values: ['8']"},
      {matching("key: rack, operator: Lt"),
       "a node affinity has for 'rack' with Lt no integer to compare with; write one, such as values: ['8']"},
      {required("{matchFields: [{key: spec.unschedulable, operator: In, values: [a]}]}"),
       "a node affinity matches the field 'spec.unschedulable'; write metadata.name, or a label in matchExpressions"},
      {preferring("{weight: 0, preference: {}}"),
       "a preferred node affinity has no weight from 1 to 100; write one, such as weight: 10"},
      {preferring("{weight: 101, preference: {}}"),
       "a preferred node affinity has no weight from 1 to 100; write one, such as weight: 10"},
      {preferring("{preference: {}}"),
       "a preferred node affinity has no weight from 1 to 100; write one, such as weight: 10"},
      {"{tolerations: [{key: a, operator: Like}]}", "a toleration has the operator 'Like'; write Equal or Exists"},
      {"{tolerations: [{key: a, effect: Never}]}",
       "a toleration has the effect 'Never'; write NoSchedule, PreferNoSchedule or NoExecute, or leave it out"},
  };
  for (const Case& c : cases) EXPECT_EQ(read(c.spec).problem, c.problem) << c.spec;
}

TEST(NodeTaints, WithoutAnEffectAreNone) {
  EXPECT_TRUE(read_taints(object("[{key: a}, {key: b, effect: Never}]")).empty());
  EXPECT_EQ(read_taints(object("[{key: a, value: b, effect: NoExecute}]")),
            (std::vector<Taint>{{"a", "b", TaintEffect::kNoExecute}}));
  EXPECT_EQ(read_node_labels(object("{b: '2', a: '1'}")), (Labels{{"a", "1"}, {"b", "2"}}));
}

}  // namespace berth::node_constraints_test
