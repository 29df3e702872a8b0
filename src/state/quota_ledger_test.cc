#include "state/quota_ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "state/random_world.h"

namespace berth::quota_ledger_test {

constexpr std::size_t kFlavors = 2;
constexpr Dim kGpu(FlavorId(0), Resource::kGpu);
constexpr Dim kCpu(FlavorId(0), Resource::kCpu);
constexpr Dim kOtherGpu(FlavorId(1), Resource::kGpu);
constexpr int kNowhere = -1;

Queue queue_below(int parent, AmountList guarantee) {
  return {.name = "queue",
          .parent = parent < 0 ? QueueId() : QueueId(static_cast<std::size_t>(parent)),
          .order = Order::kFifo,
          .quota = {.guarantee = std::move(guarantee)}};
}

AmountsByDim plenty() { return AmountsByDim(Dim::count(kFlavors), 1000); }

void use_tree(QuotaLedger& ledger, const std::vector<Queue>& queues, const AmountsByDim& capacity) {
  ledger.keep();
  ledger.replace_tree(std::make_shared<const QuotaTree>(queues, capacity), capacity);
  ledger.budgets().set_budgets(queues);
}

int number_of(QueueId queue) { return queue.is_none() ? kNowhere : static_cast<int>(queue.index()); }

// research has 24 GPUs, 16 of them its children's: the rest is its pool. product stands beside it.
constexpr int kResearch = 0, kNlp = 1, kVision = 2, kProduct = 3;
std::vector<Queue> two_houses() {
  return {queue_below(kNowhere, {{kGpu, 24}}), queue_below(kResearch, {{kGpu, 8}}), queue_below(kResearch, {{kGpu, 8}}),
          queue_below(kNowhere, {{kGpu, 8}})};
}

// A unit as it comes, in the order of the list, and where it is covered in the end.
struct Coming {
  int queue;
  AmountList held;
  int covered_at;
  std::int32_t priority = 0;
  bool may_be_covered = true;
  Time end = kForever;
};

AmountList gpus(std::int64_t amount) { return {{kGpu, amount}}; }

std::vector<UnitId> add_all(QuotaLedger& ledger, const std::vector<Coming>& units) {
  std::vector<UnitId> ids;
  for (const Coming& each : units) {
    ids.push_back(ledger.add({.workload = WorkloadId(ids.size()),
                              .queue = QueueId(static_cast<std::size_t>(each.queue)),
                              .priority = each.priority,
                              .admitted = Time{static_cast<std::int64_t>(ids.size())},
                              .may_be_covered = each.may_be_covered,
                              .end = each.end,
                              .covered_at = {}},
                             each.held));
  }
  return ids;
}

TEST(QuotaLedger, CoversByRulesFiveAndSix) {
  struct Case {
    const char* what;
    std::vector<Coming> units;
    std::vector<std::size_t> gone;  // after all have come
  };
  const Case cases[] = {
      {"in its own queue", {{kNlp, gpus(8), kNlp}}, {}},
      {"then in the pool above, then nowhere",
       {{kNlp, gpus(8), kNlp}, {kNlp, gpus(16), kResearch}, {kNlp, gpus(1), kNowhere}},
       {}},
      {"the pool gives way to a child's own, the last first",
       {{kNlp, gpus(8), kNlp}, {kNlp, gpus(8), kResearch}, {kNlp, gpus(8), kNowhere}, {kVision, gpus(8), kVision}},
       {}},
      {"of the pool the lower priority goes, though it came first",
       {{kNlp, gpus(8), kNlp},
        {kNlp, gpus(8), kNowhere, 0},
        {kNlp, gpus(8), kResearch, 5},
        {kVision, gpus(8), kVision}},
       {}},
      {"nobody goes where there is just room for both, though a higher priority waits",
       {{kNlp, gpus(16), kResearch}, {kNlp, gpus(16), kNowhere, 5}, {kVision, gpus(8), kVision}},
       {}},
      {"who has to go leaves room for who fits it",
       {{kNlp, gpus(8), kNlp}, {kNlp, gpus(16), kNowhere}, {kNlp, gpus(4), kResearch}, {kVision, gpus(8), kVision}},
       {}},
      {"what does not fit whole is outside whole", {{kProduct, gpus(6), kProduct}, {kProduct, gpus(4), kNowhere}}, {}},
      {"a later, smaller one uses the rest",
       {{kProduct, gpus(6), kProduct}, {kProduct, gpus(4), kNowhere}, {kProduct, gpus(2), kProduct}},
       {}},
      {"a later one of higher priority demotes nobody",
       {{kProduct, gpus(8), kProduct, 0}, {kProduct, gpus(8), kNowhere, 9}},
       {}},
      {"what comes free covers the higher priority first",
       {{kProduct, gpus(8), kNowhere}, {kProduct, gpus(8), kNowhere, 0}, {kProduct, gpus(8), kProduct, 5}},
       {0}},
      {"then who came first",
       {{kProduct, gpus(8), kNowhere}, {kProduct, gpus(8), kProduct}, {kProduct, gpus(8), kNowhere}},
       {0}},
      {"whoever does not fit stands in nobody's way",
       {{kProduct, gpus(6), kNowhere}, {kProduct, gpus(9), kNowhere, 5}, {kProduct, gpus(8), kProduct}},
       {0}},
      {"who was in the pool goes down to its own floor, and the pool takes the next",
       {{kNlp, gpus(8), kNowhere}, {kNlp, gpus(8), kNlp}, {kNlp, gpus(8), kResearch}, {kNlp, gpus(8), kResearch}},
       {0}},
      {"resources without a floor are not looked at", {{kProduct, {{kGpu, 8}, {kCpu, 1'000'000}}, kProduct}}, {}},
      {"who asks none of what has a floor is not inside it",
       {{kProduct, {{kCpu, 1}}, kNowhere}, {kProduct, {}, kNowhere}},
       {}},
      {"another flavor of the resource has no floor there", {{kProduct, {{kOtherGpu, 1}}, kNowhere}}, {}},
      {"best effort is never covered", {{kProduct, gpus(8), kNowhere, 0, false}, {kProduct, gpus(8), kProduct}}, {}},
  };
  for (const Case& c : cases) {
    QuotaLedger ledger;
    use_tree(ledger, two_houses(), plenty());
    const std::vector<UnitId> ids = add_all(ledger, c.units);
    for (const std::size_t each : c.gone) ledger.remove(ids[each]);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (std::count(c.gone.begin(), c.gone.end(), i) > 0) continue;
      EXPECT_EQ(number_of(ledger.unit(ids[i]).covered_at), c.units[i].covered_at) << c.what << ": unit " << i;
    }
  }
}

