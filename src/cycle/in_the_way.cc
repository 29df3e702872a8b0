#include "cycle/in_the_way.h"

#include <algorithm>
#include <map>

#include "cycle/reserved.h"
#include "cycle/shadows.h"

namespace berth {
namespace {

void add_reservations(const State& state, WorkloadId id, std::vector<InTheWay>& all) {
  const Time now = state.clock();
  for (const auto& [number, each] : state.reservations()) {
    const HeldPlaces* const holding = state.holding_of(number);
    const bool own = !each.is_maintenance() && state.is_below(state.workload(id).queue, each.queue);
    if (own || (holding == nullptr && !each.is_maintenance())) continue;
    const KeptRoom room = each.is_maintenance() ? KeptRoom{.gpus = {}, .nodes = each.nodes}
                                                : KeptRoom{.gpus = holding->gpus, .nodes = {}};
    if (room.empty()) continue;
    all.push_back({.by = std::max(each.from, now), .reservation = &each, .promise = nullptr, .room = room});
  }
}

KeptRoom whole_gpus_of(const Start& start) {
  std::map<NodeId, std::uint64_t> gpus;
  for (const PodPlacement& pod : start.pods) gpus[pod.node] |= pod.gpus.bits();
  KeptRoom room;
  for (const auto& [node, bits] : gpus) {
    if (bits != 0) room.gpus.push_back({node, GpuSet::from_bits(bits)});
  }
  return room;
}

void add_promises(const State& state, WorkloadId id, std::vector<InTheWay>& all) {
  if (state.shadows().empty()) return;
  State fork = state.fork();
  ScoreIndex index;
  const Plan plan{.now = fork.clock(), .revision = fork.revision()};
  Trial trial(fork.ledger_for_trial(), fork.quotas_for_trial());
  const Reserved reserved(fork, trial, plan);
  Shadows shadows(fork, trial, index, plan, &reserved);
  shadows.look(id);
  for (const Shadow& each : state.shadows()) {
    const auto by = shadows.has_to_be_gone_by(id, each.start.workload);
    if (by) all.push_back({.by = *by, .reservation = nullptr, .promise = &each, .room = whole_gpus_of(each.start)});
  }
}

}  // namespace

std::vector<InTheWay> all_in_the_way(const State& state, WorkloadId id) {
  std::vector<InTheWay> all;
  add_reservations(state, id, all);
  add_promises(state, id, all);
  std::ranges::stable_sort(all, {}, &InTheWay::by);
  return all;
}

}  // namespace berth
