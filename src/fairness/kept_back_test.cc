#include "fairness/kept_back.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "state/random_world.h"

namespace berth::kept_back_test {

const FlavorSet kH100 = FlavorSet::of(FlavorId(0));
const FlavorSet kA100 = FlavorSet::of(FlavorId(1));
constexpr Dim kGpuOfH100(FlavorId(0), Resource::kGpu);
constexpr Dim kCpuOfH100(FlavorId(0), Resource::kCpu);
constexpr Dim kCpuElsewhere(FlavorId(), Resource::kCpu);

PodRequest asking(std::int32_t gpus, FlavorSet flavors, std::int64_t cpu_milli = 0) {
  return {.cpu_milli = cpu_milli, .gpus = gpus, .gpu_milli = gpus > 0 ? kMilliPerGpu : 0, .flavors = flavors};
}

WorkloadShape one(const PodRequest& request, Terms terms = {}) {
  WorkloadShape shape = single_pod(request);
  shape.terms = terms;
  return shape;
}

struct Job {
  WorkloadShape shape;
  const char* user = "ann";
};

// A queue with these quotas, in which work of ann holds 4 of 16 H100s and 4 CPUs on a node without GPUs; and 16 A100s.
struct World {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 2, {});

  explicit World(Quota quota) {
    state.apply(QueueAdded{{.name = "q", .parent = QueueId(), .order = Order::kFifo, .quota = std::move(quota)}});
    state.apply(NodesAdded{{{.name = "h", .flavor = FlavorId(0), .gpus = 16, .cpu_milli = 64'000}}});
    state.apply(NodesAdded{{{.name = "a", .flavor = FlavorId(1), .gpus = 16, .cpu_milli = 64'000}}});
    state.apply(NodesAdded{{{.name = "c", .flavor = FlavorId(), .cpu_milli = 64'000}}});
    WorkloadSubmitted held = submission(QueueId(0), one(asking(4, kH100, 4'000)));
    held.user = "ann";
    state.apply(WorkloadFound{held, {{NodeId(0), GpuSet::from_bits(0xf)}}, Time{}});
    const WorkloadSubmitted without_gpus = submission(QueueId(0), one(asking(0, FlavorSet::all(), 4'000)));
    state.apply(WorkloadFound{without_gpus, {{NodeId(2), GpuSet()}}, Time{}});
  }
  ShapeId submit(const Job& job) {
    WorkloadSubmitted event = submission(QueueId(0), job.shape);
    event.user = job.user;
    const WorkloadId id = state.workloads().next_id();
    state.apply(event);
    return state.workload(id).shape;
  }
  bool is_held_up(const Job& first, Blocked blocked, const Job& behind) {
    blocked.line = QueueId(0);
    blocked.shape = submit(first);
    const ShapeId other = submit(behind);
    state.adopt({.now = Time{0}, .revision = state.revision(), .blocked = {blocked}});
    return holds_up(state, QueueId(0), *state.lines()[0]->find(blocked.shape), state.shape(other));
  }
};

TEST(KeptBack, IsWhatSomebodyWhoDoesNotFitWaitsFor) {
  using enum ReasonCode;
  const Quota limit{.limit = {{kGpuOfH100, 8'000}}};
  const Quota cpu_limit{.limit = {{kCpuElsewhere, 8'000}, {kCpuOfH100, 8'000}}};
  const Quota borrowing{.guarantee = {{kGpuOfH100, 4'000}}, .borrowing_limit = {{kGpuOfH100, 4'000}}};
  const Quota of_users{.user_limit = {{kGpuOfH100, 8'000}}};
  const Quota budget{.budget_gpu_us = 0};
  const Quota unpaid{.budget_gpu_us = 0, .budget_end = BudgetEnd::kBestEffort};
  const Terms insists{.guaranteed_only = true};
  const Terms best_effort{.best_effort = true};
  const Job eight{one(asking(8, kH100))};
  const Job small{one(asking(1, kH100))};
  const Job either{{{{{asking(8, kH100), 1}}, {{asking(8, kA100), 1}}}, {}}};
  struct Case {
    const char* what;
    Quota quota;
    Job first;
    ReasonCode gate;
    Job behind;
    bool held_up;
  };
  const Case cases[] = {
      {"room: from who could use the same", {}, eight, kNone, small, true},
      {"room: not from who could not", {}, eight, kNone, {one(asking(1, kA100))}, false},
      {"room: from best effort too", {}, eight, kNone, {one(asking(1, kH100), best_effort)}, true},
      {"a right that is not used yet is for room", {}, eight, kPatience, small, true},
      {"what a limit leaves", limit, eight, kQuotaLimit, small, true},
      {"to be in either flavor", limit, eight, kQuotaLimit, {one(asking(1, kH100.united_with(kA100)))}, true},
      {"a limit: not from another flavor", limit, eight, kQuotaLimit, {one(asking(1, kA100))}, false},
      {"a limit: not from who asks none of it",
       limit,
       eight,
       kQuotaLimit,
       {one(asking(0, FlavorSet::all(), 1))},
       false},
      {"a limit: not from best effort", limit, eight, kQuotaLimit, {one(asking(1, kH100), best_effort)}, false},
      {"a limit: nobody for more than that", limit, {one(asking(9, kH100))}, kQuotaLimit, small, false},
      {"a limit that is gone by now: he will be tried", {}, eight, kQuotaLimit, small, true},
      {"CPUs of nodes without GPUs",
       cpu_limit,
       {one(asking(0, FlavorSet::all(), 6'000))},
       kQuotaLimit,
       {one(asking(0, FlavorSet::all(), 1))},
       true},
      {"CPUs: not from who asks none",
       cpu_limit,
       {one(asking(1, kH100, 6'000))},
       kQuotaLimit,
       {one(asking(1, kH100))},
       false},
      {"CPUs: from who asks some",
       cpu_limit,
       {one(asking(1, kH100, 6'000))},
       kQuotaLimit,
       {one(asking(1, kH100, 1))},
       true},
      {"a limit in one flavor, and room in the other", limit, either, kQuotaLimit, {one(asking(1, kA100))}, true},
      {"what may be borrowed", borrowing, eight, kBorrowingLimit, small, true},
      {"nobody for more than may be borrowed", borrowing, {one(asking(9, kH100))}, kBorrowingLimit, small, false},
      {"what one user may have: from himself", of_users, eight, kUserLimit, small, true},
      {"not from others", of_users, eight, kUserLimit, {small.shape, "bob"}, false},
      {"nobody for more than one user may have", of_users, {one(asking(9, kH100))}, kUserLimit, small, false},
      {"who insists holds up nobody", borrowing, {one(asking(8, kH100), insists)}, kQuotaFloor, small, false},
      {"nor whom the calendar refuses", borrowing, {one(asking(8, kH100), insists)}, kCalendar, small, false},
      {"nor who may not borrow yet", borrowing, {one(asking(8, kH100), insists)}, kCooldown, small, false},
      {"nor whom a budget refuses", budget, eight, kBudget, small, false},
      {"nor whom one refused that is gone by now", {}, eight, kBudget, small, false},
      {"nor whom a budget refuses by now, who lacked room", budget, eight, kNone, small, false},
      {"nor who stood back for what others were promised", budget, eight, kReserved, small, false},
      {"a budget that leaves room to best effort: from who could use the same", unpaid, eight, kNone, small, true},
      {"a limit by now, who lacked hours", limit, eight, kBudget, small, true},
      {"a limit by now, who insisted on a floor", limit, eight, kQuotaFloor, small, true},
      {"a limit by now: not for who may not borrow yet", limit, eight, kCooldown, small, false},
  };
  for (const Case& c : cases) {
    const Blocked blocked{.line = {}, .shape = {}, .gate = c.gate, .by_quota = is_quota_gate(c.gate)};
    EXPECT_EQ(World(c.quota).is_held_up(c.first, blocked, c.behind), c.held_up) << c.what;
  }
}

// It is room that is not free: whoever could use the same waits, whatever he asks of it.
// Of 16, of which 4 are held: with 6 kept there is room for 8 once those have ended, with 10 there never is.
TEST(KeptBack, WhatOwnersKeepToThemselvesIsRoomWhereItCanSuffice) {
  const std::pair<std::int64_t, bool> cases[] = {{6'000, true}, {8'000, true}, {9'000, false}, {10'000, false}};
  for (const auto& [kept_milli, holds] : cases) {
    World world({});
    world.state.apply(
        QueueAdded{{.name = "owner",
                    .parent = QueueId(),
                    .order = Order::kFifo,
                    .quota = {.guarantee = {{kGpuOfH100, kept_milli}}, .lending_limit = {{kGpuOfH100, 0}}}}});
    const Blocked blocked{.line = {}, .shape = {}, .gate = ReasonCode::kLendingLimit, .by_quota = true};
    const Job behind{one(asking(0, FlavorSet::all(), 1))};
    EXPECT_EQ(world.is_held_up({one(asking(8, kH100))}, blocked, behind), holds) << kept_milli;
  }
}

TEST(KeptBack, WhoIsNotBlockedOrCanNeverRunHoldsUpNobody) {
  for (const std::int64_t missing : {std::int64_t{0}, kMissingForever}) {
    const Blocked blocked{.line = {}, .shape = {}, .missing = missing};
    EXPECT_FALSE(World({}).is_held_up({one(asking(8, kH100))}, blocked, {one(asking(1, kH100))})) << missing;
  }
}

TEST(KeptBack, IsEverythingOnceNoFlavorIsLeft) {
  const FlavorSet both = kH100.united_with(kA100);
  KeptBack kept;
  EXPECT_FALSE(kept.is_everything(FlavorSet())) << "without GPUs, too";
  kept.keep(kGpusOfAllFlavors);
  EXPECT_FALSE(kept.is_everything(both)) << "who asks no GPU may pass";
  kept.keep_room(kH100);
  EXPECT_FALSE(kept.is_everything(both));
  kept.keep_room(kA100);
  EXPECT_TRUE(kept.is_everything(both));
}

}  // namespace berth::kept_back_test