TEST(QuotaLedger, FloorsThatFallUncoverNobodyAndFloorsThatRiseCoverMore) {
  QuotaLedger ledger;
  use_tree(ledger, two_houses(), plenty());
  const auto ids = add_all(ledger, {{kProduct, gpus(8), kProduct}, {kProduct, gpus(2), kNowhere}});
  AmountsByDim short_by_half = plenty();
  short_by_half[kGpu.index()] = 16;
  use_tree(ledger, two_houses(), short_by_half);
  EXPECT_EQ(ledger.tree().floor(QueueId(kProduct))[kGpu.index()], 4);
  EXPECT_EQ(number_of(ledger.unit(ids[0]).covered_at), kProduct);
  EXPECT_FALSE(ledger.fits_floor(QueueId(kProduct), gpus(1), kForever));

  std::vector<Queue> queues = two_houses();
  queues[kProduct].quota.guarantee = {{kGpu, 10}};
  use_tree(ledger, queues, plenty());
  EXPECT_EQ(number_of(ledger.unit(ids[1]).covered_at), kProduct);
}

TEST(QuotaLedger, OfAPoolWhoseFloorHasFallenOnlyAsMuchGoesAsComes) {
  QuotaLedger ledger;
  use_tree(ledger, two_houses(), plenty());
  const auto ids = add_all(ledger, {{kNlp, gpus(10), kResearch}, {kNlp, gpus(9), kResearch}, {kNlp, gpus(2), kNlp}});
  AmountsByDim short_by_half = plenty();
  short_by_half[kGpu.index()] = 16;
  use_tree(ledger, two_houses(), short_by_half);
  add_all(ledger, {{kVision, gpus(4), kVision}});
  EXPECT_EQ(number_of(ledger.unit(ids[0]).covered_at), kResearch);
  EXPECT_EQ(number_of(ledger.unit(ids[1]).covered_at), kNowhere);
  EXPECT_EQ(number_of(ledger.unit(ids[2]).covered_at), kNlp);
}

TEST(QuotaLedger, WhoIsPushedUpIsJudgedAnewByWhatTheFloorBelowDidNotLookAt) {
  constexpr int kCompany = 0, kTeam = 1, kSpeech = 2, kText = 3;
  const std::vector<Queue> queues = {queue_below(kNowhere, {{kGpu, 24}, {kCpu, 4}}), queue_below(kCompany, gpus(16)),
                                     queue_below(kTeam, gpus(8)), queue_below(kTeam, gpus(8))};
  const auto settle = [&](std::int64_t cpus, int at) {
    QuotaLedger ledger;
    use_tree(ledger, queues, plenty());
    const auto ids = add_all(ledger, {{kSpeech, gpus(8), kSpeech}, {kSpeech, {{kGpu, 8}, {kCpu, cpus}}, kTeam}});
    EXPECT_EQ(number_of(ledger.unit(ids[1]).covered_at), kTeam) << "the team was promised no CPUs";
    add_all(ledger, {{kText, gpus(8), kText}});
    EXPECT_EQ(number_of(ledger.unit(ids[1]).covered_at), at) << cpus;
  };
  settle(4, kCompany);
  settle(5, kNowhere);
}

TEST(QuotaLedger, WhoIsPushedUpTwiceBringsAllThatAFloorOnHisWayDidNotLookAt) {
  constexpr int kHouse = 0, kCompany = 1, kTeam = 2, kSpeech = 3;
  constexpr Dim kMemory(FlavorId(0), Resource::kMemory);
  const auto settle = [&](std::int64_t cpus, std::int64_t memory, int at) {
    const std::vector<Queue> queues = {queue_below(kNowhere, {{kGpu, 100}, {kCpu, cpus}, {kMemory, memory}}),
                                       queue_below(kHouse, {{kGpu, 24}, {kCpu, 4}}), queue_below(kCompany, gpus(8)),
                                       queue_below(kTeam, gpus(8))};
    QuotaLedger ledger;
    use_tree(ledger, queues, plenty());
    const auto ids = add_all(ledger, {{kTeam, {{kGpu, 8}, {kCpu, 5}, {kMemory, 5}}, kTeam}});
    EXPECT_EQ(number_of(ledger.unit(ids[0]).covered_at), kTeam) << "the team was promised GPUs alone";
    add_all(ledger, {{kSpeech, gpus(8), kSpeech}});
    EXPECT_EQ(number_of(ledger.unit(ids[0]).covered_at), at) << cpus << " CPUs, " << memory << " MiB";
  };
  settle(5, 5, kHouse);
  settle(5, 4, kNowhere);
  settle(4, 5, kNowhere);
}

