#include "cycle/recutting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/property_seeds.h"
#include "cycle/explain.h"
#include "cycle/run_cycle.h"
#include "model/gpu_hardware.h"
#include "state/invariants.h"
#include "state/random_world.h"

namespace berth::recutting_test {

const GpuHardware& h100() { return *hardware_of(Flavor{.name = "h100", .model = "H100", .memory_mib = 0}); }

std::size_t shape_of(const char* profile) { return *find_mig_profile(h100(), profile); }

struct NamedPlace {
  const char* profile;
  std::size_t start;
};

std::size_t place_of(const NamedPlace& named) { return *h100().mig->find_place(shape_of(named.profile), named.start); }

MigPlaceSet layout_of(const std::vector<NamedPlace>& places) {
  MigPlaceSet layout;
  for (const NamedPlace& each : places) layout = layout.with(place_of(each));
  return layout;
}

std::string text_of(MigPlaceSet layout) {
  std::string text;
  layout.for_each([&](std::size_t place) {
    const MigPlace& at = h100().mig->places()[place];
    text += std::string(h100().mig_profiles[at.shape].name) + "@" + std::to_string(at.start) + " ";
  });
  return text;
}

TEST(NextCut, KeepsWhatItCanAndIsWhole) {
  const std::vector<NamedPlace> threes = {{"3g.40gb", 0}, {"3g.40gb", 4}};
  const struct {
    const char* sentence;
    std::vector<NamedPlace> taken, promised, before;
    std::vector<const char*> asked;
    std::vector<NamedPlace> after;
  } kCases[] = {
      {"the room of a slice that goes is cut into what was asked for",
       {{"1g.10gb", 6}},
       {},
       threes,
       {"1g.10gb"},
       {{"3g.40gb", 0}, {"1g.10gb", 4}, {"1g.10gb", 5}, {"1g.10gb", 6}}},
      {"what was asked for fits no more: the largest",
       {{"4g.40gb", 0}},
       {},
       {{"7g.80gb", 0}},
       {"4g.40gb"},
       {{"4g.40gb", 0}, {"3g.40gb", 4}}},
      {"of several that were asked for the largest first",
       {{"1g.10gb", 6}, {"2g.20gb", 4}},
       {},
       {{"7g.80gb", 0}},
       {"1g.10gb", "2g.20gb"},
       {{"2g.20gb", 0}, {"2g.20gb", 2}, {"2g.20gb", 4}, {"1g.10gb", 6}}},
      {"what is promised before what is there",
       {{"1g.10gb", 6}},
       {{"2g.20gb", 0}},
       threes,
       {"1g.10gb"},
       {{"2g.20gb", 0}, {"1g.10gb", 2}, {"1g.10gb", 3}, {"1g.10gb", 4}, {"1g.10gb", 5}, {"1g.10gb", 6}}},
      {"what is promised where somebody is cannot be kept",
       {{"1g.10gb", 6}},
       {{"3g.40gb", 4}},
       threes,
       {"1g.10gb"},
       {{"3g.40gb", 0}, {"1g.10gb", 4}, {"1g.10gb", 5}, {"1g.10gb", 6}}},
  };
  for (const auto& each : kCases) {
    SCOPED_TRACE(each.sentence);
    std::vector<std::size_t> promised, asked;
    for (const NamedPlace& place : each.promised) promised.push_back(place_of(place));
    for (const char* const profile : each.asked) asked.push_back(shape_of(profile));
    const MigPlaceSet after = next_cut(
        *h100().mig,
        {.taken = layout_of(each.taken), .promised = promised, .before = layout_of(each.before), .asked = asked});
    EXPECT_EQ(text_of(after), text_of(layout_of(each.after)));
  }
}

TEST(NextCutProperty, IsALayoutWithAllThatIsTakenAndNoRoomForMore) {
  for (const Seed seed : property_seeds(2'000)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const MigGeometry& mig = *kMigFamilies[static_cast<std::size_t>(rng.below(kMigFamilies.size()))];
    const MigPlaceSet before = random_fixed_slices(rng, mig);
    const MigPlaceSet taken = random_fixed_slices(rng, mig);
    std::vector<std::size_t> promised, asked;
    for (std::int64_t left = rng.between(0, 2); left > 0; --left) {
      promised.push_back(static_cast<std::size_t>(rng.below(mig.places().size())));
      asked.push_back(static_cast<std::size_t>(rng.below(mig.shapes().size())));
    }
    const MigPlaceSet after = next_cut(mig, {.taken = taken, .promised = promised, .before = before, .asked = asked});
    ASSERT_TRUE(mig.is_layout(after));
    ASSERT_TRUE(taken.minus(after).empty());
    for (std::size_t shape = 0; shape < mig.shapes().size(); ++shape) {
      if (!mig.shapes()[shape].is_plain()) continue;
      ASSERT_EQ(mig.room_for(shape, after), 0);
    }
  }
}

// ---- random histories of nodes that may be cut anew -----------------------------------------------------------------

constexpr std::uint64_t kSeeds = kFewSeeds ? 50 : 1'000;

struct Seen {
  int cuts = 0, cuts_for_claimants = 0, waited_for_a_cut = 0, waited_for_an_end = 0, waited_for_the_rest = 0;
  int lost_meanwhile = 0, cut_at_once = 0, failed = 0;
};

class History {
 public:
  explicit History(Seed seed) : rng_(seed) {
    State& state = engine_.state;
    state = new_state(seed, one_of(rng_, {PlacementPolicy::kBestFit, PlacementPolicy::kFgd}), 2, {});
    for (std::int64_t left = rng_.between(1, 3); left > 0; --left) {
      Queue queue{.name = "queue", .parent = {}, .order = one_of(rng_, {Order::kFifo, Order::kFifoSkip})};
      queue.quota.guarantee = random_amounts(rng_, 0);
      state.apply(QueueAdded{queue});
    }
    std::vector<Node> nodes;
    for (std::int64_t left = rng_.between(1, 3); left > 0; --left) {
      Node node{.name = "node", .flavor = FlavorId(0), .gpus = one_of(rng_, {1, 1, 2}), .cpu_milli = 64'000};
      node.sharing = Sharing::kMig;
      node.fixed_slices = random_fixed_slices(rng_, *geometry_in_random_world(node));
      if (!node.fixed_slices.empty() && rng_.below(4) > 0) node.recut = one_of(rng_, {seconds(1), seconds(3)});
      for (std::int64_t more = node.recut > Duration{0} ? rng_.between(0, 3) : 0; more > 0; --more) {
        const MigPlaceSet layout = random_fixed_slices(rng_, *geometry_in_random_world(node));
        if (!layout.empty()) node.layouts.push_back(layout);
      }
      nodes.push_back(node);
    }
    state.apply(NodesAdded{nodes});
  }

  void step(Seen& seen) {
    now_ = now_ + seconds(rng_.between(0, 4));
    state().apply(TimePassed{now_});
    disturb();
    pass(seen);
    if (rng_.below(4) > 0) decide(seen);
  }

  // Nobody comes any more, and nothing is lost.
  void finish(Seen& seen) {
    for (std::size_t i = 0; i < state().nodes(); ++i) state().apply(NodeRestored{NodeId(i)});
    for (int i = 0; i < 400 && (i == 0 || !is_at_rest()); ++i) {
      now_ = now_ + seconds(4);
      state().apply(TimePassed{now_});
      pass(seen);
      decide(seen);
    }
    ASSERT_TRUE(state().starting().empty()) << "somebody waits for his room for ever";
    ASSERT_TRUE(state().being_cut().empty());
    ASSERT_TRUE(state().resting().empty());
  }

 private:
  State& state() { return engine_.state; }

  bool is_at_rest() {
    bool some_end = false;
    state().workloads().for_each([&](WorkloadId id, const Workload& workload) {
      some_end = some_end || (workload.phase == Phase::kRunning && state().end_of(id, workload.started) != kForever);
    });
    return !some_end && state().starting().empty() && state().being_cut().empty() && state().resting().empty();
  }

  void decide(Seen& seen) {
    for (bool finished = false; !finished;) {
      const Plan plan = run_cycle(engine_, now_, Effort::unbounded());
      ASSERT_EQ(plan, run_cycle(engine_, now_, Effort::unbounded()));
      finished = plan.finished;
      for (const Repartition& each : plan.repartitions) look(each, plan, seen);
      state().adopt(plan);
      const std::vector<std::string> wrong = violations(state());
      ASSERT_TRUE(wrong.empty()) << wrong.front();
      if (plan.changes_nothing()) break;
    }
    state().workloads().for_each([&](WorkloadId id, const Workload& workload) {
      const bool is_starting = workload.phase == Phase::kStarting;
      if (!is_starting && workload.phase != Phase::kPending) return;
      const ReasonCode code = reason_of(state(), id);
      seen.waited_for_a_cut += is_starting && code == ReasonCode::kSliceGeometry ? 1 : 0;
      if (is_starting) return;
      seen.waited_for_an_end += code == ReasonCode::kPatience ? 1 : 0;
      seen.waited_for_the_rest += explain(state(), id).text.find("a short while ago") != std::string::npos ? 1 : 0;
    });
  }

  // Only where it may be, not again before its rest is over, with all in it who have something there, and for somebody.
  void look(const Repartition& decision, const Plan& plan, Seen& seen) {
    ++seen.cuts;
    const auto gpu = static_cast<std::size_t>(decision.gpu);
    const Device device{decision.node, decision.gpu};
    const Node& node = state().node(decision.node);
    ASSERT_GT(node.recut, Duration{0});
    ASSERT_EQ(decision.takes, node.recut);
    ASSERT_EQ(decision.before, state().ledger().cut_of(decision.node, gpu)->slices);
    ASSERT_FALSE(state().being_cut().contains(device));
    const auto cut_at = cut_at_.find(device);
    const Time rested = cut_at == cut_at_.end() ? now_ : cut_at->second + Duration{10 * node.recut.ms};
    ASSERT_GE(now_, rested);
    ASSERT_NE(decision.before, decision.after);
    const auto starts = std::ranges::find(plan.starts, decision.claimant, &Start::workload);
    ASSERT_TRUE(starts != plan.starts.end() && starts->waits);
    seen.cuts_for_claimants += std::ranges::count(plan.evictions, decision.claimant, &Eviction::claimant) > 0 ? 1 : 0;
    if (!node.layouts.empty()) {
      ++seen.cut_at_once;
      ASSERT_NE(std::ranges::find(node.layouts, decision.after), node.layouts.end());
      const auto is_of_it = [&](const Repartition& each) {
        return each.node == decision.node && each.after == decision.after && each.claimant == decision.claimant;
      };
      ASSERT_EQ(std::ranges::count_if(plan.repartitions, is_of_it), node.gpus);
    }
    for (const Pod& pod : state().pods()) {
      const bool is_there = !pod.workload.is_none() && pod.node == decision.node && pod.gpus.contains(decision.gpu);
      if (!is_there || !has_room(state().workload(pod.workload).phase)) continue;
      if (std::ranges::count(plan.evictions, pod.workload, &Eviction::workload) > 0) continue;
      ASSERT_TRUE(node.layouts.empty()) << "somebody is on a node that is cut at once";
      const auto place = mig().find_place(state().request(pod.request).slice, pod.slice_start);
      ASSERT_TRUE(decision.after.contains(*place)) << "somebody's slice goes";
    }
  }

  const MigGeometry& mig() { return *mig_of(random_world_flavor(FlavorId(0))); }

  void disturb() {
    std::vector<WorkloadId> running, alive;
    state().workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (workload.phase == Phase::kRunning) running.push_back(id);
      if (workload.phase == Phase::kPending || has_room(workload.phase)) alive.push_back(id);
    });
    const std::uint64_t kind = rng_.below(12);
    const NodeId node(static_cast<std::size_t>(rng_.below(state().nodes())));
    if (kind == 0) return state().apply(NodeFailed{node});
    if (kind < 3) return state().apply(NodeRestored{node});
    if (kind < 6 && !running.empty()) return state().apply(WorkloadEnded{one_of_all(running)});
    if (kind == 6 && !alive.empty()) return state().apply(WorkloadCancelled{one_of_all(alive)});
    submit();
  }

  void submit() {
    PodRequest request;
    make_slice(request, rng_, 1);
    WorkloadShape shape{{{{request, rng_.below(4) == 0 ? 2 : 1}}}};
    shape.terms.priority = static_cast<std::int32_t>(rng_.below(2));
    if (rng_.below(3) == 0) shape.terms.grace = seconds(rng_.between(1, 3));
    if (rng_.below(2) == 0) shape.terms.run_limit = seconds(rng_.between(1, 20));
    WorkloadSubmitted event = submission(QueueId(static_cast<std::size_t>(rng_.below(state().queues().size()))), shape);
    event.at = now_;
    state().apply(event);
  }

  // Graces and limits are over in time; some of what is being cut is there.
  void pass(Seen& seen) {
    for (bool found = true; found;) {
      found = false;
      for (const WorkloadId id : state().stopping()) {
        if (state().workload(id).stop_by > now_) continue;
        state().apply(WorkloadStopped{id});
        found = true;
        break;
      }
    }
    std::vector<WorkloadId> over;
    state().workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (workload.phase == Phase::kRunning && state().end_of(id, workload.started) <= now_) over.push_back(id);
    });
    for (const WorkloadId id : over) state().apply(WorkloadOverran{id});
    const std::vector<Device> ready = state().to_recut();
    for (const Device& device : state().being_cut()) {
      const bool is_ready = std::ranges::find(ready, device) != ready.end();
      ASSERT_EQ(is_ready, !state().refusal(SlicesRecut{device.node, device.gpu}).has_value());
    }
    for (const Device& device : ready) {
      if (rng_.below(2) == 0) continue;
      state().apply(SlicesRecut{device.node, device.gpu});
      cut_at_[device] = now_;
      const std::vector<std::string> wrong = violations(state());
      ASSERT_TRUE(wrong.empty()) << wrong.front();
    }
    fail_some(seen);
    seen.lost_meanwhile += std::ranges::any_of(
        state().being_cut(), [&](const Device& device) { return !state().ledger().node(device.node).takes_work(); });
  }

  // Of nodes that are cut at once, while all of their GPUs are: they are as they were, or as somebody else had them cut.
  void fail_some(Seen& seen) {
    for (std::size_t i = 0; i < state().nodes(); ++i) {
      const Node& node = state().node(NodeId(i));
      const auto cut = std::ranges::count(state().being_cut(), NodeId(i), &Device::node);
      if (node.layouts.empty() || cut < node.gpus || rng_.below(4) > 0) continue;
      const MigPlaceSet slices = rng_.below(2) == 0 ? node.fixed_slices : node.layouts.front();
      const CutFound found{NodeId(i), slices, false, now_ + seconds(rng_.between(0, 5))};
      ASSERT_EQ(state().refusal(found), std::nullopt);
      state().apply(found);
      ++seen.failed;
      for (int gpu = 0; gpu < node.gpus; ++gpu)
        cut_at_[{NodeId(i), gpu}] = Time{found.rests_until.ms - 10 * node.recut.ms};
      const std::vector<std::string> wrong = violations(state());
      ASSERT_TRUE(wrong.empty()) << wrong.front();
    }
  }

  WorkloadId one_of_all(const std::vector<WorkloadId>& ids) {
    return ids[static_cast<std::size_t>(rng_.below(ids.size()))];
  }

  Rng rng_;
  Engine engine_;
  Time now_;
  std::map<Device, Time> cut_at_;
};

TEST(RecuttingProperty, NobodyLosesASliceAndWhoWaitsForOneBegins) {
  Seen seen;
  for (const Seed seed : property_seeds(kSeeds)) {
    SCOPED_TRACE(name_of(seed));
    History history(seed);
    for (int step = 0; step < 30; ++step) {
      history.step(seen);
      if (testing::Test::HasFailure()) return;
    }
    history.finish(seen);
    if (testing::Test::HasFailure()) return;
  }
  if (seeds_are_fresh()) return;
  const int least = static_cast<int>(std::min<std::uint64_t>(kSeeds, property_seeds(kSeeds).size()) / 50);
  EXPECT_GT(seen.cuts, least);
  EXPECT_GT(seen.cuts_for_claimants, least);
  EXPECT_GT(seen.waited_for_a_cut, least);
  EXPECT_GT(seen.waited_for_an_end, kFewSeeds ? least - 2 : least);  // few seeds come to it rarely
  EXPECT_GT(seen.waited_for_the_rest, least);
  EXPECT_GT(seen.lost_meanwhile, least);
  EXPECT_GT(seen.cut_at_once, least);
  EXPECT_GT(seen.failed, least);
}

}  // namespace berth::recutting_test
