#include "cycle/recutting.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <variant>
#include <vector>

#include "cycle/for_each_place.h"
#include "cycle/taking_out.h"
#include "model/gpu_hardware.h"
#include "placement/place.h"
#include "state/room.h"

namespace berth {
namespace {

auto size_of(const SliceShape& shape) { return std::tuple(shape.compute_slices, shape.memory_slices); }

// Shapes by size, the largest first; of one size the plain one.
void put_largest_first(const MigGeometry& mig, std::vector<std::size_t>& shapes) {
  std::ranges::stable_sort(shapes, std::greater{}, [&](std::size_t shape) {
    return std::tuple_cat(size_of(mig.shapes()[shape]), std::tuple(mig.shapes()[shape].is_plain()));
  });
}

class Cutting {
 public:
  Cutting(const MigGeometry& mig, MigPlaceSet taken) : mig_(mig), layout_(taken) {}

  MigPlaceSet layout() const { return layout_; }
  void keep(std::size_t place) {
    if (mig_.open_beside(layout_).contains(place)) layout_ = layout_.with(place);
  }
  // As many as fit, each as high as it can be.
  void fill(std::size_t shape) {
    for (;;) {
      const MigPlaceSet open = mig_.open_beside(layout_).common_with(mig_.places_of(shape));
      if (open.empty()) return;
      layout_ = layout_.with(open.last());
    }
  }

