#include "sim/scenario_taints.h"

#include <algorithm>
#include <cstddef>

namespace berth::scenario {

void TaintEvictions::note(NodeId node, const std::vector<Taint>& taints, Time now) {
  const auto known = taints_.find(node);
  auto executing = executing_from(known == taints_.end() ? std::vector<ExecutingTaint>() : known->second, taints, now);
  taints_.erase(node);
  if (!executing.empty()) taints_.emplace(node, std::move(executing));
}

// Who was told to stop already leaves by then, and who is to come is there when he has.
void TaintEvictions::look(const State& state, Time now) {
  const std::map<Seat, Time> before = std::exchange(came_, {});
  leaves_.clear();
  for (const Pod& pod : state.pods()) {
    if (pod.workload.is_none() || pod.comes || !taints_.contains(pod.node)) continue;
    const Workload& workload = state.workload(pod.workload);
    if (workload.phase != Phase::kRunning) continue;
    const Seat seat{pod.workload, workload.attempts, pod.number, pod.node};
    const auto known = before.find(seat);
    const Time came = known == before.end() ? now : known->second;
    came_.emplace(seat, came);
    if (const auto at = leaves(state, pod, came)) leaves_.emplace(seat, *at);
  }
}

std::optional<Time> TaintEvictions::leaves(const State& state, const Pod& pod, Time came) const {
  const auto& sets = state.shape(state.workload(pod.workload).shape).ways.front();
  std::size_t set = 0;
  for (std::int64_t before = sets[set].count; before <= pod.number; before += sets[set].count) ++set;
  const NodeConstraints& constraints = state.ledger().matches()[state.request(pod.request).constraints];
  const TolerationLengths& lengths = lengths_.at(pod.workload)[set];
  std::vector<TimedToleration> tolerations;
  for (std::size_t i = 0; i < lengths.size(); ++i) tolerations.push_back({constraints.tolerations[i], lengths[i]});
  return leaves_at(tolerations, came, taints_.at(pod.node));
}

Time TaintEvictions::next() const {
  Time next = kForever;
  for (const auto& each : leaves_) next = std::min(next, each.second);
  return next;
}

std::pair<WorkloadId, std::vector<std::uint32_t>> TaintEvictions::first(const State& state) const {
  const Time at = next();
  WorkloadId first;
  for (const auto& [seat, leaves] : leaves_) {
    const bool is_step = !state.workload(seat.workload).step_of.is_none();
    if (leaves == at && (first.is_none() || (is_step && state.workload(first).step_of.is_none())))
      first = seat.workload;
  }
  std::vector<std::uint32_t> pods;
  for (const auto& [seat, leaves] : leaves_) {
    if (leaves == at && seat.workload == first) pods.push_back(seat.pod);
  }
  return {first, std::move(pods)};
}

}  // namespace berth::scenario
