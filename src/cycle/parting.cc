#include "cycle/parting.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "cycle/taking_out.h"
#include "fairness/rights.h"

namespace berth {
namespace {

// With the pods of his that matter.
struct Neighbour {
  WorkloadId workload;
  Claim claim;
  std::vector<const Pod*> pods;
};

Claim claim_of(const State& state, const QuotaLedger& quotas, WorkloadId id) {
  const Workload& workload = state.workload(id);
  const QuotaUnit& unit = quotas.unit(workload.unit);
  QueueId top = workload.queue;
  while (!state.queues()[top.index()].parent.is_none()) top = state.queues()[top.index()].parent;
  return {coverage_of(quotas, workload), unit.priority, share_of(quotas, state.flavors(), top)};
}

class Parting {
 public:
  Parting(const State& state, Trial& trial, const std::vector<Eviction>& leaving, Time now)
      : state_(state), trial_(trial), now_(now) {
    for (const Eviction& eviction : leaving) note_gone(eviction.workload);
  }

  std::vector<Eviction> make() {
    const Ledger& ledger = trial_.ledger();
    const Trust& trust = ledger.trust();
    for (const auto& [device, part_by] : state_.parting()) {
      if (part_by > now_ || ledger.is_at_peace(device)) continue;
      const auto is_there = [&](const Pod& pod) { return pod.node == device.node && pod.gpus.contains(device.gpu); };
      part(neighbours(is_there), [&](const Pod& a, const Pod& b) {
        return trust.may_be_together(state_.request(a.request).sharer, state_.request(b.request).sharer);
      });
    }
    // All who are due at a time: a pair is so if both its nodes are.
    const bool some = std::ranges::any_of(state_.parting_nodes(), [&](const auto& each) {
      return is_due(each.first) && !ledger.is_at_peace(each.first);
    });
    if (some) {
      part(neighbours([&](const Pod& pod) { return is_due(pod.node); }), [&](const Pod& a, const Pod& b) {
        return !ledger.tenants().keep_apart(trust, state_.request(a.request), a.node, state_.request(b.request),
                                            b.node);
      });
    }
    return std::move(stopped_);
  }

 private:
  bool is_due(NodeId node) const {
    const auto found = state_.parting_nodes().find(node);
    return found != state_.parting_nodes().end() && found->second <= now_;
  }

  // Those who run, the strongest claim first; of equal ones who came first.
  template <class IsThere>
  std::vector<Neighbour> neighbours(IsThere is_there) const {
    std::map<WorkloadId, Neighbour> found;
    for (const Pod& pod : state_.pods()) {
      if (pod.workload.is_none() || !is_there(pod)) continue;
      if (state_.workload(pod.workload).phase != Phase::kRunning || gone_.contains(pod.workload)) continue;
      const auto [at, is_new] = found.try_emplace(pod.workload);
      if (is_new) at->second = {pod.workload, claim_of(state_, trial_.quotas(), pod.workload), {}};
      at->second.pods.push_back(&pod);
    }
    std::vector<Neighbour> neighbours;
    for (auto& [id, neighbour] : found) neighbours.push_back(std::move(neighbour));
    std::ranges::stable_sort(neighbours, [](const Neighbour& a, const Neighbour& b) { return a.claim > b.claim; });
    return neighbours;
  }

  // Who may not be beside one who stays goes.
  template <class MayBe>
  void part(const std::vector<Neighbour>& neighbours, MayBe may_be) {
    std::vector<const Pod*> staying;
    for (const Neighbour& each : neighbours) {
      if (gone_.contains(each.workload)) continue;
      const bool stays = std::ranges::all_of(each.pods, [&](const Pod* pod) {
        return std::ranges::all_of(staying, [&](const Pod* other) { return may_be(*other, *pod); });
      });
      if (stays) {
        staying.insert(staying.end(), each.pods.begin(), each.pods.end());
      } else {
        stop(each.workload);
      }
    }
  }

  // Its steps go with it.
  void note_gone(WorkloadId id) {
    gone_.insert(id);
    const std::vector<WorkloadId>& steps = state_.steps_of(id);
    gone_.insert(steps.begin(), steps.end());
  }

  void stop(WorkloadId id) {
    note_gone(id);
    const Time stop_by = end_of_grace(state_, id, now_);
    stopped_.push_back({id, WorkloadId(), EvictionRule::kTrust, stop_by, lost_if_taken_gpu_s(state_, id, now_)});
    take_out(state_, trial_, id, Emptied::kIsToBeScrubbed);
  }

  const State& state_;
  Trial& trial_;
  Time now_;
  std::set<WorkloadId> gone_;
  std::vector<Eviction> stopped_;
};

}  // namespace

std::vector<Eviction> stop_strangers(const State& state, Trial& trial, const std::vector<Eviction>& leaving, Time now) {
  return Parting(state, trial, leaving, now).make();
}

}  // namespace berth
