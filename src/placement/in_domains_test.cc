#include "placement/in_domains.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/property_seeds.h"
#include "placement/place.h"
#include "state/random_world.h"
#include "state/room.h"

namespace berth::in_domains_test {

const PodRequest kOneGpu{.gpus = 1, .gpu_milli = kMilliPerGpu};

// How many pods of a set are on each node.
using PodsOnNodes = std::vector<std::int64_t>;

// The domain of a node; none: it is in no domain.
std::optional<std::string> domain_of(const State& state, const std::string& level, std::size_t node) {
  if (level == kNodeLevel) return std::to_string(node);
  const std::string* const label = find_label(state.node(NodeId(node)).labels, level);
  return label == nullptr ? std::nullopt : std::optional(*label);
}

struct Merits {
  bool allowed = true;       // what is required holds
  std::int64_t across = 0;   // slices that are in no one domain of a preferred level
  std::int64_t outside = 0;  // pods on nodes without a domain
  std::size_t domains = 0;
  std::int64_t unevenness = 0;  // the sum of the squares of what is in each inner domain
  std::int64_t liking = 0;

  // Of preferred levels.
  friend bool operator<(const Merits& a, const Merits& b) {
    return std::tie(a.across, a.outside, a.domains) < std::tie(b.across, b.outside, b.domains);
  }
};

// Over the inner domains of the one domain that it is in.
void judge_spread(const State& state, const Topology& topology, const NodeConstraints& constraints,
                  const PodsOnNodes& spread, Merits& merits) {
  std::set<std::string> used;
  for (std::size_t node = 0; node < spread.size(); ++node) {
    if (spread[node] > 0) used.insert(domain_of(state, topology.level, node).value_or(""));
  }
  std::map<std::string, std::int64_t> in_each;
  for (std::size_t node = 0; node < spread.size(); ++node) {
    const Node& at = state.node(NodeId(node));
    const auto inner = domain_of(state, topology.spread_level, node);
    merits.allowed = merits.allowed && (inner || spread[node] == 0);
    const bool there = topology.together == Togetherness::kAnywhere ||
                       used.contains(domain_of(state, topology.level, node).value_or("nowhere"));
    // A pod is of one GPU.
    const bool could_be = at.gpus >= topology.unit_pods() && selects(constraints, at.name, at.labels);
    if (inner && there && could_be) in_each[*inner] += spread[node];
  }
  const std::int64_t unit = topology.unit_pods();
  std::int64_t least = INT64_MAX, most = 0;
  for (const auto& [inner, pods] : in_each) {
    const std::int64_t units = pods / unit;
    least = std::min(least, units);
    most = std::max(most, units);
    merits.unevenness += units * units;
  }
  if (topology.on_nodes == OnNodes::kOneEach) {
    merits.allowed = merits.allowed && std::ranges::all_of(spread, [&](std::int64_t pods) { return pods <= unit; });
  }
  if (topology.spread == Spreading::kEven) merits.allowed = merits.allowed && most - least <= 1;
  if (topology.spread == Spreading::kApart) merits.allowed = merits.allowed && most <= 1;
}

Merits merits_of(const State& state, const Topology& topology, const NodeConstraints& constraints,
                 const PodsOnNodes& spread) {
  Merits merits;
  std::set<std::string> domains;
  std::map<std::pair<std::string, std::string>, std::int64_t> in_slices;
  std::map<std::string, std::int64_t> in_inner;
  for (std::size_t node = 0; node < spread.size(); ++node) {
    if (spread[node] == 0) continue;
    const Node& at = state.node(NodeId(node));
    merits.liking += spread[node] * liking(constraints, at.name, at.labels, at.taints);
    const bool anywhere = topology.together == Togetherness::kAnywhere;
    const auto domain = anywhere ? std::optional<std::string>("") : domain_of(state, topology.level, node);
    if (domain) domains.insert(*domain);
    if (!domain) merits.outside += spread[node];
    if (topology.slice_pods == 0) continue;
    const auto slice = domain_of(state, topology.slice_level, node);
    merits.allowed = merits.allowed && slice.has_value();
    in_slices[{domain.value_or("outside"), slice.value_or("")}] += spread[node];
    in_inner[slice.value_or("")] += spread[node];
  }
  merits.domains = domains.size();
  const bool preferred = topology.together == Togetherness::kPreferred;
  for (const auto& [where, pods] : in_slices) {
    merits.allowed = merits.allowed && (preferred || pods % topology.slice_pods == 0);
    merits.across -= pods / topology.slice_pods;
  }
  for (const auto& [inner, pods] : in_inner) {
    merits.allowed = merits.allowed && pods % topology.slice_pods == 0;
    merits.across += pods / topology.slice_pods;
  }
  if (topology.together == Togetherness::kRequired) {
    merits.allowed = merits.allowed && domains.size() == 1 && merits.outside == 0;
  }
  if (topology.is_spread()) judge_spread(state, topology, constraints, spread, merits);
  return merits;
}

// How near each other the pods of a set without slices are: the number of the levels, from the widest on, of which all are in one
// domain.
class Closeness {
 public:
  Closeness(const State& state, const std::string& asked)
      : state_(state), network_(*state.topologies().network()), asked_(asked) {
    std::set<std::string> domains;
    std::size_t without = 0;
    for (std::size_t node = 0; node < state.nodes(); ++node) {
      const auto domain = domain_of(state, asked, node);
      domain ? void(domains.insert(*domain)) : void(++without);
    }
    bool is_wider = true;
    for (std::size_t level = 1; level < network_.node_level(); ++level) {
      if (network_.name(level) == asked) {
        is_wider = false;
      } else if (is_wider &&
                 (asked == kNodeLevel || has_level(asked) || network_.domains(level) < domains.size() + without)) {
        wider_.push_back(level);
      } else {
        narrower_.push_back(level);
      }
    }
  }

