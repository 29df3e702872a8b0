#include "fairness/rights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "fairness/gates.h"
#include "state/random_world.h"

namespace berth::rights_test {

constexpr Dim kGpu(FlavorId(0), Resource::kGpu);
constexpr Time kNow{100'000};
constexpr std::size_t kA = 0, kB = 1, kA1 = 2, kA2 = 3;

AmountList gpus(std::int64_t amount) { return {{kGpu, amount * kMilliPerGpu}}; }
WorkloadShape shape_of(std::int32_t gpus, const Terms& terms) {
  return {{{{{.gpus = gpus, .gpu_milli = kMilliPerGpu}, 1}}}, terms};
}

// What runs: a pod with so many GPUs of the only node.
struct Runs {
  std::size_t queue;
  std::int32_t gpus;
  Terms terms = {};
  Time since = Time{0};
};

// Queues a and b, and a/1 and a/2; 32 GPUs.
State world(const std::vector<Quota>& quotas, const std::vector<Runs>& running) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {});
  const QueueId parents[] = {QueueId(), QueueId(), QueueId(kA), QueueId(kA)};
  for (std::size_t i = 0; i < std::size(parents); ++i) {
    Quota quota = i < quotas.size() ? quotas[i] : Quota{};
    state.apply(QueueAdded{{.name = "queue", .parent = parents[i], .order = Order::kFifo, .quota = std::move(quota)}});
  }
  state.apply(NodesAdded{{{.name = "node", .flavor = FlavorId(0), .gpus = 32}}});
  int first_free = 0;
  for (const Runs& each : running) {
    GpuSet held;
    for (int i = 0; i < each.gpus; ++i) held.add(first_free++);
    WorkloadSubmitted submitted = submission(QueueId(each.queue), shape_of(each.gpus, each.terms));
    submitted.at = each.since;
    state.apply(WorkloadFound{submitted, {{NodeId(0), held}}, submitted.at});
  }
  return state;
}

struct Claims {
  std::size_t queue;
  std::int32_t gpus;
  Terms terms = {};
};

Victims victims_in(State& state, const Claims& claims) {
  state.apply(submission(QueueId(claims.queue), shape_of(claims.gpus, claims.terms)));
  const AmountList asked = claims.terms.best_effort ? AmountList{} : gpus(claims.gpus);
  const WorkloadId id(state.workloads().next_id().index() - 1);
  return victims_of(state, {id, QueueId(claims.queue), claims.terms, asked, kNow});
}

using Found = std::vector<std::pair<std::size_t, EvictionRule>>;

Found found_in(const Victims& victims) {
  Found found;
  for (const Victim& each : victims.takeable) found.emplace_back(each.workload.index(), each.rule);
  return found;
}

Quota floor_of(std::int64_t amount) { return {.guarantee = gpus(amount)}; }

