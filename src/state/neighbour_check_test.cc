#include "state/neighbour_check.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/property_seeds.h"
#include "state/plain_neighbours.h"
#include "state/random_world.h"

namespace berth::neighbour_check_test {

// Six nodes: two in rack 1, two in rack 2, both of zone a, one in rack 3 of zone b, and one that says nothing.
std::vector<Node> six_nodes() {
  std::vector<Node> nodes;
  const auto add = [&](const char* name, Labels labels) {
    nodes.push_back(
        {.name = name, .flavor = {}, .cpu_milli = 64'000, .memory_bytes = 1 << 30, .labels = std::move(labels)});
  };
  add("n0", {{"rack", "1"}, {"zone", "a"}});
  add("n1", {{"rack", "1"}, {"zone", "a"}});
  add("n2", {{"rack", "2"}, {"zone", "a"}});
  add("n3", {{"rack", "2"}, {"zone", "a"}});
  add("n4", {{"rack", "3"}, {"zone", "b"}});
  add("n5", {});
  return nodes;
}

class Cluster {
 public:
  Cluster() : nodes_(six_nodes()) {
    for (const Node& node : nodes_) ledger_.add(node);
  }

  PodRequest request(const Neighbours& neighbours) {
    return {.cpu_milli = 1, .neighbours = ledger_.neighbourhood().intern(neighbours, nodes_)};
  }
  void put(const Neighbours& neighbours, std::size_t node) {
    ledger_.apply(move_of(request(neighbours), PodPlacement{NodeId(node), {}}));
  }
  void close(std::size_t node) { ledger_.set_open(NodeId(node), false); }
  // "0 1 5": where such a pod may go.
  std::string allowed(const Neighbours& neighbours) {
    const PodRequest asked = request(neighbours);
    const NeighbourCheck check(ledger_, asked);
    std::string text;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      if (check.allows(NodeId(node))) text += (text.empty() ? "" : " ") + std::to_string(node);
    }
    return text;
  }
  // "2 3": where it would rather be than anywhere else.
  std::string liked(const Neighbours& neighbours) {
    const PodRequest asked = request(neighbours);
    const NeighbourCheck check(ledger_, asked);
    std::optional<NeighbourLiking> best;
    for (std::size_t node = 0; node < nodes_.size(); ++node)
      best = std::max(best, std::optional(check.liking(NodeId(node))));
    std::string text;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      if (check.liking(NodeId(node)) == best) text += (text.empty() ? "" : " ") + std::to_string(node);
    }
    return text;
  }

 private:
  std::vector<Node> nodes_;
  Ledger ledger_;
};

Neighbours pod(const char* app, const char* name_space = "x") {
  return {.name_space = name_space, .labels = {{"app", app}}};
}
PodTerm term(std::vector<LabelRequirement> labels, const char* level, std::vector<std::string> namespaces = {"x"}) {
  return {{std::move(namespaces), std::move(labels)}, level};
}
PodTerm of_app(const char* app, const char* level) { return term({{"app", LabelOperator::kIn, {app}}}, level); }

struct There {
  Neighbours pod;
  std::size_t node = 0;
};

struct Case {
  const char* what;
  std::vector<There> there;
  Neighbours asks;
  std::string allowed;
};

void expect_allowed(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    Cluster cluster;
    for (const There& each : c.there) cluster.put(each.pod, each.node);
    EXPECT_EQ(cluster.allowed(c.asks), c.allowed) << c.what;
    // The same if it was known before they came.
    Cluster other;
    other.request(c.asks);
    for (const There& each : c.there) other.put(each.pod, each.node);
    EXPECT_EQ(other.allowed(c.asks), c.allowed) << c.what << ", known before";
  }
}

const std::string kAll = "0 1 2 3 4 5";

