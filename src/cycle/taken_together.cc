#include "cycle/taken_together.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace berth {

void TakenTogether::put(std::vector<One> all) {
  all_ = std::move(all);
  minima_.clear();
  for (const One& each : all_) minima_.push_back(state_.minimum_of(each.workload));
  some_elastic_ = std::ranges::any_of(minima_, [&](WorkloadId id) { return state_.elastic().contains(id); });
}

Wide TakenTogether::lost_by(std::span<const std::size_t> chosen) const {
  Wide lost = 0;
  for (std::size_t at = 0; at < chosen.size(); ++at) {
    const std::size_t each = chosen[at];
    const auto is_of_the_same = [&](std::size_t other) { return minima_[other] == minima_[each]; };
    if (some_elastic_ && std::ranges::any_of(chosen.first(at), is_of_the_same)) continue;
    std::int64_t most = all_[each].lost_gpu_s;
    for (std::size_t later = at + 1; some_elastic_ && later < chosen.size(); ++later) {
      if (is_of_the_same(chosen[later])) most = std::max(most, all_[chosen[later]].lost_gpu_s);
    }
    lost += most;
  }
  return lost;
}

std::int64_t TakenTogether::stopped_with(std::size_t each) const {
  if (!some_elastic_) return 1;
  return 1 + std::ranges::count_if(state_.steps_of(all_[each].workload),
                                   [&](WorkloadId step) { return state_.workload(step).phase == Phase::kRunning; });
}

bool TakenTogether::goes_with_another(std::size_t each, std::span<const std::size_t> chosen) const {
  return some_elastic_ && std::ranges::any_of(chosen, [&](std::size_t other) {
           return other != each && all_[other].workload == minima_[each];
         });
}

bool TakenTogether::says_it_twice(std::span<const std::size_t> chosen) const {
  return std::ranges::any_of(chosen, [&](std::size_t each) { return goes_with_another(each, chosen); });
}

Wide lost_by(const State& state, std::span<const Eviction> evictions) {
  std::vector<TakenTogether::One> all;
  for (const Eviction& each : evictions) all.push_back({each.workload, each.lost_gpu_s});
  Chosen chosen(all.size());
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  TakenTogether together(state);
  together.put(std::move(all));
  return together.lost_by(chosen);
}

Claim claim_with_steps(const State& state, const QuotaLedger& quotas, WorkloadId id, const Fraction& share) {
  const Workload& workload = state.workload(id);
  Claim claim{coverage_of(quotas, workload), quotas.unit(workload.unit).priority, share};
  for (const WorkloadId step : state.steps_of(id)) {
    if (has_room(state.workload(step).phase)) claim = std::max(claim, claim_with_steps(state, quotas, step, share));
  }
  return claim;
}

}  // namespace berth