TEST(Rights, WhoMayTakeFromWhom) {
  constexpr auto kReclaim = EvictionRule::kReclaim;
  constexpr auto kFairShare = EvictionRule::kFairShare;
  constexpr auto kPreempt = EvictionRule::kPreempt;
  const Quota never{.fair_reclaim = FairReclaim::kNever, .preempt = Preempt::kNever};
  struct Case {
    const char* what;
    std::vector<Quota> quotas;
    std::vector<Runs> running;
    Claims claims;
    Found found;  // by claim
  };
  const Case cases[] = {
      {"inside its floor it takes what is borrowed", {floor_of(8)}, {{kB, 16}}, {kA, 8}, {{0, kReclaim}}},
      {"also where it never takes by shares",
       {{.guarantee = gpus(8), .fair_reclaim = FairReclaim::kNever}},
       {{kB, 16}},
       {kA, 8},
       {{0, kReclaim}}},
      {"not what is inside the other's floor", {floor_of(8), floor_of(16)}, {{kB, 16}}, {kA, 8}, {}},
      {"of the other only what is outside of it",
       {floor_of(8), floor_of(16)},
       {{kB, 16}, {kB, 4}, {kB, 4}},
       {kA, 8},
       {{2, kReclaim}, {1, kReclaim}}},
      {"by a floor above it takes from who stands beside that, and not from a sibling",
       {floor_of(16)},
       {{kB, 16}, {kA2, 4}},
       {kA1, 12},
       {{0, kReclaim}}},
      {"by a floor of its own also what a sibling has in their common pool",
       {floor_of(24), {}, floor_of(8), never},
       {{kA2, 16}},
       {kA1, 8},
       {{0, kReclaim}}},
      {"a smaller share takes from a larger", {}, {{kB, 16}}, {kA, 8}, {{0, kFairShare}}},
      {"not from one that would then be smaller or level", {}, {{kB, 16}}, {kA, 16}, {}},
      {"nor where it is set never to", {never}, {{kB, 16}}, {kA, 8}, {}},
      {"a weight makes a share smaller", {{.weight_milli = 4000}}, {{kB, 8}}, {kA, 16}, {{0, kFairShare}}},
      {"siblings compare their own shares, not those above", {}, {{kA2, 16}, {kB, 2}}, {kA1, 8}, {{0, kFairShare}}},
      {"a higher priority takes from a lower of its queue, the lowest first",
       {},
       {{kA, 4, {.priority = 3}}, {kA, 4}, {kA, 4, {.priority = 5}}},
       {kA, 4, {.priority = 5}},
       {{1, kPreempt}, {0, kPreempt}}},
      {"covered or not", {floor_of(8)}, {{kA, 8}}, {kA, 8, {.priority = 1}}, {{0, kPreempt}}},
      {"not across queues", {never, never}, {{kB, 4}}, {kA, 4, {.priority = 9}}, {}},
      {"not if it preempts nobody", {}, {{kA, 4}}, {kA, 4, {.priority = 1, .preempts = false}}, {}},
      {"preempting nobody does not protect",
       {},
       {{kA, 4, {.preempts = false}}},
       {kA, 4, {.priority = 1}},
       {{0, kPreempt}}},
      {"not if its queue says so", {never}, {{kA, 4}}, {kA, 4, {.priority = 1}}, {}},
      {"best effort takes nothing", {}, {{kB, 16}, {kA, 4}}, {kA, 8, {.priority = 1, .best_effort = true}}, {}},
      {"and gives back first",
       {floor_of(8)},
       {{kB, 4}, {kB, 4, {.priority = 9, .best_effort = true}}},
       {kA, 8},
       {{1, kReclaim}, {0, kReclaim}}},
      {"then the lower priority",
       {floor_of(8)},
       {{kB, 4, {.priority = 2}}, {kB, 4}},
       {kA, 8},
       {{1, kReclaim}, {0, kReclaim}}},
      {"then the larger share",
       {{}, {}, {}, floor_of(8)},
       {{kB, 8}, {kA1, 12}},
       {kA2, 8},
       {{1, kReclaim}, {0, kReclaim}}},
      {"of one side the child that is furthest above, whatever it loses",
       {},
       {{kA1, 12}, {kA2, 4, {}, Time{90'000}}, {kA2, 4, {}, Time{90'000}}},
       {kB, 4},
       {{0, kFairShare}, {2, kFairShare}, {1, kFairShare}}},
      {"then what loses least",
       {floor_of(8)},
       {{kB, 4, {}, Time{0}}, {kB, 4, {}, Time{90'000}}},
       {kA, 8},
       {{1, kReclaim}, {0, kReclaim}}},
  };
  for (const Case& c : cases) {
    State state = world(c.quotas, c.running);
    const Victims victims = victims_in(state, c.claims);
    EXPECT_EQ(found_in(victims), c.found) << c.what;
    EXPECT_FALSE(victims.some_protected) << c.what;
  }
}

// Who asks so much, with those whose room it may take by rule 14.
struct Borrower {
  Borrower(State& state, QueueId queue, std::int64_t asks) : state_(state), asked_(gpus(asks)) {
    const WorkloadId id = state.workloads().next_id();
    state.apply(submission(queue, shape_of(static_cast<std::int32_t>(asks), {})));
    claimant_.emplace(Claimant{id, queue, terms_, asked_, kNow});
    victims_ = victims_of(state, *claimant_).takeable;
    std::erase_if(victims_, [](const Victim& each) { return each.rule != EvictionRule::kFairShare; });
  }

  const std::vector<Victim>& victims() const { return victims_; }
  using Set = std::vector<const Victim*>;
  Set all() const {
    Set set;
    for (const Victim& each : victims_) set.push_back(&each);
    return set;
  }

  bool may_take_together(const Set& set) {
    return without(set, [&] { return shares_allow(state_, *claimant_, set); });
  }
  bool may_take_besides(const Set& gone, const Victim& next) {
    return without(gone, [&] { return shares_allow(state_, *claimant_, gone, next); });
  }
  // One after the other, as rule 14 says of each.
  bool may_take_in_order(const Set& order) {
    QuotaLedger& quotas = state_.quotas_for_trial();
    const std::size_t mark = quotas.mark();
    const bool allowed = std::ranges::all_of(order, [&](const Victim* each) {
      const Fraction before = share_of_side(quotas, state_.flavors(), each->side, {.asked = {}});
      quotas.remove(state_.workload(each->workload).unit);
      const Fraction left = share_of_side(quotas, state_.flavors(), each->side, {.asked = {}});
      const Fraction own = share_of_side(quotas, state_.flavors(), each->claimants_side, {.asked = asked_});
      const bool initial = state_.queues()[claimant_->queue.index()].quota.fair_reclaim == FairReclaim::kInitialShare;
      return initial ? own < before : own <= left;
    });
    quotas.rollback_to(mark);
    return allowed;
  }
  bool may_take_in_some_order(Set set) {
    std::ranges::sort(set);
    do {
      if (may_take_in_order(set)) return true;
    } while (std::ranges::next_permutation(set).found);
    return false;
  }

 private:
  template <class Ask>
  bool without(const Set& gone, Ask ask) {
    QuotaLedger& quotas = state_.quotas_for_trial();
    const std::size_t mark = quotas.mark();
    for (const Victim* each : gone) quotas.remove(state_.workload(each->workload).unit);
    const bool answer = ask();
    quotas.rollback_to(mark);
    return answer;
  }

  State& state_;
  AmountList asked_;
  Terms terms_;
  std::optional<Claimant> claimant_;
  std::vector<Victim> victims_;
};

TEST(Rights, BySharesAreThoseOfASetWhoeverGoesFirst) {
  struct Case {
    const char* what;
    FairReclaim policy;
    std::vector<std::int32_t> held;
    std::int32_t asks;
    bool large;  // it alone
    bool small;
    bool both;
  };
  const Case cases[] = {
      {"before the large one goes last, there is more than the claimant's",
       FairReclaim::kInitialShare,
       {16, 8},
       8,
       true,
       true,
       true},
      {"also with hardly more", FairReclaim::kInitialShare, {16, 8}, 15, true, true, true},
      {"not with as much", FairReclaim::kInitialShare, {16, 8}, 16, true, true, false},
      {"of two alike one is enough", FairReclaim::kInitialShare, {12, 12}, 12, true, true, false},
      {"at most what the other keeps", FairReclaim::kFinalShare, {16, 8}, 8, true, true, false},
      {"or it keeps too little at once", FairReclaim::kFinalShare, {16, 8}, 12, false, true, false},
  };
  for (const Case& c : cases) {
    for (const bool large_first : {true, false}) {
      std::vector<Runs> running;
      for (const std::int32_t held : c.held) running.push_back({kB, held});
      if (!large_first) std::ranges::reverse(running);
      State state = world({{.fair_reclaim = c.policy}}, running);
      Borrower claimant(state, QueueId(kA), c.asks);
      ASSERT_EQ(claimant.victims().size(), 2u) << c.what;
      const auto of = [&](std::size_t workload) {
        return &*std::ranges::find(claimant.victims(), WorkloadId(workload), &Victim::workload);
      };
      const Victim* const large = of(large_first ? 0 : 1);
      const Victim* const small = of(large_first ? 1 : 0);
      EXPECT_EQ(claimant.may_take_together({large}), c.large) << c.what;
      EXPECT_EQ(claimant.may_take_together({small}), c.small) << c.what;
      EXPECT_EQ(claimant.may_take_together({small, large}), c.both) << c.what;
      EXPECT_EQ(claimant.may_take_together({large, small}), c.both) << c.what;
      EXPECT_EQ(claimant.may_take_besides({}, *large), c.large) << c.what;
      EXPECT_EQ(claimant.may_take_besides({}, *small), c.small) << c.what;
      EXPECT_EQ(claimant.may_take_besides({small}, *large), c.both) << c.what;
      EXPECT_EQ(claimant.may_take_besides({large}, *small), c.both) << c.what;
    }
  }
}

TEST(RightsProperty, BySharesASetGoesIfItMayInSomeOrder) {
  int together = 0, refused = 0, by_order = 0;
  for (const Seed seed : property_seeds(kFewSeeds ? 1'000 : 10'000)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    std::vector<Quota> quotas(4);
    for (Quota& quota : quotas) {
      quota.fair_reclaim = rng.below(3) == 0 ? FairReclaim::kFinalShare : FairReclaim::kInitialShare;
      quota.weight_milli = one_of<std::int64_t>(rng, {500, 1000, 1000, 3000});
      if (rng.below(4) == 0) quota.guarantee = gpus(rng.between(1, 4));
    }
    std::vector<Runs> running;
    for (std::int64_t left = rng.between(2, 7); left > 0; --left) {
      running.push_back({one_of(rng, {kB, kB, kA1, kA2, kA2}),
                         static_cast<std::int32_t>(rng.between(1, 4)),
                         {.priority = static_cast<std::int32_t>(rng.below(2))}});
    }
    State state = world(quotas, running);
    Borrower claimant(state, QueueId(kA1), rng.between(1, 12));
    if (claimant.victims().size() > 5) continue;
    for (std::uint32_t bits = 1; bits < std::uint32_t{1} << claimant.victims().size(); ++bits) {
      Borrower::Set set;
      for (std::size_t i = 0; i < claimant.victims().size(); ++i) {
        if (((bits >> i) & 1) != 0) set.push_back(&claimant.victims()[i]);
      }
      const bool allowed = claimant.may_take_together(set);
      ASSERT_EQ(allowed, claimant.may_take_in_some_order(set));
      ++(allowed ? together : refused);
      by_order += allowed != claimant.may_take_in_order(set) ? 1 : 0;
      const Victim* const last = set.back();
      set.pop_back();
      const bool one_more = claimant.may_take_together(set) && claimant.may_take_besides(set, *last);
      ASSERT_TRUE(allowed || !one_more);
    }
  }
  EXPECT_GT(together, 100);
  EXPECT_GT(refused, 100);
  EXPECT_GT(by_order, 20) << "in the order of claims they might not go";
}

GpuSet gpus_from(int first, int count) {
  GpuSet set;
  for (int i = 0; i < count; ++i) set.add(first + i);
  return set;
}

TEST(Rights, ByShareAWorkloadLosesItsRoomOnceBetweenTwoPiecesOfNews) {
  State state = world({}, {{kB, 16}});
  const WorkloadId victim(0), first(1), second(2);
  for (int i = 0; i < 2; ++i) state.apply(submission(QueueId(kA), shape_of(4, {})));
  const AmountList asked = gpus(4);
  const Terms terms;
  const auto taken_by = [&](WorkloadId claimant) {
    return found_in(victims_of(state, {claimant, QueueId(kA), terms, asked, kNow}));
  };
  EXPECT_EQ(taken_by(second), (Found{{0, EvictionRule::kFairShare}}));
  state.adopt({.now = kNow,
               .revision = state.revision(),
               .evictions = {{victim, first, EvictionRule::kFairShare, kNow}},
               .starts = {{first, 0, {{NodeId(0), gpus_from(0, 4)}}}}});
  state.adopt({.now = kNow, .revision = state.revision(), .starts = {{victim, 0, {{NodeId(0), gpus_from(16, 16)}}}}});
  EXPECT_EQ(taken_by(second), Found{}) << "it has found room again";
  EXPECT_EQ(found_in(victims_in(state, {kA, 4})), (Found{{0, EvictionRule::kFairShare}})) << "somebody has come";
}

// a/2 gives its room for b; it may take back from a/1, and not from b.
TEST(Rights, WhoLostHisRoomByShareTakesByItOnTheSideThatLost) {
  const Quota heavy{.weight_milli = 8000};
  State state = world({heavy}, {{kA1, 16}, {kA2, 8}, {kB, 6}});
  const WorkloadId victim(1), taker(3);
  state.apply(submission(QueueId(kB), shape_of(8, {})));
  const AmountList asked = gpus(8);
  const Terms terms;
  const auto taken = [&] { return found_in(victims_of(state, {victim, QueueId(kA2), terms, asked, kNow})); };
  state.adopt({.now = kNow,
               .revision = state.revision(),
               .evictions = {{victim, taker, EvictionRule::kFairShare, kNow}},
               .starts = {{taker, 0, {{NodeId(0), gpus_from(16, 8)}}}}});
  EXPECT_EQ(taken(), (Found{{0, EvictionRule::kFairShare}}));
  state.apply(submission(QueueId(kB), shape_of(1, {})));
  EXPECT_EQ(taken().size(), 3u) << "somebody has come";
}

TEST(Rights, ClaimsOfOneShareGoByTheSharesBelow) {
  const auto claim = [](std::vector<Fraction> inside) {
    return Claim{.coverage = 0, .priority = 0, .share = Fraction(4, 8), .inside = std::move(inside)};
  };
  // The weakest first; those of one group are equal.
  const std::vector<std::vector<Claim>> groups = {
      {claim({}), claim({Fraction(4, 8)}), claim({Fraction(1, 2), Fraction(2, 4)})},
      {claim({Fraction(4, 8), Fraction(1, 8)})},
      {claim({Fraction(3, 8)}), claim({Fraction(3, 8), Fraction(3, 8)})},
      {claim({Fraction(3, 8), Fraction(2, 8)}), claim({Fraction(3, 8), Fraction(2, 8), Fraction(1, 4)})},
      {claim({Fraction(1, 8), Fraction(1, 8)})},
  };
  for (std::size_t a = 0; a < groups.size(); ++a) {
    for (std::size_t b = 0; b < groups.size(); ++b) {
      for (const Claim& one : groups[a]) {
        for (const Claim& other : groups[b]) EXPECT_EQ(one <=> other, a <=> b) << a << ", " << b;
      }
    }
  }
}

TEST(Rights, WhatABorrowerSetForItselfHoldsUpToTheLendersTime) {
  const auto in_s = [](std::int64_t s) { return kNow + seconds(s); };
  const Quota owner = {.guarantee = gpus(8), .reclaim_within = seconds(60)};
  struct Case {
    const char* what;
    Quota victims_queue;
    Terms terms;
    std::int64_t ran_s;
    Time stop_by;
  };
  const Case cases[] = {
      {"nothing: at once", {}, {}, 50, kNow},
      {"a grace", {}, {.grace = seconds(10)}, 50, in_s(10)},
      {"a grace that is too long", {}, {.grace = seconds(100)}, 50, in_s(60)},
      {"what is left of its least time", {.min_runtime = seconds(70)}, {}, 50, in_s(20)},
      {"a grace that is longer", {.min_runtime = seconds(70)}, {.grace = seconds(30)}, 50, in_s(30)},
      {"a least time that is too long", {.min_runtime = seconds(500)}, {}, 50, in_s(60)},
      {"a least time that is over", {.min_runtime = seconds(40)}, {}, 50, kNow},
      {"a disruption budget", {}, {.disruption_permille = 1}, 50, in_s(60)},
  };
  for (const Case& c : cases) {
    State state = world({owner, c.victims_queue}, {{kB, 16, c.terms, Time{kNow.ms - c.ran_s * 1000}}});
    const Victims victims = victims_in(state, {kA, 8});
    ASSERT_EQ(victims.takeable.size(), 1u) << c.what;
    EXPECT_EQ(victims.takeable[0].stop_by, c.stop_by) << c.what;
    EXPECT_EQ(victims.takeable[0].lost_gpu_s, 16 * c.ran_s) << c.what;
  }
}

// What runs is in a/1.
TEST(Rights, TheLendersTimeIsTheShortestOfThoseWhoCouldTakeItBack) {
  struct Case {
    const char* what;
    std::vector<Quota> quotas;
    std::size_t claimants;
    std::int64_t within_s;
  };
  const Quota slow_owner = {.guarantee = gpus(4), .reclaim_within = seconds(60)};
  const Quota quick_owner = {.guarantee = gpus(4), .reclaim_within = seconds(20)};
  const Quota quick = {.reclaim_within = seconds(20)};
  const Case cases[] = {
      {"of two owners, whoever comes", {{}, slow_owner, {}, quick_owner}, kB, 20},
      {"who has no floor is no owner", {{}, slow_owner, {}, quick}, kB, 60},
      {"against other borrowers it is the owners', too", {{}, slow_owner, {}, quick}, kA2, 60},
      {"against its own queue, too", {{}, slow_owner, quick}, kA1, 60},
      {"where nobody could, nobody's", {{}, {}, {}, quick}, kA2, 1000},
  };
  for (const Case& c : cases) {
    State state = world(c.quotas, {{kA1, 12, {.grace = seconds(1000)}}});
    const Victims victims = victims_in(state, {c.claimants, 4, {.priority = 1}});
    ASSERT_EQ(victims.takeable.size(), 1u) << c.what;
    EXPECT_EQ(victims.takeable[0].stop_by, kNow + seconds(c.within_s)) << c.what;
  }
}

TEST(Rights, InsideItsFloorAndWhereNobodyLendsWhatItSetForItselfHoldsFully) {
  struct Case {
    const char* what;
    Duration min_runtime;
    Terms terms;
    std::optional<Time> stop_by;
  };
  const Case cases[] = {
      {"its whole grace", seconds(0), {.grace = seconds(500)}, kNow + seconds(500)},
      {"its least time", seconds(70), {}, std::nullopt},
      {"its least time, when it is over", seconds(50), {}, kNow},
      {"its disruption budget", seconds(0), {.disruption_permille = 1000}, std::nullopt},
      {"its grace, to its run limit", seconds(0), {.grace = seconds(500), .run_limit = seconds(100)}, Time{150'000}},
  };
  for (const Case& c : cases) {
    const auto check = [&](const Quota& quota, const Claims& claims, const char* where) {
      State state = world({quota}, {{kA, 8, c.terms, Time{50'000}}});
      const Victims victims = victims_in(state, claims);
      EXPECT_EQ(victims.some_protected, !c.stop_by) << c.what << where;
      ASSERT_EQ(victims.takeable.size(), c.stop_by ? 1u : 0u) << c.what << where;
      if (c.stop_by) {
        EXPECT_EQ(victims.takeable[0].stop_by, *c.stop_by) << c.what << where;
      }
    };
    check({.guarantee = gpus(8), .min_runtime = c.min_runtime}, {kA, 8, {.priority = 1}}, ", inside its floor");
    check({.min_runtime = c.min_runtime}, {kA, 8, {.priority = 1}}, ", in a queue without a floor");
    check({.min_runtime = c.min_runtime}, {kB, 4}, ", against another borrower");
  }
}

TEST(Rights, LostWorkCountsFromTheLastReportedCheckpointAndIsCapped) {
  State state = world({}, {{kB, 2, {}, Time{1000}}});
  EXPECT_EQ(lost_by_own_pods_gpu_s(state, WorkloadId(0), Time{61'000}), 120);
  EXPECT_EQ(lost_by_own_pods_gpu_s(state, WorkloadId(0), Time{1000} + seconds(86'400)), 2 * 4 * 3600);
  state.apply(CheckpointReported{WorkloadId(0), Time{1000}});
  EXPECT_EQ(lost_by_own_pods_gpu_s(state, WorkloadId(0), Time{1000} + seconds(86'400)), 2 * 86'400) << "at once";
  state.apply(CheckpointReported{WorkloadId(0), Time{41'000}});
  EXPECT_EQ(lost_by_own_pods_gpu_s(state, WorkloadId(0), Time{61'000}), 40);
  EXPECT_EQ(lost_by_own_pods_gpu_s(state, WorkloadId(0), Time{41'000} + seconds(86'400)), 2 * 86'400)
      << "its own word holds";
}

// ---- property ------------------------------------------------------------------------------------------------------

Quota random_quota(Rng& rng) {
  Quota quota;
  if (rng.below(2) == 0) quota.guarantee = gpus(rng.between(0, 8));
  quota.weight_milli = one_of<std::int64_t>(rng, {500, 1000, 1000, 3000});
  quota.fair_reclaim = static_cast<FairReclaim>(rng.below(3));
  quota.preempt = static_cast<Preempt>(rng.below(2));
  quota.min_runtime = seconds(one_of<std::int64_t>(rng, {0, 0, 1000}));
  return quota;
}

Terms random_terms(Rng& rng) {
  return {.priority = static_cast<std::int32_t>(rng.below(3)),
          .preempts = rng.below(4) != 0,
          .best_effort = rng.below(5) == 0,
          .disruption_permille = rng.below(5) == 0 ? 500 : 0};
}

TEST(RightsProperty, AGlanceNeverMissesARight) {
  for (const Seed seed : property_seeds(400)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    std::vector<Quota> quotas;
    for (int i = 0; i < 4; ++i) quotas.push_back(random_quota(rng));
    std::vector<Runs> running;
    for (std::int64_t left = rng.between(0, 6); left > 0; --left) {
      running.push_back({rng.below(4), static_cast<std::int32_t>(rng.between(1, 4)), random_terms(rng)});
    }
    State state = world(quotas, running);
    for (int i = 0; i < 10; ++i) {
      const Claims claims{rng.below(4), static_cast<std::int32_t>(rng.between(1, 8)), random_terms(rng)};
      const Victims victims = victims_in(state, claims);
      if (victims.takeable.empty() && !victims.some_protected) continue;
      const RightsAtAGlance glance(state);
      const QueueId queue(claims.queue);
      ASSERT_TRUE(glance.may_take(queue, claims.terms, gpus(claims.gpus)));
      ASSERT_TRUE(glance.any_in(queue));
    }
  }
}

}  // namespace berth::rights_test