 private:
  const MigGeometry& mig_;
  MigPlaceSet layout_;
};

// What somebody is to have on a GPU where it is not there.
struct Wanted {
  WorkloadId claimant;  // the first
  std::vector<std::size_t> shapes;
};

template <class Placed>
void note(const State& state, WorkloadId whose, const Placed& placed, std::map<Device, Wanted>& wanted) {
  for_each_place(state, placed, [&](const PodRequest& request, const PodPlacement& at) {
    if (!request.is_slice()) return;
    const Device device{at.node, std::countr_zero(at.gpus.bits())};
    const GpuCut* const cut = state.ledger().cut_of(at.node, static_cast<std::size_t>(device.gpu));
    if (cut == nullptr) return;
    const auto place = state.ledger().node(at.node).geometry().find_place(request.slice, at.slice_start);
    if (cut->slices.contains(*place)) return;
    Wanted& on_device = wanted.try_emplace(device, Wanted{whose, {}}).first->second;
    on_device.shapes.push_back(request.slice);
  });
}

// In the order in which it was promised.
std::vector<std::size_t> promised_on(const State& state, const std::vector<Shadow>& shadows, Device device) {
  std::vector<std::size_t> places;
  for (const Shadow& shadow : shadows) {
    for_each_place(state, shadow.start, [&](const PodRequest& request, const PodPlacement& at) {
      if (at.node != device.node || !at.gpus.contains(device.gpu) || !request.is_slice()) return;
      places.push_back(*state.ledger().node(at.node).geometry().find_place(request.slice, at.slice_start));
    });
  }
  return places;
}

// GPU-seconds of what it brings, which is nobody's meanwhile.
std::int64_t lost_gpu_s(const State& state, const Node& node, MigPlaceSet brings) {
  const Flavor& flavor = state.flavors()[node.flavor.index()];
  const MigGeometry& mig = *state.geometry_of(node);
  std::int64_t milli = 0;
  brings.for_each(
      [&](std::size_t place) { milli += find_slice(flavor, std::size_t{mig.places()[place].shape})->gpu_milli; });
  constexpr std::int64_t kPerGpuSecond = std::int64_t{kMilliPerGpu} * 1000;
  return (milli * node.recut.ms + kPerGpuSecond - 1) / kPerGpuSecond;
}

// Of layouts with all that is taken: most of what is promised, then most of what was asked for, of equals what has most of a GPU; then the
// first.
MigPlaceSet next_layout(const State& state, const Node& node, std::span<const MigPlaceSet> possible,
                        std::span<const std::size_t> promised, std::span<const std::size_t> asked) {
  const Flavor& flavor = state.flavors()[node.flavor.index()];
  const MigGeometry& mig = *state.geometry_of(node);
  const auto rank = [&](MigPlaceSet layout) {
    const auto kept = std::ranges::count_if(promised, [&](std::size_t place) { return layout.contains(place); });
    int of_those = 0;
    for (const std::size_t shape : asked) of_those += layout.common_with(mig.places_of(shape)).size();
    std::int64_t milli = 0;
    layout.for_each(
        [&](std::size_t place) { milli += find_slice(flavor, std::size_t{mig.places()[place].shape})->gpu_milli; });
    return std::tuple(kept, of_those, milli);
  };
  return *std::ranges::max_element(possible, {}, rank);
}

}  // namespace

MigPlaceSet next_cut(const MigGeometry& mig, const NextCut& cut) {
  Cutting next(mig, cut.taken);
  for (const std::size_t place : cut.promised) next.keep(place);
  std::vector<std::size_t> there;
  cut.before.for_each([&](std::size_t place) { there.push_back(place); });
  std::ranges::stable_sort(there, std::greater{},
                           [&](std::size_t place) { return size_of(mig.shapes()[mig.places()[place].shape]); });
  for (const std::size_t place : there) next.keep(place);
  std::vector<std::size_t> shapes(cut.asked.begin(), cut.asked.end());
  put_largest_first(mig, shapes);
  for (const std::size_t shape : shapes) next.fill(shape);
  std::vector<std::size_t> plain;
  for (std::size_t shape = 0; shape < mig.shapes().size(); ++shape) {
    if (mig.shapes()[shape].is_plain()) plain.push_back(shape);
  }
  put_largest_first(mig, plain);
  for (const std::size_t shape : plain) next.fill(shape);
  return next.layout();
}

Duration longest_cut(const State& state, const Start& start) {
  if (!state.ledger().has_cuts()) return Duration{0};
  std::map<Device, Wanted> wanted;
  note(state, start.workload, start, wanted);
  Duration longest{0};
  for (const auto& [device, what] : wanted) longest = std::max(longest, state.node(device.node).recut);
  return longest;
}

Duration cut_at(const State& state, std::uint8_t slice, const PodPlacement& place) {
  if (slice == kNoSlice) return Duration{0};
  const auto gpu = static_cast<std::size_t>(std::countr_zero(place.gpus.bits()));
  const GpuCut* const cut = state.ledger().cut_of(place.node, gpu);
  if (cut == nullptr) return Duration{0};
  const auto is_elsewhere = [&](MigPlaceSet taken) { return !taken.minus(cut->slices).empty(); };
  const bool all_are_cut = state.ledger().is_cut_at_once(place.node) &&
                           std::ranges::any_of(state.ledger().layouts(place.node), is_elsewhere);
  const auto own = state.ledger().node(place.node).geometry().find_place(slice, place.slice_start);
  return all_are_cut || !cut->has(*own) ? state.node(place.node).recut : Duration{0};
}

Duration cut_before(const State& state, const Start& start) {
  Duration longest{0};
  if (!state.ledger().has_cuts()) return longest;
  for_each_place(state, start, [&](const PodRequest& request, const PodPlacement& place) {
    longest = std::max(longest, cut_at(state, request.slice, place));
  });
  return longest;
}

Duration cut_before(const State& state, WorkloadId starting) {
  Duration longest{0};
  if (!state.ledger().has_cuts()) return longest;
  for_each_coming_pod(state, starting, [&](const Pod& pod) {
    longest = std::max(longest, cut_at(state, state.request(pod.request).slice, pod.place()));
  });
  return longest;
}

Duration longest_recut(const State& state) {
  Duration longest{0};
  for (const Node& type : state.node_types().nodes.values()) longest = std::max(longest, type.recut);
  return longest;
}

// What is being cut has been by then, as a rule.
Time begins_by(const State& state, const Start& start, Time then) {
  const Duration cut = cut_before(state, start);
  return cut == Duration{0} ? then : std::max(then + longest_cut(state, start), state.clock() + cut);
}

bool comes_free_before_a_cut(OneCycle& cycle, std::size_t way, const Start& start) {
  const State& state = cycle.engine.state;
  const Time by = cycle.plan.now + longest_cut(state, start);
  const Trial::Mark mark = cycle.trial.mark();
  bool some_end = false;
  state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
    if (workload.phase != Phase::kRunning || is_out(state, cycle.trial, id)) return;
    if (state.end_of(id, workload.started) > by) return;
    take_out(state, cycle.trial, id, Emptied::kCountsAsScrubbed);
    some_end = true;
  });
  bool is_there = false;
  std::erase_if(cycle.waited_for, [&](const Start& each) { return each.workload == start.workload; });
  if (some_end) {
    for (const Start& each : cycle.waited_for) {
      for_each_place(state, each, [&](const PodRequest& request, const PodPlacement& place) {
        if (is_free(cycle.trial.ledger(), request, place)) cycle.trial.apply(move_of(request, place));
      });
    }
    // A stream of its own: what is only thought of changes no draw.
    Rng rng(state.seed(), start.workload.value());
    const auto outcome = place_in_way(state, cycle.trial, cycle.engine.index, start.workload, way, rng);
    const Start* const then = std::get_if<Start>(&outcome);
    is_there = then != nullptr && longest_cut(state, *then) == Duration{0};
    if (is_there) cycle.waited_for.push_back(*then);
  }
  cycle.trial.rollback_to(mark);
  return is_there;
}

