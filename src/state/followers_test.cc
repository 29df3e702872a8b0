#include "state/followers.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "state/invariants.h"
#include "state/random_world.h"

namespace berth {
namespace {

using Ids = std::vector<WorkloadId>;

constexpr WorkloadId kFirst(0), kSecond(1), kThird(2), kFourth(3);

Dependency after(WorkloadId on) { return {on, false}; }
Dependency after_ok(WorkloadId on) { return {on, true}; }

TEST(Followers, AreReleasedWhenAllHaveEndedAsTheyShould) {
  Followers followers;
  followers.add(kThird, {after(kFirst), after_ok(kSecond)}, false);
  followers.add(kFourth, {after(kSecond)}, false);
  EXPECT_EQ(followers.waits_for(kThird), 2u);
  EXPECT_EQ(followers.ended(kFirst, false), Ids());
  EXPECT_EQ(followers.waits_for(kThird), 1u);
  EXPECT_EQ(followers.ended(kSecond, true), (Ids{kThird, kFourth}));
  EXPECT_FALSE(followers.waits(kThird));
  EXPECT_EQ(followers.ended(kSecond, true), Ids());
}

TEST(Followers, WaitInVainWhenOneHasNotDoneWhatItShould) {
  Followers followers;
  followers.add(kThird, {after_ok(kFirst), after(kSecond)}, false);
  EXPECT_EQ(followers.ended(kFirst, false), Ids());
  EXPECT_TRUE(followers.waits_in_vain(kThird));
  EXPECT_EQ(followers.ended(kSecond, true), Ids());
  EXPECT_TRUE(followers.waits(kThird));
  followers.add(kFourth, {}, true);
  EXPECT_TRUE(followers.waits_in_vain(kFourth));
  followers.forget(kThird);
  EXPECT_FALSE(followers.waits(kThird));
}

TEST(Followers, ThatAreForgottenAreReleasedByNobody) {
  Followers followers;
  followers.add(kThird, {after(kFirst), after_ok(kFirst)}, false);
  followers.forget(kThird);
  EXPECT_EQ(followers.ended(kFirst, true), Ids());
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

TEST(Waking, ComesWithTimeAndNotBefore) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
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

}  // namespace
}  // namespace berth
