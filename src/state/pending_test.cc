#include "state/pending.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/property_seeds.h"

namespace berth::pending_test {

PendingKey key(std::size_t workload) { return {.workload = WorkloadId(workload)}; }

std::vector<WorkloadId> heads_of(const Line& line) {
  std::vector<WorkloadId> workloads;
  line.heads().for_each([&](const Head& head) { workloads.push_back(head.key.workload); });
  return workloads;
}

using Workloads = std::vector<WorkloadId>;

TEST(PendingKey, GoesByItsFieldsAndThenByWhoCameFirst) {
  const PendingKey keys[] = {
      {0, 1, 1, 1, WorkloadId(0)}, {0, 1, 1, 1, WorkloadId(1)}, {0, 1, 1, 2, WorkloadId(0)},
      {0, 1, 2, 0, WorkloadId(0)}, {0, 2, 0, 0, WorkloadId(0)},
  };
  EXPECT_TRUE(std::is_sorted(std::begin(keys), std::end(keys)));
}

TEST(Line, ListsTheFirstOfEveryShape) {
  Line line(Order::kFifoSkip);
  line.add(ShapeId(5), key(1));
  line.add(ShapeId(3), key(2));
  line.add(ShapeId(5), key(0));
  EXPECT_EQ(line.size(), 3u);
  EXPECT_EQ(heads_of(line), (Workloads{WorkloadId(0), WorkloadId(2)}));
  line.remove(ShapeId(5), key(0));
  EXPECT_EQ(heads_of(line), (Workloads{WorkloadId(1), WorkloadId(2)}));
  line.remove(ShapeId(3), key(2));
  EXPECT_EQ(heads_of(line), (Workloads{WorkloadId(1)}));
  EXPECT_EQ(line.find(ShapeId(4)), nullptr);
  EXPECT_TRUE(line.find(ShapeId(3))->waiting.empty());
}

TEST(Line, ABlockedShapeStandsInTheWayOfAStrictLineOnly) {
  struct Case {
    Order order;
    std::int64_t missing;
    Workloads heads;
  };
  const WorkloadId first(0);
  const WorkloadId second(1);
  const Case cases[] = {
      {Order::kFifo, 0, {first, second}}, {Order::kFifo, 3, {first, second}}, {Order::kFifo, kMissingForever, {second}},
      {Order::kFifoSkip, 3, {second}},    {Order::kSjf, 1, {second}},         {Order::kSjf, -2, {first, second}},
  };
  for (const Case& c : cases) {
    Line line(c.order);
    line.add(ShapeId(0), key(0));
    line.add(ShapeId(1), key(1));
    line.set_missing(line.index_of(ShapeId(0)), c.missing);
    EXPECT_EQ(heads_of(line), c.heads) << name_of(c.order) << " " << c.missing;
    line.set_missing(line.index_of(ShapeId(0)), 0);
    EXPECT_EQ(heads_of(line), (Workloads{first, second})) << "woken again";
  }
}

TEST(LineProperty, IsWhatAMapOfSetsIs) {
  for (const Seed seed : property_seeds(100)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const auto order = static_cast<Order>(rng.below(3));
    Line line(order);
    std::map<ShapeId, std::set<PendingKey>> waiting;
    std::map<ShapeId, std::int64_t> missing;
    for (int step = 0; step < 400; ++step) {
      const ShapeId shape(static_cast<std::size_t>(rng.below(8)));
      const PendingKey one{0, rng.between(0, 3), rng.between(0, 3), rng.between(0, 1),
                           WorkloadId(static_cast<std::size_t>(rng.below(20)))};
      if (rng.below(4) == 0 && missing.contains(shape)) {
        missing[shape] = rng.below(4) == 0 ? kMissingForever : rng.between(0, 2);
        line.set_missing(line.index_of(shape), missing[shape]);
      } else if (waiting[shape].insert(one).second) {
        missing.emplace(shape, 0);
        line.add(shape, one);
      } else {
        waiting[shape].erase(one);
        line.remove(shape, one);
      }
      std::set<PendingKey> heads;
      std::size_t size = 0;
      for (const auto& [id, keys] : waiting) {
        size += keys.size();
        const bool listed = missing[id] == 0 || (order == Order::kFifo && missing[id] != kMissingForever);
        if (!keys.empty() && listed) heads.insert(*keys.begin());
      }
      std::set<PendingKey> listed;
      line.heads().for_each([&](const Head& head) { listed.insert(head.key); });
      ASSERT_EQ(line.size(), size);
      ASSERT_EQ(listed, heads);
    }
  }
}

}  // namespace berth::pending_test
