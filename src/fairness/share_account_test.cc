#include "fairness/share_account.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/property_seeds.h"

namespace berth::share_account_test {

constexpr Dim kGpu(FlavorId(0), Resource::kGpu);
constexpr Dim kCpu(FlavorId(0), Resource::kCpu);
constexpr Dim kOtherGpu(FlavorId(1), Resource::kGpu);

TEST(ShareAccount, NamesWhatASumIsMadeOf) {
  const std::vector<Flavor> flavors = {{.name = "h100", .model = "gpu", .weight = 10}, {.name = "l4", .model = "gpu"}};
  AmountsByDim capacity(Dim::count(2));
  capacity[kGpu.index()] = 64'000;
  capacity[kOtherGpu.index()] = 4'000;
  QuotaLedger ledger;
  const Quota floor{.guarantee = {{kGpu, 16'000}}, .weight_milli = 2000};
  const std::vector<Queue> queues = {{.name = "q", .parent = {}, .order = Order::kFifo, .quota = floor}};
  ledger.replace_tree(std::make_shared<const QuotaTree>(queues, capacity), capacity);
  ledger.add({.workload = WorkloadId(0), .queue = QueueId(0), .admitted = {}, .covered_at = {}},
             {{kGpu, 24'000}, {kCpu, 5'000}, {kOtherGpu, 2'000}});
  const ShareAccount account = account_of_share(ledger, flavors, QueueId(0));
  EXPECT_EQ(account.weight_milli, 2000);
  ASSERT_EQ(account.resources.size(), 1U) << "no node has CPUs, so nobody has a share of them";
  EXPECT_EQ(account.resources[0].parts,
            (std::vector<SharePart>{{kGpu, 8'000, 64'000, 10}, {kOtherGpu, 2'000, 4'000, 1}}));
  EXPECT_TRUE(account.share == Fraction(82, 2 * 644));
}

TEST(ShareAccount, IsTheShareThatDecides) {
  for (const Seed seed : property_seeds(1000)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const std::vector<Flavor> flavors = {{.name = "a", .model = "gpu", .weight = rng.between(1, 9)},
                                         {.name = "b", .model = "gpu", .weight = rng.between(1, 9)}};
    AmountsByDim capacity(Dim::count(2));
    for (std::int64_t& amount : capacity) amount = rng.below(3) == 0 ? 0 : rng.between(1, 100);
    const auto some = [&](std::int64_t most) {
      AmountList amounts;
      for (std::size_t dim = 0; dim < capacity.size(); ++dim) {
        if (rng.below(2) == 0) amounts.push_back({Dim::at(dim), rng.between(1, most)});
      }
      return amounts;
    };
    std::vector<Queue> queues;
    for (int i = 0; i < 3; ++i) {
      Quota quota{.guarantee = some(30), .weight_milli = rng.between(1, 3000)};
      const QueueId parent = i == 2 ? QueueId(0) : QueueId();
      queues.push_back({.name = "q", .parent = parent, .order = Order::kFifo, .quota = std::move(quota)});
    }
    QuotaLedger ledger;
    ledger.replace_tree(std::make_shared<const QuotaTree>(queues, capacity), capacity);
    for (std::size_t i = 0; i < 6; ++i) {
      ledger.add({.workload = WorkloadId(i), .queue = QueueId(i % 3), .admitted = {}, .covered_at = {}}, some(40));
    }
    for (std::size_t queue = 0; queue < 3; ++queue) {
      ASSERT_TRUE(account_of_share(ledger, flavors, QueueId(queue)).share == share_of(ledger, flavors, QueueId(queue)))
          << "queue " << queue;
    }
  }
}

}  // namespace berth::share_account_test
