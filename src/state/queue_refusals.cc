#include "state/queue_refusals.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "model/gpu_hardware.h"

namespace berth {

namespace {

// Sums of a fleet's amounts; and of the past, which is told in parts of them.
constexpr std::int64_t kFleetAmountMax = std::int64_t{1} << 54;
constexpr std::int64_t kPastUseMax = kFleetAmountMax << kPastFractionBits;

FactRefusal refusal_of_amounts(const AmountList& amounts, const std::vector<Flavor>& flavors,
                               std::int64_t most = kAmountMax) {
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    const Dim dim = amounts[i].dim;
    const bool is_known =
        dim.is_of_slices() ? dim.flavor().index() < flavors.size() : dim.index() < Dim::count(flavors.size());
    if (!is_known) return "a quota names a flavor that there is not";
    if (dim.is_of_slices() && !find_slice(flavors[dim.flavor().index()], dim.shape())) {
      return "a quota names slices that GPUs of the flavor cannot be cut into";
    }
    if (!within(amounts[i].amount, 0, most)) return "a quota's amount is out of bounds";
    if (i > 0 && amounts[i].dim <= amounts[i - 1].dim) return "a quota names each amount once, in order";
  }
  return std::nullopt;
}

}  // namespace

FactRefusal refusal_of_typical(const std::vector<TypicalPod>& pods, std::size_t flavors) {
  if (pods.size() > kTypicalPodsMax) return "more than 4,096 typical pods";
  std::int64_t weight = 0;
  for (const TypicalPod& pod : pods) {
    const PodRequest request{
        .cpu_milli = pod.cpu_milli, .gpus = pod.gpus, .gpu_milli = pod.gpu_milli, .flavors = pod.flavors};
    if (!is_valid(request, flavors)) return "a typical pod's request is out of bounds";
    if (!within(pod.weight, 1, kTypicalWeightMax)) return "a typical pod's weight is out of bounds";
    weight += pod.weight;
  }
  return unless(weight <= kTypicalWeightMax, "the typical pods' weights add up to more than 1,000,000,000");
}