// Whose own floor has risen is no news to the one where he was; whom he pushes up to it is.
TEST(QuotaLedger, WhoIsPushedUpByOneWhoWasInsideAboveIsJudgedThere) {
  constexpr int kCompany = 0, kTeam = 1, kSpeech = 2;
  const auto settle = [&](std::int64_t cpus, int at) {
    std::vector<Queue> queues = {queue_below(kNowhere, {{kGpu, 24}, {kCpu, 4}}), queue_below(kCompany, gpus(8)),
                                 queue_below(kTeam, gpus(0))};
    QuotaLedger ledger;
    use_tree(ledger, queues, plenty());
    const auto ids = add_all(ledger, {{kTeam, {{kGpu, 8}, {kCpu, cpus}}, kTeam}, {kSpeech, gpus(8), kCompany}});
    EXPECT_EQ(number_of(ledger.unit(ids[1]).covered_at), kCompany);
    queues[kSpeech].quota.guarantee = gpus(8);
    use_tree(ledger, queues, plenty());
    EXPECT_EQ(number_of(ledger.unit(ids[1]).covered_at), kSpeech);
    EXPECT_EQ(number_of(ledger.unit(ids[0]).covered_at), at) << cpus;
  };
  settle(4, kCompany);
  settle(5, kNowhere);
}

// What was inside the floor above already is no news there, also when that has fallen below what is in it.
TEST(QuotaLedger, WhoIsPushedUpBringsNothingElse) {
  constexpr int kCompany = 0, kTeam = 1, kSpeech = 2, kText = 3, kOther = 4;
  std::vector<Queue> queues = {queue_below(kNowhere, {{kGpu, 32}, {kCpu, 4}}), queue_below(kCompany, gpus(16)),
                               queue_below(kTeam, gpus(8)), queue_below(kTeam, gpus(8)), queue_below(kCompany, {})};
  QuotaLedger ledger;
  use_tree(ledger, queues, plenty());
  const auto ids = add_all(ledger, {{kSpeech, gpus(8), kSpeech},
                                    {kSpeech, {{kGpu, 8}, {kCpu, 4}}, kTeam},
                                    {kOther, gpus(8), kCompany},
                                    {kOther, gpus(8), kCompany}});
  queues[kCompany].quota.guarantee[0].amount = 16;
  use_tree(ledger, queues, plenty());
  add_all(ledger, {{kText, gpus(8), kText}});
  EXPECT_EQ(number_of(ledger.unit(ids[1]).covered_at), kCompany) << "pushed up";
  EXPECT_EQ(number_of(ledger.unit(ids[2]).covered_at), kCompany) << "as much goes as came";
  EXPECT_EQ(number_of(ledger.unit(ids[3]).covered_at), kNowhere) << "last in, first out";
}

TEST(QuotaLedger, WouldCoverWithoutOthersAsIfTheyWereGone) {
  std::vector<Queue> first = two_houses(), second = first;
  second[kNlp].quota.guarantee = gpus(4);
  const auto tree = [](const std::vector<Queue>& queues) {
    return std::make_shared<const QuotaTree>(queues, plenty());
  };
  QuotaLedger ledger;
  ledger.replace_tree(tree(first), plenty(), {{Time{100}, tree(second)}});
  const auto ids = add_all(ledger, {{.queue = kNlp, .held = gpus(8), .covered_at = kNlp, .end = Time{50}},
                                    {.queue = kNlp, .held = gpus(8), .covered_at = kResearch, .end = Time{50}}});
  const auto without = [&](std::size_t gone, std::int64_t end) {
    return number_of(ledger.would_be_covered_without({&ids[gone], 1}, QueueId(kNlp), gpus(8), Time{end}));
  };
  EXPECT_EQ(without(0, 100), kNlp);
  EXPECT_EQ(without(1, 100), kResearch) << "who is inside another floor leaves nothing of this one";
  EXPECT_EQ(without(0, 101), kResearch) << "who would be gone by then anyway leaves nothing of what there is then";
}

TEST(QuotaLedger, KnowsTheHoursAtWhichFloorsRiseAboveAllBefore) {
  const auto tree = [](std::int64_t nlp, std::int64_t vision, std::int64_t cpus = 0) {
    std::vector<Queue> queues = two_houses();
    queues[kNlp].quota.guarantee = gpus(nlp);
    queues[kVision].quota.guarantee = {{kOtherGpu, vision}};
    if (cpus > 0) queues[kProduct].quota.guarantee.push_back({kCpu, cpus});
    return std::make_shared<const QuotaTree>(queues, plenty());
  };
  const auto night = tree(2, 4), day = tree(8, 0), mixed = tree(8, 4);
  struct Case {
    std::string_view what;
    std::vector<LaterTree> later;
    std::vector<std::pair<std::int64_t, FlavorSet>> rises;
  };
  const FlavorSet one = FlavorSet::of(kGpu.flavor()), other = FlavorSet::of(kOtherGpu.flavor());
  const Case cases[] = {
      {"no calendar", {}, {}},
      {"they fall", {{Time{10}, tree(1, 4)}}, {}},
      {"more of one flavor", {{Time{10}, day}}, {{10, one}}},
      {"as at an hour before", {{Time{10}, day}, {Time{20}, night}, {Time{30}, day}, {Time{40}, mixed}}, {{10, one}}},
      {"more than at any hour before",
       {{Time{10}, day}, {Time{20}, tree(4, 5)}, {Time{30}, tree(9, 5)}},
       {{10, one}, {20, other}, {30, one}}},
      {"of CPUs, which nobody is in the way of", {{Time{10}, tree(2, 4, 8)}}, {}},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    QuotaLedger ledger;
    ledger.replace_tree(night, plenty(), each.later);
    std::vector<std::pair<std::int64_t, FlavorSet>> rises;
    for (const FloorRise& rise : ledger.rises()) rises.emplace_back(rise.from.ms, rise.flavors);
    EXPECT_EQ(rises, each.rises);
  }
}

