#include "model/executing_taints.h"

#include <algorithm>
#include <utility>

namespace berth {

std::vector<ExecutingTaint> executing_from(const std::vector<ExecutingTaint>& before, std::vector<Taint> taints,
                                           Time now) {
  std::vector<ExecutingTaint> executing;
  for (Taint& taint : taints) {
    if (taint.effect != TaintEffect::kNoExecute) continue;
    const auto known = std::ranges::find(before, taint, &ExecutingTaint::taint);
    const Time since = known == before.end() ? now : known->since;
    executing.push_back({std::move(taint), since});
  }
  return executing;
}

std::optional<Time> leaves_at(std::span<const TimedToleration> tolerations, Time came,
                              std::span<const ExecutingTaint> taints) {
  std::optional<Time> first;
  for (const auto& [taint, since] : taints) {
    const auto borne = std::ranges::find_if(
        tolerations, [&](const TimedToleration& each) { return tolerates(each.toleration, taint); });
    if (borne != tolerations.end() && !borne->lasts) continue;
    const Duration patience = borne == tolerations.end() ? Duration{0} : *borne->lasts;
    const Time then = std::max(since, came) + patience;
    first = std::min(first.value_or(then), then);
  }
  return first;
}

}  // namespace berth
