// Room that belongs to somebody already while others are still stopping in it, or while what they left is yet to be scrubbed.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/plan.h"
#include "state/state.h"

namespace berth {

// The pods that are still there though their room is no longer their own, and those that are not there yet though they have
// theirs.
class Vacating {
 public:
  // Of everyone who is stopping, or starting.
  explicit Vacating(const State& state);

  // Somebody who is told to stop now, by then or at once; who was given room that is not clear yet; who begins now.
  void leaves(const State& state, WorkloadId workload, bool at_once);
  void waits(const State& state, const Start& start);
  void waits(const State& state, const Repair& repair);
  void begins(WorkloadId workload);

  // Whether a workload's places are not clear yet. PRE: its room is taken in the state's ledger.
  bool holds_up(const State& state, WorkloadId workload) const;
  bool holds_up(const State& state, const Start& start) const;
  bool holds_up(const State& state, const Repair& repair) const;

  // Of whom something is left there that is yet to be scrubbed.
  std::vector<QueueId> left_on(Device device) const;

 private:
  struct PodOnNode {
    WorkloadId workload;
    NodeId node;
    GpuSet gpus;
    std::int64_t cpu_milli = 0;
    std::int64_t memory_bytes = 0;
    bool in_extra = false;
    std::uint8_t slice = kNoSlice;
    std::uint8_t slice_start = 0;
    Sharing sharing = Sharing::kExclusive;
    SharerId sharer;
    NeighboursId neighbours;
    ExclusiveId exclusive;
    bool by_zone = false;   // its CPUs count in the zones of its GPUs,
    bool one_zone = false;  // and are to be in one
  };

  static PodOnNode pod_on_node(const State& state, WorkloadId workload, const PodRequest& request,
                               const PodPlacement& place);
  static bool is_in_its_domain(const State& state, const PodOnNode& leaving, const PodOnNode& pod);
  static bool is_in_the_way(const NodeFree& node, const PodOnNode& leaving, const PodOnNode& pod);
  bool holds_up(const State& state, const PodOnNode& pod) const;
  bool lacks_zones(const State& state, const PodOnNode& pod) const;
  bool lacks_amounts(const State& state, const PodOnNode& pod) const;
  void leaves_residue(const State& state, WorkloadId workload);
  bool is_to_be_scrubbed(const State& state, const PodOnNode& pod) const;
  static bool is_to_be_cut(const State& state, const PodOnNode& pod);

  std::vector<PodOnNode> leaving_;
  std::vector<PodOnNode> coming_;
  std::map<Device, std::vector<QueueId>> left_;  // where scrubs take time: of whom something is left there
};

}  // namespace berth
