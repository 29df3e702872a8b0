#include "cycle/fallen_limits.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "cycle/taken_together.h"
#include "cycle/taking_out.h"
#include "fairness/rights.h"

namespace berth {
namespace {

// What a queue holds too much, by dimension.
struct Excess {
  Dim dim;
  std::int64_t amount = 0;

  bool is_of(Dim held) const { return dim == held || (dim == kGpusOfAllFlavors && held.resource() == Resource::kGpu); }
};

class FallenLimit {
 public:
  // `borrows`: the calendar changes how much it may borrow, too.
  FallenLimit(const State& state, Trial& trial, QueueId queue, bool borrows, Time now)
      : state_(state), trial_(trial), queue_(queue), now_(now) {
    const auto used = trial.quotas().used(queue);
    const QuotaTree& tree = trial.quotas().tree();
    AmountsByDim limit(tree.limit(queue).begin(), tree.limit(queue).end());
    for (std::size_t dim = 0; borrows && dim < used.size(); ++dim) {
      const auto held = [&](Dim slices) { return used[slices.index()]; };
      const std::int64_t end = tree.borrowing_end(queue)[dim];
      const std::int64_t by_profile = tree.milli_inside(queue, Dim::at(dim), tree.guarantee(queue), held);
      if (end != kNoBound) limit[dim] = std::min(limit[dim], end + by_profile);
    }
    std::int64_t gpus = 0;
    for (std::size_t dim = 0; dim < used.size(); ++dim) {
      if (used[dim] > limit[dim]) excess_.push_back({Dim::at(dim), used[dim] - limit[dim]});
      gpus += Dim::at(dim).resource() == Resource::kGpu ? used[dim] : 0;
    }
    const std::int64_t of_all = limit[kGpusOfAllFlavors.index()];
    if (gpus > of_all) excess_.push_back({kGpusOfAllFlavors, gpus - of_all});
  }

  // Who is not needed after all is put back, the strongest claims first.
  void stop(std::vector<Eviction>& stopped) {
    if (excess_.empty()) return;
    list(queue_);
    std::sort(running_.begin(), running_.end(), [](const Running& a, const Running& b) {
      if (const auto order = a.claim <=> b.claim; order != 0) return order < 0;
      if (a.lost_gpu_s != b.lost_gpu_s) return a.lost_gpu_s < b.lost_gpu_s;
      return a.workload > b.workload;
    });
    std::vector<const Running*> chosen;
    for (const Running& each : running_) {
      if (!holds_too_much(each)) continue;
      give_back(each, 1);
      chosen.push_back(&each);
    }
    for (auto at = chosen.rbegin(); at != chosen.rend(); ++at) {
      give_back(**at, -1);
      if (!is_any_left()) {
        *at = nullptr;
      } else {
        give_back(**at, 1);
      }
    }
    for (const Running* const each : chosen) {
      if (each != nullptr) stopped.push_back(take(*each));
    }
  }

 private:
  struct Running {
    WorkloadId workload;
    Claim claim;
    std::int64_t lost_gpu_s = 0;
  };

  const AmountList& held_by(const Running& each) const {
    return trial_.quotas().held_by(state_.workload(each.workload).unit);
  }

  void list(QueueId queue) {
    const QuotaLedger& quotas = trial_.quotas();
    const Fraction share = share_of(quotas, state_.flavors(), queue);
    for (const UnitId id : quotas.units_in(queue)) {
      const QuotaUnit& unit = quotas.unit(id);
      const Workload* const workload = state_.workloads().find(unit.workload);
      if (workload == nullptr || workload->phase != Phase::kRunning) continue;
      running_.push_back({unit.workload, claim_with_steps(state_, quotas, unit.workload, share),
                          lost_if_taken_gpu_s(state_, unit.workload, now_)});
    }
    for (const QueueId child : quotas.tree().children(queue)) list(child);
  }

  bool holds_too_much(const Running& each) const {
    const AmountList& held = held_by(each);
    return std::any_of(held.begin(), held.end(), [&](const Amount& amount) {
      return std::any_of(excess_.begin(), excess_.end(),
                         [&](const Excess& excess) { return excess.is_of(amount.dim) && excess.amount > 0; });
    });
  }
  void give_back(const Running& each, std::int64_t times) {
    for (const Amount& amount : held_by(each)) {
      for (Excess& excess : excess_) excess.amount -= excess.is_of(amount.dim) ? times * amount.amount : 0;
    }
  }
  bool is_any_left() const {
    return std::any_of(excess_.begin(), excess_.end(), [](const Excess& excess) { return excess.amount > 0; });
  }

  Eviction take(const Running& each) {
    take_out(state_, trial_, each.workload, Emptied::kIsToBeScrubbed);
    const Time stop_by = end_of_grace(state_, each.workload, now_);
    return {each.workload, WorkloadId(), EvictionRule::kWindow, stop_by, each.lost_gpu_s};
  }

  const State& state_;
  Trial& trial_;
  QueueId queue_;
  Time now_;
  std::vector<Excess> excess_;
  std::vector<Running> running_;
};

}  // namespace

std::vector<Eviction> stop_above_limits(const State& state, Trial& trial, Time now) {
  std::map<QueueId, bool> queues;  // whether what they may borrow changes
  for (const Window& window : state.windows()) {
    if (window.queue.is_none()) continue;
    if (!window.limit.empty()) queues.try_emplace(window.queue, false);
    if (!window.borrowing_limit.empty()) queues[window.queue] = true;
  }
  std::vector<Eviction> stopped;
  // Children stand behind their parents: who stops for a child's sake stops for its parent's too.
  for (auto queue = queues.rbegin(); queue != queues.rend(); ++queue) {
    FallenLimit(state, trial, queue->first, queue->second, now).stop(stopped);
  }
  return stopped;
}

std::vector<Eviction> stop_out_of_hours(const State& state, Trial& trial, Time now) {
  std::vector<Eviction> stopped;
  const auto is_of_work = [](const Window& window) { return window.queue.is_none(); };
  if (std::ranges::none_of(state.windows(), is_of_work)) return stopped;
  state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
    const Terms& terms = state.shape(workload.shape).terms;
    const bool is_over = workload.phase == Phase::kRunning && state.hours_end(terms, workload.started) <= now;
    if (!is_over || is_out(state, trial, id)) return;
    stopped.push_back(
        {id, WorkloadId(), EvictionRule::kWindow, end_of_grace(state, id, now), lost_if_taken_gpu_s(state, id, now)});
    take_out(state, trial, id, Emptied::kIsToBeScrubbed);
  });
  return stopped;
}

}  // namespace berth
