#include "cycle/repacking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/property_seeds.h"
#include "cycle/defragment.h"
#include "cycle/pieces.h"
#include "fairness/gates.h"
#include "state/fragments.h"
#include "state/invariants.h"

namespace berth::repacking_test {

// What any arrangement of those who consent comes to: all places of all of their pods, tried. GPUs are counted, since on nodes that
// nobody shares whoever stays keeps his own, and the others are alike.
class AllArrangements {
 public:
  AllArrangements(const State& state, std::int64_t gpus, std::int64_t pods_max) : gpus_(gpus), pods_max_(pods_max) {
    for (std::size_t node = 0; node < state.nodes(); ++node) {
      free_.push_back(state.ledger().node(NodeId(node)).whole_gpus);
    }
    movers_ = movers_of(state, kNow);
    for (std::size_t each = 0; each < movers_.size(); ++each) {
      for_each_pod(state, movers_[each].workload, [&](const Pod& pod) {
        pods_.push_back({each, pod.node.index(), pod.gpus.size()});
        free_[pod.node.index()] += pod.gpus.size();
      });
    }
    away_.assign(movers_.size(), 0);
  }

  bool are_few() const { return pods_.size() <= 6; }

  // Room for the most pods first, then the least lost.
  PlanMeasure best() {
    found_ = {-1, 0, 0};
    place(0);
    return found_;
  }

 private:
  struct OnePod {
    std::size_t mover = 0;
    std::size_t home = 0;
    std::int64_t gpus = 0;
  };

  void place(std::size_t at) {
    if (at == pods_.size()) return judge();
    const OnePod& pod = pods_[at];
    for (std::size_t node = 0; node < free_.size(); ++node) {
      if (free_[node] < pod.gpus) continue;
      free_[node] -= pod.gpus;
      away_[pod.mover] += node == pod.home ? 0 : 1;
      place(at + 1);
      away_[pod.mover] -= node == pod.home ? 0 : 1;
      free_[node] += pod.gpus;
    }
  }

  void judge() {
    PlanMeasure now;
    for (const std::int64_t free : free_) now.rooms += free / gpus_;
    now.rooms = std::min(now.rooms, pods_max_);
    for (std::size_t each = 0; each < movers_.size(); ++each) {
      if (away_[each] == 0) continue;
      ++now.moves;
      now.lost_gpu_s += movers_[each].lost_gpu_s;
    }
    const auto order = [](const PlanMeasure& each) { return std::tuple(-each.rooms, each.lost_gpu_s, each.moves); };
    if (found_.rooms < 0 || order(now) < order(found_)) found_ = now;
  }

  std::int64_t gpus_;
  std::int64_t pods_max_;
  std::vector<Mover> movers_;
  std::vector<OnePod> pods_;
  std::vector<std::int64_t> free_;
  std::vector<std::int64_t> away_;  // of each mover's pods
  PlanMeasure found_;
};

PlanMeasure measure_of(const Defragmentation& made) {
  return {made.pods_after, made.lost_gpu_s, std::ssize(made.plan.migrations)};
}

// How often a search finds what the best arrangement comes to, and how far it is from that in all.
struct Distance {
  std::int64_t attempts;
  std::int64_t optimal = 0;
  std::int64_t rooms_short = 0;
  Wide lost_beyond_gpu_s = 0;  // where there is as much room

