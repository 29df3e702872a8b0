// One node as filters and scores see it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "state/ledger.h"
#include "state/room.h"
#include "state/zones.h"

namespace berth {

class NodeView {
 public:
  NodeView(const Ledger& ledger, NodeId id) : free(ledger.node(id)), ledger_(ledger), id_(id) {}

  const NodeFree& free;  // in one cache line; what stands elsewhere is fetched only when asked for

  std::span<const std::int16_t> gpu_milli() const { return ledger_.gpu_milli(id_); }
  std::span<const std::int32_t> gpu_memory_mib() const { return ledger_.gpu_memory_mib(id_); }
  bool selected_by(const PodRequest& request) const { return ledger_.matches().selects(request.constraints, id_); }
  bool tolerated_by(const PodRequest& request) const { return ledger_.matches().tolerates(request.constraints, id_); }
  ExclusiveDomains::Refusal refused_in_domains(const PodRequest& request) const {
    return ledger_.exclusives().refusal(request, id_);
  }
  std::int64_t image_points(const PodRequest& request) const {
    return ledger_.matches().image_points(request.constraints, id_);
  }
  bool is_away_from_strangers(const PodRequest& request) const { return ledger_.is_away_from_strangers(request, id_); }
  std::span<const MigPlaceSet> layouts() const { return ledger_.layouts(id_); }
  MigPlaceSet fixed_slices() const { return ledger_.fixed_slices(id_); }
  // Of which slices one of a shape may be: of those that are there and stay, or of the layout that all GPUs of the node would be cut
  // into for it; empty: of any.
  MigPlaceSet within(std::size_t shape) const {
    return ledger_.is_cut_at_once(id_) ? ledger_.layout_for(id_, shape) : fixed_slices();
  }
  const GpuCut* cut_of(std::size_t gpu) const { return ledger_.cut_of(id_, gpu); }
  // PRE: the node is cut.
  bool has_place_for(const PodRequest& slice) const {
    for (std::size_t gpu = 0; gpu < free.gpus; ++gpu) {
      if (ledger_.room_for_slices(id_, gpu, slice.slice) > 0) return true;
    }
    return false;
  }
  bool leaves_what_is_kept(const PodRequest& request) const { return ledger_.leaves_what_is_kept(id_, request); }
  HostAmounts rest(const PodRequest& request) const { return ledger_.rest(id_) + ledger_.beyond_rest(id_, request); }
  // What one pod like that may have of its CPUs and memory, but for what is kept.
  std::int64_t cpu_free(const PodRequest& request) const {
    if (!request.in_extra) return free.cpu_milli;
    return std::min(ledger_.has(id_).cpu_milli, free.cpu_milli + ledger_.beyond(id_, request).cpu_milli);
  }
  std::int64_t memory_free(const PodRequest& request) const {
    if (!request.in_extra) return free.memory_bytes;
    return std::min(ledger_.has(id_).memory_bytes, free.memory_bytes + ledger_.beyond(id_, request).memory_bytes);
  }
  // What of its CPUs work that counts has left beside the pod. PRE: it fits.
  std::int64_t cpu_left(const PodRequest& request) const {
    std::int64_t left = free.cpu_milli;
    std::int64_t extra = request.in_extra ? ledger_.extra(id_).all.cpu_milli : 0;
    move_amount(left, extra, request.in_extra, -request.cpu_milli);
    return left;
  }
  // Whether the GPUs and CPUs that are free are in such zones that the kubelet's policy lets the pod in.
  bool has_room_in_zones(const PodRequest& request) const {
    if (!free.counts_by_zone(request)) return true;
    const InZones where = in_zones(ledger_, id_, request);
    return where == InZones::kOne ? room_in_zones(ledger_, id_, request) > 0 : where == InZones::kAnywhere;
  }
  std::array<FreeInZone, kNumaZonesMax> free_in_zones(const PodRequest& request) const {
    return berth::free_in_zones(ledger_, id_, request);
  }
  // PRE: the kubelet has a policy.
  int zone_of(int gpu) const { return zone_of_gpu(gpu, free.gpus, ledger_.zones(id_).zones); }
  const GpuLinks& links() const { return ledger_.links(id_); }
  const PodKinds& kinds() const { return ledger_.kinds(id_); }

  // Whether one GPU has the thousandths that a fraction asks, and those who share it let it join them; and those who were there
  // before, too. PRE: some GPU has the thousandths.
  bool some_gpu_welcomes(const PodRequest& fraction) const {
    return some_gpu_is(fraction, [&](std::size_t gpu) { return ledger_.suits_occupants(id_, gpu, fraction); });
  }
  bool some_gpu_is_clean_for(const PodRequest& fraction) const {
    return some_gpu_is(fraction, [&](std::size_t gpu) { return ledger_.may_join(id_, gpu, fraction); });
  }
  // PRE: enough GPUs are free for a request of whole ones.
  bool enough_gpus_are_clean_for(const PodRequest& request) const {
    return !ledger_.any_residue() || clean_whole_gpus(ledger_, id_, request) >= request.gpus;
  }
  bool gpu_is_free_and_clean(std::size_t gpu, const PodRequest& request) const {
    return gpu_milli()[gpu] == kMilliPerGpu && ledger_.is_clean_for(id_, gpu, request);
  }
  GpuSet free_and_clean_gpus(const PodRequest& request) const {
    GpuSet gpus;
    for (int gpu = 0; gpu < free.gpus; ++gpu) {
      if (gpu_is_free_and_clean(static_cast<std::size_t>(gpu), request)) gpus.add(gpu);
    }
    return gpus;
  }
  // Whether one GPU has the thousandths and the memory that a fraction asks, and nobody on it is against it.
  bool gpu_fits(std::size_t gpu, const PodRequest& fraction) const {
    return gpu_milli()[gpu] >= free.milli_of(fraction) &&
           gpu_memory_mib()[gpu] >= gpu_memory_taken(fraction, free.gpu_memory_mib) &&
           ledger_.may_join(id_, gpu, fraction);
  }
  bool some_gpu_fits(const PodRequest& fraction) const {
    for (std::size_t gpu = 0; gpu < free.gpus; ++gpu) {
      if (gpu_fits(gpu, fraction)) return true;
    }
    return false;
  }

 private:
  template <class Suits>
  bool some_gpu_is(const PodRequest& fraction, Suits suits) const {
    if (ledger_.trust().all_together()) return true;
    for (std::size_t gpu = 0; gpu < free.gpus; ++gpu) {
      if (gpu_milli()[gpu] >= free.milli_of(fraction) && suits(gpu)) return true;
    }
    return false;
  }

  const Ledger& ledger_;
  NodeId id_;
};

}  // namespace berth
