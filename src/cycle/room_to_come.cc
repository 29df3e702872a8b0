#include "cycle/room_to_come.h"

#include <cstdint>
#include <map>
#include <vector>

namespace berth {
namespace {

// The GPUs of those who have yet to leave.
std::map<NodeId, std::uint64_t> left_by_nobody_yet(const State& state) {
  std::map<NodeId, std::uint64_t> gpus;
  const auto note = [&](const Pod& pod) { gpus[pod.node] |= pod.gpus.bits(); };
  for (const WorkloadId id : state.stopping()) for_each_leaving_pod(state, id, note);
  for (const WorkloadId id : state.starting()) {
    if (state.workload(id).phase == Phase::kMigrating) for_each_leaving_pod(state, id, note);
  }
  return gpus;
}

}  // namespace

std::optional<State> without_room_to_come(const State& state) {
  if (state.starting().empty()) return std::nullopt;
  const std::map<NodeId, std::uint64_t> left = left_by_nobody_yet(state);
  std::vector<Move> idle;
  for (const WorkloadId id : state.starting()) {
    for_each_coming_pod(state, id, [&](const Pod& pod) {
      const auto there = left.find(pod.node);
      const bool is_idle = there == left.end() || (there->second & pod.gpus.bits()) == 0;
      if (pod.gpus.empty() || !is_idle) return;
      idle.push_back(move_of(state.request(pod.request), pod.place(), Move::Direction::kGive));
    });
  }
  if (idle.empty()) return std::nullopt;
  State without = state.fork();
  for (const Move& move : idle) without.ledger_for_trial().withdraw(move);
  return without;
}

}  // namespace berth
