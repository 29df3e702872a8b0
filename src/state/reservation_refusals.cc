#include "state/reservation_refusals.h"

#include <algorithm>
#include <cstdint>
#include <functional>

#include "state/tree_at.h"

namespace berth {
namespace {

using Refusal = std::optional<std::string>;

Refusal refusal_of_times(const State& state, const Reservation& added) {
  const bool in_bounds = added.from.ms >= 0 && added.from <= kTimeMax;
  if (!in_bounds || added.from < state.clock()) return "a reservation begins in the past; let it begin later";
  if (added.lasts <= Duration{0}) return "a reservation lasts no time; write for how long";
  if (added.every == Duration{0}) {
    return added.lasts > kReservationLastsMax ? Refusal("a reservation lasts at most 366 days") : std::nullopt;
  }
  if (added.every != kReservationDay) return "a reservation comes once or every day";
  if (added.lasts > kReservationDay) return "what comes every day lasts at most 24 hours";
  return std::nullopt;
}

// Of nodes that are never shared: on others nobody has a whole GPU, or not for sure.
std::int64_t gpus_of(const State& state, FlavorId flavor) {
  std::int64_t gpus = 0;
  for (std::size_t at = 0; at < state.nodes(); ++at) {
    const Node& node = state.node(NodeId(at));
    if (node.gpus > 0 && node.flavor == flavor && node.sharing == Sharing::kExclusive && node.other_modes.empty())
      gpus += node.gpus;
  }
  return gpus;
}

// What it may never use would only be kept from others.
Refusal refusal_by_limits(const State& state, const Reservation& added) {
  const QuotaTree& tree = tree_at(state, added.from);
  const std::int64_t milli = added.gpus * kMilliPerGpu;
  for (QueueId queue = added.queue; !queue.is_none(); queue = tree.parent(queue)) {
    const std::size_t own = Dim(added.flavor, Resource::kGpu).index();
    const std::size_t all = kGpusOfAllFlavors.index();
    std::int64_t most = std::min({tree.limit(queue)[own], tree.limit(queue)[all], tree.borrowing_end(queue)[own]});
    if (const std::int64_t borrowed = tree.borrowing_end(queue)[all]; borrowed != kNoBound)
      most = std::min(most, tree.guarantee(queue)[own] + borrowed);
    if (milli <= most) continue;
    return "queue " + state.queues()[queue.index()].name + " may hold " + std::to_string(most / kMilliPerGpu) +
           " of these GPUs at most when it begins; reserve no more, or raise its limit";
  }
  return std::nullopt;
}

Refusal refusal_of_gpus(const State& state, const Reservation& added) {
  if (added.queue.index() >= state.queues().size()) return "there is no such queue";
  if (added.flavor.is_none() || added.flavor.index() >= state.flavors().size()) return "there is no such flavor";
  if (!added.nodes.empty()) return "a queue reserves GPUs, and not nodes";
  if (added.gpus <= 0) return "nothing is reserved; write how many GPUs";
  const std::int64_t there = gpus_of(state, added.flavor);
  if (added.gpus > there) {
    return "there are " + std::to_string(there) + " GPUs of " + state.flavors()[added.flavor.index()].name +
           " that are not shared; reserve no more";
  }
  return refusal_by_limits(state, added);
}

Refusal refusal_of_nodes(const State& state, const Reservation& added) {
  if (added.nodes.empty()) return "maintenance is of some nodes; name them";
  if (added.gpus != 0 || !added.flavor.is_none()) return "maintenance is of whole nodes";
  if (std::ranges::adjacent_find(added.nodes, std::ranges::greater_equal()) != added.nodes.end())
    return "maintenance names each node once";
  return added.nodes.back().index() < state.nodes() ? std::nullopt : Refusal("there is no such node");
}

}  // namespace

std::optional<std::string> refusal_of_reservation(const State& state, const Reservation& added) {
  if (state.reservations().size() >= kReservationsMax)
    return "more than 100 reservations at a time; cancel some, or let one come every day";
  if (added.name.empty()) return "a reservation has a name";
  for (const auto& [id, other] : state.reservations()) {
    if (other.name == added.name)
      return "there is a reservation " + other.name + " already; take another name, or cancel that one";
  }
  if (auto refusal = refusal_of_times(state, added)) return refusal;
  return added.is_maintenance() ? refusal_of_nodes(state, added) : refusal_of_gpus(state, added);
}

}  // namespace berth