  std::size_t own() const { return wider_.size() + 1; }
  std::size_t of(const PodsOnNodes& spread) const {
    std::size_t closeness = own() + narrower_.size();
    for (std::size_t a = 0; a < spread.size(); ++a) {
      for (std::size_t b = 0; b <= a; ++b) {
        if (spread[a] > 0 && spread[b] > 0) closeness = std::min(closeness, of_both(a, b));
      }
    }
    return closeness;
  }

 private:
  bool has_level(const std::string& name) const {
    for (std::size_t level = 1; level < network_.node_level(); ++level) {
      if (network_.name(level) == name) return true;
    }
    return false;
  }

  std::size_t of_both(std::size_t a, std::size_t b) const {
    const auto in_a = domain_of(state_, asked_, a);
    const auto in_b = domain_of(state_, asked_, b);
    if (!in_a || !in_b) return 0;
    std::size_t closeness = 0;
    const auto go_along = [&](const std::vector<std::size_t>& levels, auto are_together) {
      for (const std::size_t level : levels) {
        if (!are_together(level)) return false;
        ++closeness;
      }
      return true;
    };
    if (*in_a != *in_b) {
      go_along(wider_, [&](std::size_t level) { return together_around(level, *in_a, *in_b); });
      return closeness;
    }
    closeness = own();
    go_along(narrower_, [&](std::size_t level) {
      return network_.says(level, NodeId(a)) && network_.domain(level, NodeId(a)) == network_.domain(level, NodeId(b));
    });
    return closeness;
  }

  // Whether all nodes of the two are in one domain.
  bool together_around(std::size_t level, const std::string& a, const std::string& b) const {
    std::set<std::uint32_t> domains;
    for (std::size_t node = 0; node < state_.nodes(); ++node) {
      const auto in = domain_of(state_, asked_, node);
      if (in && (*in == a || *in == b)) domains.insert(network_.domain(level, NodeId(node)));
    }
    return domains.size() == 1;
  }

