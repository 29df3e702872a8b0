// What each promise leaves to others, and who fits beside it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "cycle/for_each_place.h"
#include "cycle/neighbours_text.h"
#include "cycle/shadows.h"
#include "cycle/shadows_later.h"
#include "state/neighbours_apart.h"
#include "state/room.h"
#include "state/zones.h"

namespace berth {

void Shadows::look(WorkloadId candidate) {
  for (const Shadow& each : all_) {
    const QueueId line = state_.line_of(state_.workload(each.start.workload).queue);
    if (each.at > plan_.now && state_.queues()[line.index()].foresees()) foretell(each.start.workload);
  }
  look(all_.size(), index_of(candidate) ? candidate : WorkloadId());
}

void Shadows::look(std::size_t others, WorkloadId without) {
  if (others != looked_others_ || without != looked_without_) then_.assign(all_.size(), {});
  looked_others_ = others;
  looked_without_ = without;
  for (std::size_t i = 0; i < others; ++i) {
    if (then_[i].empty()) then_[i] = look_then(i, others, without);
  }
}

// With all who will be there then, those to whom it is promised included.
std::vector<NodeThen> Shadows::look_then(std::size_t shadow, std::size_t others, WorkloadId without) {
  find_ends();
  const Shadow& own = all_[shadow];
  Later later(*this, plan_.now + Duration{1});
  later.go_to(own.at);
  const Trial::Mark mark = trial_.mark();
  // Before those whose promises it takes, who are promised anew only in the next cycle.
  put_if_free(own.start);
  for (std::size_t i = 0; i < others; ++i) {
    const WorkloadId whose = all_[i].start.workload;
    const bool is_there = whose != without && all_[i].at <= own.at && end_of(all_[i]) > own.at;
    if (i != shadow && is_there) put_if_free(all_[i].start);
  }
  const Ledger& ledger = trial_.ledger();
  std::map<NodeId, NodeThen> nodes;
  for_each_place(state_, own.start, [&](const PodRequest& request, const PodPlacement& place) {
    NodeThen& then = nodes[place.node];
    then.parts.resize(ledger.node(place.node).gpus);
    if (request.gpus > 0) then.mode = request.sharing;
    const bool is_in_one_zone = request.cpu_milli > 0 && in_zones(ledger, place.node, request) == InZones::kOne;
    place.gpus.for_each([&](int gpu) {
      if (request.is_fraction()) then.parts[static_cast<std::size_t>(gpu)] = request.sharer;
      if (!is_in_one_zone) return;
      const int zones = ledger.zones(place.node).zones;
      then.is_owed[static_cast<std::size_t>(zone_of_gpu(gpu, ledger.node(place.node).gpus, zones))] = true;
    });
    if (!then.node.is_none()) return;
    const NodeFree& node = ledger.node(place.node);
    const auto milli = ledger.gpu_milli(place.node);
    const auto memory = ledger.gpu_memory_mib(place.node);
    const auto layouts = ledger.layouts(place.node);
    then.node = place.node;
    then.cpu_milli = node.cpu_milli;
    then.memory_bytes = node.memory_bytes;
    then.rest = ledger.rest(place.node);
    then.extra = ledger.extra(place.node);
    if (node.numa != NumaPolicy::kNone) then.zones_milli = ledger.zones(place.node).cpu_milli;
    then.pods = node.pods;
    then.gpu_milli.assign(milli.begin(), milli.end());
    then.gpu_memory_mib.assign(memory.begin(), memory.end());
    then.layouts.assign(layouts.begin(), layouts.end());
  });
  trial_.rollback_to(mark);
  std::vector<NodeThen> all;
  for (auto& [node, then] : nodes) all.push_back(std::move(then));
  return all;
}

// CPUs and memory, of all accounts that know of it, and its place among the pods.
bool Shadows::host_fits_beside(NodeThen& then, const PodRequest& request, const PodPlacement& place) const {
  const NodeFree& node = trial_.ledger().node(place.node);
  move_amounts(then, then.extra.all, request, -1);
  then.pods -= 1;
  bool fits = then.cpu_milli >= 0 && then.memory_bytes >= 0 && then.pods >= 0;
  if (request.gpus == 0) {
    move_amounts(then.rest, then.extra.without_gpus, request, -1);
    fits = fits && (request.cpu_milli == 0 || then.rest.cpu_milli >= 0) &&
           (request.memory_bytes == 0 || then.rest.memory_bytes >= 0);
  }
  if (!node.counts_by_zone(request)) return fits;
  for_each_zone_of(node, trial_.ledger().zones(place.node).zones, request, place.gpus,
                   [&](std::size_t zone, std::int64_t cpu_milli) {
                     then.zones_milli[zone] -= cpu_milli;
                     fits = fits && (cpu_milli == 0 || !then.is_owed[zone] || then.zones_milli[zone] >= 0);
                   });
  return fits;
}

// Whether what it takes is free then, too, beside the shadow; if so it is taken there.
bool Shadows::fits_beside(std::vector<NodeThen>& then, const Start& start) const {
  const Trust& trust = trial_.ledger().trust();
  const auto may_be_beside = [&](SharerId part, SharerId own) {
    return part.is_none() || trust.all_together() || trust.may_be_together(part, own);
  };
  bool fits = true;
  for_each_place(state_, start, [&](const PodRequest& request, const PodPlacement& place) {
    const auto at = std::ranges::lower_bound(then, place.node, {}, &NodeThen::node);
    if (!fits || at == then.end() || at->node != place.node) return;
    const NodeFree& node = trial_.ledger().node(place.node);
    fits = host_fits_beside(*at, request, place);
    fits = fits && (request.gpus == 0 || !at->mode || *at->mode == request.sharing);
    place.gpus.for_each([&](int gpu) {
      const auto each = static_cast<std::size_t>(gpu);
      at->gpu_milli[each] = static_cast<std::int16_t>(at->gpu_milli[each] - node.milli_of(request));
      at->gpu_memory_mib[each] -= static_cast<std::int32_t>(gpu_memory_taken(request, node.gpu_memory_mib));
      fits = fits && at->gpu_milli[each] >= 0 && at->gpu_memory_mib[each] >= 0;
      fits = fits && (!request.is_fraction() || may_be_beside(at->parts[each], request.sharer));
      if (!fits || !request.is_slice()) return;
      const auto slice = node.geometry().find_place(request.slice, place.slice_start);
      MigPlaceSet& layout = at->layouts[each];
      fits = slice && trial_.ledger().open_beside(place.node, each, layout).contains(*slice);
      if (fits) layout = layout.with(*slice);
    });
  });
  return fits;
}

// Whether one of the two is to have a domain for itself in which the other has GPUs, or they are strangers and would be too near, or
// one asks not to be where the other is.
bool Shadows::keep_apart(const Start& start, const Start& other) const {
  const Ledger& ledger = trial_.ledger();
  const bool some_keep_apart = ledger.some_keep_apart();
  if (!some_keep_apart && !looks_around(state_, state_.shape(state_.workload(start.workload).shape))) return false;
  using There = std::tuple<ExclusiveId, SharerId, Sharing, NeighboursId, NodeId, bool>;
  const auto there_as = [](const PodRequest& request, const PodPlacement& place) {
    return There{request.exclusive, request.sharer, request.sharing, request.neighbours, place.node, request.gpus > 0};
  };
  std::set<There> there;
  for_each_place(state_, start,
                 [&](const PodRequest& request, const PodPlacement& place) { there.insert(there_as(request, place)); });
  bool apart = false;
  std::optional<There> last;
  for_each_place(state_, other, [&](const PodRequest& request, const PodPlacement& place) {
    const There looked_at = there_as(request, place);
    if (apart || last == looked_at) return;
    last = looked_at;
    apart = std::ranges::any_of(there, [&](const There& each) {
      const auto& [exclusive, sharer, sharing, neighbours, node, has_gpus] = each;
      if (ledger.neighbourhood().excludes(neighbours, node, request.neighbours, place.node)) return true;
      if (!some_keep_apart || !has_gpus || request.gpus == 0) return false;
      const PodRequest own{.gpus = 1, .sharing = sharing, .sharer = sharer, .exclusive = exclusive};
      return ledger.keep_apart(request, place.node, own, node);
    });
  });
  return apart;
}

// Where pods of the first may be depends on where others are who are like the other, or on the same GPUs, wherever he is. What the other
// asks for itself is seen when it starts.
bool Shadows::mind_each_other(WorkloadId id, WorkloadId other) const {
  const Shape& shape = state_.shape(state_.workload(id).shape);
  const Shape& others = state_.shape(state_.workload(other).shape);
  const bool same_gpus = shape.flavors.meets(others.flavors);
  return std::ranges::any_of(shape.ways.front(), [&](const NumberedPodSet& set) {
    if (same_gpus && state_.topologies()[set.topology].is_spread()) return true;
    const NeighboursId own = state_.request(set.request).neighbours;
    return std::ranges::any_of(others.ways.front(), [&](const NumberedPodSet& each) {
      return depends_on(state_.ledger().neighbourhood(), own, state_.request(each.request).neighbours);
    });
  });
}

}  // namespace berth
