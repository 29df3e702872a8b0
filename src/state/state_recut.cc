// GPUs whose slices were cut beforehand and are cut anew for somebody.
#include <algorithm>
#include <bit>
#include <iterator>
#include <set>
#include <vector>

#include "state/state.h"

namespace berth {

// By who is there on a slice that goes, or anywhere on a node whose GPUs are cut at once; who migrates is where it leaves.
std::vector<Device> State::to_recut() const {
  if (being_cut_.empty()) return {};
  std::set<Device> held_up;
  for (const Pod& pod : pods_) {
    if (pod.workload.is_none() || !requests_[pod.request.index()].is_slice()) continue;
    const Device device{pod.node, std::countr_zero(pod.gpus.bits())};
    if (!being_cut_.contains(device) || !is_there(workloads_[pod.workload].phase)) continue;
    const MigGeometry& mig = ledger_.node(pod.node).geometry();
    const auto place = mig.find_place(requests_[pod.request.index()].slice, pod.slice_start);
    const bool at_once = ledger_.is_cut_at_once(pod.node);
    const GpuCut& cut = *ledger_.cut_of(pod.node, static_cast<std::size_t>(device.gpu));
    if (!at_once && cut.slices.contains(*place)) continue;
    for_each_leaving_pod(*this, pod.workload, [&](const Pod& each) {
      if (&each != &pod) return;
      held_up.insert(device);
      for (int gpu = 0; at_once && gpu < ledger_.node(pod.node).gpus; ++gpu) held_up.insert({pod.node, gpu});
    });
  }
  std::vector<Device> devices;
  std::ranges::copy_if(being_cut_, std::back_inserter(devices), [&](const Device& device) {
    return ledger_.node(device.node).takes_work() && !held_up.contains(device);
  });
  return devices;
}

// Those who have room on what comes wait for it.
void State::cut_anew(const Repartition& decision) {
  const Device device{decision.node, decision.gpu};
  const GpuCut& before = *ledger_.cut_of(device.node, static_cast<std::size_t>(device.gpu));
  BERTH_ASSERT(before.slices == decision.before && !before.stays());
  // All slices of a node whose GPUs are cut at once are away meanwhile, those too that are as they were.
  const MigPlaceSet stay = ledger_.is_cut_at_once(device.node) ? MigPlaceSet() : decision.before;
  ledger_.set_cut(device, {.slices = decision.after, .to_come = decision.after.minus(stay)});
  being_cut_.insert(device);
  history_.add(decision.node.value()).add(decision.gpu).add(std::uint64_t{decision.after.bits()});
  history_.add(decision.claimant.value()).add(decision.takes.ms).add(decision.lost_gpu_s);
}

}  // namespace berth
