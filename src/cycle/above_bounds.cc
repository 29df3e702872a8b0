#include "cycle/above_bounds.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cycle/feasibility.h"
#include "fairness/gates.h"
#include "state/idle_room.h"

namespace berth {
namespace {

bool is_above_bounds(const State& state, QueueId queue, const Shape& shape, std::size_t way) {
  const AmountList asked = asked_by(state, queue, shape, way);
  return is_above_bounds_alone(state.quotas(), queue, asked) || is_above_lending_alone(state.quotas(), queue, asked);
}

bool has_no_place(const State& state, const Shape& shape, std::size_t way) {
  Shape alone = shape;
  alone.ways = {shape.ways[way]};
  return reason_never(state, alone) != ReasonCode::kNone;
}

// Of some set, flavor by flavor, what bounds allow and what idle nodes would hold do not add up to all of its pods.
bool has_no_mixture(const State& state, QueueId queue, const Shape& shape, std::size_t way) {
  const std::vector<std::int64_t> most = most_by_flavor(state, queue, shape, way);
  if (most.empty()) return false;
  return std::ranges::any_of(shape.ways[way], [&](const NumberedPodSet& set) {
    if (std::ranges::none_of(most, [&](std::int64_t each) { return each < set.count; })) return false;
    std::vector<std::int64_t> left = most;
    std::int64_t pods = 0;
    for (std::size_t i = 0; i < state.nodes() && pods < set.count; ++i) {
      const FlavorId flavor = state.node(NodeId(i)).flavor;
      if (flavor.is_none() || left[flavor.index()] == 0) continue;
      const std::int64_t there = std::min(
          {left[flavor.index()], set.count - pods, idle_room_on(state, state.request(set.request), NodeId(i))});
      left[flavor.index()] -= there;
      pods += there;
    }
    return pods < set.count;
  });
}

}  // namespace

bool is_above_bounds_where_it_fits(const State& state, QueueId queue, const Shape& shape) {
  const QuotaTree& tree = state.quotas().tree();
  if (shape.terms.best_effort || (!tells_flavors_apart(tree, queue) && !tree.keeps_floors())) return false;
  std::vector<std::size_t> within;
  for (std::size_t way = 0; way < shape.ways.size(); ++way) {
    if (!is_above_bounds(state, queue, shape, way)) within.push_back(way);
  }
  return !within.empty() && std::ranges::all_of(within, [&](std::size_t way) {
    if (may_mix(state, shape.ways[way]) && has_no_mixture(state, queue, shape, way)) return true;
    return within.size() < shape.ways.size() && has_no_place(state, shape, way);
  });
}

}  // namespace berth
