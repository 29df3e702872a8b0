#include "state/room.h"

#include <algorithm>
#include <iterator>

#include "state/zones.h"

namespace berth {
namespace {

bool is_welcome(const Ledger& ledger, NodeId id, std::size_t gpu, const PodRequest& request, Occupants occupants) {
  if (occupants == Occupants::kAreFriends) return true;
  if (occupants == Occupants::kAreAlike && request.is_vgpu()) return ledger.is_clean_for(id, gpu, request);
  return occupants == Occupants::kLeaveNothing ? ledger.suits_occupants(id, gpu, request)
                                               : ledger.may_join(id, gpu, request);
}

// Nobody's, as a scrub of them failed. Where nothing were left they would be like any others.
std::int64_t quarantined_gpus(const Ledger& ledger, NodeId id) {
  const auto first = ledger.broken().lower_bound({id, 0});
  return std::distance(
      first, std::find_if(first, ledger.broken().end(), [&](const Device& device) { return device.node != id; }));
}

std::int64_t room_on_gpus(const Ledger& ledger, NodeId id, const PodRequest& request, Occupants occupants) {
  const NodeFree& node = ledger.node(id);
  if (node.gpus == 0 || !node.has_flavor_of(request.flavors)) return 0;
  if (request.gpu_memory_mib > node.gpu_memory_mib || !node.suits(request.sharing)) return 0;
  if (request.is_slice()) {
    std::int64_t room = 0;
    for (std::size_t gpu = 0; gpu < node.gpus; ++gpu) room += ledger.room_for_slices(id, gpu, request.slice);
    return room;
  }
  const std::int64_t quarantined = occupants == Occupants::kLeaveNothing ? quarantined_gpus(ledger, id) : 0;
  if (!request.is_fraction()) {
    const bool matters = (occupants == Occupants::kMatter || occupants == Occupants::kAreAlike) && ledger.any_residue();
    return ((matters ? clean_whole_gpus(ledger, id, request) : node.whole_gpus) + quarantined) / request.gpus;
  }
  const std::int32_t milli = node.milli_of(request);
  if (node.largest_gpu_milli < milli && quarantined == 0) return 0;
  const std::int64_t memory_mib = gpu_memory_taken(request, node.gpu_memory_mib);
  const auto free_milli = ledger.gpu_milli(id);
  const auto free_memory_mib = ledger.gpu_memory_mib(id);
  std::int64_t on_idle_gpu = kMilliPerGpu / milli;
  if (memory_mib > 0) on_idle_gpu = std::min(on_idle_gpu, node.gpu_memory_mib / memory_mib);
  std::int64_t room = quarantined * on_idle_gpu;
  for (std::size_t gpu = 0; gpu < free_milli.size(); ++gpu) {
    if (!is_welcome(ledger, id, gpu, request, occupants)) continue;
    std::int64_t on_gpu = free_milli[gpu] / milli;
    if (memory_mib > 0) on_gpu = std::min(on_gpu, free_memory_mib[gpu] / memory_mib);
    room += on_gpu;
  }
  return room;
}

}  // namespace

std::int64_t clean_whole_gpus(const Ledger& ledger, NodeId id, const PodRequest& request) {
  const auto free_milli = ledger.gpu_milli(id);
  std::int64_t clean = 0;
  for (std::size_t gpu = 0; gpu < free_milli.size(); ++gpu) {
    clean += free_milli[gpu] == kMilliPerGpu && ledger.is_clean_for(id, gpu, request) ? 1 : 0;
  }
  return clean;
}

std::int64_t room_for(const Ledger& ledger, NodeId id, const PodRequest& request, Occupants occupants, Zones zones) {
  const NodeFree& node = ledger.node(id);
  if (!node.open || !ledger.matches().allows(request.constraints, id) || !ledger.exclusives().allows(request, id))
    return 0;
  if (occupants != Occupants::kAreFriends && !ledger.is_away_from_strangers(request, id)) return 0;
  std::int64_t room = node.pods;
  if (request.gpus > 0) room = std::min(room, room_on_gpus(ledger, id, request, occupants));
  if (!ledger.is_large_enough(id, request)) return 0;
  HostAmounts free = HostAmounts{node.cpu_milli, node.memory_bytes} + ledger.beyond(id, request);
  if (request.gpus == 0) {
    const HostAmounts rest = ledger.rest(id) + ledger.beyond_rest(id, request);
    free = {std::min(free.cpu_milli, rest.cpu_milli), std::min(free.memory_bytes, rest.memory_bytes)};
  }
  if (room > 0 && request.cpu_milli > 0) {
    room = std::min(room, std::max<std::int64_t>(0, free.cpu_milli) / request.cpu_milli);
  }
  if (room > 0 && request.memory_bytes > 0) {
    room = std::min(room, std::max<std::int64_t>(0, free.memory_bytes) / request.memory_bytes);
  }
  if (room == 0 || zones == Zones::kAreOne) return room;
  const InZones where = in_zones(ledger, id, request);
  if (where == InZones::kNever) return 0;
  return where == InZones::kOne ? std::min(room, room_in_zones(ledger, id, request)) : room;
}

bool is_free(const Ledger& ledger, const PodRequest& request, const PodPlacement& place) {
  const NodeFree& node = ledger.node(place.node);
  if (!node.open || node.pods < 1 || !ledger.lets_in(request, place.node)) return false;
  if (!ledger.is_large_enough(place.node, request)) return false;
  const HostAmounts beyond = ledger.beyond(place.node, request);
  if (node.cpu_milli + beyond.cpu_milli < request.cpu_milli) return false;
  if (node.memory_bytes + beyond.memory_bytes < request.memory_bytes) return false;
  if (request.gpus > 0 && !node.suits(request.sharing)) return false;
  if (!ledger.leaves_what_is_kept(place.node, request) || !suits_zones(ledger, request, place)) return false;
  bool free = true;
  place.gpus.for_each([&](int gpu) {
    const auto at = static_cast<std::size_t>(gpu);
    const std::int32_t asked = node.milli_of(request);
    free = free && ledger.gpu_milli(place.node)[at] >= asked &&
           ledger.gpu_memory_mib(place.node)[at] >= gpu_memory_taken(request, node.gpu_memory_mib);
    if (!free || !request.is_slice()) {
      free = free && ledger.may_join(place.node, at, request);
      return;
    }
    const auto slice = node.geometry().find_place(request.slice, place.slice_start);
    free = slice && ledger.open_beside(place.node, at, ledger.layouts(place.node)[at]).contains(*slice);
  });
  return free;
}

}  // namespace berth
