#include "cycle/deliverable.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "cycle/for_each_place.h"
#include "fairness/gates.h"
#include "state/fragments.h"

namespace berth {
namespace {

// Of each device what would be free if everybody gave back who may have to.
class IfAllGaveBack {
 public:
  IfAllGaveBack(const State& state, const Trial& trial, FlavorId flavor) : state_(state), ledger_(trial.ledger()) {
    for (std::size_t i = 0; i < ledger_.nodes(); ++i) {
      if (!gives_whole_gpus(ledger_.node(NodeId(i)), flavor)) continue;
      const auto milli = ledger_.gpu_milli(NodeId(i));
      free_[NodeId(i)].assign(milli.begin(), milli.end());
    }
    const QuotaLedger& quotas = trial.quotas();
    for (std::size_t queue = 0; queue < state.queues().size(); ++queue) {
      for (const UnitId unit : quotas.units_in(QueueId(queue))) {
        if (quotas.unit(unit).covered_at.is_none()) give_back(quotas.unit(unit).workload);
      }
    }
  }

  std::int32_t& milli(NodeId node, int gpu) { return free_[node][static_cast<std::size_t>(gpu)]; }
  bool has(NodeId node) const { return free_.contains(node); }
  std::int64_t whole() const {
    std::int64_t gpus = 0;
    for (const auto& [node, milli] : free_) gpus += std::ranges::count(milli, kMilliPerGpu);
    return gpus;
  }

 private:
  // Who is to start by the plan that is being made has no pods yet, and counts as one who stays.
  void give_back(WorkloadId id) {
    for_each_pod(state_, id, [&](const Pod& pod) {
      if (!has(pod.node)) return;
      const std::int32_t taken = ledger_.node(pod.node).milli_of(state_.request(pod.request));
      pod.gpus.for_each([&](int gpu) { milli(pod.node, gpu) += taken; });
    });
  }

  const State& state_;
  const Ledger& ledger_;
  std::map<NodeId, std::vector<std::int32_t>> free_;
};

// Of whole GPUs, what is taken on each device.
using Parts = std::map<FlavorId, std::map<std::pair<NodeId, int>, std::int32_t>>;

template <class Placed>
Parts parts_taken(const State& state, const Trial& trial, const Placed& placed) {
  Parts parts;
  for_each_place(state, placed, [&](const PodRequest& request, const PodPlacement& place) {
    const NodeFree& node = trial.ledger().node(place.node);
    if (!request.is_fraction() || !gives_whole_gpus(node, FlavorId(node.flavor))) return;
    place.gpus.for_each([&](int gpu) { parts[FlavorId(node.flavor)][{place.node, gpu}] += node.milli_of(request); });
  });
  return parts;
}

bool leave_floors_whole(const State& state, const Trial& trial, const Workload& workload, const Parts& parts) {
  const QuotaLedger& quotas = trial.quotas();
  for (const auto& [flavor, taken] : parts) {
    const std::int64_t promised = whole_gpus_promised_beside(quotas, workload.queue, flavor);
    if (promised <= pods_that_fit(state, 1, flavor)) continue;
    IfAllGaveBack then(state, trial, flavor);
    const std::int64_t with_it = then.whole();
    if (promised <= with_it) continue;
    for (const auto& [device, milli] : taken) then.milli(device.first, device.second) += milli;
    if (then.whole() > with_it) return false;
  }
  return true;
}

}  // namespace

bool leaves_floors_whole(const State& state, const Trial& trial, const Start& start) {
  const Workload& workload = state.workload(start.workload);
  const Shape& shape = state.shape(workload.shape);
  const Parts parts = parts_taken(state, trial, start);
  if (parts.empty() || shape.terms.best_effort || start.best_effort) return true;
  const QuotaLedger& quotas = trial.quotas();
  const AmountList held = amounts_held(state, shape, start);
  if (quotas.would_be_covered_at(workload.queue, held, quotas.end_of(shape.terms)).is_none()) return true;
  return leave_floors_whole(state, trial, workload, parts);
}

bool leaves_floors_whole(const State& state, const Trial& trial, const Repair& repair) {
  const Workload& workload = state.workload(repair.workload);
  const Parts parts = parts_taken(state, trial, repair);
  if (parts.empty() || trial.quotas().unit(workload.unit).covered_at.is_none()) return true;
  return leave_floors_whole(state, trial, workload, parts);
}

std::int64_t whole_gpus_promised_beside(const QuotaLedger& quotas, QueueId queue, FlavorId flavor) {
  const QuotaTree& tree = quotas.tree();
  const std::size_t dim = Dim(flavor, Resource::kGpu).index();
  std::int64_t gpus = 0;
  for (QueueId own = queue; !own.is_none(); own = tree.parent(own)) {
    for (const QueueId other : tree.children(tree.parent(own))) {
      const std::int64_t left = tree.floor(other)[dim] - quotas.covered(other)[dim];
      if (other != own && left > 0) gpus += left / kMilliPerGpu;
    }
  }
  return gpus;
}

}  // namespace berth
