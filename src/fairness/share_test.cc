#include "fairness/share.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "model/node.h"
#include "model/workload.h"

namespace berth::share_test {

constexpr Dim kGpu(FlavorId(0), Resource::kGpu);
constexpr Dim kCpu(FlavorId(0), Resource::kCpu);
constexpr Dim kMemory(FlavorId(0), Resource::kMemory);
constexpr Dim kOtherGpu(FlavorId(1), Resource::kGpu);

std::vector<Flavor> weighing(std::int64_t first, std::int64_t second) {
  return {{.name = "h100", .model = "gpu", .weight = first}, {.name = "l4", .model = "gpu", .weight = second}};
}

Queue queue_below(QueueId parent, Quota quota) {
  return {.name = "queue", .parent = parent, .order = Order::kFifo, .quota = std::move(quota)};
}
Queue top(Quota quota = {}) { return queue_below(QueueId(), std::move(quota)); }

struct Held {
  std::size_t queue;
  AmountList amounts;
};

QuotaLedger ledger_of(const std::vector<Queue>& queues, const AmountList& capacity, const std::vector<Held>& units) {
  AmountsByDim by_dim(Dim::count(2));
  for (const Amount& each : capacity) by_dim[each.dim.index()] = each.amount;
  QuotaLedger ledger;
  ledger.replace_tree(std::make_shared<const QuotaTree>(queues, by_dim), by_dim);
  for (std::size_t i = 0; i < units.size(); ++i) {
    ledger.add({.workload = WorkloadId(i), .queue = QueueId(units[i].queue), .admitted = {}, .covered_at = {}},
               units[i].amounts);
  }
  return ledger;
}

TEST(Share, IsTheWorkedExample) {
  const auto flavors = weighing(10, 1);
  const QuotaLedger ledger =
      ledger_of({top(), top()}, {{kGpu, 64}, {kOtherGpu, 4}}, {{0, {{kOtherGpu, 4}}}, {1, {{kGpu, 24}}}});
  const AmountList eight = {{kGpu, 8}};
  const Fraction a = share_with(ledger, flavors, QueueId(0), {.asked = eight});
  const Fraction b = share_with(ledger, flavors, QueueId(1), {.asked = eight});
  EXPECT_TRUE(b == Fraction(80, 161));
  EXPECT_TRUE(a == Fraction(3, 23));
  EXPECT_TRUE(a < b) << "a goes first";
}

TEST(Share, IsOfWhatIsAboveTheFloorAndTheLargestOverResources) {
  const AmountList capacity = {{kGpu, 64}, {kCpu, 100}, {kOtherGpu, 16}};
  const AmountList floor = {{kGpu, 8}};
  struct Case {
    const char* what;
    Quota quota;
    std::vector<Held> units;
    Fraction share;
  };
  const Case cases[] = {
      {"nothing is held", {}, {}, {0, 1}},
      {"inside the floor", {.guarantee = floor}, {{0, {{kGpu, 8}}}}, {0, 1}},
      {"above it", {.guarantee = floor}, {{0, {{kGpu, 8}}}, {0, {{kGpu, 20}}}}, {1, 4}},
      {"what is idle of one flavor's floor does not hide what is held of another",
       {.guarantee = floor},
       {{0, {{kOtherGpu, 8}}}},
       {1, 10}},
      {"the largest resource counts", {}, {{0, {{kGpu, 8}, {kCpu, 30}}}}, {3, 10}},
      {"the CPUs of who is inside its floor of GPUs do not count",
       {.guarantee = floor},
       {{0, {{kGpu, 8}, {kCpu, 90}}}},
       {0, 1}},
      {"those of who is not do",
       {.guarantee = floor},
       {{0, {{kGpu, 8}, {kCpu, 30}}}, {0, {{kGpu, 4}, {kCpu, 60}}}},
       {3, 5}},
      {"a resource that nobody has is skipped", {}, {{0, {{kGpu, 8}, {kMemory, 7}}}}, {1, 10}},
      {"twice the weight is half the share", {.weight_milli = 2000}, {{0, {{kGpu, 40}}}}, {1, 4}},
      {"a third of it is three times", {.weight_milli = 333}, {{0, {{kGpu, 8}}}}, {100, 333}},
  };
  for (const Case& c : cases) {
    const QuotaLedger ledger = ledger_of({top(c.quota)}, capacity, c.units);
    EXPECT_TRUE(share_of(ledger, weighing(1, 1), QueueId(0)) == c.share) << c.what;
  }
}

TEST(Share, WithMoreThatIsCoveredOrNotAndWithLess) {
  const AmountList capacity = {{kGpu, 64}, {kCpu, 100}};
  const QuotaLedger ledger =
      ledger_of({top({.guarantee = {{kGpu, 8}}})}, capacity, {{0, {{kGpu, 4}, {kCpu, 9}}}, {0, {{kGpu, 20}}}});
  const AmountList more = {{kGpu, 4}, {kCpu, 50}};
  const AmountList less = {{kGpu, -20}};
  const auto with = [&](const More& asked) { return share_with(ledger, weighing(1, 1), QueueId(0), asked); };
  EXPECT_TRUE(with({.asked = more, .covered = true}) == Fraction(20, 64));
  EXPECT_TRUE(with({.asked = more}) == Fraction(50, 100));
  EXPECT_TRUE(with({.asked = less}) == Fraction(0, 1));
}

TEST(Share, OfAnInnerQueueIsThatOfAllBelowAndItsOwnThatOfNobodyBelow) {
  const QuotaLedger ledger = ledger_of({top({.weight_milli = 2000}), queue_below(QueueId(0), {})}, {{kGpu, 64}},
                                       {{0, {{kGpu, 8}}}, {1, {{kGpu, 16}}}});
  const AmountList asked = {{kGpu, 8}};
  EXPECT_TRUE(share_of(ledger, weighing(1, 1), QueueId(0)) == Fraction(3, 16));
  EXPECT_TRUE(own_share_with(ledger, weighing(1, 1), QueueId(0), {.asked = asked}) == Fraction(1, 4));
}

TEST(Share, UseOfAFloorIsTheLargestOverResourcesThatHaveOne) {
  const QuotaLedger ledger = ledger_of({top({.guarantee = {{kGpu, 8}, {kCpu, 40}, {kOtherGpu, 4}}})},
                                       {{kGpu, 64}, {kCpu, 100}, {kOtherGpu, 16}},
                                       {{0, {{kGpu, 2}, {kCpu, 10}, {kMemory, 99}}}, {0, {{kOtherGpu, 3}}}});
  EXPECT_TRUE(use_of_floor(ledger, weighing(1, 1), QueueId(0)) == Fraction(5, 12));
  EXPECT_TRUE(use_of_floor(ledger, weighing(1, 3), QueueId(0)) == Fraction(11, 20));
  const QuotaLedger borrowing =
      ledger_of({top({.guarantee = {{kGpu, 8}}})}, {{kGpu, 64}}, {{0, {{kGpu, 2}}}, {0, {{kGpu, 9}}}});
  EXPECT_TRUE(use_of_floor(borrowing, weighing(1, 1), QueueId(0)) == Fraction(11, 8))
      << "what is borrowed is used, too";
}

// Of 1000 thousandths there are four GPUs; small slices are 129 of them, large ones 435.
TEST(Share, SlicesPromisedByTheirProfileAreNoSurplus) {
  const Dim small = Dim::of_slices(FlavorId(0), 0), large = Dim::of_slices(FlavorId(0), 4);
  const NamedProfiles named{.flavors = 2, .profiles = {{small, 129}, {large, 435}}};
  AmountsByDim capacity(named.dims());
  capacity[kGpu.index()] = 4000;
  capacity[small.index()] = 28;
  capacity[large.index()] = 8;
  const std::vector<Queue> queues = {top({.guarantee = {{kGpu, 1000}, {small, 2}, {large, 1}}}), top()};
  QuotaLedger ledger;
  ledger.replace_tree(std::make_shared<const QuotaTree>(queues, capacity, named), capacity);
  const auto add = [&](std::size_t queue, const AmountList& held) {
    ledger.add({.workload = WorkloadId(0), .queue = QueueId(queue), .admitted = {}, .covered_at = {}}, held);
  };
  add(0, {{kGpu, 435}, {large, 1}});
  add(0, {{kGpu, 129}, {small, 1}});
  add(1, {{kGpu, 129}, {small, 1}});
  const auto flavors = weighing(10, 1);
  EXPECT_TRUE(share_of(ledger, flavors, QueueId(0)) == Fraction(0, 1));
  EXPECT_TRUE(share_of(ledger, flavors, QueueId(1)) == Fraction(129, 4000));
  EXPECT_TRUE(use_of_floor(ledger, flavors, QueueId(0)) == Fraction(435 + 129, 435 + 2 * 129));
  // Beyond them they are, as far as the GPUs that were promised have no room for them.
  const AmountList more = {{kGpu, 3 * 435}, {large, 3}};
  EXPECT_TRUE(share_with(ledger, flavors, QueueId(0), {.asked = more}) == Fraction(3 * 435 - 1000, 4000));
}

TEST(Share, ComparesExactlyWhatIsAsLargeAsItMayBe) {
  // One workload may ask more than the whole fleet has.
  const std::int64_t fleet_mib = kFleetMemoryBytesMax >> 20;
  const std::int64_t asked_mib = kPodsPerWorkloadMax * (kNodeMemoryBytesMax >> 20);
  const auto flavors = weighing(kFlavorWeightMax, 1);
  const QuotaLedger ledger = ledger_of(
      {top({.weight_milli = kWeightMilliMax}), top({.weight_milli = kWeightMilliMax - 1}), top({.weight_milli = 1})},
      {{kCpu, kFleetCpuMilliMax}, {kMemory, fleet_mib}}, {});
  const auto share = [&](std::size_t queue, Dim dim, std::int64_t amount) {
    const AmountList asked = {{dim, amount}};
    return share_with(ledger, flavors, QueueId(queue), {.asked = asked});
  };
  EXPECT_TRUE(share(0, kMemory, asked_mib) < share(0, kMemory, asked_mib + 1));
  EXPECT_TRUE(share(0, kMemory, asked_mib) < share(1, kMemory, asked_mib));
  EXPECT_TRUE(share(1, kMemory, asked_mib) < share(2, kMemory, asked_mib));
  EXPECT_TRUE(share(0, kMemory, asked_mib) > share(0, kCpu, kFleetCpuMilliMax));
  EXPECT_TRUE(share(0, kCpu, kFleetCpuMilliMax) == share(0, kMemory, fleet_mib));
  EXPECT_TRUE(share(0, kCpu, kFleetCpuMilliMax) == Fraction(1, 1000));
  EXPECT_TRUE(share(2, kMemory, fleet_mib) == Fraction(1000, 1));
  EXPECT_TRUE(share(1, kMemory, fleet_mib - 1) < share(1, kCpu, kFleetCpuMilliMax));
}

}  // namespace berth::share_test
