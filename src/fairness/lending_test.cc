#include "fairness/lending.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"

namespace berth::lending_test {

constexpr Dim kGpu(FlavorId(0), Resource::kGpu);
using Numbers = std::vector<std::int64_t>;

struct Place {
  QueueId parent;
  std::int64_t guarantee = 0;
  std::int64_t held = 0;  // by its own line
};

QuotaLedger ledger_of(const std::vector<Place>& places, std::int64_t capacity) {
  std::vector<Queue> queues;
  for (const Place& place : places) {
    queues.push_back({.name = "queue", .parent = place.parent, .order = Order::kFifo});
    if (place.guarantee > 0) queues.back().quota.guarantee = {{kGpu, place.guarantee}};
  }
  AmountsByDim by_dim(Dim::count(1));
  by_dim[kGpu.index()] = capacity;
  QuotaLedger ledger;
  ledger.replace_tree(std::make_shared<const QuotaTree>(queues, by_dim), by_dim);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].held == 0) continue;
    ledger.add({.workload = WorkloadId(i), .queue = QueueId(i), .admitted = {}, .covered_at = {}},
               {{kGpu, places[i].held}});
  }
  return ledger;
}

Numbers lent_of(const QuotaLedger& ledger) {
  Numbers lent;
  for (std::size_t i = 0; i < ledger.tree().queues(); ++i) {
    EXPECT_EQ(lent_by(ledger, QueueId(i)), lent_by_each(ledger)[i]);
    lent.push_back(lent_by(ledger, QueueId(i))[kGpu.index()]);
  }
  return lent;
}

TEST(Lending, IsOfIdleFloorsWhatOthersHold) {
  const QueueId top;
  struct Case {
    const char* what;
    std::int64_t capacity;
    std::vector<Place> places;
    Numbers lent;
  };
  const Case cases[] = {
      {"nothing is borrowed", 16, {{top, 8, 8}, {top, 8, 4}}, {0, 0}},
      {"half of a floor", 16, {{top, 8, 12}, {top, 8, 0}}, {0, 4}},
      {"all of it", 16, {{top, 8, 16}, {top, 8, 0}}, {0, 8}},
      {"what the owner uses is not lent", 16, {{top, 8, 11}, {top, 8, 5}}, {0, 3}},
      {"first comes what is nobody's", 24, {{top, 8, 16}, {top, 8, 0}}, {0, 0}},
      {"then the idle floor", 24, {{top, 8, 18}, {top, 8, 0}}, {0, 2}},
      {"somebody without a floor", 8, {{top, 0, 6}, {top, 8, 0}}, {0, 6}},
      {"of two owners, in proportion", 24, {{top, 8, 14}, {top, 4, 0}, {top, 12, 4}}, {0, 2, 4}},
      {"what cannot be divided comes from the first",
       12,
       {{top, 0, 4}, {top, 4, 0}, {top, 4, 0}, {top, 4, 0}},
       {0, 2, 1, 1}},
      {"more than there are nodes for: no more than is idle", 8, {{top, 0, 20}, {top, 8, 0}}, {0, 8}},
      {"below one parent its pool comes first", 16, {{top, 16, 0}, {QueueId(0), 4, 0}, {QueueId(0), 4, 12}}, {0, 0, 0}},
      {"and then the sibling", 16, {{top, 16, 0}, {QueueId(0), 4, 0}, {QueueId(0), 4, 14}}, {0, 2, 0}},
      {"what the parent lends is lent by its children once its pool is gone",
       16,
       {{top, 8, 0}, {QueueId(0), 6, 0}, {top, 8, 15}},
       {7, 5, 0}},
      {"what the parent has borrowed comes before its children's floors",
       16,
       {{top, 8, 0}, {QueueId(0), 4, 0}, {QueueId(0), 4, 10}, {top, 8, 0}},
       {0, 4, 0, 2}},
      {"the own line of a parent borrows from its children", 8, {{top, 8, 6}, {QueueId(0), 8, 0}}, {0, 6}},
  };
  for (const Case& c : cases) EXPECT_EQ(lent_of(ledger_of(c.places, c.capacity)), c.lent) << c.what;
}

// Where all capacity is somebody's floor, what is lent at the top is what is borrowed there; and nobody lends what is not
// idle.
TEST(LendingProperty, WhatIsLentIsWhatIsBorrowed) {
  for (const Seed seed : property_seeds(2000)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    std::vector<Place> places;
    for (std::int64_t left = rng.between(1, 6); left > 0; --left) places.push_back({QueueId(), rng.between(0, 9), 0});
    std::int64_t capacity = 0;
    for (const Place& place : places) capacity += place.guarantee;
    for (std::int64_t left = capacity, tries = 10; left > 0 && tries > 0; --tries) {
      const std::int64_t held = rng.between(0, left);
      places[static_cast<std::size_t>(rng.below(places.size()))].held += held;
      left -= held;
    }
    const QuotaLedger ledger = ledger_of(places, capacity);
    std::int64_t lent = 0;
    std::int64_t borrowed = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::int64_t amount = lent_by_each(ledger)[i][kGpu.index()];
      EXPECT_GE(amount, 0);
      EXPECT_LE(amount, std::max<std::int64_t>(0, places[i].guarantee - places[i].held));
      lent += amount;
      borrowed += borrowed_by(ledger, QueueId(i))[kGpu.index()];
    }
    EXPECT_EQ(lent, borrowed);
    if (HasFailure()) return;
  }
}

}  // namespace berth::lending_test
