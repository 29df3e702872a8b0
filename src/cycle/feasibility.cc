#include "cycle/feasibility.h"

#include <algorithm>

#include "state/room.h"

namespace berth {
namespace {

// How many pods of a set would fit, at most all of them.
std::int64_t idle_room(const State& state, const NumberedPodSet& set) {
  const NodeTypes& types = state.node_types();
  std::int64_t room = 0;
  for (std::size_t type = 0; type < types.counts.size() && room < set.count; ++type) {
    const std::int64_t on_each = std::min(set.count, room_for(types.idle, NodeId(type), state.request(set.request)));
    room = std::min(set.count, room + on_each * types.counts[type]);
  }
  return room;
}

bool has_gpu_type(const State& state, const PodRequest& request) {
  if (request.gpus == 0) return true;
  const std::vector<Node>& types = state.node_types().nodes.values();
  return std::any_of(types.begin(), types.end(),
                     [&](const Node& type) { return type.gpus > 0 && request.flavors.contains(type.flavor); });
}

template <class Holds>
bool some_way(const Shape& shape, Holds holds) {
  return std::any_of(shape.ways.begin(), shape.ways.end(),
                     [&](const auto& way) { return std::all_of(way.begin(), way.end(), holds); });
}

}  // namespace

ReasonCode reason_never(const State& state, const Shape& shape) {
  const auto fits_idle = [&](const NumberedPodSet& set) { return idle_room(state, set) == set.count; };
  if (some_way(shape, fits_idle)) return ReasonCode::kNone;
  const bool has_types =
      some_way(shape, [&](const NumberedPodSet& set) { return has_gpu_type(state, state.request(set.request)); });
  return has_types ? ReasonCode::kInvalid : ReasonCode::kGpuType;
}

std::int64_t pods_when_idle(const State& state, const Shape& shape) {
  std::int64_t most = 0;
  for (const auto& way : shape.ways) {
    std::int64_t pods = 0;
    for (const NumberedPodSet& set : way) pods += idle_room(state, set);
    most = std::max(most, pods);
  }
  return most;
}

}  // namespace berth
