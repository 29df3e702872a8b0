// One node as filters and scores see it.
#pragma once

#include <cstdint>
#include <span>

#include "state/ledger.h"

namespace berth {

class NodeView {
 public:
  NodeView(const Ledger& ledger, NodeId id) : free(ledger.node(id)), ledger_(ledger), id_(id) {}

  const NodeFree& free;  // in one cache line; what stands elsewhere is fetched only when asked for

  std::span<const std::int16_t> gpu_milli() const { return ledger_.gpu_milli(id_); }
  std::span<const std::int32_t> gpu_memory_mib() const { return ledger_.gpu_memory_mib(id_); }
  bool selected_by(const PodRequest& request) const { return ledger_.matches().selects(request.constraints, id_); }
  bool tolerated_by(const PodRequest& request) const { return ledger_.matches().tolerates(request.constraints, id_); }
  std::span<const MigPlaceSet> layouts() const { return ledger_.layouts(id_); }
  // PRE: the node is cut.
  bool has_place_for(const PodRequest& slice) const {
    for (const MigPlaceSet layout : layouts()) {
      if (free.geometry().room_for(slice.slice, layout) > 0) return true;
    }
    return false;
  }
  const PodKinds& kinds() const { return ledger_.kinds(id_); }

  // Whether those who share one GPU let a share of MPS join them, and it has the thousandths free.
  bool gpu_welcomes(std::size_t gpu, const PodRequest& share) const {
    return gpu_milli()[gpu] >= share.gpu_milli && ledger_.may_join(id_, gpu, share);
  }
  bool some_gpu_welcomes(const PodRequest& share) const {
    for (std::size_t gpu = 0; gpu < free.gpus; ++gpu) {
      if (gpu_welcomes(gpu, share)) return true;
    }
    return false;
  }
  // Whether one GPU has the thousandths and the memory that a fraction asks, and nobody on it is against it.
  bool gpu_fits(std::size_t gpu, const PodRequest& fraction) const {
    return gpu_milli()[gpu] >= free.milli_of(fraction) &&
           gpu_memory_mib()[gpu] >= gpu_memory_taken(fraction, free.gpu_memory_mib) &&
           (!fraction.is_mps() || ledger_.may_join(id_, gpu, fraction));
  }
  bool some_gpu_fits(const PodRequest& fraction) const {
    for (std::size_t gpu = 0; gpu < free.gpus; ++gpu) {
      if (gpu_fits(gpu, fraction)) return true;
    }
    return false;
  }

 private:
  const Ledger& ledger_;
  NodeId id_;
};

}  // namespace berth