TEST(QuotaLedger, KnowsWhatWillBeInsideFloorsStill) {
  QuotaLedger ledger;
  use_tree(ledger, two_houses(), plenty());
  add_all(ledger, {{.queue = kNlp, .held = gpus(3), .covered_at = kNlp, .end = Time{50}},
                   {.queue = kNlp, .held = gpus(4), .covered_at = kNlp, .end = Time{51}},
                   {.queue = kNlp, .held = gpus(2), .covered_at = kResearch, .end = Time{50}},
                   {.queue = kProduct, .held = gpus(9), .covered_at = kNowhere, .end = Time{50}}});
  EXPECT_EQ(ledger.covered_then(kGpu, Time{49}), (AmountsByDim{9, 7, 0, 0}));
  EXPECT_EQ(ledger.covered_then(kGpu, Time{50}), (AmountsByDim{4, 4, 0, 0}));
  EXPECT_EQ(ledger.covered_then(kGpu, Time{51}), (AmountsByDim{0, 0, 0, 0}));
}

TEST(QuotaLedger, AllHeldCountsAndPrioritiesAreKept) {
  QuotaLedger ledger;
  use_tree(ledger, two_houses(), plenty());
  EXPECT_EQ(ledger.lowest_priority(QueueId(kNlp)), INT32_MAX);
  const auto ids = add_all(ledger, {{kNlp, {{kGpu, 2}, {kOtherGpu, 3}}, kNowhere, 4}, {kNlp, gpus(1), kNowhere, -2}});
  EXPECT_EQ(ledger.used(QueueId(kResearch))[kOtherGpu.index()], 3) << "also where nobody has a quota";
  EXPECT_EQ(ledger.used_by_all()[kGpu.index()], 3);
  EXPECT_EQ(ledger.lowest_priority(QueueId(kNlp)), -2);
  ledger.remove(ids[1]);
  EXPECT_EQ(ledger.lowest_priority(QueueId(kNlp)), 4);
  ledger.keep();
  ledger.set_priority(ids[0], 1);
  EXPECT_EQ(ledger.lowest_priority(QueueId(kNlp)), 1);
}

// A queue that was promised GPUs and slices beside one that was promised GPUs; a slice counts 129 thousandths of one.
// Whom a plan stops and looks for a place for again.
TEST(QuotaLedger, WhoComesAgainInATrialKeepsHisHours) {
  std::vector<Queue> queues = two_houses();
  queues[kResearch].quota.budget_gpu_us = 1'000'000'000;
  QuotaLedger ledger;
  use_tree(ledger, queues, plenty());
  QuotaUnit unit{};
  unit.workload = WorkloadId(7);
  unit.queue = QueueId(std::size_t{kNlp});
  unit.end = Time{1000};
  const UnitId id = ledger.add(unit, gpus(8));
  ASSERT_TRUE(ledger.budgets().is_charged(WorkloadId(7)));
  const BudgetLedger before = ledger.budgets();
  const std::size_t mark = ledger.mark();
  ledger.remove(id);
  ledger.add(unit, gpus(8));
  EXPECT_TRUE(ledger.budgets() == before);
  ledger.rollback_to(mark);
  EXPECT_TRUE(ledger.budgets() == before);
  EXPECT_TRUE(ledger.budgets().is_charged(WorkloadId(7)));
}