TEST(NeighbourCheck, PodAffinity) {
  const auto near = [](std::vector<PodTerm> terms, const char* app = "web") {
    Neighbours asks = pod(app);
    asks.near = std::move(terms);
    return asks;
  };
  const There db{pod("db"), 2};
  expect_allowed({
      {"where one of them is in the rack", {db}, near({of_app("db", "rack")}), "2 3"},
      {"on its node", {db}, near({of_app("db", "node")}), "2"},
      {"none there", {db}, near({of_app("cache", "rack")}), ""},
      {"one on a node without the label is near nobody", {{pod("db"), 5}}, near({of_app("db", "rack")}), ""},
      {"another namespace", {{pod("db", "y"), 2}}, near({of_app("db", "rack")}), ""},
      {"a namespace that is named", {{pod("db", "y"), 2}}, near({term({}, "rack", {"y"})}), "2 3"},
      {"any namespace", {{pod("db", "y"), 2}}, near({term({}, "rack", {})}), "2 3"},
      {"whoever has no namespace is nobody's", {{{}, 2}}, near({term({}, "rack", {})}), "0 1 2 3 4"},
      {"all pods of the namespace", {db}, near({term({}, "rack")}), "2 3"},
      {"NotIn, also without the label", {db}, near({term({{"tier", LabelOperator::kNotIn, {"a"}}}, "rack")}), "2 3"},
      {"Exists", {db}, near({term({{"tier", LabelOperator::kExists, {}}}, "rack")}), ""},
      {"DoesNotExist", {db}, near({term({{"tier", LabelOperator::kDoesNotExist, {}}}, "rack")}), "2 3"},
      {"two levels", {db, {pod("db"), 4}}, near({of_app("db", "zone"), of_app("db", "node")}), "2 4"},
      {"one whom both terms select", {db, {pod("web"), 0}}, near({of_app("db", "zone"), of_app("web", "rack")}), ""},
      {"the first of its kind: wherever there is such a level", {}, near({of_app("web", "rack")}), "0 1 2 3 4"},
      {"the second goes to the first", {{pod("web"), 4}}, near({of_app("web", "rack")}), "4"},
      {"the first but one on a node without the level", {{pod("web"), 5}}, near({of_app("web", "rack")}), "0 1 2 3 4"},
      {"the first of another kind", {}, near({of_app("web", "rack")}, "db"), ""},
      {"the first has to be meant by all terms", {}, near({of_app("web", "rack"), of_app("db", "zone")}), ""},
  });
}

TEST(NeighbourCheck, PodAntiAffinity) {
  const auto apart = [](std::vector<PodTerm> terms, const char* app = "web") {
    Neighbours asks = pod(app);
    asks.apart = std::move(terms);
    return asks;
  };
  const There db{pod("db"), 2};
  expect_allowed({
      {"not in the rack of one of them", {db}, apart({of_app("db", "rack")}), "0 1 4 5"},
      {"not in the zone", {db}, apart({of_app("db", "zone")}), "4 5"},
      {"not on the node", {db}, apart({of_app("db", "node")}), "0 1 3 4 5"},
      {"any of the terms", {db, {pod("cache"), 4}}, apart({of_app("db", "rack"), of_app("cache", "node")}), "0 1 5"},
      {"one on a node without the label", {{pod("db"), 5}}, apart({of_app("db", "rack")}), kAll},
      {"another namespace", {{pod("db", "y"), 2}}, apart({of_app("db", "rack")}), kAll},
      {"who is there keeps it away", {{apart({of_app("db", "rack")}), 2}}, pod("db"), "0 1 4 5"},
      {"who is there means others", {{apart({of_app("db", "rack")}), 2}}, pod("cache"), kAll},
      {"who is there means another namespace", {{apart({of_app("db", "rack")}), 2}}, pod("db", "y"), kAll},
      {"who is there and has no level", {{apart({of_app("db", "rack")}), 5}}, pod("db"), kAll},
      {"its like", {{apart({of_app("web", "node")}), 0}}, apart({of_app("web", "node")}), "1 2 3 4 5"},
  });
}

TEST(NeighbourCheck, SpreadConstraints) {
  const auto even = [](PodSpread spread, const char* app = "web") {
    Neighbours asks = pod(app);
    spread.term = of_app("web", spread.term.level.empty() ? "zone" : spread.term.level.c_str());
    asks.spreads = {std::move(spread)};
    return asks;
  };
  const There web_a{pod("web"), 0}, web_b{pod("web"), 4};
  const PodSpread over_racks{.term = {{}, "rack"}};
  expect_allowed({
      {"nobody there: wherever there is a zone", {}, even({}), "0 1 2 3 4"},
      {"one in zone a", {web_a}, even({}), "4"},
      {"as many in both", {web_a, web_b}, even({}), "0 1 2 3 4"},
      {"two more than in the other", {web_a, web_a}, even({.skew_max = 2}), "4"},
      {"a larger skew", {web_a, web_a}, even({.skew_max = 3}), "0 1 2 3 4"},
      {"one that is none of them adds nothing", {web_a}, even({}, "db"), "0 1 2 3 4"},
      {"over racks", {web_a, web_b}, even(over_racks), "2 3"},
      {"those on nodes without a zone", {{pod("web"), 5}}, even({}), "0 1 2 3 4"},
      {"fewer domains than there should be", {web_a, web_b}, even({.domains_min = 3}), ""},
      {"as many as there should be", {web_a, web_b}, even({.domains_min = 2}), "0 1 2 3 4"},
      {"only rather so", {web_a}, even({.required = false}), kAll},
  });
  Cluster closed;
  closed.put(pod("web"), 0);
  closed.close(4);
  EXPECT_EQ(closed.allowed(even({})), "0 1 2 3 4") << "the other zone takes nobody";
  Neighbours both = even({});
  both.spreads.push_back({.term = of_app("web", "rack")});
  Cluster cluster;
  cluster.put(pod("web"), 0);
  EXPECT_EQ(cluster.allowed(both), "4");
}

