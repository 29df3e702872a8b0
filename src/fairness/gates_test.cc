#include "fairness/gates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "state/random_world.h"

namespace berth::gates_test {

constexpr Dim kGpu(FlavorId(0), Resource::kGpu);
constexpr std::size_t kInner = 0, kFirst = 1, kSecond = 2, kOther = 3;

AmountList gpus(std::int64_t amount) { return {{kGpu, amount}}; }

struct Held {
  std::size_t queue;
  std::int64_t gpus;
};

// A queue with two children, and one beside it; 16 GPUs.
QuotaLedger ledger_of(const std::vector<Quota>& quotas, const std::vector<Held>& units) {
  const QueueId parents[] = {QueueId(), QueueId(kInner), QueueId(kInner), QueueId()};
  std::vector<Queue> queues;
  for (std::size_t i = 0; i < std::size(parents); ++i) {
    queues.push_back({.name = "queue", .parent = parents[i], .order = Order::kFifo, .quota = quotas[i]});
  }
  AmountsByDim capacity(Dim::count(1));
  capacity[kGpu.index()] = 16;
  QuotaLedger ledger;
  ledger.replace_tree(std::make_shared<const QuotaTree>(queues, capacity), capacity);
  for (std::size_t i = 0; i < units.size(); ++i) {
    ledger.add({.workload = WorkloadId(i), .queue = QueueId(units[i].queue), .admitted = {}, .covered_at = {}},
               gpus(units[i].gpus));
  }
  return ledger;
}

// Up to how many GPUs a queue may have more, and what stands in the way of one more than that.
TEST(Gates, RefuseWhatIsAboveBoundsOrKeptByOthers) {
  struct Case {
    const char* what;
    std::vector<Quota> quotas;  // of the inner queue, its children, and the one beside
    std::vector<Held> units;
    std::size_t queue;
    std::int64_t most;
    ReasonCode code;
  };
  const auto keeping = [](std::int64_t guarantee, std::int64_t lends) {
    return Quota{.guarantee = gpus(guarantee), .lending_limit = gpus(lends)};
  };
  const Quota none;
  const Case cases[] = {
      {"a limit, with what is held",
       {none, none, none, {.limit = gpus(5)}},
       {{kOther, 2}},
       kOther,
       3,
       ReasonCode::kQuotaLimit},
      {"a limit above", {{.limit = gpus(5)}, none, none, none}, {{kSecond, 2}}, kFirst, 3, ReasonCode::kQuotaLimit},
      {"borrowing counts from the floor",
       {none, none, none, {.guarantee = gpus(4), .borrowing_limit = gpus(2)}},
       {{kOther, 1}},
       kOther,
       5,
       ReasonCode::kBorrowingLimit},
      {"what one keeps of its idle floor",
       {none, none, none, keeping(8, 3)},
       {},
       kFirst,
       11,
       ReasonCode::kLendingLimit},
      {"less what it holds", {none, none, none, keeping(8, 3)}, {{kOther, 2}}, kFirst, 11, ReasonCode::kLendingLimit},
      {"nothing where it holds more than it keeps",
       {none, none, none, keeping(8, 3)},
       {{kOther, 6}},
       kFirst,
       10,
       ReasonCode::kNone},
      {"what children keep adds up",
       {none, keeping(4, 0), keeping(4, 1), none},
       {},
       kOther,
       9,
       ReasonCode::kLendingLimit},
      {"an inner queue keeps more than its children",
       {keeping(12, 2), keeping(4, 0), keeping(4, 1), none},
       {},
       kOther,
       6,
       ReasonCode::kLendingLimit},
      {"or they keep more than it does",
       {keeping(12, 8), keeping(4, 0), keeping(4, 1), none},
       {},
       kOther,
       9,
       ReasonCode::kLendingLimit},
      {"a child is kept from what its sibling keeps, not from its own",
       {none, keeping(4, 0), keeping(4, 1), none},
       {},
       kFirst,
       13,
       ReasonCode::kLendingLimit},
      {"who is inside his floor is kept from nothing",
       {none, {.guarantee = gpus(4)}, keeping(6, 0), none},
       {{kOther, 8}},
       kFirst,
       4,
       ReasonCode::kLendingLimit},
      {"what is kept may be given out to the last GPU",
       {none, none, none, keeping(16, 8)},
       {{kFirst, 3}},
       kFirst,
       5,
       ReasonCode::kLendingLimit},
  };
  for (const Case& c : cases) {
    const QuotaLedger ledger = ledger_of(c.quotas, c.units);
    const Terms terms;
    const auto refused = [&](std::int64_t more) {
      return quota_refusal(ledger, QueueId(c.queue), UserId(), terms, gpus(more));
    };
    EXPECT_FALSE(refused(c.most)) << c.what;
    const auto refusal = refused(c.most + 1);
    EXPECT_EQ(refusal ? refusal->code : ReasonCode::kNone, c.code) << c.what;
  }
}

TEST(Gates, BoundTheGpusOfAllFlavorsTogether) {
  constexpr Dim kOtherGpu(FlavorId(1), Resource::kGpu);
  constexpr Dim kCpu(FlavorId(0), Resource::kCpu);
  const UserId ann(1), bob(2);
  struct Case {
    const char* what;
    Quota quota;
    AmountList asked;
    ReasonCode code;
  };
  const auto all = [](std::int64_t amount) { return AmountList{{kGpusOfAllFlavors, amount}}; };
  // Ann holds 3 of the first flavor, Bob 2 of the second.
  const Case cases[] = {
      {"a limit to the last GPU", {.limit = all(8)}, {{kGpu, 1}, {kOtherGpu, 2}}, ReasonCode::kNone},
      {"and no further", {.limit = all(8)}, {{kGpu, 1}, {kOtherGpu, 3}}, ReasonCode::kQuotaLimit},
      {"who asks no GPU is no matter of it", {.limit = all(1)}, {{kCpu, 9}}, ReasonCode::kNone},
      {"what one user holds", {.user_limit = all(5)}, {{kOtherGpu, 2}}, ReasonCode::kNone},
      {"not what others hold", {.user_limit = all(5)}, {{kOtherGpu, 3}}, ReasonCode::kUserLimit},
      {"inside the floor nothing is borrowed",
       {.guarantee = {{kGpu, 8}}, .borrowing_limit = all(2)},
       {{kGpu, 5}},
       ReasonCode::kNone},
      {"what another flavor leaves of its floor helps nobody",
       {.guarantee = {{kGpu, 8}}, .borrowing_limit = all(3)},
       {{kOtherGpu, 2}},
       ReasonCode::kBorrowingLimit},
      {"what has been borrowed counts, and so much is left",
       {.guarantee = {{kGpu, 8}}, .borrowing_limit = all(3)},
       {{kOtherGpu, 1}},
       ReasonCode::kNone},
      {"inside the floor also if too much is borrowed",
       {.guarantee = {{kGpu, 8}}, .borrowing_limit = all(1)},
       {{kGpu, 1}},
       ReasonCode::kNone},
  };
  for (const Case& c : cases) {
    const AmountsByDim capacity(Dim::count(2), 100);
    const std::vector<Queue> queues = {{.name = "queue", .parent = {}, .order = Order::kFifo, .quota = c.quota}};
    QuotaLedger ledger;
    ledger.replace_tree(std::make_shared<const QuotaTree>(queues, capacity), capacity);
    const auto holds = [&](std::size_t id, UserId user, const AmountList& held) {
      ledger.add({.workload = WorkloadId(id), .queue = QueueId(0), .user = user, .admitted = {}, .covered_at = {}},
                 held);
    };
    holds(0, ann, {{kGpu, 3}});
    holds(1, bob, {{kOtherGpu, 2}});
    const auto refusal = quota_refusal(ledger, QueueId(0), ann, Terms{}, c.asked);
    EXPECT_EQ(refusal ? refusal->code : ReasonCode::kNone, c.code) << c.what;
  }
}

TEST(Gates, WhoInsistsIsInsideAFloorOrNotStarted) {
  const QuotaLedger ledger = ledger_of({{.guarantee = gpus(8)}, {.guarantee = gpus(2)}, {}, {}}, {{kSecond, 3}});
  const Terms insisting{.guaranteed_only = true};
  const auto code = [&](std::size_t queue, std::int64_t more) {
    const auto refusal = quota_refusal(ledger, QueueId(queue), UserId(), insisting, gpus(more));
    return refusal ? refusal->code : ReasonCode::kNone;
  };
  EXPECT_EQ(code(kFirst, 2), ReasonCode::kNone);
  EXPECT_EQ(code(kFirst, 5), ReasonCode::kNone) << "the floor of the queue above will do";
  EXPECT_EQ(code(kFirst, 6), ReasonCode::kQuotaFloor);
  EXPECT_EQ(code(kOther, 1), ReasonCode::kQuotaFloor);
}

TEST(Gates, WhoMayNotBorrowYetIsToldSo) {
  struct Case {
    ReasonCode refusing;
    bool cools;
    ReasonCode told;
  };
  const Case cases[] = {
      {ReasonCode::kQuotaFloor, true, ReasonCode::kCooldown},    {ReasonCode::kCalendar, true, ReasonCode::kCooldown},
      {ReasonCode::kQuotaLimit, true, ReasonCode::kQuotaLimit},  {ReasonCode::kBudget, true, ReasonCode::kBudget},
      {ReasonCode::kQuotaFloor, false, ReasonCode::kQuotaFloor}, {ReasonCode::kCalendar, false, ReasonCode::kCalendar},
  };
  for (const Case& c : cases) {
    Shape shape;
    shape.terms.guaranteed_only = true;
    shape.cools = c.cools;
    EXPECT_EQ(shape.insists(), !c.cools);
    EXPECT_EQ(code_of({.code = c.refusing, .queue = {}, .dim = {}}, shape), c.told) << name_of(c.refusing);
  }
}

// Every number of pods of each of three flavors.
template <class Visit>
void for_each_split(std::int64_t pods, Visit visit) {
  for (std::int64_t a = 0; a <= pods; ++a) {
    for (std::int64_t b = 0; a + b <= pods; ++b) visit(std::array{a, b, pods - a - b});
  }
}

TEST(MixtureOf, IsInsideAFloorOrAllowedWhereTryingAllFindsOneThatIs) {
  int covered = 0;
  int allowed = 0;
  int neither = 0;
  for (const Seed seed : property_seeds(kFewSeeds ? 100 : 1'000)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    State state = new_state(seed, PlacementPolicy::kBestFit, 3, {});
    std::vector<Node> nodes;
    for (std::size_t flavor = 0; flavor < 3; ++flavor) {
      nodes.push_back({.name = std::to_string(flavor), .flavor = FlavorId(flavor), .gpus = 8, .cpu_milli = 64'000});
    }
    state.apply(NodesAdded{nodes});
    const auto amounts = [&](std::int64_t most) {
      AmountList list;
      for (std::size_t flavor = 0; flavor < 3; ++flavor) {
        if (rng.below(4) != 0) list.push_back({Dim(FlavorId(flavor), Resource::kGpu), rng.between(0, most) * 1000});
      }
      return list;
    };
    Queue above{.name = "above", .parent = {}, .order = Order::kFifo};
    above.quota.guarantee = amounts(8);
    if (rng.below(2) == 0) above.quota.limit = amounts(8);
    Queue queue{.name = "queue", .parent = QueueId(0), .order = Order::kFifo};
    if (rng.below(2) == 0) queue.quota.guarantee = amounts(3);
    if (rng.below(2) == 0) queue.quota.limit = amounts(6);
    for (const Queue& each : {above, queue}) {
      if (!state.refusal(QueueAdded{each})) state.apply(QueueAdded{each});
    }
    if (state.queues().size() < 2) continue;
    PodRequest request{.gpus = one_of(rng, {1, 2}), .gpu_milli = kMilliPerGpu};
    request.flavors = FlavorSet::first(3);
    const std::int64_t pods = rng.between(2, 6);
    state.apply(submission(QueueId(1), {.ways = {{{request, pods}}}}));
    const Shape& shape = state.shape(state.workload(WorkloadId(0)).shape);
    const QuotaLedger& quotas = state.quotas();
    const auto is_covered = [&](const AmountList& asked) {
      return !quotas.would_be_covered_at(QueueId(1), asked, quotas.end_of(shape.terms)).is_none();
    };
    const auto passes = [&](const AmountList& asked) {
      return !quota_refusal(quotas, QueueId(1), shape.user, shape.terms, asked);
    };
    bool some_covered = false;
    bool some_passes = false;
    for_each_split(pods, [&](const std::array<std::int64_t, 3>& split) {
      AmountList asked;
      for (std::size_t flavor = 0; flavor < 3; ++flavor) {
        const std::int64_t milli = split[flavor] * request.gpus * kMilliPerGpu;
        if (milli > 0) asked.push_back({Dim(FlavorId(flavor), Resource::kGpu), milli});
      }
      some_covered = some_covered || is_covered(asked);
      some_passes = some_passes || passes(asked);
    });
    const AmountList asked = asked_by(state, QueueId(1), shape, 0);
    EXPECT_EQ(is_covered(asked), some_covered);
    EXPECT_TRUE(some_covered || passes(asked) == some_passes);
    std::int64_t counted = 0;
    const Mixture mixture = mixture_of(state, QueueId(1), shape, 0);
    for (const PodsOfFlavor& each : mixture.front()) counted += each.pods;
    EXPECT_EQ(counted, pods);
    covered += some_covered ? 1 : 0;
    allowed += !some_covered && some_passes ? 1 : 0;
    neither += some_passes ? 0 : 1;
    if (HasFailure()) return;
  }
  EXPECT_GT(std::min({covered, allowed, neither}), kFewSeeds ? 2 : 20);
}

}  // namespace berth::gates_test
