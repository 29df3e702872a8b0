// Repair of gangs: what is put in the place of lost members, compared with trying all places, and what a state makes of it.
#include "cycle/repairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "cycle/explain.h"
#include "cycle/run_cycle.h"
#include "fairness/rights.h"
#include "placement/place_missing.h"
#include "state/invariants.h"
#include "state/random_world.h"

namespace berth::repairs_test {

constexpr PodRequest kOneGpu{.gpus = 1, .gpu_milli = kMilliPerGpu};

WorkloadShape gang(std::int64_t pods, Topology topology = {}) { return {{{{kOneGpu, pods, {}, topology}}}}; }

// Nodes of so many GPUs each; where racks are named, each in one.
Engine with_nodes(const std::vector<std::int32_t>& gpus, const std::vector<const char*>& racks = {}) {
  Engine engine;
  engine.state = new_state(Seed{1}, PlacementPolicy::kBestFit, 2, {Order::kFifo});
  engine.state.apply(RepairChosen{Duration{600'000}});
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    Node node{.name = "n" + std::to_string(i), .flavor = FlavorId(0), .gpus = gpus[i], .cpu_milli = 8'000};
    if (!racks.empty()) node.labels = {{"rack", racks[i]}};
    engine.state.apply(NodesAdded{{node}});
  }
  return engine;
}

Plan cycle(Engine& engine, Time now) {
  engine.state.apply(TimePassed{now});
  Plan plan = run_cycle(engine, now, Effort::unbounded());
  engine.state.adopt(plan);
  EXPECT_EQ(violations(engine.state), std::vector<std::string>());
  return plan;
}

std::map<std::uint32_t, PodPlacement> places(const State& state, WorkloadId id) {
  std::map<std::uint32_t, PodPlacement> at;
  for_each_pod(state, id, [&](const Pod& pod) {
    if (!pod.comes) at[pod.number] = pod.place();
  });
  return at;
}

TEST(Repair, WhoHasEndedNeedsNobodyInHisPlace) {
  Engine engine = with_nodes({1, 1, 1, 1});
  engine.state.apply(submission(QueueId(0), gang(4)));
  cycle(engine, Time{0});
  engine.state.apply(PodEnded{WorkloadId(0), 1});
  engine.state.apply(PodFailed{WorkloadId(0), 3});
  EXPECT_EQ(engine.state.find_repairing(WorkloadId(0))->lost.size(), 1u);
  const Plan plan = cycle(engine, Time{10});
  ASSERT_EQ(plan.repairs.size(), 1u);
  EXPECT_EQ(plan.repairs[0].pods.size(), 1u);
  const auto at = places(engine.state, WorkloadId(0));
  EXPECT_EQ(at.size(), 3u);
  EXPECT_TRUE(at.contains(3) && !at.contains(1));
}

TEST(Repair, OfWhomNothingIsLeftStopsWhole) {
  Engine engine = with_nodes({2});
  engine.state.apply(submission(QueueId(0), gang(2)));
  cycle(engine, Time{0});
  const NodeId both = places(engine.state, WorkloadId(0)).at(0).node;
  ASSERT_EQ(places(engine.state, WorkloadId(0)).at(1).node, both);
  engine.state.apply(NodeFailed{both});
  EXPECT_EQ(engine.state.workload(WorkloadId(0)).phase, Phase::kPending);
  EXPECT_TRUE(engine.state.repairing().empty());
  EXPECT_EQ(violations(engine.state), std::vector<std::string>());
}

TEST(Repair, FurtherLossesDoNotPutItsDeadlineOff) {
  Engine engine = with_nodes({1, 1, 1});
  engine.state.apply(submission(QueueId(0), gang(3)));
  cycle(engine, Time{0});
  engine.state.apply(TimePassed{Time{10'000}});
  engine.state.apply(PodFailed{WorkloadId(0), 0});
  engine.state.apply(TimePassed{Time{70'000}});
  engine.state.apply(PodFailed{WorkloadId(0), 2});
  EXPECT_EQ(engine.state.find_repairing(WorkloadId(0))->until, Time{610'000});
  // Three GPUs for 10 s, two for 60 s, one for 30 s.
  EXPECT_EQ(lost_by_own_pods_gpu_s(engine.state, WorkloadId(0), Time{100'000}), 180);
}

TEST(Repair, GivenUpItStandsBeforeAllOfItsPriority) {
  Engine engine = with_nodes({1, 1});
  State& state = engine.state;
  state.apply(submission(QueueId(0), gang(2)));
  cycle(engine, Time{0});
  WorkloadSubmitted early = submission(QueueId(0), gang(1));
  WorkloadSubmitted urgent = early;
  urgent.shape.terms.priority = 1;
  state.apply(early);
  state.apply(urgent);
  state.apply(PodFailed{WorkloadId(0), 0});
  EXPECT_EQ(state.refusal(RepairGivenUp{WorkloadId(1)}), "that workload lacks nobody");
  state.apply(RepairGivenUp{WorkloadId(0)});
  EXPECT_EQ(ahead_of(state, WorkloadId(0)), (std::vector<WorkloadId>{WorkloadId(2)}));
  EXPECT_EQ(ahead_of(state, WorkloadId(1)), (std::vector<WorkloadId>{WorkloadId(2), WorkloadId(0)}));
  EXPECT_EQ(violations(state), std::vector<std::string>());
}

// As another life of the scheduler had it.
TEST(Repair, AGangThatIsFoundLackingSomeIsRepairedAsTheUnitThatItIs) {
  Engine engine = with_nodes({1, 1, 1});
  engine.state.apply(RepairChosen{Duration{0}});
  engine.state.apply(submission(QueueId(0), single_pod(kOneGpu)));
  engine.state.apply(NodeDrained{NodeId(1)});
  WorkloadFound found{submission(QueueId(0), gang(2)), {{NodeId(0), GpuSet::from_bits(1)}, {NodeId(1), {}}}, Time{0}};
  found.lost = {1};
  found.repair_until = Time{9'000};
  engine.state.apply(found);
  EXPECT_EQ(violations(engine.state), std::vector<std::string>());
  const WorkloadId id(1);
  ASSERT_NE(engine.state.find_repairing(id), nullptr);
  EXPECT_EQ(engine.state.find_repairing(id)->until, Time{9'000});
  const Dim gpus(FlavorId(0), Resource::kGpu);
  EXPECT_EQ(engine.state.quotas().used(QueueId(0))[gpus.index()], 2 * kMilliPerGpu) << "it holds what it is to have";
  const Plan plan = cycle(engine, Time{1'000});
  ASSERT_EQ(plan.repairs.size(), 1U);
  EXPECT_TRUE(plan.starts.empty()) << "who waited has no room left";
  EXPECT_EQ(places(engine.state, id).at(1).node, NodeId(2));
  EXPECT_EQ(engine.state.find_repairing(id), nullptr);
}

TEST(Repair, WhoComesInPlaceOfOneGivenUpGoesFirst) {
  Engine engine = with_nodes({1});
  WorkloadSubmitted later = submission(QueueId(0), single_pod(kOneGpu));
  engine.state.apply(later);
  later.at = Time{5'000};
  later.goes_first = true;
  engine.state.apply(later);
  const Plan plan = cycle(engine, Time{6'000});
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts.front().workload, WorkloadId(1));
}

TEST(Repair, WhatMakesNoSenseIsRefused) {
  Engine engine = with_nodes({1, 1});
  State& state = engine.state;
  state.apply(submission(QueueId(0), gang(2)));
  EXPECT_TRUE(state.refusal(PodFailed{WorkloadId(0), 0})) << "it waits";
  cycle(engine, Time{0});
  EXPECT_TRUE(state.refusal(PodFailed{WorkloadId(0), 2})) << "it has two";
  EXPECT_TRUE(state.refusal(PodFailed{WorkloadId(1), 0})) << "nobody";
  EXPECT_TRUE(state.refusal(RepairChosen{Duration{-1}}));
  state.apply(PodFailed{WorkloadId(0), 1});
  EXPECT_TRUE(state.refusal(PodFailed{WorkloadId(0), 1})) << "it is lost already";
  EXPECT_TRUE(state.refusal(PodEnded{WorkloadId(0), 0})) << "nothing of it would be left";
  EXPECT_FALSE(state.refusal(RepairGivenUp{WorkloadId(0)}));
}

// ---- all placements, tried ------------------------------------------------------------------------------------------

// A gang of one set on a few nodes; some of it is lost, and others have come since.
class World {
 public:
  explicit World(Seed seed) : rng_(seed) {
    State& state = engine_.state;
    state = new_state(seed, PlacementPolicy::kBestFit, 1, {Order::kFifoSkip});
    state.apply(RepairChosen{Duration{1000}});
    std::vector<Node> nodes;
    for (std::int64_t left = rng_.between(3, 6); left > 0; --left) {
      nodes.push_back({.name = "node" + std::to_string(left),
                       .flavor = FlavorId(0),
                       .gpus = static_cast<std::int32_t>(rng_.between(1, 4)),
                       .cpu_milli = 64'000,
                       .labels = random_labels(rng_),
                       .spare = rng_.below(4) == 0});
    }
    state.apply(NodesAdded{nodes});
    const std::int64_t pods = rng_.between(2, 6);
    for (int tries = 0; tries < 8 && topology_.asks_nothing(); ++tries) topology_ = random_topology(rng_, pods);
    slice_ = topology_.slice_pods;
    state.apply(submission(QueueId(0), gang(pods, topology_)));
    run();
  }

  State& state() { return engine_.state; }
  bool runs() const { return engine_.state.workload(kGang).phase == Phase::kRunning; }
  const Repairing* repairing() const { return engine_.state.find_repairing(kGang); }

  void lose_some() {
    for (std::int64_t left = rng_.between(0, 3); left > 0; --left) submit_single();
    run();
    if (rng_.below(3) == 0) apply_if_it_makes_sense(PodEnded{kGang, static_cast<std::uint32_t>(rng_.below(4))});
    for (std::int64_t left = rng_.between(1, 4); left > 0; --left) {
      const NodeId node(static_cast<std::size_t>(rng_.below(state().nodes())));
      if (rng_.below(3) == 0) {
        apply_if_it_makes_sense(NodeFailed{node});
      } else if (rng_.below(4) == 0) {
        apply_if_it_makes_sense(NodeDrained{node});
      } else if (rng_.below(12) == 0) {
        apply_if_it_makes_sense(NodeRelabelled{node, random_labels(rng_), {}, rng_.below(4) == 0});
      } else {
        const auto pod = static_cast<std::uint32_t>(rng_.below(6));
        apply_if_it_makes_sense(rng_.below(3) == 0 ? Event(PodsEvicted{kGang, {pod}, Time{}})
                                                   : Event(PodFailed{kGang, pod}));
      }
    }
    if (rng_.below(2) == 0 && !state().repairing().empty()) take_some_room();
  }

  // Whether there are places for all that is lost, as the topology says it word by word; with these spares.
  bool some_places_do(std::set<NodeId> lent = {}) {
    lent_ = std::move(lent);
    std::vector<NodeId> at(repairing()->lost.size());
    return try_from(0, at);
  }

  bool is_as_asked(const std::vector<NodeId>& at) {
    std::map<std::uint32_t, NodeId> all;
    std::set<std::uint32_t> added;
    for_each_pod(state(), kGang, [&](const Pod& pod) { all[pod.number] = pod.node; });
    std::vector<NodeId> survivors;
    for (const auto& each : all) survivors.push_back(each.second);
    std::map<NodeId, std::int64_t> taken;
    for (std::size_t i = 0; i < at.size(); ++i) {
      all[repairing()->lost[i].number] = at[i];
      added.insert(repairing()->lost[i].number);
      if (!takes_pods(at[i]) || ++taken[at[i]] > state().ledger().node(at[i]).whole_gpus) return false;
    }
    if (topology_.together == Togetherness::kRequired && !in_one_domain(all)) return false;
    if (slice_ > 0 && !slices_are_together(all, added)) return false;
    return !topology_.is_spread() || is_spread(all, added, survivors.front());
  }

  std::optional<std::vector<PodPlacement>> found() {
    Trial trial(state().ledger_for_trial(), state().quotas_for_trial());
    Rng rng(Seed{1});
    auto outcome = place_missing(state(), trial, engine_.index, kGang, rng);
    if (std::holds_alternative<Unfit>(outcome)) return std::nullopt;
    return std::get<0>(outcome);
  }

  static constexpr WorkloadId kGang{std::size_t{0}};

 private:
  bool takes_pods(NodeId node) { return state().ledger().node(node).open || lent_.contains(node); }
  void run() { state().adopt(run_cycle(engine_, Time{}, Effort::unbounded())); }
  void apply_if_it_makes_sense(const Event& event) {
    if (!state().refusal(event)) state().apply(event);
  }
  void submit_single() {
    state().apply(submission(
        QueueId(0), single_pod({.gpus = static_cast<std::int32_t>(rng_.between(1, 2)), .gpu_milli = kMilliPerGpu})));
  }
  // Without a cycle, which would repair.
  void take_some_room() {
    for (std::size_t i = 0; i < state().nodes(); ++i) {
      const NodeFree& node = state().ledger().node(NodeId(i));
      if (!node.open || node.whole_gpus == 0 || rng_.below(2) == 0) continue;
      GpuSet gpus;
      for (int gpu = 0; gpu < node.gpus && gpus.size() == 0; ++gpu) {
        if (state().ledger().gpu_milli(NodeId(i))[static_cast<std::size_t>(gpu)] == kMilliPerGpu) gpus.add(gpu);
      }
      apply_if_it_makes_sense(WorkloadFound{submission(QueueId(0), single_pod(kOneGpu)), {{NodeId(i), gpus}}, Time{}});
    }
  }

  bool try_from(std::size_t next, std::vector<NodeId>& at) {
    if (next == at.size()) return is_as_asked(at);
    for (std::size_t node = 0; node < state().nodes(); ++node) {
      at[next] = NodeId(node);
      if (try_from(next + 1, at)) return true;
    }
    return false;
  }

  // Empty: in none.
  std::string domain(const std::string& level, NodeId id) {
    const Node& node = state().node(id);
    if (level == kNodeLevel) return node.name;
    const std::string* const value = find_label(node.labels, level);
    return value == nullptr ? "" : *value;
  }
  std::string outer(NodeId id) {
    return topology_.together == Togetherness::kAnywhere ? "anywhere" : domain(topology_.level, id);
  }

  bool in_one_domain(const std::map<std::uint32_t, NodeId>& all) {
    std::set<std::string> domains;
    for (const auto& each : all) domains.insert(outer(each.second));
    return domains.size() == 1 && !domains.begin()->empty();
  }

  // Those to which somebody is added: others run as they are, whatever their nodes say by now.
  bool slices_are_together(const std::map<std::uint32_t, NodeId>& all, const std::set<std::uint32_t>& added) {
    std::map<std::int64_t, std::set<std::pair<std::string, std::string>>> cells;
    std::set<std::int64_t> mended;
    for (const std::uint32_t number : added) mended.insert(number / slice_);
    bool labelled = true;
    for (const auto& [number, node] : all) {
      if (!mended.contains(number / slice_)) continue;
      const std::string inner = domain(topology_.slice_level, node);
      labelled = labelled && !inner.empty();
      cells[number / slice_].insert({outer(node), inner});
    }
    return labelled && std::ranges::all_of(cells, [](const auto& each) { return each.second.size() == 1; });
  }

  std::uint32_t unit_of(std::uint32_t number) const {
    return slice_ > 0 ? number / static_cast<std::uint32_t>(slice_) : number;
  }

  // Slices are on one node, and count as one; the rest of one goes where it is. Counted are the domains in which a node takes work and could hold one, inside the rack of all if they are to be in one.
  bool is_spread(const std::map<std::uint32_t, NodeId>& all, const std::set<std::uint32_t>& added, NodeId survivor) {
    std::map<std::string, std::int64_t> pods;
    for (std::size_t i = 0; i < state().nodes(); ++i) {
      const NodeId node(i);
      const bool here = topology_.together != Togetherness::kRequired || outer(node) == outer(survivor);
      const std::string inner = domain(topology_.spread_level, node);
      if (here && !inner.empty() && takes_pods(node) && state().node(node).gpus >= slice_) pods[inner] = 0;
    }
    std::map<std::uint32_t, NodeId> units;
    std::set<std::uint32_t> begun;
    for (const auto& [number, node] : all) {
      const std::string inner = domain(topology_.spread_level, node);
      if (added.contains(number) && !pods.contains(inner)) return false;
      if (units.emplace(unit_of(number), node).second && pods.contains(inner)) ++pods[inner];
      if (!added.contains(number)) begun.insert(unit_of(number));
    }
    std::int64_t least = INT64_MAX;
    for (const auto& each : pods) least = std::min(least, each.second);
    return std::ranges::all_of(added, [&](std::uint32_t number) {
      if (begun.contains(unit_of(number))) return true;
      const NodeId node = all.at(number);
      const auto on_it = std::ranges::count_if(units, [&](const auto& each) { return each.second == node; });
      if (topology_.on_nodes == OnNodes::kOneEach && on_it > 1) return false;
      const std::int64_t there = pods[domain(topology_.spread_level, node)];
      if (topology_.spread == Spreading::kApart) return there == 1;
      return topology_.spread == Spreading::kPreferred || there <= least + 1;
    });
  }

  Rng rng_;
  Engine engine_;
  Topology topology_;
  std::int64_t slice_ = 0;
  std::set<NodeId> lent_;
};

TEST(RepairProperty, AReplacementIsFoundExactlyWhereTryingAllPlacesFindsOne) {
  int possible = 0;
  int impossible = 0;
  for (const Seed seed : property_seeds(30'000)) {
    SCOPED_TRACE(name_of(seed));
    World world(seed);
    if (!world.runs()) continue;
    world.lose_some();
    if (world.repairing() == nullptr || world.repairing()->lost.size() > 4) continue;
    const auto found = world.found();
    ASSERT_EQ(found.has_value(), world.some_places_do());
    ++(found ? possible : impossible);
    if (!found) continue;
    std::vector<NodeId> at;
    for (const PodPlacement& place : *found) at.push_back(place.node);
    ASSERT_TRUE(world.is_as_asked(at));
    ASSERT_EQ(violations(world.state()), std::vector<std::string>());
  }
  const auto seeds = static_cast<int>(property_seeds(30'000).size());
  EXPECT_GE(possible, seeds / 20);
  EXPECT_GE(impossible, seeds / 60);
}

TEST(RepairProperty, SparesAreTakenWhereNothingElseDoesAndNotOneTooMany) {
  int without = 0;
  int with = 0;
  int with_several = 0;
  for (const Seed seed : property_seeds(20'000)) {
    SCOPED_TRACE(name_of(seed));
    World world(seed);
    if (!world.runs()) continue;
    world.lose_some();
    if (world.repairing() == nullptr || world.repairing()->lost.size() > 4) continue;
    const std::vector<NodeId> spares = world.state().spares();
    const bool do_without = world.some_places_do();
    const bool do_with = do_without || world.some_places_do({spares.begin(), spares.end()});
    Engine engine;
    engine.state = world.state().fork();
    const Plan plan = cycle(engine, Time{1});
    ASSERT_TRUE(!do_with || plan.repairs.size() == 1) << plan.repairs.size();
    std::set<NodeId> taken;
    for (const Repair& repair : plan.repairs) {
      for (const PodPlacement& place : repair.pods) {
        if (engine.state.node(place.node).spare) taken.insert(place.node);
      }
    }
    ASSERT_EQ(taken.empty(), do_without || !do_with);
    for (const NodeId left_out : taken) {
      std::set<NodeId> fewer = taken;
      fewer.erase(left_out);
      ASSERT_FALSE(world.some_places_do(fewer));
    }
    without += do_without && !spares.empty() ? 1 : 0;
    with += taken.empty() ? 0 : 1;
    with_several += taken.size() > 1 ? 1 : 0;
  }
  if (seeds_are_fresh()) return;
  const auto seeds = static_cast<int>(property_seeds(20'000).size());
  EXPECT_GE(without, seeds / 50);
  EXPECT_GE(with, seeds / 100);
  EXPECT_GE(with_several, seeds / 4000);
}

TEST(RepairProperty, ThoseWhoAreLeftStayWhereTheyAreAndQuotasAsTheyWere) {
  int repaired = 0;
  for (const Seed seed : property_seeds(3000)) {
    SCOPED_TRACE(name_of(seed));
    World world(seed);
    if (!world.runs()) continue;
    const AmountList held = world.state().quotas().held_by(world.state().workload(World::kGang).unit);
    world.lose_some();
    if (world.repairing() == nullptr) continue;
    const auto before = places(world.state(), World::kGang);
    Engine engine;
    engine.state = world.state().fork();
    const bool some_ended = engine.state.quotas().held_by(engine.state.workload(World::kGang).unit) != held;
    const Plan plan = cycle(engine, Time{1});
    if (plan.repairs.empty()) continue;
    ++repaired;
    const auto after = places(engine.state, World::kGang);
    for (const auto& [number, place] : before) ASSERT_EQ(after.at(number), place);
    ASSERT_TRUE(some_ended || engine.state.quotas().held_by(engine.state.workload(World::kGang).unit) == held);
    ASSERT_TRUE(engine.state.repairing().empty());
  }
  EXPECT_GE(repaired, static_cast<int>(property_seeds(3000).size() / 40));
}

}  // namespace berth::repairs_test
