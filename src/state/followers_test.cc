#include "state/followers.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "state/invariants.h"
#include "state/random_world.h"

namespace berth::followers_test {

using Ids = std::vector<WorkloadId>;

constexpr WorkloadId kFirst(0), kSecond(1), kThird(2), kFourth(3);

Dependency after(WorkloadId on) { return {on, DependsOn::kEnd}; }
Dependency after_ok(WorkloadId on) { return {on, DependsOn::kDone}; }
Dependency after_start(WorkloadId on) { return {on, DependsOn::kBegin}; }

using News = Followers::News;

TEST(Followers, AreReleasedWhenAllHaveEndedAsTheyShould) {
  Followers followers;
  followers.add(kThird, {after(kFirst), after_ok(kSecond)}, false);
  followers.add(kFourth, {after(kSecond)}, false);
  EXPECT_EQ(followers.waits_for(kThird), 2u);
  EXPECT_EQ(followers.tell(kFirst, News::kNotDone), Ids());
  EXPECT_EQ(followers.waits_for(kThird), 1u);
  EXPECT_EQ(followers.tell(kSecond, News::kDone), (Ids{kThird, kFourth}));
  EXPECT_FALSE(followers.waits(kThird));
  EXPECT_EQ(followers.tell(kSecond, News::kDone), Ids());
}

TEST(Followers, WaitInVainWhenOneHasNotDoneWhatItShould) {
  Followers followers;
  followers.add(kThird, {after_ok(kFirst), after(kSecond)}, false);
  EXPECT_EQ(followers.tell(kFirst, News::kNotDone), Ids());
  EXPECT_TRUE(followers.waits_in_vain(kThird));
  EXPECT_EQ(followers.tell(kSecond, News::kDone), Ids());
  EXPECT_TRUE(followers.waits(kThird));
  followers.add(kFourth, {}, true);
  EXPECT_TRUE(followers.waits_in_vain(kFourth));
  followers.forget(kThird);
  EXPECT_FALSE(followers.waits(kThird));
}

TEST(Followers, OfABeginningWaitForNothingElse) {
  Followers followers;
  followers.add(kSecond, {after_start(kFirst)}, false);
  followers.add(kThird, {after_start(kFirst), after_ok(kFirst)}, false);
  followers.add(kFourth, {after(kFirst)}, false);
  EXPECT_EQ(followers.tell(kFirst, News::kBegun), Ids{kSecond});
  EXPECT_EQ(followers.waits_for(kThird), 1u);
  EXPECT_EQ(followers.waits_for_ends(kThird), 1u);
  EXPECT_EQ(followers.awaited_by(kThird), std::vector<Dependency>{after_ok(kFirst)});
  EXPECT_EQ(followers.tell(kFirst, News::kBegun), Ids());
  EXPECT_EQ(followers.tell(kFirst, News::kDone), (Ids{kThird, kFourth}));
}

TEST(Followers, OfOneWhoCannotBeDoneWaitInVainToo) {
  Followers followers;
  followers.add(kSecond, {after_ok(kFirst)}, false);
  followers.add(kThird, {after_ok(kSecond)}, false);
  followers.add(kFourth, {after(kSecond), after_start(kSecond)}, false);
  const WorkloadId fifth(4);
  followers.add(fifth, {after_ok(kThird)}, false);
  EXPECT_EQ(followers.tell(kFirst, News::kNotDone), Ids());
  EXPECT_TRUE(followers.waits_in_vain(kThird));
  EXPECT_TRUE(followers.waits_in_vain(fifth));
  EXPECT_FALSE(followers.waits_in_vain(kFourth));
  EXPECT_EQ(followers.tell(kSecond, News::kNotDone), Ids{kFourth});
}

TEST(Followers, ThatAreForgottenAreReleasedByNobody) {
  Followers followers;
  followers.add(kThird, {after(kFirst), after_ok(kFirst)}, false);
  followers.forget(kThird);
  EXPECT_EQ(followers.tell(kFirst, News::kDone), Ids());
}

WorkloadSubmitted job(std::vector<Dependency> others) {
  WorkloadSubmitted made = submission(QueueId(0), single_pod({}));
  made.after = std::move(others);
  return made;
}

TEST(Followers, ThatCameWhenOthersHadEndedKnowHow) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
  state.apply(job({}));
  state.apply(WorkloadCancelled{kFirst});
  state.apply(job({after(kFirst)}));
  state.apply(job({after_ok(kFirst)}));
  EXPECT_FALSE(state.is_kept_aside(kSecond));
  EXPECT_TRUE(state.is_kept_aside(kThird));
  EXPECT_TRUE(state.followers().waits_in_vain(kThird));
  state.apply(job({after(kThird)}));
  EXPECT_TRUE(state.is_kept_aside(kFourth));
  EXPECT_EQ(violations(state), std::vector<std::string>());
  state.apply(WorkloadCancelled{kThird});
  EXPECT_FALSE(state.is_kept_aside(kFourth));
  EXPECT_EQ(violations(state), std::vector<std::string>());
}

TEST(Series, HaveAsManyTurnsAsTheLastOfThemSays) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
  const auto one_of = [](std::int32_t at_most) {
    WorkloadSubmitted made = job({});
    made.series = SeriesId(7);
    made.at_most = at_most;
    return made;
  };
  const auto aside = [&] {
    std::vector<bool> found;
    for (std::size_t i = 0; i < state.workloads().next_id().index(); ++i)
      found.push_back(state.is_kept_aside(WorkloadId(i)));
    return found;
  };
  for (int i = 0; i < 3; ++i) state.apply(one_of(1));
  EXPECT_EQ(aside(), (std::vector<bool>{false, true, true}));
  state.apply(WorkloadCancelled{kSecond});  // it had no turn, and gives none
  EXPECT_TRUE(state.is_kept_aside(kThird));
  EXPECT_EQ(violations(state), std::vector<std::string>());
  state.apply(one_of(2));
  EXPECT_FALSE(state.is_kept_aside(kThird));
  EXPECT_TRUE(state.is_kept_aside(kFourth));
  state.apply(WorkloadCancelled{kFirst});
  EXPECT_FALSE(state.is_kept_aside(kFourth));
  EXPECT_EQ(violations(state), std::vector<std::string>());
  state.apply(WorkloadCancelled{kThird});
  state.apply(WorkloadCancelled{kFourth});
  EXPECT_TRUE(state.series().all().empty());
  EXPECT_EQ(violations(state), std::vector<std::string>());
}

TEST(Waking, ComesWithTimeAndNotBefore) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifoSkip});
  EXPECT_FALSE(state.keeps_time());
  WorkloadSubmitted early = job({});
  early.not_before = Time{100};
  state.apply(early);
  WorkloadSubmitted late = early;
  late.at = Time{100};
  state.apply(late);
  EXPECT_TRUE(state.keeps_time());
  EXPECT_EQ(state.next_wake(), Time{100});
  EXPECT_TRUE(state.is_kept_aside(kFirst));
  EXPECT_FALSE(state.is_kept_aside(kSecond));
  state.apply(TimePassed{Time{99}});
  EXPECT_TRUE(state.is_kept_aside(kFirst));
  EXPECT_EQ(violations(state), std::vector<std::string>());
  state.apply(TimePassed{Time{100}});
  EXPECT_FALSE(state.is_kept_aside(kFirst));
  EXPECT_EQ(state.next_wake(), kForever);
  EXPECT_EQ(violations(state), std::vector<std::string>());
}

}  // namespace berth::followers_test
