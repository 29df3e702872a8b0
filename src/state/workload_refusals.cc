#include "state/workload_refusals.h"

#include <algorithm>

#include "model/gpu_hardware.h"
#include "model/vgpu_profiles.h"

namespace berth {

namespace {

constexpr std::size_t kDependenciesMax = 1'000;

}  // namespace

FactRefusal refusal_of_slices(const State& state, const WorkloadShape& shape) {
  for (const PodSets& way : shape.ways) {
    for (const PodSet& set : way) {
      if (!set.request.is_slice()) continue;
      for (std::size_t i = 0; i < state.flavors().size(); ++i) {
        if (!set.request.flavors.contains(FlavorId(i))) continue;
        const auto slice = find_slice(state.flavors()[i], std::size_t{set.request.slice});
        if (!slice) return "a GPU cannot be cut into that slice";
        // More would not fit beside others though there is a place for it.
        if (slice->gpu_milli != set.request.gpu_milli) return "a slice is another part of the GPU's processors";
      }
    }
  }
  return std::nullopt;
}

FactRefusal refusal_of_vgpus(const State& state, const WorkloadShape& shape) {
  for (const PodSets& way : shape.ways) {
    for (const PodSet& set : way) {
      if (!set.request.is_vgpu()) continue;
      for (std::size_t i = 0; i < state.flavors().size(); ++i) {
        if (!set.request.flavors.contains(FlavorId(i))) continue;
        if (!find_vgpu(state.flavors()[i], set.request.gpu_milli)) return "a GPU has no vGPUs of that size";
      }
    }
  }
  return std::nullopt;
}

FactRefusal refusal_of_back_off(const std::optional<BackOff>& backs_off) {
  if (!backs_off) return std::nullopt;
  if (backs_off->why != EvictionRule::kNode && backs_off->why != EvictionRule::kNeverReady)
    return "nobody backs off from the start but for lost nodes, and pods that were never ready";
  if (backs_off->times == 0) return "who backs off was stopped once at least";
  return unless(within(backs_off->until.ms, 0, kTimeMax.ms), "a time is out of bounds");
}

FactRefusal refusal_of_step(const State& state, const WorkloadSubmitted& fact) {
  if (!fact.at_home_with.is_none()) {
    const Workload* const other = state.workloads().find(fact.at_home_with);
    const bool has_ended = other == nullptr || other->phase == Phase::kEnded || other->phase == Phase::kCancelled;
    if (has_ended) return "who is at home with another is so with one that has not ended";
  }
  if (fact.step_of.is_none()) return std::nullopt;
  const Workload* const minimum = state.workloads().find(fact.step_of);
  const bool is_over = minimum == nullptr || minimum->phase == Phase::kEnded || minimum->phase == Phase::kCancelled;
  if (is_over || !minimum->step_of.is_none()) return "a step is of a workload that has not ended";
  if (fact.queue != minimum->queue) return "a step is in its workload's queue";
  const bool waits =
      fact.not_before > Time{} || !fact.after.empty() || !fact.series.is_none() || fact.max_wait || fact.backs_off;
  if (waits) return "a step waits for its workload alone";
  const auto& ways = state.shape(minimum->shape).ways;
  const auto is_one_of = [&](const PodSets& own, const std::vector<NumberedPodSet>& way) {
    if (own.size() != 1 || own.front().count != 1 || own.front().parallel.is_declared()) return false;
    const PodRequest& asks = own.front().request;
    return std::ranges::any_of(way, [&](const NumberedPodSet& set) {
      const PodRequest& other = state.request(set.request);
      return asks.gpus == other.gpus && asks.gpu_milli == other.gpu_milli && asks.sharing == other.sharing &&
             asks.cpu_milli == other.cpu_milli && asks.memory_bytes == other.memory_bytes &&
             asks.in_extra == other.in_extra;
    });
  };
  bool fits = fact.shape.ways.size() == ways.size();
  for (std::size_t way = 0; fits && way < ways.size(); ++way) fits = is_one_of(fact.shape.ways[way], ways[way]);
  return unless(fits, "a step is one pod more of one of its workload's pod sets");
}

FactRefusal refusal_of_dependencies(const WorkloadTable& workloads, const std::vector<Dependency>& after) {
  if (after.size() > kDependenciesMax) return "a workload starts after 1,000 others at most";
  for (const Dependency& each : after) {
    if (each.on.is_none() || each.on >= workloads.next_id()) return "a workload starts after others that are there";
    if (static_cast<std::size_t>(each.what) >= kDependsOnCount) return "a workload waits for what there is not";
    if (each.what == DependsOn::kDone && workloads.find(each.on) == nullptr) {
      return "what it is to start after ended so long ago that nobody knows how";
    }
  }
  return std::nullopt;
}

FactRefusal refusal_of_max_wait(const WorkloadSubmitted& fact) {
  if (!fact.max_wait) return std::nullopt;
  const MaxWait& wait = *fact.max_wait;
  const bool raises = wait.then == AfterWait::kRaise;
  return first_of([&] { return unless(within(wait.length.ms, 1, kTimeMax.ms), "a time is out of bounds"); },
                  [&] {
                    return unless(static_cast<std::size_t>(wait.then) < std::size(kAfterWaitNames),
                                  "nobody knows what is to be done after a wait");
                  },
                  [&] {
                    return unless(raises ? within(wait.raise, 1, kPriorityMax) : wait.raise == 0,
                                  "who waits too long is raised by 1 to 1,000,000,000, or not");
                  },
                  [&] {
                    return unless(wait.then != AfterWait::kBestEffort || !fact.shape.terms.guaranteed_only,
                                  "who insists on a floor does not go on as best effort");
                  });
}

FactRefusal refusal_of_policy(const WorkloadTable& workloads, const State& state, const WorkloadSubmitted& fact) {
  if (!fact.on_failure) return std::nullopt;
  const FailurePolicy& policy = *fact.on_failure;
  const auto is_action = [](MemberAction action) {
    return static_cast<std::size_t>(action) < std::size(kMemberActionNames);
  };
  const auto is_sound = [&](const MemberPolicy& set) {
    std::int32_t before = 0;
    bool sound = is_action(set.on_fail) && is_action(set.on_evict);
    for (const ExitRule& rule : set.on_exit) {
      sound = sound && rule.code > before && rule.code <= kExitCodeMax && is_action(rule.then);
      before = rule.code;
    }
    return sound;
  };
  return first_of(
      [&] {
        const bool of_each = !fact.shape.ways.empty() && policy.sets.size() == fact.shape.ways.front().size();
        return unless(of_each && std::ranges::all_of(policy.sets, is_sound),
                      "of each pod set it is known what follows, of exit codes from 1 to 255 in order");
      },
      [&] {
        return unless(!policy.retries || within(*policy.retries, 0, kRetriesMax),
                      "a workload is tried again 1,000 times at most");
      },
      [&] {
        const bool in_bounds = within(policy.retry_after.ms, 0, kTimeMax.ms) &&
                               (!policy.never_ready || within(policy.never_ready->ms, 1, kTimeMax.ms));
        return unless(in_bounds, "a time is out of bounds");
      },
      [&] {
        const bool is_step = !fact.step_of.is_none() && workloads.find(fact.step_of) != nullptr;
        return unless(!is_step || state.failure_policy_of(fact.step_of) != nullptr,
                      "what follows when a step fails is of a workload of which that is known");
      });
}

FactRefusal refusal_of_extension(const State& state, const LimitExtended& fact) {
  const Workload& workload = state.workload(fact.workload);
  const Quota& quota = state.queues()[workload.queue.index()].quota;
  return first_of(
      [&] {
        return unless(state.shape(workload.shape).terms.run_limit.has_value(),
                      "what has no run limit does not run beyond it");
      },
      [&] {
        const bool extends = quota.over_run == OverRun::kExtend && workload.extensions < quota.extensions;
        return unless(extends && within(fact.by.ms, 1, quota.extend.ms), "its queue does not extend its limit by that");
      },
      [&] {
        const Time end = state.end_of(fact.workload, workload.started);
        return unless(end <= state.clock() && end.ms <= kTimeMax.ms, "a limit is extended when it is reached");
      },
      [&] {
        return unless(!state.quotas().budgets().is_charged(fact.workload), "the hours for that were not reserved");
      });
}

FactRefusal refusal_of_hours(const State& state, const Terms& terms) {
  if (!terms.hours) return std::nullopt;
  const bool known = *terms.hours < state.windows().size();
  return unless(known && state.windows()[*terms.hours].queue.is_none(), "there are no such hours");
}

}  // namespace berth
