#include "base/fair_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"

namespace berth::fair_queue_test {

std::string drained(FairQueue<char>& queue, std::size_t turns = 1000) {
  std::string order;
  while (turns-- > 0) {
    const auto next = queue.pop();
    if (!next) break;
    order += *next;
  }
  return order;
}

TEST(FairQueue, PayersTakeTurnsAndEachIsServedInHisOrder) {
  FairQueue<char> queue;
  for (const char item : {'a', 'b', 'c', 'd'}) queue.push("one", 1, item);
  for (const char item : {'x', 'y'}) queue.push("two", 1, item);
  EXPECT_EQ(queue.size(), 6U);
  EXPECT_EQ(queue.payers(), 2U);
  EXPECT_EQ(queue.size_of("one"), 4U);
  EXPECT_EQ(drained(queue), "axbycd");
  EXPECT_EQ(queue.payers(), 0U);
  EXPECT_FALSE(queue.pop().has_value());
}

TEST(FairQueue, WhoComesLateWithLittleIsNextThoughManyWait) {
  FairQueue<char> queue;
  for (int payer = 0; payer < 50; ++payer) {
    for (int i = 0; i < 100; ++i) queue.push("flood-" + std::to_string(payer), 16, '.');
  }
  drained(queue, 1000);
  queue.push("late", 1, 'L');
  const std::string order = drained(queue, 51);
  EXPECT_LE(order.find('L'), 50U);  // one turn of each of the others at the most
}

TEST(FairQueue, CostsDecideAndNotNumbers) {
  FairQueue<char> queue;
  for (int i = 0; i < 4; ++i) queue.push("dear", 10, 'D');
  for (int i = 0; i < 20; ++i) queue.push("cheap", 1, 'c');
  const std::string order = drained(queue, 13);
  EXPECT_EQ(std::count(order.begin(), order.end(), 'D'), 2);
}

TEST(FairQueue, AskingAgainAfterEachTurnDoesNotJumpTheQueue) {
  FairQueue<char> queue;
  for (int i = 0; i < 10; ++i) queue.push("patient", 1, 'p');
  queue.push("pushing", 5, 'x');
  std::string order;
  for (int i = 0; i < 8; ++i) {
    const char next = *queue.pop();
    order += next;
    if (next == 'x') queue.push("pushing", 5, 'x');
  }
  EXPECT_EQ(std::count(order.begin(), order.end(), 'x'), 2) << order;
}

TEST(FairQueue, NobodyIsOwedForTheTimeInWhichHeDidNotAsk) {
  FairQueue<char> queue;
  for (int i = 0; i < 100; ++i) queue.push("busy", 1, 'b');
  drained(queue, 90);
  for (int i = 0; i < 10; ++i) queue.push("new", 1, 'n');
  const std::string order = drained(queue, 10);
  EXPECT_EQ(std::count(order.begin(), order.end(), 'n'), 5) << order;
}

// While two payers both wait, what they are given differs by one item's cost each at the most.
TEST(FairQueue, PropertyWhoeverWaitsIsGivenAsMuchAsAnybody) {
  for (const Seed seed : property_seeds(20)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    constexpr std::uint64_t kCostMax = 9;
    FairQueue<std::pair<std::string, std::uint64_t>> queue;
    std::map<std::string, std::uint64_t> given;
    const auto push = [&](const std::string& payer) {
      const std::uint64_t cost = 1 + rng.below(kCostMax);
      queue.push(payer, cost, {payer, cost});
    };
    const std::vector<std::string> payers = {"a", "b", "c", "d"};
    for (int i = 0; i < 8; ++i) push(payers[static_cast<std::size_t>(i) % 4]);
    for (int turn = 0; turn < 2000; ++turn) {
      const auto next = *queue.pop();
      given[next.first] += next.second;
      push(next.first);
      for (const std::string& payer : payers) {
        ASSERT_GE(given[payer] + 2 * kCostMax, given[next.first]) << payer;
      }
    }
  }
}

}  // namespace berth::fair_queue_test
