#include "cycle/vacating.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "cycle/for_each_place.h"
#include "cycle/recutting.h"
#include "state/zones.h"

namespace berth {

Vacating::Vacating(const State& state) {
  if (state.scrub() > Duration{0}) {
    for (const Device& device : state.ledger().dirty()) {
      left_[device] = state.ledger().residue(device.node, static_cast<std::size_t>(device.gpu));
    }
  }
  for (const WorkloadId id : state.stopping()) leaves(state, id, false);
  for (const WorkloadId id : state.starting()) {
    for_each_coming_pod(state, id, [&](const Pod& pod) {
      coming_.push_back(pod_on_node(state, id, state.request(pod.request), pod.place()));
    });
  }
}

Vacating::PodOnNode Vacating::pod_on_node(const State& state, WorkloadId workload, const PodRequest& request,
                                          const PodPlacement& place) {
  return {workload,
          place.node,
          place.gpus,
          request.cpu_milli,
          request.memory_bytes,
          request.in_extra,
          request.slice,
          place.slice_start,
          request.sharing,
          request.sharer,
          request.neighbours,
          request.exclusive,
          state.ledger().node(place.node).counts_by_zone(request),
          in_zones(state.ledger(), place.node, request) == InZones::kOne};
}

void Vacating::leaves(const State& state, WorkloadId workload, bool at_once) {
  // Of a gang some may have been on their way: they come no more.
  begins(workload);
  if (state.scrub() > Duration{0}) leaves_residue(state, workload);
  if (at_once) return;
  for_each_leaving_pod(state, workload, [&](const Pod& pod) {
    leaving_.push_back(pod_on_node(state, workload, state.request(pod.request), pod.place()));
  });
}

void Vacating::leaves_residue(const State& state, WorkloadId workload) {
  const QueueId tenant = state.tenant_of(state.workload(workload).queue);
  for_each_leaving_pod(state, workload, [&](const Pod& pod) {
    if (!state.ledger().leaves_residue(state.request(pod.request))) return;
    pod.gpus.for_each([&](int gpu) { left_[{pod.node, gpu}].push_back(tenant); });
  });
}

// There is something of somebody whom one does not trust of those who are to be there: all of them wait.
bool Vacating::is_to_be_scrubbed(const State& state, const PodOnNode& pod) const {
  const Trust& trust = state.ledger().trust();
  bool found = false;
  pod.gpus.for_each([&](int gpu) {
    const auto left = left_.find({pod.node, gpu});
    if (left == left_.end()) return;
    const auto suits = [&](const PodOnNode& other) {
      return std::ranges::all_of(left->second,
                                 [&](QueueId tenant) { return trust.trust(tenant, trust[other.sharer].tenant); });
    };
    found = found || !suits(pod) || std::ranges::any_of(coming_, [&](const PodOnNode& other) {
              return other.node == pod.node && other.gpus.contains(gpu) && !suits(other);
            });
  });
  return found;
}

std::vector<QueueId> Vacating::left_on(Device device) const {
  const auto left = left_.find(device);
  return left == left_.end() ? std::vector<QueueId>() : left->second;
}

void Vacating::waits(const State& state, const Start& start) {
  for_each_place(state, start, [&](const PodRequest& request, const PodPlacement& place) {
    coming_.push_back(pod_on_node(state, start.workload, request, place));
  });
}

void Vacating::waits(const State& state, const Repair& repair) {
  for_each_place(state, repair, [&](const PodRequest& request, const PodPlacement& place) {
    coming_.push_back(pod_on_node(state, repair.workload, request, place));
  });
}

void Vacating::begins(WorkloadId workload) {
  std::erase_if(coming_, [&](const PodOnNode& pod) { return pod.workload == workload; });
}

bool Vacating::holds_up(const State& state, WorkloadId workload) const {
  bool held = false;
  for_each_coming_pod(state, workload, [&](const Pod& pod) {
    held = held || holds_up(state, pod_on_node(state, workload, state.request(pod.request), pod.place()));
  });
  return held;
}

bool Vacating::holds_up(const State& state, const Start& start) const {
  bool held = false;
  for_each_place(state, start, [&](const PodRequest& request, const PodPlacement& place) {
    held = held || holds_up(state, pod_on_node(state, start.workload, request, place));
  });
  return held;
}

bool Vacating::holds_up(const State& state, const Repair& repair) const {
  bool held = false;
  for_each_place(state, repair, [&](const PodRequest& request, const PodPlacement& place) {
    held = held || holds_up(state, pod_on_node(state, repair.workload, request, place));
  });
  return held;
}

// On a device of its own, or on one of two slices that cannot be beside each other; or anywhere on a node that has to become
// something else first.
bool Vacating::is_in_the_way(const NodeFree& node, const PodOnNode& leaving, const PodOnNode& pod) {
  if (!leaving.gpus.empty() && !pod.gpus.empty() && leaving.sharing != pod.sharing) return true;
  if ((leaving.gpus.bits() & pod.gpus.bits()) == 0) return false;
  if (leaving.slice == kNoSlice || pod.slice == kNoSlice) return true;
  const MigGeometry& mig = node.geometry();
  const auto a = mig.find_place(leaving.slice, leaving.slice_start);
  const auto b = mig.find_place(pod.slice, pod.slice_start);
  return !mig.open_beside(MigPlaceSet::of(*a)).contains(*b);
}

// One of the two is to be alone there, or they are strangers and too near.
bool Vacating::is_in_its_domain(const State& state, const PodOnNode& leaving, const PodOnNode& pod) {
  const auto asks = [](const PodOnNode& each) {
    return PodRequest{
        .gpus = each.gpus.size(), .sharing = each.sharing, .sharer = each.sharer, .exclusive = each.exclusive};
  };
  return state.ledger().keep_apart(asks(pod), pod.node, asks(leaving), leaving.node);
}

// Those who are leaving have CPUs of a zone that it is to have, and too few others are free there: its kubelet would not let it in.
bool Vacating::lacks_zones(const State& state, const PodOnNode& pod) const {
  const NodeFree& node = state.ledger().node(pod.node);
  if (!pod.one_zone) return false;
  const NodeZones& zones = state.ledger().zones(pod.node);
  auto free = zones.cpu_milli;
  std::array<bool, kNumaZonesMax> own{}, left{};
  const auto for_each_zone = [&](const PodOnNode& each, auto visit) {
    const PodRequest request{.cpu_milli = each.cpu_milli, .gpus = each.gpus.size(), .gpu_milli = kMilliPerGpu};
    for_each_zone_of(node, zones.zones, request, each.gpus, visit);
  };
  for_each_zone(pod, [&](std::size_t zone, std::int64_t) { own[zone] = true; });
  for (const PodOnNode& other : coming_) {
    if (other.node != pod.node || other.workload == pod.workload || !other.by_zone) continue;
    for_each_zone(other, [&](std::size_t zone, std::int64_t cpu_milli) { free[zone] += cpu_milli; });
  }
  for (const PodOnNode& other : leaving_) {
    if (other.node != pod.node || other.workload == pod.workload || !other.by_zone) continue;
    for_each_zone(other, [&](std::size_t zone, std::int64_t cpu_milli) {
      free[zone] -= cpu_milli;
      left[zone] = left[zone] || cpu_milli > 0;
    });
  }
  for (std::size_t zone = 0; zone < free.size(); ++zone) {
    if (own[zone] && left[zone] && free[zone] < 0) return true;
  }
  return false;
}

// Its slice is not there: others that nobody has are cut into it first.
bool Vacating::is_to_be_cut(const State& state, const PodOnNode& pod) {
  return cut_at(state, pod.slice, {pod.node, pod.gpus, pod.slice_start}) > Duration{0};
}

// Those who are leaving have more of the node's CPU, memory and pods than is free, and given to others who are not there yet. CPUs that
// a node promises more than once are shared by weights, of which best effort has the least: for who counts it is as if that were not
// there. Memory is whose it is until it is given back.
bool Vacating::lacks_amounts(const State& state, const PodOnNode& pod) const {
  const NodeFree& free = state.ledger().node(pod.node);
  HostAmounts own{free.cpu_milli, free.memory_bytes};
  HostAmounts extra = state.ledger().extra(pod.node).all;
  std::int64_t pods = free.pods;
  const bool shares_cpus = !pod.in_extra && state.node(pod.node).extra.cpu_milli > 0;
  if (shares_cpus) own.cpu_milli -= std::min<std::int64_t>(extra.cpu_milli, 0);
  const auto move = [&](const PodOnNode& other, std::int64_t sign) {
    pods += sign;
    move_amount(own.memory_bytes, extra.memory_bytes, other.in_extra, sign * other.memory_bytes);
    if (shares_cpus && other.in_extra) return;
    move_amount(own.cpu_milli, extra.cpu_milli, other.in_extra, sign * other.cpu_milli);
  };
  for (const PodOnNode& other : coming_) {
    if (other.node == pod.node && other.workload != pod.workload) move(other, 1);
  }
  for (const PodOnNode& other : leaving_) {
    // What leaves itself does so before it comes.
    if (other.node == pod.node && other.workload != pod.workload) move(other, -1);
  }
  return own.cpu_milli < 0 || own.memory_bytes < 0 || pods < 0;
}

// Somebody is still where it is to be, or from whom it is to be apart.
bool Vacating::holds_up(const State& state, const PodOnNode& pod) const {
  if (!left_.empty() && is_to_be_scrubbed(state, pod)) return true;
  if (lacks_zones(state, pod) || is_to_be_cut(state, pod)) return true;
  const bool in_the_way = std::ranges::any_of(leaving_, [&](const PodOnNode& other) {
    if (other.workload == pod.workload) return false;  // it leaves before it comes
    if (state.ledger().neighbourhood().excludes(pod.neighbours, pod.node, other.neighbours, other.node)) return true;
    if (is_in_its_domain(state, other, pod)) return true;
    return other.node == pod.node && is_in_the_way(state.ledger().node(pod.node), other, pod);
  });
  return in_the_way || lacks_amounts(state, pod);
}

}  // namespace berth