namespace {

FactRefusal refusal_of_cells(const Quota& quota, std::size_t flavors) {
  if (quota.cells.size() > kCellsMax) return "a floor comes in at most 64 kinds of whole domains";
  const auto is_of_one_kind = [](const FloorCells& a, const FloorCells& b) {
    return std::tie(a.flavor, a.level) >= std::tie(b.flavor, b.level);
  };
  if (std::ranges::adjacent_find(quota.cells, is_of_one_kind) != quota.cells.end()) {
    return "a floor comes in whole domains of each flavor and level once, in order";
  }
  for (const FloorCells& each : quota.cells) {
    if (each.flavor.index() >= flavors) return "a floor comes in whole domains of a flavor that there is not";
    if (each.level.empty()) return "a floor comes in whole domains of a level that is none";
    if (!within(each.count, 1, kCellCountMax)) return "a floor comes in 1 to 1,000,000 whole domains";
    const Dim gpus(each.flavor, Resource::kGpu);
    const auto of_it = std::ranges::find(quota.guarantee, gpus, &Amount::dim);
    if (of_it == quota.guarantee.end() || of_it->amount == 0) {
      return "a floor comes in whole domains of a flavor of which nothing is guaranteed";
    }
  }
  return std::nullopt;
}

// How much of what is free is room for a profile nobody can tell from amounts, so nothing of it can be kept by them.
FactRefusal refusal_of_lending(const AmountList& lending_limit) {
  return unless(!has_slices(lending_limit),
                "a queue keeps no slices to itself; its floor by their profile is lent whole");
}

FactRefusal refusal_of_quota(const Quota& quota, const std::vector<Flavor>& flavors) {
  for (const AmountList* const amounts : quota.amounts()) {
    if (auto refusal = refusal_of_amounts(*amounts, flavors)) return refusal;
  }
  const auto is_time = [](Duration duration) { return within(duration.ms, 0, kTimeMax.ms); };
  const bool half_life = quota.half_life.ms == 0 || within(quota.half_life.ms, kHalfLifeMin.ms, kHalfLifeMax.ms);
  const bool times = is_time(quota.reclaim_within) && is_time(quota.patience) && is_time(quota.min_runtime) &&
                     is_time(quota.cooldown) && is_time(quota.idle_after);
  return first_of(
      [&] { return unless(within(quota.weight_milli, 1, kWeightMilliMax), "a queue's weight is 0.001 to 1,000"); },
      [&] { return unless(times, "a queue's time is out of bounds"); },
      [&] { return unless(half_life, "a half-life is none, or one minute to ten years"); },
      [&] {
        const auto& labels = quota.dedicated;
        const bool in_order = std::ranges::adjacent_find(labels, std::ranges::greater_equal()) == labels.end();
        return unless(labels.size() <= kDedicatedMax && in_order,
                      "a queue has nodes of its own by at most 64 labels, in order, each once");
      },
      [&] { return refusal_of_cells(quota, flavors.size()); }, [&] { return refusal_of_lending(quota.lending_limit); },
      [&] {
        return unless(quota.loans_percent == 0 || within(quota.loans_percent, 50, 99),
                      "a loan is given if 50 to 99 of a hundred have ended by then");
      },
      [&] {
        return unless(within(quota.extend.ms, 1, kTimeMax.ms) && within(quota.extensions, 1, kExtensionsMax),
                      "a limit is extended by more than nothing, and 1 to 1,000 times");
      },
      [&] {
        return unless(!quota.budget_gpu_us || within(*quota.budget_gpu_us, 0, kGpuTimeMax),
                      "a budget is 0 to 1,000,000,000 GPU-hours");
      });
}

FactRefusal refusal_of_openings(const std::vector<Interval>& open) {
  if (open.size() > kOpeningsMax) return "a window opens at most 10,000 times";
  for (std::size_t i = 0; i < open.size(); ++i) {
    const bool in_bounds =
        within(open[i].from.ms, -kTimeMax.ms, kTimeMax.ms) && within(open[i].to.ms, -kTimeMax.ms, kTimeMax.ms);
    if (!in_bounds || open[i].from >= open[i].to) return "a window closes after it has opened";
    if (i > 0 && open[i].from < open[i - 1].to) return "a window has closed before it opens again";
  }
  return std::nullopt;
}

// Each has a tree of its own.
constexpr std::size_t kDifferentHoursMax = 256;

// How many sets of windows are open together at some time, as far as is known.
std::size_t different_hours(std::vector<Window> windows, const WindowChanged& change, Time now) {
  if (change.number == windows.size()) windows.emplace_back();
  windows[change.number] = change.window;
  return 1 + first_of_each(turns_after(windows, now), open_at(windows, now)).size();
}

}  // namespace

FactRefusal refusal_of_window(const State& state, const WindowChanged& change) {
  const Window& window = change.window;
  if (change.number > state.windows().size()) return "the windows have no gap in their numbers";
  if (change.number >= kWindowsMax) return "more than 64 windows";
  const bool are_hours = window.queue.is_none();
  if (change.number < state.windows().size() && state.windows()[change.number].queue.is_none() != are_hours) {
    return "hours of work stay hours, and a queue's window is of a queue";
  }
  if (!are_hours && window.queue.index() >= state.queues().size()) return "there is no such queue";
  if (!are_hours && !state.queues()[window.queue.index()].order) return "a queue with quotas needs an order";
  if (are_hours && window != Window{.queue = {}, .open = window.open, .known_until = window.known_until}) {
    return "hours of work change nothing of a queue";
  }
  Quota changes;
  window.change(changes);
  for (const Amount& each : window.borrowing_limit) {
    if (each.dim == kGpusOfAllFlavors) return "what a queue may borrow changes by the hour for each flavor by itself";
  }
  for (const AmountList* const amounts :
       {&window.guarantee, &window.limit, &window.borrowing_limit, &window.lending_limit}) {
    if (auto refusal = refusal_of_amounts(*amounts, state.flavors())) return refusal;
  }
  return first_of([&] { return refusal_of_quota(changes, state.flavors()); },
                  [&] { return refusal_of_openings(window.open); },
                  [&] { return unless(within(window.known_until.ms, 0, 2 * kTimeMax.ms), "a time is out of bounds"); },
                  [&] {
                    return unless(different_hours(state.windows(), change, state.clock()) <= kDifferentHoursMax,
                                  "the windows make more than 256 different hours; let more of them open and close "
                                  "together");
                  });
}