  void add(const PlanMeasure& found, const PlanMeasure& best) {
    const bool as_much = found.rooms == best.rooms;
    rooms_short += best.rooms - found.rooms;
    if (as_much) lost_beyond_gpu_s += found.lost_gpu_s - best.lost_gpu_s;
    optimal += as_much && found.lost_gpu_s == best.lost_gpu_s ? 1 : 0;
  }
};

constexpr std::uint64_t kSeeds = kFewSeeds ? 60 : 600;

// It prints what docs/results.md says.
TEST(RepackingProperty, FindsNearlyAlwaysTheBestOfAllArrangements) {
  std::vector<Distance> distances = {{0}, {16}, {64}, {256}, {1024}};
  std::int64_t fleets = 0;
  std::int64_t best_rooms = 0;
  for (const Seed seed : property_seeds(4 * kSeeds)) {
    SCOPED_TRACE(name_of(seed));
    Pieces pieces(seed);
    const std::int32_t gpus = one_of(pieces.rng(), {4, 8});
    AllArrangements all(pieces.state(), gpus, pods_that_could_fit(pieces.state(), gpus));
    if (!all.are_few()) continue;
    const PlanMeasure best = all.best();
    const PlanMeasure now{pods_that_fit(pieces.state(), gpus), 0, 0};
    if (best == now) continue;  // nothing to find
    ++fleets;
    best_rooms += best.rooms - now.rooms;
    for (Distance& each : distances) {
      // All that makes room pays.
      const Defragmentation made = plan_defragmentation(
          pieces.state(), kNow, {.gpus = gpus, .horizon = {10'000 * 3'600'000LL}, .attempts = each.attempts});
      const PlanMeasure found = measure_of(made);
      EXPECT_LE(found.rooms, best.rooms);
      EXPECT_TRUE(found.rooms < best.rooms || found.lost_gpu_s >= best.lost_gpu_s);
      each.add(found, best);
    }
    if (HasFailure()) return;
  }
  for (const Distance& each : distances) {
    std::cout << each.attempts << " attempts: " << each.optimal << " of " << fleets << " fleets as good as the best, "
              << each.rooms_short << " of " << best_rooms << " pods without room, "
              << static_cast<std::int64_t>(each.lost_beyond_gpu_s) << " GPU-seconds beyond the least\n";
  }
  ASSERT_GT(fleets, 0);
  EXPECT_LT(distances.front().optimal, fleets) << "there is something to improve";
  EXPECT_GT(100 * distances.back().optimal, 97 * fleets);
}

TEST(RepackingProperty, MoreEffortIsNeverWorseAndTheSameTwice) {
  std::int64_t better = 0;
  for (const Seed seed : property_seeds(kSeeds)) {
    SCOPED_TRACE(name_of(seed));
    Pieces pieces(seed, 8);
    State& state = pieces.state();
    const std::uint64_t hash = state.hash();
    DefragmentOptions options{.gpus = one_of(pieces.rng(), {2, 4, 8})};
    const Defragmentation first = plan_defragmentation(state, kNow, options);
    PlanMeasure before = measure_of(first);
    for (const std::int64_t attempts : {8, 64}) {
      options.attempts = attempts;
      const Defragmentation made = plan_defragmentation(state, kNow, options);
      EXPECT_EQ(state.hash(), hash) << "only shown";
      EXPECT_EQ(plan_defragmentation(state, kNow, options).plan, made.plan);
      const PlanMeasure now = measure_of(made);
      EXPECT_GE(now.rooms, before.rooms);
      EXPECT_TRUE(now.rooms > before.rooms || now.lost_gpu_s <= before.lost_gpu_s);
      EXPECT_TRUE(now.rooms > before.rooms || now.lost_gpu_s < before.lost_gpu_s || now.moves <= before.moves);
      EXPECT_GE(made.unlocked_gpu_s - made.lost_gpu_s, first.unlocked_gpu_s - first.lost_gpu_s);
      better += now == before ? 0 : 1;
      before = now;
      State after = state.fork();
      after.adopt(made.plan);
      ASSERT_EQ(violations(after), std::vector<std::string>());
      EXPECT_EQ(pods_that_fit(after, options.gpus), made.pods_after);
      for (const Migration& each : made.plan.migrations) {
        EXPECT_TRUE(state.shape(state.workload(each.start.workload).shape).terms.movable);
      }
    }
    if (HasFailure()) return;
  }
  EXPECT_GE(better, static_cast<std::int64_t>(property_seeds(kSeeds).size() / 60));
}

// Where all arrangements have none with room for somebody, he does not start; where one has, nearly always he does.
TEST(RepackingProperty, WhoCanStartByMovesNearlyAlwaysDoes) {
  std::int64_t could = 0, by_the_first = 0, by_more = 0;
  for (const Seed seed : property_seeds(2 * kSeeds)) {
    SCOPED_TRACE(name_of(seed));
    Pieces pieces(seed);
    State& state = pieces.state();
    const std::int32_t gpus = one_of(pieces.rng(), {4, 8});
    AllArrangements all(state, gpus, 1);
    if (!all.are_few() || pods_that_fit(state, gpus) > 0) continue;
    const PlanMeasure best = all.best();
    const WorkloadId claimant = pieces.submit(pods_of(gpus));
    const Shape& shape = state.shape(state.workload(claimant).shape);
    const AmountList asked = asked_by(state, state.workload(claimant).queue, shape, 0);
    const auto moved_by = [&](std::int64_t attempts) {
      Trial trial(state.ledger_for_trial(), state.quotas_for_trial());
      const std::uint64_t before = state.hash();
      const auto moved = room_by_moving(state, trial, pieces.engine().index, Vacating(state),
                                        {claimant, QueueId(0), shape.terms, asked, kNow}, 0, attempts);
      EXPECT_TRUE(moved || state.hash() == before) << "left as it was";
      return moved;
    };
    const auto first = moved_by(0);
    const auto more = moved_by(kRepackAttempts);
    EXPECT_TRUE(!first || more) << "never worse";
    EXPECT_TRUE(!first || !more || lost_gpu_s(more->migrations) <= lost_gpu_s(first->migrations));
    EXPECT_TRUE(!more || lost_gpu_s(more->migrations) >= best.lost_gpu_s);
    EXPECT_TRUE(!more || best.rooms > 0);
    could += best.rooms;
    by_the_first += first ? 1 : 0;
    by_more += more ? 1 : 0;
    if (HasFailure()) return;
  }
  std::cout << could << " could start by moves: " << by_the_first << " by the first plan, " << by_more << " by more\n";
  EXPECT_LT(by_the_first, could) << "there is something to improve";
  EXPECT_GT(100 * by_more, 98 * could);
}

}  // namespace berth::repacking_test
