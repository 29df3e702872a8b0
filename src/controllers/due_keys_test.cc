// The small parts that all controllers stand on: due keys, sets of numbers, the view of the cluster.
#include "controllers/due_keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/property_seeds.h"
#include "controllers/cluster_view.h"
#include "controllers/number_set.h"

namespace berth::due_keys_test {

TEST(DueKeys, HandsOutEachKeyOnceAndToOneAtATime) {
  DueKeys due(Seed{1});
  due.add("a", Time{10});
  due.add("a", Time{5});
  due.add("b", Time{7});
  EXPECT_EQ(due.take(Time{4}), std::nullopt);
  EXPECT_EQ(due.next(), Time{5});
  EXPECT_EQ(due.take(Time{7}), "a");
  due.add("a", Time{7});
  EXPECT_EQ(due.take(Time{7}), "b");
  EXPECT_EQ(due.take(Time{100}), std::nullopt) << "a is in somebody's hands";
  EXPECT_EQ(due.next(), std::nullopt);
  due.settle("a");
  EXPECT_EQ(due.take(Time{7}), "a");
  due.settle("a");
  due.settle("b");
  EXPECT_EQ(due.waiting(), 0u);
}

TEST(DueKeys, WaitsLongerAfterEachFailureAndForgetsThemWhenAllIsWell) {
  DueKeys due(Seed{1});
  Time now{0};
  Duration before{0};
  for (int i = 0; i < 12; ++i) {
    due.add("a", now);
    ASSERT_EQ(due.take(now), "a");
    due.add("a", now);  // what was noted meanwhile waits too
    const Duration wait = due.fail("a", now) - now;
    EXPECT_GE(wait.ms, std::min(DueKeys::kRetryMax.ms, before.ms * 3 / 2)) << i;
    EXPECT_LE(wait.ms, DueKeys::kRetryMax.ms * 5 / 4);
    EXPECT_EQ(due.take(now), std::nullopt);
    before = wait;
    now = now + wait;
  }
  ASSERT_EQ(due.take(now), "a");
  due.settle("a");
  due.add("a", now);
  ASSERT_EQ(due.take(now), "a");
  EXPECT_LE((due.fail("a", now) - now).ms, DueKeys::kRetryFirst.ms * 5 / 4);
}

TEST(NumberSet, IsWrittenAndReadAsRanges) {
  const struct {
    const char* read;
    const char* written;
    std::int64_t size;
  } cases[] = {
      {"", "", 0},
      {"0-2,5", "0-2,5", 4},
      {"5,0,1,2", "0-2,5", 4},
      {"3,4", "3,4", 2},
      {"1-4,2-8", "1-8", 8},
      {"7,x,-3,9-8,4-,,99999999999999999999,2", "2,7", 2},
      {"0-2147483646", "0-2147483646", 2'147'483'647},
  };
  for (const auto& each : cases) {
    const NumberSet set = NumberSet::parse(each.read);
    EXPECT_EQ(set.to_string(), each.written) << each.read;
    EXPECT_EQ(set.size(), each.size) << each.read;
  }
}

TEST(NumberSetProperty, IsTheSameAsASetOfNumbers) {
  for (const Seed seed : property_seeds(20)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    NumberSet set;
    std::set<std::int64_t> plain;
    for (int step = 0; step < 200; ++step) {
      if (rng.below(20) == 0) {
        const std::int64_t first = rng.between(0, 40);
        set.erase_from(first);
        plain.erase(plain.lower_bound(first), plain.end());
      } else {
        const std::int64_t number = rng.between(0, 40);
        set.insert(number);
        plain.insert(number);
      }
      ASSERT_EQ(set.size(), static_cast<std::int64_t>(plain.size()));
      const NumberSet evens = NumberSet::parse("0,2,4,6-8,10-20");
      ASSERT_EQ(set.count_common(evens), std::ranges::count_if(plain, [&](auto i) { return evens.contains(i); }));
      for (std::int64_t i = 0; i <= 41; ++i) ASSERT_EQ(set.contains(i), plain.contains(i)) << i;
      ASSERT_EQ(NumberSet::parse(set.to_string()), set);
    }
  }
}

class ClusterViewTest : public testing::Test {
 protected:
  static Value pod(const std::string& name, const std::string& uid, std::int64_t revision) {
    Value pod = Value::map_of({{"apiVersion", "v1"}, {"kind", "Pod"}});
    pod.set(
        "metadata",
        Value::map_of(
            {{"namespace", "default"}, {"name", name}, {"uid", uid}, {"resourceVersion", std::to_string(revision)}}));
    pod.at("metadata").at("ownerReferences").push_back(Value::map_of({{"uid", "owner"}}));
    return pod;
  }
  static ObjectPtr shared(Value object) { return std::make_shared<const Value>(std::move(object)); }

  const KindInfo& pods_ = *find_served("", "v1", "pods");
  ClusterView view_;
};

TEST_F(ClusterViewTest, KnowsAnswersAheadOfTheMirrorAndNeverGoesBack) {
  EXPECT_EQ(view_.learn(pods_, pod("p", "u1", 10), Time{0}).size(), 1u);
  EXPECT_EQ(view_.see(pods_, {.before = nullptr, .after = shared(pod("p", "u1", 9))}).size(), 0u);
  EXPECT_EQ(view_.count_dependents("owner"), 1u);
  const auto gone = view_.see(pods_, {.before = shared(pod("p", "u1", 10)), .after = nullptr});
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].change.after, nullptr);
  EXPECT_EQ(view_.learn(pods_, pod("p", "u1", 11), Time{0}).size(), 0u) << "an answer that comes late raises nobody";
  EXPECT_EQ(view_.find("pods", "default", "p"), nullptr);
  EXPECT_EQ(view_.count_dependents("owner"), 0u);
}

TEST_F(ClusterViewTest, AnotherObjectOfTheNameIsTwoChanges) {
  view_.learn(pods_, pod("p", "u1", 10), Time{0});
  const auto changes = view_.see(pods_, {.before = nullptr, .after = shared(pod("p", "u2", 12))});
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].change.after, nullptr);
  EXPECT_EQ(changes[1].change.before, nullptr);
  EXPECT_EQ(view_.by_uid("u1"), nullptr);
  EXPECT_NE(view_.by_uid("u2"), nullptr);
}

TEST_F(ClusterViewTest, ForgetsWhatTheMirrorPassedByWithoutAWord) {
  view_.learn(pods_, pod("p", "u1", 10), Time{0});
  const auto come_to = [](std::int64_t revision) { return [revision](const KindInfo&) { return revision; }; };
  EXPECT_EQ(view_.forget_untold(Time{10'000}, come_to(20)).size(), 0u) << "too early to say";
  EXPECT_EQ(view_.forget_untold(Time{40'000}, come_to(9)).size(), 0u) << "the mirror is behind";
  EXPECT_EQ(view_.forget_untold(Time{80'000}, come_to(10)).size(), 1u);
  view_.learn(pods_, pod("q", "u2", 11), Time{80'000});
  view_.see(pods_, {.before = nullptr, .after = shared(pod("q", "u2", 11))});
  EXPECT_EQ(view_.forget_untold(Time{200'000}, come_to(20)).size(), 0u) << "it was told";
}

}  // namespace berth::due_keys_test
