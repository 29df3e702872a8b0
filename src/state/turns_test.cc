#include "state/turns.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace berth::turns_test {

Window window(std::vector<Interval> open, Time known_until = Time{1000}) {
  Window made;
  made.queue = QueueId(0);
  made.open = std::move(open);
  made.known_until = known_until;
  return made;
}
Interval between(std::int64_t from, std::int64_t to) { return {Time{from}, Time{to}}; }

TEST(Turns, AreWhatOpensAndCloses) {
  const std::vector<Window> windows = {window({between(10, 20), between(20, 30), between(50, 60)}),
                                       window({between(20, 55)})};
  struct Case {
    const char* what;
    std::int64_t now;
    OpenWindows open;
    std::vector<Turn> turns;
  };
  const Case cases[] = {
      {"before all", 0, 0, {{Time{10}, 1}, {Time{20}, 3}, {Time{30}, 2}, {Time{50}, 3}, {Time{55}, 1}, {Time{60}, 0}}},
      {"as one opens", 10, 1, {{Time{20}, 3}, {Time{30}, 2}, {Time{50}, 3}, {Time{55}, 1}, {Time{60}, 0}}},
      {"open twice in a row", 25, 3, {{Time{30}, 2}, {Time{50}, 3}, {Time{55}, 1}, {Time{60}, 0}}},
      {"as one closes", 30, 2, {{Time{50}, 3}, {Time{55}, 1}, {Time{60}, 0}}},
      {"after all", 60, 0, {}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(open_at(windows, Time{c.now}), c.open) << c.what;
    EXPECT_EQ(turns_after(windows, Time{c.now}), c.turns) << c.what;
  }
}

TEST(Turns, AreKnownAsFarAsAllWindowsAre) {
  const std::vector<Window> windows = {window({between(10, 20)}, Time{100}), window({between(5, 12)}, Time{10})};
  EXPECT_EQ(turns_after(windows, Time{0}), (std::vector<Turn>{{Time{5}, 2}, {Time{10}, 3}}));
}

TEST(Turns, TheFirstToEachOtherSetOfOpenWindows) {
  const std::vector<Turn> turns = {{Time{1}, 1}, {Time{2}, 0}, {Time{3}, 1}, {Time{4}, 3}, {Time{5}, 0}, {Time{6}, 2}};
  EXPECT_EQ(first_of_each(turns, 0), (std::vector<Turn>{{Time{1}, 1}, {Time{4}, 3}, {Time{6}, 2}}));
  EXPECT_EQ(first_of_each(turns, 2), (std::vector<Turn>{{Time{1}, 1}, {Time{2}, 0}, {Time{4}, 3}}));
}

TEST(Turns, AWindowChangesWhatItNames) {
  const Dim gpu(FlavorId(0), Resource::kGpu), other(FlavorId(1), Resource::kGpu), cpu(FlavorId(0), Resource::kCpu);
  Queue queue{.name = "q", .parent = QueueId(), .order = Order::kFifo};
  queue.quota.guarantee = {{gpu, 8}, {other, 4}};
  queue.quota.weight_milli = 2000;
  Window first = window({});
  first.guarantee = {{gpu, 16}, {cpu, 5}};
  first.limit = {{gpu, 20}};
  Window second = window({});
  second.guarantee = {{gpu, 0}};
  second.borrowing_limit = {{gpu, 1}};
  second.lending_limit = {{gpu, 2}};
  second.weight_milli = 500;
  const std::vector<Window> windows = {first, second};
  const auto while_open = [&](OpenWindows open) { return queues_while({queue}, windows, open)[0].quota; };
  EXPECT_EQ(while_open(0), queue.quota);
  EXPECT_EQ(while_open(1).guarantee, (AmountList{{gpu, 16}, {cpu, 5}, {other, 4}}));
  EXPECT_EQ(while_open(1).limit, (AmountList{{gpu, 20}}));
  EXPECT_EQ(while_open(1).weight_milli, 2000);
  EXPECT_EQ(while_open(3).guarantee, (AmountList{{gpu, 0}, {cpu, 5}, {other, 4}})) << "the later one holds";
  EXPECT_EQ(while_open(2).borrowing_limit, (AmountList{{gpu, 1}}));
  EXPECT_EQ(while_open(2).lending_limit, (AmountList{{gpu, 2}}));
  EXPECT_EQ(while_open(2).weight_milli, 500);
}

}  // namespace berth::turns_test