TEST(NeighbourCheck, HostPorts) {
  const auto with = [](std::vector<HostPort> ports) { return Neighbours{.ports = std::move(ports)}; };
  const HostPort web{.port = 80};
  const There there{with({web}), 2};
  const There at_one{with({{.port = 80, .address = "10.0.0.1"}}), 2};
  expect_allowed({
      {"taken", {there}, with({web}), "0 1 3 4 5"},
      {"one of two", {there}, with({{.port = 81}, web}), "0 1 3 4 5"},
      {"another number", {there}, with({{.port = 81}}), kAll},
      {"another protocol", {there}, with({{.port = 80, .protocol = Protocol::kUdp}}), kAll},
      {"at any address", {at_one}, with({web}), "0 1 3 4 5"},
      {"at one address where another has all", {there}, with({{.port = 80, .address = "10.0.0.1"}}), "0 1 3 4 5"},
      {"at another address", {at_one}, with({{.port = 80, .address = "10.0.0.2"}}), kAll},
      {"at the same address", {at_one}, with({{.port = 80, .address = "10.0.0.1"}}), "0 1 3 4 5"},
  });
}

TEST(NeighbourCheck, Preferences) {
  Cluster cluster;
  cluster.put(pod("db"), 2);
  cluster.put(pod("cache"), 4);
  cluster.put(pod("cache"), 4);
  Neighbours asks = pod("web");
  EXPECT_EQ(cluster.liked(asks), kAll);
  asks.preferred = {{of_app("db", "rack"), 3}};
  EXPECT_EQ(cluster.liked(asks), "2 3");
  EXPECT_EQ(cluster.allowed(asks), kAll);
  asks.preferred.push_back({of_app("cache", "rack"), 2});
  EXPECT_EQ(cluster.liked(asks), "4") << "two of them weigh twice";
  asks.preferred = {{of_app("db", "zone"), -1}, {of_app("cache", "node"), -1}};
  EXPECT_EQ(cluster.liked(asks), "5");
  asks.spreads = {{.term = of_app("db", "zone"), .required = false}};
  EXPECT_EQ(cluster.liked(asks), "4") << "what is even goes first, and what is in no zone last";
}

// ---- random --------------------------------------------------------------------------------------------------------

struct Put {
  std::size_t kind = 0;
  std::size_t node = 0;
};

PlainWorld world_of(const std::vector<Node>& nodes, const std::vector<bool>& open, const std::vector<Neighbours>& kinds,
                    const std::vector<Put>& puts) {
  PlainWorld world{nodes, open, {}};
  for (const Put& each : puts) world.pods.push_back({kinds[each.kind], each.node});
  return world;
}

TEST(NeighbourCheckProperty, WhatIsKeptIsWhatThePodsSay) {
  for (const Seed seed : property_seeds(400)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    std::vector<Node> nodes(static_cast<std::size_t>(rng.between(1, 6)));
    Ledger ledger;
    for (Node& node : nodes) {
      node.cpu_milli = 1'000;
      node.labels = random_labels(rng);
      node.taints = random_taints(rng);
      ledger.add(node);
    }
    ledger.matches().look_at(nodes, 0, nodes.size());
    std::vector<bool> open(nodes.size(), true);
    std::vector<Neighbours> kinds;
    std::vector<PodRequest> requests;
    std::vector<NodeConstraints> constraints;
    std::vector<Put> puts;
    for (std::int64_t step = 0; step < 30; ++step) {
      const std::uint64_t what = rng.below(8);
      const auto node = static_cast<std::size_t>(rng.below(nodes.size()));
      if (what < 2 || kinds.empty()) {
        kinds.push_back(random_neighbours(rng));
        constraints.push_back(random_constraints(rng));
        requests.push_back({.cpu_milli = 1,
                            .constraints = ledger.matches().intern({constraints.back(), {}}, nodes),
                            .neighbours = ledger.neighbourhood().intern(kinds.back(), nodes)});
      } else if (what < 5) {
        puts.push_back({static_cast<std::size_t>(rng.below(kinds.size())), node});
        ledger.apply(move_of(requests[puts.back().kind], PodPlacement{NodeId(node), {}}));
      } else if (what == 5 && !puts.empty()) {
        const auto gone = puts.begin() + static_cast<std::ptrdiff_t>(rng.below(puts.size()));
        ledger.apply(move_of(requests[gone->kind], PodPlacement{NodeId(gone->node), {}}, Move::Direction::kGive));
        puts.erase(gone);
      } else if (what == 6) {
        nodes[node].labels = random_labels(rng);
        ledger.matches().look_at(nodes, node, 1);
        ledger.neighbourhood().look_at(nodes);
      } else {
        open[node] = !open[node];
        ledger.set_open(NodeId(node), open[node]);
      }
      const PlainWorld world = world_of(nodes, open, kinds, puts);
      for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        const NeighbourCheck check(ledger, requests[kind]);
        for (std::size_t at = 0; at < nodes.size(); ++at) {
          ASSERT_EQ(check.allows(NodeId(at)), may_join(world, kinds[kind], constraints[kind], at));
        }
      }
    }
  }
}

}  // namespace berth::neighbour_check_test
