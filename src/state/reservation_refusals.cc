#include "state/reservation_refusals.h"

#include <algorithm>
#include <cstdint>
#include <functional>

#include "state/tree_at.h"

namespace berth {
namespace {

using Refusal = std::optional<std::string>;

Refusal refusal_of_later_times(Time after, const std::vector<Interval>& later) {
  if (later.size() > kOpeningsMax) return "more than 10,000 times of a reservation; tell some of them later";
  for (const Interval& each : later) {
    if (each.from < after || each.from >= each.to || each.to > kTimeMax)
      return "the times of a reservation are one after the other, and each lasts for some time";
    if (each.to - each.from > kReservationLastsMax) return "a reservation lasts at most 366 days";
    after = each.to;
  }
  return std::nullopt;
}

Refusal refusal_of_times(const State& state, const Reservation& added, bool found) {
  const bool in_bounds = added.from.ms >= 0 && added.from <= kTimeMax;
  if (!in_bounds || (!found && added.from < state.clock()))
    return "a reservation begins in the past; let it begin later";
  if (added.lasts <= Duration{0}) return "a reservation lasts no time; write for how long";
  if (auto refusal = refusal_of_later_times(added.to(), added.later)) return refusal;
  if (!added.later.empty() && added.every > Duration{0}) return "what comes every day has no other times besides";
  if (added.every == Duration{0}) {
    return added.lasts > kReservationLastsMax ? Refusal("a reservation lasts at most 366 days") : std::nullopt;
  }
  if (added.every != kReservationDay) return "a reservation comes once or every day";
  if (added.lasts > kReservationDay) return "what comes every day lasts at most 24 hours";
  return std::nullopt;
}

// Of one that was found: as it comes next.
Refusal refusal_if_over(const State& state, const Reservation& added) {
  if (added.to() > state.clock()) return std::nullopt;
  return "a reservation is over already; let it begin later";
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
  const QuotaTree& tree = tree_at(state, std::max(added.from, state.clock()));
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

Refusal refusal_of_gpus(const State& state, const Reservation& added, bool found) {
  if (added.queue.index() >= state.queues().size()) return "there is no such queue";
  if (added.flavor.is_none() || added.flavor.index() >= state.flavors().size()) return "there is no such flavor";
  if (!added.nodes.empty()) return "a queue reserves GPUs, and not nodes";
  if (added.gpus <= 0) return "nothing is reserved; write how many GPUs";
  if (added.gpus > kReservationGpusMax) return "a reservation is of 1,000,000 GPUs at most";
  const std::int64_t there = found ? kReservationGpusMax : gpus_of(state, added.flavor);
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

// That what it had can be what it has.
Refusal refusal_of_places(const State& state, const ReservationAdded& event) {
  if (!event.found) return "what is reserved anew has no places yet";
  const auto by_node = [](const GpusOfNode& a, const GpusOfNode& b) { return a.node >= b.node; };
  if (std::ranges::adjacent_find(event.had, by_node) != event.had.end()) return "places are named node by node";
  std::int64_t gpus = 0;
  for (const GpusOfNode& each : event.had) {
    const bool is_there = each.node.index() < state.nodes() && !each.gpus.empty() &&
                          (each.gpus.bits() >> state.node(each.node).gpus) == 0;
    if (!is_there) return "there are no such GPUs";
    gpus += each.gpus.size();
  }
  if (gpus > event.reservation.gpus) return "a reservation has more than was reserved";
  for (const HeldPlaces& other : state.holdings()) {
    if (!state.reservations().at(other.reservation).meets(event.reservation)) continue;
    for (const GpusOfNode& its : other.gpus) {
      const auto at = std::ranges::find(event.had, its.node, &GpusOfNode::node);
      if (at != event.had.end() && (at->gpus.bits() & its.gpus.bits()) != 0)
        return "a GPU is another reservation's at the same time";
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> refusal_of_times_told(const State& state, const ReservationTimesTold& event) {
  const auto known = state.reservations().find(event.reservation);
  if (known == state.reservations().end()) return "there is no such reservation";
  if (known->second.every > Duration{0}) return "what comes every day has no other times besides";
  return refusal_of_later_times(known->second.to(), event.later);
}

std::optional<std::string> refusal_of_reservation(const State& state, const ReservationAdded& event) {
  const Reservation& added = event.reservation;
  if (state.reservations().size() >= kReservationsMax)
    return "more than 100 reservations at a time; cancel some, or let one come every day";
  if (added.name.empty()) return "a reservation has a name";
  for (const auto& [id, other] : state.reservations()) {
    if (other.name == added.name)
      return "there is a reservation " + other.name + " already; take another name, or cancel that one";
  }
  if (auto refusal = refusal_of_times(state, added, event.found)) return refusal;
  if (auto refusal = refusal_if_over(state, added)) return refusal;
  if (auto refusal =
          added.is_maintenance() ? refusal_of_nodes(state, added) : refusal_of_gpus(state, added, event.found))
    return refusal;
  return event.had.empty() ? std::nullopt : refusal_of_places(state, event);
}

}  // namespace berth