namespace {

template <class Placed>
void hold_nodes_of(OneCycle& cycle, const Placed& placed) {
  const State& state = cycle.engine.state;
  Ledger& ledger = cycle.engine.state.ledger_for_trial();
  for_each_place(state, placed, [&](const PodRequest& request, const PodPlacement& at) {
    if (!request.is_slice() || !ledger.is_cut_at_once(at.node)) return;
    for (int gpu = 0; gpu < ledger.node(at.node).gpus; ++gpu) {
      const GpuCut& cut = *ledger.cut_of(at.node, static_cast<std::size_t>(gpu));
      if (!cut.stays()) ledger.set_cut({at.node, gpu}, {.slices = cut.slices, .to_come = {}, .rests = true});
    }
  });
}

}  // namespace

void hold_cuts(OneCycle& cycle, const Start& start) { hold_nodes_of(cycle, start); }
void hold_cuts(OneCycle& cycle, const Repair& repair) { hold_nodes_of(cycle, repair); }

// What rests to the state rests on.
void let_go_of_cuts(Engine& engine) {
  Ledger& ledger = engine.state.ledger_for_trial();
  if (!ledger.has_cuts()) return;
  std::set<Device> resting;
  for (const auto& [until, device] : engine.state.resting()) resting.insert(device);
  for (std::size_t i = 0; i < ledger.nodes(); ++i) {
    if (!ledger.is_cut_at_once(NodeId(i))) continue;
    for (int gpu = 0; gpu < ledger.node(NodeId(i)).gpus; ++gpu) {
      const Device device{NodeId(i), gpu};
      const GpuCut& cut = *ledger.cut_of(NodeId(i), static_cast<std::size_t>(gpu));
      if (cut.rests && !resting.contains(device))
        ledger.set_cut(device, {.slices = cut.slices, .to_come = cut.to_come});
    }
  }
}

namespace {

// All GPUs of the node into one layout; for whoever wants something of the first of them.
void cut_at_once(OneCycle& cycle, NodeId id, const std::map<Device, Wanted>& wanted) {
  const State& state = cycle.engine.state;
  const Node& node = state.node(id);
  std::vector<std::size_t> promised;
  std::vector<std::size_t> asked;
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    for (const std::size_t place : promised_on(state, cycle.shadows.all(), {id, gpu})) promised.push_back(place);
    const auto here = wanted.find({id, gpu});
    if (here != wanted.end()) asked.insert(asked.end(), here->second.shapes.begin(), here->second.shapes.end());
  }
  const MigPlaceSet after = next_layout(state, node, cycle.trial.ledger().possible_layouts(id), promised, asked);
  const WorkloadId claimant = wanted.lower_bound({id, 0})->second.claimant;
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    cycle.plan.repartitions.push_back({.node = id,
                                       .gpu = gpu,
                                       .before = state.ledger().cut_of(id, static_cast<std::size_t>(gpu))->slices,
                                       .after = after,
                                       .claimant = claimant,
                                       .takes = node.recut,
                                       .lost_gpu_s = lost_gpu_s(state, node, after)});
  }
}

}  // namespace

void cut_anew(OneCycle& cycle) {
  const State& state = cycle.engine.state;
  if (!state.ledger().has_cuts()) return;
  std::map<Device, Wanted> wanted;
  for (const Repair& repair : cycle.plan.repairs) note(state, repair.workload, repair, wanted);
  for (const Migration& each : cycle.plan.migrations) note(state, each.start.workload, each.start, wanted);
  for (const Start& start : cycle.plan.starts) note(state, start.workload, start, wanted);
  for (const auto& [device, what] : wanted) {
    const auto gpu = static_cast<std::size_t>(device.gpu);
    const Node& node = state.node(device.node);
    if (!node.layouts.empty()) {
      const bool is_decided = !cycle.plan.repartitions.empty() && cycle.plan.repartitions.back().node == device.node;
      if (!is_decided) cut_at_once(cycle, device.node, wanted);
      continue;
    }
    const MigPlaceSet before = state.ledger().cut_of(device.node, gpu)->slices;
    const std::vector<std::size_t> promised = promised_on(state, cycle.shadows.all(), device);
    const MigPlaceSet after =
        next_cut(*state.geometry_of(node), {.taken = cycle.trial.ledger().layouts(device.node)[gpu],
                                            .promised = promised,
                                            .before = before,
                                            .asked = what.shapes});
    cycle.plan.repartitions.push_back({.node = device.node,
                                       .gpu = device.gpu,
                                       .before = before,
                                       .after = after,
                                       .claimant = what.claimant,
                                       .takes = node.recut,
                                       .lost_gpu_s = lost_gpu_s(state, node, after.minus(before))});
  }
}

}  // namespace berth