TEST(QuotaLedger, SlicesAreInsideTheFloorThatNamesThem) {
  const Dim slices = Dim::of_slices(FlavorId(0), 0);
  const NamedProfiles named{.flavors = kFlavors, .profiles = {{slices, 129}}};
  const AmountsByDim capacity(named.dims(), 100'000);
  std::vector<Queue> queues = {queue_below(kNowhere, {{kGpu, 300}}), queue_below(kNowhere, {{kGpu, 300}})};
  const auto use = [&](QuotaLedger& ledger) {
    ledger.keep();
    ledger.replace_tree(std::make_shared<const QuotaTree>(queues, capacity, named), capacity);
  };
  const AmountList held = {{kGpu, 129}, {slices, 1}};
  QuotaLedger ledger;
  use(ledger);
  const std::vector<UnitId> ids = add_all(ledger, {{0, held, 0}, {0, held, 0}, {0, held, kNowhere}, {1, held, 1}});
  EXPECT_EQ(ledger.covered(QueueId(0))[kGpu.index()], 258);
  EXPECT_EQ(ledger.covered(QueueId(0))[slices.index()], 0);
  // Promised by their profile they are no GPUs any more; the third comes inside, and there is room for GPUs again.
  queues[0].quota.guarantee = {{kGpu, 300}, {slices, 3}};
  use(ledger);
  EXPECT_EQ(number_of(ledger.unit(ids[2]).covered_at), 0);
  EXPECT_EQ(ledger.covered(QueueId(0))[kGpu.index()], 0);
  EXPECT_EQ(ledger.covered(QueueId(0))[slices.index()], 3);
  EXPECT_EQ(ledger.covered(QueueId(1))[kGpu.index()], 129);
  EXPECT_EQ(ledger.covered(QueueId(1))[slices.index()], 0);
  EXPECT_EQ(ledger.used(QueueId(0))[kGpu.index()], 3 * 129);
  EXPECT_EQ(ledger.used_of_floor(QueueId(0), kGpu), 0);
  EXPECT_EQ(ledger.above_floor(QueueId(0), kGpu), 0);
  // One beyond them is a surplus where it is more than the GPUs that were promised have room for.
  const std::size_t mark = ledger.mark();
  const std::vector<UnitId> more = add_all(ledger, {{0, held, kNowhere}, {0, gpus(300), 0}});
  EXPECT_EQ(ledger.above_floor(QueueId(0), kGpu), 129);
  EXPECT_EQ(ledger.above_floor(QueueId(0), slices), 0);
  EXPECT_EQ(ledger.above_floor(QueueId(0), kGpu, {{kGpu, 129}, {slices, 1}}), 258);
  ledger.rollback_to(mark);
  EXPECT_EQ(ledger.covered(QueueId(0))[kGpu.index()], 0);
  ledger.remove(ids[0]);
  EXPECT_EQ(ledger.covered(QueueId(0))[slices.index()], 2);
}

// What is not known of those who were there before is asked.
TEST(QuotaLedger, SlicesAreCountedFromWhenSomebodyNamesThem) {
  const Dim slices = Dim::of_slices(FlavorId(0), 0);
  std::vector<Queue> queues = {queue_below(kNowhere, {})};
  QuotaLedger ledger;
  use_tree(ledger, queues, plenty());
  add_all(ledger, {{0, gpus(129), kNowhere}});
  ledger.keep();
  queues[0].quota.guarantee = {{slices, 1}};
  const NamedProfiles named{.flavors = kFlavors, .profiles = {{slices, 129}}};
  const AmountsByDim capacity(named.dims(), 100'000);
  const auto held = [&](WorkloadId) { return AmountList{{kGpu, 129}, {slices, 1}}; };
  ledger.replace_tree(std::make_shared<const QuotaTree>(queues, capacity, named), capacity, {}, held);
  EXPECT_EQ(ledger.used(QueueId(0))[slices.index()], 1);
  EXPECT_EQ(ledger.covered(QueueId(0))[slices.index()], 1);
  EXPECT_EQ(ledger.covered(QueueId(0))[kGpu.index()], 0);
}

// ---- properties ----------------------------------------------------------------------------------------------------

constexpr std::size_t kUsers = 3;
constexpr Dim kDims[] = {kGpu, kCpu, kOtherGpu};

std::vector<Queue> random_queues(Rng& rng) {
  std::vector<Queue> queues;
  for (std::int64_t i = 0, count = rng.between(2, 7); i < count; ++i) {
    AmountList guarantee;
    for (const Dim dim : kDims) {
      if (rng.below(3) == 0) guarantee.push_back({dim, rng.between(0, 16)});
    }
    std::sort(guarantee.begin(), guarantee.end(), [](const Amount& a, const Amount& b) { return a.dim < b.dim; });
    queues.push_back(queue_below(static_cast<int>(rng.between(-1, i - 1)), std::move(guarantee)));
    if (rng.below(3) == 0) queues.back().quota.users = UserOrder::kFair;
    if (rng.below(3) == 0) queues.back().quota.budget_gpu_us = rng.between(0, 1000);
  }
  return queues;
}

// A ledger to which things happen, written down plainly beside it: who is there.
struct Crowd {
  QuotaLedger ledger;
  std::vector<UnitId> there = {};
  std::size_t next = 0;
  Time now = {};

  void step(Rng& rng) {
    if (!there.empty() && rng.below(5) < 2) {
      const auto gone = there.begin() + static_cast<std::ptrdiff_t>(rng.below(there.size()));
      ledger.remove(*gone);
      there.erase(gone);
      return;
    }
    if (!there.empty() && rng.below(8) == 0) {
      const UnitId late = there[static_cast<std::size_t>(rng.below(there.size()))];
      const Time end = ledger.unit(late).end;
      if (end != kForever) ledger.set_end(late, end + Duration{rng.between(0, 25)});
      return;
    }
    AmountList held;
    for (const Dim dim : {kGpu, kCpu, kOtherGpu}) {
      if (rng.below(2) == 0) held.push_back({dim, rng.between(1, 8)});
    }
    const QueueId queue(static_cast<std::size_t>(rng.below(ledger.tree().queues())));
    there.push_back(ledger.add({.workload = WorkloadId(next++),
                                .queue = queue,
                                .user = UserId(static_cast<std::size_t>(rng.below(kUsers))),
                                .priority = static_cast<std::int32_t>(rng.below(3)),
                                .admitted = Time{rng.between(0, 20)},
                                .may_be_covered = rng.below(8) != 0,
                                .end = rng.below(2) == 0 ? kForever : now + Duration{rng.between(1, 25)},
                                .covered_at = {}},
                               held));
  }
};

// Also what comes later is the same, so what the ledger keeps beside the amounts is as it was.
TEST(QuotaLedgerProperty, WhatIsRolledBackNeverWas) {
  for (const Seed seed : property_seeds(200)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    Crowd crowd;
    use_tree(crowd.ledger, random_queues(rng), plenty());
    for (int i = 0; i < 15; ++i) crowd.step(rng);
    if (rng.below(2) == 0) crowd.ledger.keep();
    for (int round = 0; round < 3; ++round) {
      const Crowd before = crowd;
      const std::size_t mark = crowd.ledger.mark();
      for (std::int64_t left = rng.between(1, 12); left > 0; --left) crowd.step(rng);
      crowd.ledger.rollback_to(mark);
      ASSERT_TRUE(crowd.ledger.same_as(before.ledger));
      crowd.there = before.there;
      crowd.next = before.next;
      Crowd other = before;
      Rng same = rng;
      for (int i = 0; i < 5; ++i) {
        crowd.step(rng);
        other.step(same);
        ASSERT_TRUE(crowd.ledger.same_as(other.ledger));
      }
    }
  }
}

class Recount {
 public:
  explicit Recount(const Crowd& crowd) : ledger_(crowd.ledger), tree_(ledger_.tree()), there_(crowd.there) {}

  void check(bool floors_fell) const {
    for (std::size_t i = 0; i < tree_.queues(); ++i) {
      const QueueId queue(i);
      AmountsByDim used(tree_.dims());
      AmountsByDim covered(tree_.dims());
      AmountsByDim in_pool(tree_.dims());
      std::size_t outside = 0;
      for (const UnitId id : there_) {
        const QuotaUnit& unit = ledger_.unit(id);
        if (is_at_or_below(unit.queue, queue)) add(used, id);
        if (is_inside(unit, queue)) add(covered, id);
        if (unit.covered_at == queue) add(in_pool, id);
        if (!is_at_or_below(unit.queue, queue) || is_inside(unit, queue)) continue;
        ++outside;
        if (!unit.may_be_covered) continue;
        EXPECT_FALSE(ledger_.fits_floor(queue, ledger_.held_by(id), unit.end)) << "nobody is outside who would fit";
      }
      EXPECT_EQ(ledger_.units_outside(queue), outside);
      if (tree_.counts_users(queue)) check_users(queue);
      EXPECT_TRUE(std::equal(used.begin(), used.end(), ledger_.used(queue).begin()));
      EXPECT_TRUE(std::equal(covered.begin(), covered.end(), ledger_.covered(queue).begin()));
      for (const Dim dim : kDims) {
        if (floors_fell || !tree_.has_floor(queue, dim.resource())) continue;
        const std::size_t at = dim.index();
        // What is inside a floor below that does not look at a resource brings whatever it holds of it, and protects those in
        // the pool who came in so, too.
        if (comes_in_unlooked_at(queue, dim)) continue;
        EXPECT_TRUE(covered[at] <= tree_.floor(queue)[at] || in_pool[at] == 0) << "queue " << i << " dim " << at;
      }
    }
    for (const UnitId id : there_) {
      const QuotaUnit& unit = ledger_.unit(id);
      EXPECT_TRUE(unit.covered_at.is_none() || (unit.may_be_covered && is_at_or_below(unit.queue, unit.covered_at)));
    }
  }

  bool comes_in_unlooked_at(QueueId queue, Dim dim) const {
    return std::ranges::any_of(there_, [&](UnitId id) {
      const QuotaUnit& unit = ledger_.unit(id);
      const auto holds = [&](const Amount& each) { return each.dim == dim; };
      return is_inside(unit, queue) && unit.covered_at != queue && !tree_.has_floor(unit.covered_at, dim.resource()) &&
             std::ranges::any_of(ledger_.held_by(id), holds);
    });
  }

  void check_users(QueueId queue) const {
    for (std::size_t user = 0; user < kUsers; ++user) {
      AmountsByDim held(tree_.dims());
      for (const UnitId id : there_) {
        const QuotaUnit& unit = ledger_.unit(id);
        if (unit.user == UserId(user) && is_at_or_below(unit.queue, queue)) add(held, id);
      }
      const auto found = ledger_.held_by_user(queue, UserId(user));
      if (found.empty()) {
        EXPECT_EQ(held, AmountsByDim(tree_.dims()));
      } else {
        EXPECT_TRUE(std::ranges::equal(held, found));
      }
    }
  }

 private:
  bool is_at_or_below(QueueId low, QueueId high) const {
    while (!low.is_none() && low != high) low = tree_.parent(low);
    return !low.is_none();
  }
  bool is_inside(const QuotaUnit& unit, QueueId queue) const {
    return !unit.covered_at.is_none() && is_at_or_below(unit.covered_at, queue);
  }
  void add(AmountsByDim& sums, UnitId id) const {
    for (const Amount& each : ledger_.held_by(id)) sums[each.dim.index()] += each.amount;
  }

  const QuotaLedger& ledger_;
  const QuotaTree& tree_;
  const std::vector<UnitId>& there_;
};

// Three hours of ten that follow each other for ever, each with floors of its own.
struct Hours {
  std::vector<std::shared_ptr<const QuotaTree>> trees;

  static Time begin_of(std::int64_t hour) { return Time{hour * 10}; }
  std::shared_ptr<const QuotaTree> tree(std::int64_t hour) const { return trees[static_cast<std::size_t>(hour % 3)]; }
  void turn_to(QuotaLedger& ledger, std::int64_t hour) const {
    ledger.keep();
    ledger.replace_tree(tree(hour), plenty(),
                        {{begin_of(hour + 1), tree(hour + 1)}, {begin_of(hour + 2), tree(hour + 2)}});
  }
};

Hours random_hours(Rng& rng) {
  Hours hours;
  std::vector<Queue> queues = random_queues(rng);
  for (int i = 0; i < 3; ++i) {
    hours.trees.push_back(std::make_shared<const QuotaTree>(queues, plenty()));
    for (Queue& queue : queues) {
      for (Amount& each : queue.quota.guarantee) each.amount = rng.below(2) == 0 ? each.amount : rng.between(0, 16);
    }
  }
  return hours;
}

TEST(QuotaLedgerProperty, WhoIsCoveredStaysSoWhateverTheCalendarBrings) {
  std::int64_t ends_covered = 0;
  for (const Seed seed : property_seeds(300)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const Hours hours = random_hours(rng);
    Crowd crowd;
    for (std::int64_t hour = 0; hour < 6 && !testing::Test::HasFailure(); ++hour) {
      crowd.now = Hours::begin_of(hour);
      std::erase_if(crowd.there, [&](UnitId id) {
        const bool ends = crowd.ledger.unit(id).end <= crowd.now;
        ends_covered += ends && !crowd.ledger.unit(id).covered_at.is_none() ? 1 : 0;
        if (ends) crowd.ledger.remove(id);
        return ends;
      });
      std::vector<std::pair<UnitId, QueueId>> covered;
      for (const UnitId id : crowd.there) covered.emplace_back(id, crowd.ledger.unit(id).covered_at);
      hours.turn_to(crowd.ledger, hour);
      for (const auto& [id, at] : covered) {
        // In a pool one may have to make room for a sibling whose own floor has risen.
        const bool in_a_pool = at.is_none() || !crowd.ledger.tree().is_leaf(at);
        EXPECT_TRUE(in_a_pool || crowd.ledger.unit(id).covered_at == at) << "a turn costs nobody his floor";
      }
      for (int i = 0; i < 12; ++i) {
        Recount(crowd).check(false);
        crowd.step(rng);
      }
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(ends_covered, 100);
}

TEST(QuotaLedger, CoversWhoIsInsideTheFloorToHisEnd) {
  // From 100 on research has 16 and nlp 4, from 200 on 8 and 0.
  std::vector<Queue> first = two_houses(), second = first, third = first;
  second[kResearch].quota.guarantee = gpus(16);
  second[kNlp].quota.guarantee = gpus(4);
  third[kResearch].quota.guarantee = gpus(8);
  third[kNlp].quota.guarantee = gpus(0);
  const auto tree = [](const std::vector<Queue>& queues) {
    return std::make_shared<const QuotaTree>(queues, plenty());
  };
  const auto until = [](int queue, std::int64_t amount, Time end, int covered_at) {
    return Coming{.queue = queue, .held = gpus(amount), .covered_at = covered_at, .end = end};
  };
  struct Case {
    const char* what;
    std::vector<Coming> units;
  };
  const Case cases[] = {
      {"for ever is as long as the smallest floor", {until(kNlp, 8, kForever, kResearch)}},
      {"until the first floor falls", {until(kNlp, 8, Time{100}, kNlp)}},
      {"beyond it", {until(kNlp, 8, Time{101}, kResearch)}},
      {"inside the second", {until(kNlp, 4, Time{200}, kNlp)}},
      {"whoever has left by then does not count", {until(kNlp, 4, Time{100}, kNlp), until(kNlp, 4, Time{200}, kNlp)}},
      {"who is still there does", {until(kNlp, 4, Time{101}, kNlp), until(kNlp, 4, Time{200}, kResearch)}},
      {"nowhere", {until(kNlp, 9, kForever, kNowhere)}},
      {"who has a floor of his own costs one of the pool his, if it will be too small for both",
       {until(kNlp, 8, kForever, kNowhere), until(kVision, 8, kForever, kVision)}},
      {"not while it is not", {until(kNlp, 16, Time{100}, kResearch), until(kVision, 8, kForever, kVision)}},
      {"and only who is still there then",
       {until(kNlp, 8, Time{200}, kResearch), until(kVision, 8, kForever, kVision),
        until(kNlp, 1, Time{201}, kNowhere)}},
  };
  for (const Case& c : cases) {
    QuotaLedger ledger;
    ledger.replace_tree(tree(first), plenty(), {{Time{100}, tree(second)}, {Time{200}, tree(third)}});
    const auto ids = add_all(ledger, c.units);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      EXPECT_EQ(number_of(ledger.unit(ids[i]).covered_at), c.units[i].covered_at) << c.what << ", unit " << i;
    }
  }
}

TEST(QuotaLedger, CoversWhoBeginsLateToHisTrueEnd) {
  // As above: from 100 on research has 16 and nlp 4, from 200 on 8 and 0.
  std::vector<Queue> first = two_houses(), second = first, third = first;
  second[kResearch].quota.guarantee = gpus(16);
  second[kNlp].quota.guarantee = gpus(4);
  third[kResearch].quota.guarantee = gpus(8);
  third[kNlp].quota.guarantee = gpus(0);
  const auto tree = [](const std::vector<Queue>& queues, std::int64_t capacity) {
    return std::make_shared<const QuotaTree>(queues, AmountsByDim(Dim::count(kFlavors), capacity));
  };
  struct Case {
    const char* what;
    std::vector<Coming> units;  // where they are covered after the first of them ends otherwise
    Time end;
    std::int64_t capacity = 1000;
  };
  const auto until = [](int queue, std::int64_t amount, Time end, int covered_at) {
    return Coming{.queue = queue, .held = gpus(amount), .covered_at = covered_at, .end = end};
  };
  const Case cases[] = {
      {"to the end of the floor", {until(kNlp, 8, Time{50}, kNlp)}, Time{100}},
      {"beyond it", {until(kNlp, 8, Time{50}, kResearch)}, Time{101}},
      {"beyond all", {until(kNlp, 9, Time{50}, kNowhere)}, Time{201}},
      {"who was not covered is not", {until(kNlp, 25, Time{50}, kNowhere)}, Time{60}},
      {"what he leaves covers others",
       {until(kNlp, 8, Time{50}, kResearch), until(kNlp, 8, Time{90}, kNlp)},
       Time{101}},
      {"who has a floor of his own costs one of the pool his",
       {until(kVision, 8, Time{150}, kVision), until(kNlp, 8, kForever, kNowhere)},
       Time{201}},
      {"not while there is room for both",
       {until(kVision, 8, Time{150}, kVision), until(kNlp, 8, kForever, kResearch)},
       Time{200}},
      {"floors that had fallen otherwise cost him nothing", {until(kNlp, 8, Time{50}, kNlp)}, Time{60}, 4},
      {"nor what falls as he ends", {until(kNlp, 4, Time{50}, kNlp), until(kNlp, 4, Time{150}, kNlp)}, Time{100}, 4},
  };
  for (const Case& c : cases) {
    QuotaLedger ledger;
    ledger.replace_tree(tree(first, 1000), plenty(), {{Time{100}, tree(second, 1000)}, {Time{200}, tree(third, 1000)}});
    const auto ids = add_all(ledger, c.units);
    ledger.keep();
    const AmountsByDim capacity(Dim::count(kFlavors), c.capacity);
    ledger.replace_tree(tree(first, c.capacity), capacity,
                        {{Time{100}, tree(second, c.capacity)}, {Time{200}, tree(third, c.capacity)}});
    const QuotaLedger before = ledger;
    ledger.set_end(ids.front(), c.end);
    EXPECT_EQ(ledger.unit(ids.front()).end, c.end);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      EXPECT_EQ(number_of(ledger.unit(ids[i]).covered_at), c.units[i].covered_at) << c.what << ", unit " << i;
    }
    ledger.rollback_to(0);
    EXPECT_TRUE(ledger.same_as(before)) << c.what;
    EXPECT_EQ(ledger.unit(ids.front()).end, before.unit(ids.front()).end) << c.what;
  }
}

// He is news from his former end on: before it, and so now, he costs nobody anything.
TEST(QuotaLedger, WhoStaysLongerTakesNothingFromTheHoursBefore) {
  constexpr int kCompany = 0, kTeam = 1, kSpeech = 2, kOther = 3;
  // From 100 on the team has 8, and the company plenty; the company's floor falls now.
  std::vector<Queue> first = {queue_below(kNowhere, {{kGpu, 32}, {kCpu, 4}}), queue_below(kCompany, gpus(16)),
                              queue_below(kTeam, gpus(8)), queue_below(kCompany, {})};
  std::vector<Queue> fallen = first, second = first;
  fallen[kCompany].quota.guarantee[0].amount = 16;
  second[kCompany].quota.guarantee[0].amount = 100;
  second[kTeam].quota.guarantee = gpus(8);
  const auto tree = [](const std::vector<Queue>& queues) {
    return std::make_shared<const QuotaTree>(queues, plenty());
  };
  QuotaLedger ledger;
  ledger.replace_tree(tree(first), plenty(), {{Time{100}, tree(second)}});
  const auto ids = add_all(ledger, {{.queue = kSpeech, .held = gpus(8), .covered_at = kSpeech, .end = Time{50}},
                                    {kTeam, {{kGpu, 8}, {kCpu, 2}}, kTeam},
                                    {kOther, gpus(8), kCompany},
                                    {kOther, gpus(8), kCompany}});
  ledger.keep();
  ledger.replace_tree(tree(fallen), plenty(), {{Time{100}, tree(second)}});
  EXPECT_EQ(number_of(ledger.unit(ids[1]).covered_at), kTeam);
  ledger.set_end(ids[0], Time{150});
  EXPECT_EQ(number_of(ledger.unit(ids[1]).covered_at), kCompany) << "pushed up by who is there at 100 now";
  EXPECT_EQ(number_of(ledger.unit(ids[3]).covered_at), kCompany) << "nobody came before 50";
}

TEST(QuotaLedger, WhatProtectsABorrowerIsKnownForAllHoursToCome) {
  const auto tree = [](std::int64_t floor, Duration clock) {
    std::vector<Queue> queues(2, {.name = "queue", .parent = QueueId(), .order = Order::kFifo});
    queues[1].quota = {.guarantee = {{kGpu, floor}}, .reclaim_within = clock};
    return std::make_shared<const QuotaTree>(queues, plenty());
  };
  QuotaLedger ledger;
  ledger.replace_tree(tree(0, seconds(1)), plenty());
  EXPECT_EQ(ledger.lenders_clock(QueueId(0), QueueId()), kNoClock) << "nobody is an owner";
  ledger.replace_tree(tree(4, seconds(60)), plenty(),
                      {{Time{100}, tree(0, seconds(1))}, {Time{200}, tree(4, seconds(20))}});
  EXPECT_EQ(ledger.lenders_clock(QueueId(0), QueueId()), seconds(20)) << "one day he has it back";
  EXPECT_EQ(ledger.lenders_clock(QueueId(0), QueueId(0)), kNoClock) << "it is covered against him";
}

TEST(QuotaLedgerProperty, UsedAndCoveredAreWhatARecountFinds) {
  for (const Seed seed : property_seeds(200)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    Crowd crowd;
    const std::vector<Queue> queues = random_queues(rng);
    use_tree(crowd.ledger, queues, plenty());
    bool floors_fell = false;
    for (int i = 0; i < 40 && !testing::Test::HasFailure(); ++i) {
      if (rng.below(12) == 0) {
        AmountsByDim capacity = plenty();
        capacity[kGpu.index()] = rng.between(0, 30);
        use_tree(crowd.ledger, queues, capacity);
        floors_fell = true;
      } else {
        crowd.step(rng);
      }
      Recount(crowd).check(floors_fell);
    }
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace berth::quota_ledger_test