FactRefusal refusal_of_queue(const Queue& queue, std::size_t queues, const std::vector<Flavor>& flavors) {
  return first_of(
      [&] { return unless(queue.parent.is_none() || queue.parent.index() < queues, "a queue's parent is not known"); },
      [&] { return unless(!queue.parent.is_none() || queue.order.has_value(), "a queue at the top needs an order"); },
      [&] {
        const bool plain = !queue.quota.has_amounts() && !queue.quota.looks_at_users();
        return unless(queue.order.has_value() || plain, "a queue with quotas needs an order");
      },
      [&] { return refusal_of_quota(queue.quota, flavors); });
}

FactRefusal refusal_of_change(const QueueChanged& change, const std::vector<Queue>& queues,
                              const std::vector<Flavor>& flavors) {
  if (change.queue.index() >= queues.size()) return "there is no such queue";
  const Queue& before = queues[change.queue.index()];
  return first_of(
      [&] {
        return unless(change.now.name == before.name && change.now.parent == before.parent,
                      "a queue keeps its name and its parent");
      },
      [&] {
        return unless(change.now.order.has_value() == before.order.has_value(),
                      "whether a queue has a line of its own does not change");
      },
      [&] { return refusal_of_queue(change.now, queues.size(), flavors); });
}

FactRefusal refusal_of_trust(const State& state, const TrustChanged& fact) {
  if (fact.circles.size() > kCirclesMax)
    return "more than 64 circles of trust; put those together that trust each other";
  std::set<std::string> levels;
  for (const auto& [queues, apart] : fact.circles) {
    const bool of_all = queues.empty() && apart != Apart();
    if ((queues.empty() && !of_all) || !std::ranges::is_sorted(queues, std::less_equal{}))
      return "a circle names each of its queues once";
    if (!of_all && queues.back().index() >= state.queues().size()) return "there is no such queue";
    levels.insert(apart.begin(), apart.end());
  }
  for (const std::string& level : {std::string(), std::string(kNodeLevel)}) levels.erase(level);
  const bool knows = fact.beyond_devices || state.ledger().trust().looks_beyond_devices();
  if (levels.size() >= kApartLevelsMax) return "strangers are kept out of the domains of at most 31 labels";
  if (!knows && std::ranges::any_of(fact.circles, &Circle::keeps_apart))
    return "whose work is on which GPUs is not known here";
  if (fact.beyond_devices && !state.ledger().trust().looks_beyond_devices() &&
      state.workloads().next_id() != WorkloadId(0))
    return "whose work is on which GPUs is to be known before anybody is there";
  if (auto refusal = refusal_of_time(fact.part_by); refusal && fact.part_by != kForever) return refusal;
  for (const Circle& circle : fact.circles) {
    for (const QueueId queue : circle.queues) {
      if (state.tenant_of(queue) != queue && state.has_work(queue)) {
        return "queue " + state.queues()[queue.index()].name +
               " has work already that is its tenant's above it; name it in a circle before";
      }
    }
  }
  return std::nullopt;
}

FactRefusal refusal_of_grant(const State& state, const GrantAdded& grant) {
  return first_of(
      [&] { return unless(grant.queue.index() < state.queues().size(), "there is no such queue"); },
      [&] {
        return unless(state.quotas().budgets().has_budget(grant.queue),
                      "a grant goes beside a budget, and there is none");
      },
      [&] { return unless(within(grant.gpu_us, 1, kGpuTimeMax), "a grant is up to 1,000,000,000 GPU-hours"); },
      [&] { return refusal_of_time(grant.until); });
}

