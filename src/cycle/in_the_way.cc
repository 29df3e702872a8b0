#include "cycle/in_the_way.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "cycle/left_alone.h"
#include "cycle/reserved.h"
#include "cycle/shadows.h"
#include "cycle/terms_of.h"
#include "placement/place.h"

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

bool meets_flavors(const State& state, WorkloadId id, const Shadow& promise) {
  const FlavorSet own = state.shape(state.workload(id).shape).flavors;
  return own.meets(state.shape(state.workload(promise.start.workload).shape).flavors);
}

// Where it is promised CPUs or quota, and no GPUs that the other would take.
std::optional<InTheWay> first_promise(const State& state, WorkloadId id, const std::vector<InTheWay>& all) {
  const Time end = state.end_of(id, state.clock());
  const auto is_met = [&](const InTheWay& each) { return each.promise != nullptr && each.by < end; };
  const auto is_near = [&](const InTheWay& each) { return is_met(each) && meets_flavors(state, id, *each.promise); };
  auto found = std::ranges::find_if(all, is_near);
  if (found == all.end()) found = std::ranges::find_if(all, is_met);
  if (found == all.end()) return std::nullopt;
  InTheWay first = *found;
  first.takes_room = false;
  return first;
}

bool fits_beside(State& fork, WorkloadId id, const KeptRoom& kept) {
  Trial trial(fork.ledger_for_trial(), fork.quotas_for_trial());
  ScoreIndex index;
  trial.keep_from_all(kept);
  const std::size_t ways = fork.shape(fork.workload(id).shape).ways.size();
  for (std::size_t way = 0; way < ways; ++way) {
    Rng rng(fork.seed(), id.value());
    if (std::holds_alternative<Start>(place_in_way(fork, trial, index, id, way, rng))) return true;
  }
  return false;
}

}  // namespace

std::vector<InTheWay> all_in_the_way(const State& state, WorkloadId id) {
  std::vector<InTheWay> all;
  add_reservations(state, id, all);
  add_promises(state, id, all);
  std::ranges::stable_sort(all, {}, &InTheWay::by);
  return all;
}

std::optional<InTheWay> first_in_the_way(const State& state, WorkloadId id) {
  const Time end = state.end_of(id, state.clock());
  const std::vector<InTheWay> all = all_in_the_way(state, id);
  State fork = state.fork();
  KeptRoom kept;
  for (const InTheWay& each : all) {
    if (each.by >= end) break;
    kept = with_nodes(with_gpus(std::move(kept), each.room.gpus), each.room.nodes);
    if (!fits_beside(fork, id, kept)) return each;
  }
  return first_promise(state, id, all);
}

}  // namespace berth