  const State& state_;
  const Network& network_;
  std::string asked_;
  std::vector<std::size_t> wider_, narrower_;
};

// Calls visit(spread) for every way to put so many pods on the nodes.
template <class Visit>
void for_each_spread(const std::vector<std::int64_t>& rooms, std::int64_t pods, PodsOnNodes& spread, Visit visit) {
  if (spread.size() == rooms.size()) {
    if (pods == 0) visit(spread);
    return;
  }
  const std::int64_t most = std::min(pods, rooms[spread.size()]);
  for (std::int64_t here = 0; here <= most; ++here) {
    spread.push_back(here);
    for_each_spread(rooms, pods - here, spread, visit);
    spread.pop_back();
  }
}

// What goes to each domain of the spread goes over its nodes as is asked: no two nodes differ by more than one where the emptier
// has room for one more; no node is used where one less would do.
void expect_on_nodes(const State& state, const Topology& topology, const std::vector<std::int64_t>& rooms,
                     const PodsOnNodes& found) {
  if (topology.together != Togetherness::kAnywhere) return;
  const std::int64_t unit = topology.unit_pods();
  std::map<std::string, std::vector<std::size_t>> nodes;
  for (std::size_t node = 0; node < found.size(); ++node) {
    if (found[node] > 0) nodes[*domain_of(state, topology.spread_level, node)];
  }
  for (std::size_t node = 0; node < found.size(); ++node) {
    const auto inner = domain_of(state, topology.spread_level, node);
    const auto domain = inner ? nodes.find(*inner) : nodes.end();
    if (domain != nodes.end()) domain->second.push_back(node);
  }
  for (const auto& [inner, in_it] : nodes) {
    std::int64_t pods = 0, used = 0, most = 0;
    std::vector<std::int64_t> room;
    for (const std::size_t node : in_it) {
      pods += found[node];
      used += found[node] > 0 ? 1 : 0;
      most = std::max(most, found[node]);
      room.push_back(rooms[node] / unit * unit);
    }
    if (topology.on_nodes == OnNodes::kEvenly) {
      for (const std::size_t node : in_it) EXPECT_TRUE(found[node] + unit >= most || rooms[node] < found[node] + unit);
    }
    if (topology.on_nodes != OnNodes::kFew) continue;
    std::ranges::sort(room, std::greater());
    for (std::size_t few = 0; few < room.size() && pods > 0; ++few, --used) pods -= room[few];
    EXPECT_LE(used, 0);
  }
}

State small_tree(Seed seed, Rng& rng) {
  const auto policy = static_cast<PlacementPolicy>(rng.below(std::size(kPlacementPolicyNames)));
  State state = new_state(seed, policy, 1, {Order::kFifo});
  std::vector<Node> nodes;
  for (std::int64_t left = rng.between(1, 6); left > 0; --left) {
    Node node{.name = "n", .flavor = FlavorId(0), .gpus = one_of(rng, {1, 2, 3, 4}), .cpu_milli = 8000};
    node.labels = random_labels(rng);
    node.taints = random_taints(rng);
    nodes.push_back(node);
  }
  state.apply(NodesAdded{nodes});
  return state;
}

TEST(PlaceInDomainsProperty, FindsAPlaceExactlyWhereTheRulesLeaveOneAndTheBestOne) {
  std::map<Togetherness, int> placed;
  std::map<Togetherness, int> refused;
  std::map<Spreading, int> spread_placed;
  std::map<Spreading, int> spread_refused;
  std::map<OnNodes, int> on_nodes;
  int slices_spread = 0;
  int in_wider = 0;
  int in_narrower = 0;
  int across = 0;
  for (const Seed seed : property_seeds(6000)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    State state = small_tree(seed, rng);
    const std::int64_t pods = rng.between(1, 6);
    PodSet set{kOneGpu, pods, random_constraints(rng), random_topology(rng, pods)};
    while (set.topology.asks_nothing()) set.topology = random_topology(rng, pods);
    if (rng.below(8) == 0) set.topology = {Togetherness::kPreferred, std::string(kNodeLevel), pods, "rack"};
    if (rng.below(16) == 0) {
      set.topology = {.spread = Spreading::kEven, .spread_level = one_of(rng, {"rack", "zone"})};
      set.topology.on_nodes = one_of(rng, {OnNodes::kFew, OnNodes::kEvenly, OnNodes::kOneEach});
    }
    state.apply(submission(QueueId(0), {{{set}}}));
    const PodRequest& request = state.request(state.shape(ShapeId(0)).ways[0][0].request);
    std::vector<std::int64_t> rooms;
    for (std::size_t node = 0; node < state.nodes(); ++node) {
      rooms.push_back(room_for(state.ledger(), NodeId(node), request));
    }
    const bool by_closeness =
        set.topology.together != Togetherness::kAnywhere && !set.topology.is_spread() && !set.topology.has_slices();
    const std::optional<Closeness> closeness =
        by_closeness ? std::optional<Closeness>(std::in_place, state, set.topology.level) : std::nullopt;
    std::map<std::size_t, std::size_t> domains_by_closeness;
    std::optional<Merits> best;
    std::int64_t best_liking = INT64_MIN;
    std::int64_t least_uneven = INT64_MAX;
    PodsOnNodes so_far;
    for_each_spread(rooms, pods, so_far, [&](const PodsOnNodes& spread) {
      const Merits merits = merits_of(state, set.topology, set.constraints, spread);
      if (!merits.allowed) return;
      if (!best || merits < *best) best = merits;
      best_liking = std::max(best_liking, merits.liking);
      if (closeness && merits.outside == 0) {
        std::size_t& domains = domains_by_closeness.emplace(closeness->of(spread), merits.domains).first->second;
        domains = std::min(domains, merits.domains);
      }
      least_uneven = std::min(least_uneven, merits.unevenness);
    });
    Trial trial(state.ledger_for_trial(), state.quotas_for_trial());
    ScoreIndex index;
    const auto outcome = place_workload(state, trial, index, WorkloadId(0), Rng(seed));
    const Start* const start = std::get_if<Start>(&outcome);
    ASSERT_EQ(start != nullptr, best.has_value());
    ++(start != nullptr ? placed : refused)[set.topology.together];
    ++(start != nullptr ? spread_placed : spread_refused)[set.topology.spread];
    if (start == nullptr) continue;
    PodsOnNodes found(state.nodes(), 0);
    for (const PodPlacement& pod : start->pods) ++found[pod.node.index()];
    const Merits merits = merits_of(state, set.topology, set.constraints, found);
    EXPECT_TRUE(merits.allowed);
    if (!domains_by_closeness.empty() && merits.outside == 0) {
      const auto& [closest, domains] = *domains_by_closeness.rbegin();
      const std::size_t found_at = closeness->of(found);
      // Inside the domain that is asked for goes what the pods like before that.
      EXPECT_EQ(std::min(found_at, closeness->own()), std::min(closest, closeness->own()));
      if (state.ledger().matches().likings(request.constraints).empty()) {
        EXPECT_EQ(found_at, closest);
      }
      if (closest + 1 >= closeness->own()) {
        EXPECT_EQ(merits.domains, domains);
      }
      in_wider += closest > 0 && closest < closeness->own() ? 1 : 0;
      in_narrower += closest > closeness->own() ? 1 : 0;
    }
    if (set.topology.together == Togetherness::kPreferred) {
      EXPECT_EQ(merits.across, best->across);
      across += merits.across > 0 ? 1 : 0;
      if (merits.across > 0) continue;
      EXPECT_EQ(merits.outside, best->outside);
      EXPECT_GE(merits.domains, best->domains);
    } else if (set.topology.is_spread()) {
      // Inside one domain as evenly as there is room there, if not as in the best of all.
      if (set.topology.together == Togetherness::kAnywhere) {
        EXPECT_EQ(merits.unevenness, least_uneven);
      }
      expect_on_nodes(state, set.topology, rooms, found);
      ++on_nodes[set.topology.on_nodes];
      slices_spread += set.topology.has_slices() ? 1 : 0;
      const bool of_nodes = set.topology.spread_level == kNodeLevel && set.topology.together == Togetherness::kAnywhere;
      if (of_nodes && set.topology.spread == Spreading::kApart) {
        EXPECT_EQ(merits.liking, best_liking);
      }
    } else if (set.topology.slice_pods == 0) {
      EXPECT_EQ(merits.liking, best_liking);
    }
    if (HasFailure()) return;
  }
  if (seeds_are_fresh()) return;
  for (const Togetherness each : {Togetherness::kAnywhere, Togetherness::kPreferred, Togetherness::kRequired}) {
    EXPECT_GT(placed[each], 100);
    EXPECT_GT(refused[each], 100);
  }
  EXPECT_GT(across, 30);
  EXPECT_GT(in_wider, 20);
  EXPECT_GT(in_narrower, 100);
  EXPECT_GT(slices_spread, 30);
  for (const OnNodes each : {OnNodes::kFew, OnNodes::kEvenly, OnNodes::kOneEach}) EXPECT_GT(on_nodes[each], 10);
  for (const Spreading each : {Spreading::kPreferred, Spreading::kEven, Spreading::kApart}) {
    EXPECT_GT(spread_placed[each], 50);
    EXPECT_GT(spread_refused[each], 50);
  }
}

struct Rack {
  const char* name;
  std::vector<std::int32_t> gpus;  // of its nodes
};

State with_racks(const std::vector<Rack>& racks) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
  for (const Rack& rack : racks) {
    for (const std::int32_t gpus : rack.gpus) {
      state.apply(NodesAdded{{{.name = rack.name,
                               .flavor = FlavorId(0),
                               .gpus = gpus,
                               .cpu_milli = 8000,
                               .labels = {{"rack", rack.name}}}}});
    }
  }
  return state;
}