FactRefusal refusal_of_used(const State& state, const GpuTimeUsed& used) {
  return first_of([&] { return unless(used.queue.index() < state.queues().size(), "there is no such queue"); },
                  [&] {
                    const BudgetLedger& budgets = state.quotas().budgets();
                    return unless(budgets.has_budget(used.queue) && used.pot < budgets.pots(used.queue),
                                  "GPU time is used of a budget or a grant, and there is none");
                  },
                  [&] { return unless(within(used.gpu_us, -kGpuTimeMax, kGpuTimeMax), "GPU time is out of bounds"); });
}

namespace {

// Slices are parts of GPUs to shares.
FactRefusal refusal_of_past_amounts(const AmountList& amounts, const std::vector<Flavor>& flavors, std::int64_t most) {
  if (has_slices(amounts)) return "what was used is of GPUs, CPUs and memory";
  return refusal_of_amounts(amounts, flavors, most);
}

}  // namespace

FactRefusal refusal_of_past(const State& state, const PastUseFound& past) {
  return first_of([&] { return unless(past.queue.index() < state.queues().size(), "there is no such queue"); },
                  [&] { return unless(within(past.at.ms, 0, state.clock().ms), "what was used is past"); },
                  [&] { return refusal_of_past_amounts(past.average, state.flavors(), kFleetAmountMax); });
}

FactRefusal refusal_of_kept(const State& state, const PastUseKept& past) {
  const std::vector<Flavor>& flavors = state.flavors();
  return first_of([&] { return unless(past.queue.index() < state.queues().size(), "there is no such queue"); },
                  [&] {
                    const bool is_past = within(past.at.ms, 0, state.clock().ms);
                    return unless(is_past && within(past.begun.ms, 0, past.at.ms), "what was used is past");
                  },
                  [&] { return refusal_of_past_amounts(past.average, flavors, kPastUseMax); },
                  [&] { return refusal_of_past_amounts(past.in_step, flavors, kPastUseMax); });
}

FactRefusal refusal_of_counted(const State& state, const GpuTimeCounted& counted) {
  return first_of([&] { return unless(counted.queue.index() < state.queues().size(), "there is no such queue"); },
                  [&] {
                    return unless(state.quotas().budgets().has_budget(counted.queue),
                                  "nothing is counted where there is no budget");
                  },
                  [&] { return unless(within(counted.until.ms, 0, state.clock().ms), "what was used is past"); });
}

FactRefusal refusal_of_missed(const State& state, const GpuTimeMissed& missed) {
  return first_of([&] { return unless(missed.queue.index() < state.queues().size(), "there is no such queue"); },
                  [&] { return unless(within(missed.gpu_milli, 0, kAmountMax), "GPUs are out of bounds"); },
                  [&] {
                    const bool past = within(missed.until.ms, 0, state.clock().ms);
                    return unless(past && within(missed.from.ms, 0, missed.until.ms), "what was used is past");
                  });
}

FactRefusal refusal_of_floor_use(const State& state, const FloorUseFound& found) {
  const std::size_t dims = state.quotas().tree().dims();
  const auto refusal_of_held = [&]() -> FactRefusal {
    const FloorUse* before = nullptr;
    for (const FloorUse& each : found.held) {
      const std::size_t known = each.dim.is_of_slices() ? dims : Dim::count(state.flavors().size());
      if (each.dim.index() >= known) return "a floor names a flavor that there is not";
      if (!within(each.amount, 1, kFleetAmountMax)) return "what was held is out of bounds";
      if (!within(each.until.ms, 0, state.clock().ms)) return "what was held is past";
      const bool first = before == nullptr || before->dim < each.dim;
      const bool falls =
          !first && before->dim == each.dim && before->until < each.until && before->amount > each.amount;
      if (!first && !falls) return "of what was held the later is the smaller";
      before = &each;
    }
    return std::nullopt;
  };
  return first_of([&] { return unless(found.queue.index() < state.queues().size(), "there is no such queue"); },
                  [&] { return refusal_of_amounts(found.floor, state.flavors(), kFleetAmountMax); },
                  [&] {
                    return unless(!has_slices(found.floor) || found.floor.back().dim.index() < dims,
                                  "a floor names slices of a profile that no queue names");
                  },
                  refusal_of_held);
}

}  // namespace berth
