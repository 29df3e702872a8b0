// Volcano's HyperNodes in a live engine: gangs that keep to a tier, and what is said of each.
#include "service/hyper_nodes.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "manifest/json.h"
#include "manifest/yaml.h"
#include "service/live_facts.h"

namespace berth::hyper_nodes_test {

Value hyper_node(const std::string& name, int tier, const std::string& type, const std::string& pattern) {
  return parse_yaml("metadata: {name: " + name + ", uid: u-" + name + "}\nspec: {tier: " + std::to_string(tier) +
                    ", members: [{type: " + type + ", selector: {regexMatch: {pattern: '" + pattern + "'}}}]}\n")
      ->at(0);
}

PodFacts near(const std::string& level, PodFacts pod) {
  pod.topology = {.together = Togetherness::kRequired, .level = level};
  return pod;
}

class World {
 public:
  World() : engine(Seed{1}), hyper_nodes(engine) {
    for (const char* const name : {"a1", "a2", "b1", "b2"}) hyper_nodes.set_node(node(name));
  }
  Round decide(std::int64_t seconds_now) {
    hyper_nodes.settle();
    return engine.decide(Time{seconds_now * 1000});
  }
  Value status(const std::string& name) const {
    for (const OtherStatus& each : hyper_nodes.statuses(Time{1000})) {
      if (each.name == name) return each.status;
    }
    return {};
  }
  std::string reason(const std::string& name) const {
    return std::string(status(name)["conditions"].items().front()["reason"].text());
  }

  LiveEngine engine;
  HyperNodes hyper_nodes;
};

std::set<std::string> nodes_in(const Round& round) {
  std::set<std::string> nodes;
  for (const Binding& binding : round.bindings) nodes.insert(binding.node);
  return nodes;
}

TEST(HyperNodes, ATierIsALevel) {
  World world;
  for (const char* const name : {"g0", "g1"})
    world.engine.set_pod(near("hypernode-tier-1", in_gang(pod(name, 8), "g", 2)));
  Round round = world.decide(2);
  EXPECT_TRUE(round.bindings.empty());
  EXPECT_TRUE(reason_of(round, "g0").contains("no node is in a HyperNode of tier 1; ask for a tier of those that "))
      << reason_of(round, "g0");
  world.hyper_nodes.set(hyper_node("a", 1, "Node", "^a"));
  world.hyper_nodes.set(hyper_node("b", 1, "Node", "^b"));
  world.hyper_nodes.set(hyper_node("top", 2, "HyperNode", "^[ab]$"));
  round = world.decide(3);
  const std::set<std::string> nodes = nodes_in(round);
  EXPECT_TRUE(nodes == (std::set<std::string>{"a1", "a2"}) || nodes == (std::set<std::string>{"b1", "b2"}));
  EXPECT_EQ(world.status("top")["nodeCount"].integer(), 4);
  EXPECT_EQ(world.reason("a"), "Ready");
  // A node that comes is in its HyperNode at once, one that goes is not.
  world.hyper_nodes.set_node(node("a3"));
  world.decide(4);
  EXPECT_EQ(world.status("a")["nodeCount"].integer(), 3);
  world.hyper_nodes.remove_node("a3");
  world.decide(5);
  EXPECT_EQ(world.status("top")["nodeCount"].integer(), 4);
}

TEST(HyperNodes, WhatIsChangedCountsAtOnce) {
  World world;
  NodeFacts own = node("a1");
  own.says.labels = {{"hypernode-tier-1", "mine"}, {"rack", "r"}};
  world.hyper_nodes.set_node(own);
  world.hyper_nodes.set(hyper_node("a", 1, "Node", "^a"));
  world.hyper_nodes.set(hyper_node("b", 1, "Node", "^a1$"));
  for (const char* const name : {"g0", "g1"})
    world.engine.set_pod(near("hypernode-tier-1", in_gang(pod(name, 8), "g", 2)));
  Round round = world.decide(2);
  EXPECT_TRUE(round.bindings.empty()) << "a1 is in two, and so in none";
  EXPECT_EQ(world.reason("a"), "NodeInTwo");
  EXPECT_EQ(world.status("b")["nodeCount"].integer(-1), 0);
  world.hyper_nodes.set(hyper_node("b", 2, "HyperNode", "^a$"));
  round = world.decide(3);
  EXPECT_EQ(nodes_in(round), (std::set<std::string>{"a1", "a2"}));
  EXPECT_EQ(world.reason("b"), "Ready");
  world.hyper_nodes.remove("a");
  world.decide(4);
  EXPECT_TRUE(world.status("a").is_null());
  EXPECT_EQ(world.status("b")["nodeCount"].integer(-1), 0);
}

}  // namespace berth::hyper_nodes_test
