#include "cycle/parting.h"

#include <algorithm>
#include <set>

#include "cycle/taking_out.h"
#include "fairness/rights.h"

namespace berth {
namespace {

struct Neighbour {
  WorkloadId workload;
  SharerId sharer;
  Claim claim;
};

Claim claim_of(const State& state, const QuotaLedger& quotas, WorkloadId id) {
  const Workload& workload = state.workload(id);
  const QuotaUnit& unit = quotas.unit(workload.unit);
  QueueId top = workload.queue;
  while (!state.queues()[top.index()].parent.is_none()) top = state.queues()[top.index()].parent;
  return {coverage_of(quotas, workload), unit.priority, share_of(quotas, state.flavors(), top)};
}

// Those who run on the device, the strongest claim first; of equal ones who came first.
std::vector<Neighbour> neighbours_on(const State& state, const QuotaLedger& quotas, Device device,
                                     const std::set<WorkloadId>& gone) {
  std::vector<Neighbour> neighbours;
  for (const Pod& pod : state.pods()) {
    if (pod.workload.is_none() || pod.node != device.node || !pod.gpus.contains(device.gpu)) continue;
    if (state.workload(pod.workload).phase != Phase::kRunning || gone.contains(pod.workload)) continue;
    neighbours.push_back({pod.workload, state.request(pod.request).sharer, claim_of(state, quotas, pod.workload)});
  }
  std::ranges::sort(neighbours, [](const Neighbour& a, const Neighbour& b) {
    if (const auto order = a.claim <=> b.claim; order != 0) return order > 0;
    return a.workload < b.workload;
  });
  return neighbours;
}

}  // namespace

std::vector<Eviction> stop_strangers(const State& state, Trial& trial, const std::vector<Eviction>& leaving, Time now) {
  std::vector<Eviction> stopped;
  std::set<WorkloadId> gone;
  for (const Eviction& eviction : leaving) gone.insert(eviction.workload);
  for (const auto& [device, part_by] : state.parting()) {
    if (part_by > now || trial.ledger().is_at_peace(device)) continue;
    std::vector<SharerId> staying;
    for (const Neighbour& each : neighbours_on(state, trial.quotas(), device, gone)) {
      if (gone.contains(each.workload)) continue;
      const Trust& trust = trial.ledger().trust();
      if (std::ranges::all_of(staying, [&](SharerId other) { return trust.may_be_together(other, each.sharer); })) {
        staying.push_back(each.sharer);
        continue;
      }
      gone.insert(each.workload);
      const Time stop_by = end_of_grace(state, each.workload, now);
      stopped.push_back(
          {each.workload, WorkloadId(), EvictionRule::kTrust, stop_by, lost_if_taken_gpu_s(state, each.workload, now)});
      take_out(state, trial, each.workload, Emptied::kIsToBeScrubbed);
    }
  }
  return stopped;
}

}  // namespace berth
