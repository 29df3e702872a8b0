#include "manifest/hyper_nodes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manifest/yaml.h"

namespace berth::hyper_nodes_test {

HyperNode one(const std::string& name, const std::string& spec) {
  return read_hyper_node(parse_yaml("metadata: {name: " + name + "}\nspec: " + spec + "\n")->at(0));
}

std::string exact(const std::string& type, const std::string& name) {
  return "{type: " + type + ", selector: {exactMatch: {name: " + name + "}}}";
}

std::vector<Value> four_nodes() {
  std::vector<Value> nodes;
  for (const char* const name : {"n1", "n2", "n3", "n4"}) {
    nodes.push_back(parse_yaml("metadata: {name: " + std::string(name) +
                               ", labels: {row: " + (name < std::string("n3") ? "a" : "b") + "}}\n")
                        ->at(0));
  }
  return nodes;
}

HyperNodeDomains domains(const std::vector<HyperNode>& hyper_nodes) {
  static const std::vector<Value> nodes = four_nodes();
  std::vector<NamedLabels> named;
  for (const Value& node : nodes)
    named.push_back({std::string(node["metadata"]["name"].text()), &node["metadata"]["labels"]});
  return domains_of(hyper_nodes, named);
}

TEST(HyperNodes, HaveTheNodesOfTheirMembersToo) {
  const HyperNodeDomains found =
      domains({one("s1", "{tier: 1, members: [" + exact("Node", "n1") + ", " + exact("Node", "n2") + "]}"),
               one("s2", "{tier: 1, members: [{type: Node, selector: {regexMatch: {pattern: '^n[34]$'}}}]}"),
               one("b", "{tier: 1, members: []}"),
               one("row", "{tier: '2', members: [{type: HyperNode, selector: {regexMatch: {pattern: '^s'}}}]}"),
               one("all", "{tier: 3, members: [" + exact("HyperNode", "row") + "]}")});
  using Tiers = std::map<std::int64_t, std::string>;
  EXPECT_EQ(found.of_nodes.at("n1"), (Tiers{{1, "s1"}, {2, "row"}, {3, "all"}}));
  EXPECT_EQ(found.of_nodes.at("n4"), (Tiers{{1, "s2"}, {2, "row"}, {3, "all"}}));
  EXPECT_EQ(found.standings.at("all").nodes, 4);
  EXPECT_EQ(found.standings.at("b").nodes, 0);
  for (const auto& [name, standing] : found.standings) EXPECT_EQ(standing.reason, "") << name;
  const HyperNodeDomains by_labels = domains({one("a",
                                                  "{tier: 1, members: [{type: Node, selector: {labelMatch: "
                                                  "{matchLabels: {row: a}}}}]}")});
  EXPECT_EQ(by_labels.standings.at("a").nodes, 2);
}

TEST(HyperNodes, SayWhatIsNotAsItWasMeant) {
  struct Case {
    const char* what;
    std::vector<HyperNode> hyper_nodes;
    const char* of;
    const char* reason;
    const char* problem;
    std::int64_t nodes;
  };
  const std::string n1 = exact("Node", "n1");
  const Case cases[] = {
      {"a node in two",
       {one("a", "{tier: 1, members: [" + n1 + ", " + exact("Node", "n2") + "]}"),
        one("b", "{tier: 1, members: [" + n1 + "]}")},
       "a",
       "NodeInTwo",
       "nodes are in another HyperNode of its tier, too, and count in neither: n1 (b); leave them in one",
       1},
      {"a circle",
       {one("a", "{tier: 2, members: [" + n1 + ", " + exact("HyperNode", "b") + "]}"),
        one("b", "{tier: 1, members: [" + exact("HyperNode", "a") + "]}")},
       "b",
       "Circle",
       "it is part of itself: a > b > a; take one of these members out",
       0},
      {"the other one of a circle",
       {one("a", "{tier: 2, members: [" + n1 + ", " + exact("HyperNode", "b") + "]}"),
        one("b", "{tier: 1, members: [" + exact("HyperNode", "a") + "]}")},
       "a",
       "Circle",
       "it is part of itself: a > b > a",
       0},
      {"itself",
       {one("a", "{tier: 2, members: [" + exact("HyperNode", "a") + "]}")},
       "a",
       "Circle",
       "it is part of itself: a > a",
       0},
      {"a tier that is not lower",
       {one("a", "{tier: 1, members: [" + exact("HyperNode", "b") + "]}"),
        one("b", "{tier: 1, members: [" + n1 + "]}")},
       "a",
       "TierNotLower",
       "its member b has tier 1, and is to have a lower one than its own 1",
       0},
      {"somebody who is not there",
       {one("a", "{tier: 1, members: [" + n1 + ", " + exact("Node", "n9") + "]}")},
       "a",
       "MemberMissing",
       "there is no n9; what there is counts",
       1},
      {"what was kept although it is wrong",
       {one("a", "{tier: 1, members: [{type: Node, selector: {}}]}")},
       "a",
       "Invalid",
       "spec.members[0].selector: it selects nothing",
       0},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    const HyperNodeStanding standing = domains(each.hyper_nodes).standings.at(each.of);
    EXPECT_EQ(standing.reason, each.reason);
    EXPECT_TRUE(standing.problem.starts_with(each.problem)) << standing.problem;
    EXPECT_EQ(standing.nodes, each.nodes);
  }
}

TEST(HyperNodes, AreReadWithAllThatIsWrong) {
  const HyperNode wrong = one(
      "a",
      "{tier: near, members: [{type: Rack, selector: {exactMatch: {name: ''}}}, {type: Node, selector: {regexMatch: "
      "{pattern: '('}, exactMatch: {name: n}}}, {type: HyperNode, selector: {labelMatch: {}}}, {type: Node, selector: "
      "{regexMatch: {pattern: '[z-a]'}}}, {type: Node}]}");
  std::string said;
  for (const HyperNodeProblem& each : wrong.problems) said += each.field + ": " + each.why + "\n";
  EXPECT_EQ(
      said,
      "spec.tier: it is no tier; write a number from 0 to 1000, the lower the nearer its nodes are\n"
      "spec.members[0].type: 'Rack' is neither Node nor HyperNode; write one of them\n"
      "spec.members[0].selector.exactMatch.name: it names nothing; write the name of a member\n"
      "spec.members[1].selector: it selects in several ways; write one of exactMatch, regexMatch and labelMatch\n"
      "spec.members[2].selector.labelMatch: HyperNodes are not selected by labels; write exactMatch or regexMatch\n"
      "spec.members[3].selector.regexMatch.pattern: '[z-a]': it is no regular expression as Go has "
      "them: invalid character class range: z-a\n"
      "spec.members[4].selector: it selects nothing; write one of exactMatch, regexMatch and labelMatch\n");
}

TEST(HyperNodes, AreLabelsToWhoeverLooksAtLabels) {
  const std::vector<Value> nodes = with_hyper_node_labels(
      four_nodes(),
      {parse_yaml("metadata: {name: s1}\nspec: {tier: 1, members: [" + exact("Node", "n1") + "]}\n")->at(0)});
  EXPECT_EQ(nodes[0]["metadata"]["labels"]["hypernode-tier-1"].text(), "s1");
  EXPECT_TRUE(nodes[1]["metadata"]["labels"]["hypernode-tier-1"].is_null());
}

}  // namespace berth::hyper_nodes_test