TEST(PlaceInDomains, TakesTheDomainWithTheLeastRoomLeftOver) {
  const Topology required{Togetherness::kRequired, "rack"};
  const Topology preferred{Togetherness::kPreferred, "rack"};
  const Topology slices{Togetherness::kRequired, "rack", 2, std::string(kNodeLevel)};
  const Topology slices_in_few{Togetherness::kPreferred, "rack", 2, std::string(kNodeLevel)};
  struct Case {
    const char* what;
    std::vector<Rack> racks;
    std::int64_t pods;
    Topology topology;
    std::map<std::string, int> in;  // pods in each rack; empty: it does not fit
    std::int64_t missing;
  };
  const Case cases[] = {
      {"the fuller one", {{"a", {4}}, {"b", {3}}, {"c", {4}}}, 2, required, {{"b", 2}}, 0},
      {"the first of equals", {{"a", {1}}, {"b", {3}}, {"c", {3}}}, 2, required, {{"b", 2}}, 0},
      {"over its nodes", {{"a", {1, 1}}, {"b", {1, 1, 1}}}, 3, required, {{"b", 3}}, 0},
      {"none has room", {{"a", {2}}, {"b", {1, 2}}}, 5, required, {}, 2},
      {"preferred: one, if one will do", {{"a", {4}}, {"b", {3}}}, 3, preferred, {{"b", 3}}, 0},
      {"preferred: few", {{"a", {1}}, {"b", {3}}, {"c", {2}}}, 4, preferred, {{"b", 2}, {"c", 2}}, 0},
      {"preferred: as many in each", {{"a", {5}}, {"b", {4}}, {"c", {1}}}, 6, preferred, {{"a", 3}, {"b", 3}}, 0},
      {"preferred: whole slices in each", {{"a", {9}}, {"b", {8}}}, 10, slices_in_few, {{"a", 4}, {"b", 6}}, 0},
      {"preferred: as many as have room", {{"a", {9}}, {"b", {2}}}, 10, preferred, {{"a", 8}, {"b", 2}}, 0},
      {"preferred: not enough anywhere", {{"a", {1}}, {"b", {3}}}, 6, preferred, {}, 2},
      {"whole slices count", {{"a", {3, 3}}, {"b", {2, 2, 2}}}, 6, slices, {{"b", 6}}, 0},
      {"no room for whole slices", {{"a", {3, 3}}, {"b", {1, 1, 1}}}, 6, slices, {}, 1},
  };
  for (const Case& c : cases) {
    State state = with_racks(c.racks);
    state.apply(submission(QueueId(0), {{{{kOneGpu, c.pods, {}, c.topology}}}}));
    Trial trial(state.ledger_for_trial(), state.quotas_for_trial());
    ScoreIndex index;
    const auto outcome = place_workload(state, trial, index, WorkloadId(0), Rng(Seed{1}));
    std::map<std::string, int> in;
    if (const Start* const start = std::get_if<Start>(&outcome)) {
      for (const PodPlacement& pod : start->pods) ++in[state.node(pod.node).name];
    } else {
      EXPECT_EQ(std::get<Unfit>(outcome).missing, c.missing) << c.what;
    }
    EXPECT_EQ(in, c.in) << c.what;
  }
}

// What frees a slice fills up the fullest node that has room for one.
TEST(PlaceInDomains, PutsSlicesWhereTheyLeaveTheLeast) {
  State state = with_racks({{"a", {5}}, {"b", {4}}, {"c", {3}}});
  state.apply(submission(QueueId(0), {{{{kOneGpu, 3, {}, {.slice_pods = 3, .slice_level = "node"}}}}}));
  Trial trial(state.ledger_for_trial(), state.quotas_for_trial());
  ScoreIndex index;
  const auto outcome = place_workload(state, trial, index, WorkloadId(0), Rng(Seed{1}));
  for (const PodPlacement& pod : std::get<Start>(outcome).pods) EXPECT_EQ(state.node(pod.node).name, "c");
}

}  // namespace berth::in_domains_test
