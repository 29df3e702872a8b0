// What is promised for a time: when it begins and ends, and what of it is held.
#include <cstdint>
#include <utility>

#include "state/starting.h"
#include "state/state.h"

namespace berth {

const HeldPlaces* State::holding_of(ReservationId id) const {
  const auto found = std::ranges::find(holdings_, id, &HeldPlaces::reservation);
  return found == holdings_.end() ? nullptr : &*found;
}

// When one begins or ends, or somebody has to be told to stop for it.
Time State::next_reserved() const {
  Time next = kForever;
  const auto consider = [&](Time at) {
    if (at > clock_) next = std::min(next, at);
  };
  for (const auto& [id, reservation] : reservations_) {
    consider(reservation.from);
    consider(reservation.to());
  }
  for (const HeldPlaces& each : holdings_) consider(each.drains_at);
  return next;
}

void State::on(const ReservationAdded& event) {
  const Reservation& added = event.reservation;
  history_.add(added.name).add(added.queue.value()).add(added.flavor.value()).add(added.gpus);
  for (const NodeId node : added.nodes) history_.add(node.value());
  history_.add(added.from.ms).add(added.lasts.ms).add(added.every.ms);
  note(added.later);
  history_.add(std::uint64_t{event.had.size()});
  for (const GpusOfNode& had : event.had) history_.add(had.node.value()).add(had.gpus.bits());
  const ReservationId id(reservations_made_++);
  reservations_.emplace(id, added);
  know_who_reserves();
  if (!event.had.empty()) holdings_.push_back({id, event.had, kForever});
  pass_reservations();
}

// Whose strangers are to be found where they have reserved.
void State::know_who_reserves() {
  if (!ledger_.trust().looks_beyond_devices()) return;
  for (const auto& [id, each] : reservations_) {
    if (!each.is_maintenance()) ledger_.trust().intern({tenant_of(each.queue), UserId()});
  }
}

PodRequest State::reserved_gpu(const Reservation& reservation) const {
  const SharerId whose = ledger_.trust().find({tenant_of(reservation.queue), UserId()});
  return {.gpus = 1, .gpu_milli = kMilliPerGpu, .flavors = FlavorSet::of(reservation.flavor), .sharer = whose};
}

// What was asked before, and not decided yet, is not asked any more.
void State::on(const DefragmentationAsked& event) {
  history_.add(std::uint64_t{event.moves.size()}).add(event.gpus).add(event.horizon.ms);
  if (event.slice != kNoSlice) history_.add(std::uint64_t{event.slice}).add(event.flavor.value());
  for (const MoveAsked& move : event.moves) {
    history_.add(move.workload.value());
    for (const PodPlacement& place : move.to) history_.add(place.node.value()).add(place.gpus.bits());
  }
  defragmentation_ = event;
}

void State::on(const ReservationRemoved& event) {
  history_.add(event.reservation.value());
  drop_reservation(event.reservation);
  maintain();
  retry_who_waits_for_room();
}

// Who was let ahead, or promised a start, was so for what was known.
void State::on(const ReservationTimesTold& event) {
  history_.add(event.reservation.value());
  note(event.later);
  reservations_.at(event.reservation).later = event.later;
  retry_who_waits_for_room();
}

void State::note(const std::vector<Interval>& times) {
  history_.add(std::uint64_t{times.size()});
  for (const Interval& each : times) history_.add(each.from.ms).add(each.to.ms);
}

void State::drop_reservation(ReservationId id) {
  reservations_.erase(id);
  std::erase_if(holdings_, [&](const HeldPlaces& each) { return each.reservation == id; });
}

// Those that are over by now are forgotten, or begin anew.
void State::pass_reservations() {
  bool any_over = false;
  for (auto at = reservations_.begin(); at != reservations_.end();) {
    auto& [id, reservation] = *at++;
    if (reservation.to() > clock_) continue;
    any_over = true;
    if (!reservation.pass(clock_)) {
      drop_reservation(id);
      continue;
    }
    std::erase_if(holdings_, [&, gone = id](const HeldPlaces& each) { return each.reservation == gone; });
  }
  maintain();
  if (any_over) retry_who_waits_for_room();
}

// Closes the nodes whose maintenance has begun, and opens those of which it is over.
void State::maintain() {
  std::set<NodeId> now;
  for (const auto& [id, reservation] : reservations_) {
    if (reservation.has_begun(clock_)) now.insert(reservation.nodes.begin(), reservation.nodes.end());
  }
  const std::set<NodeId> before = std::exchange(maintained_, std::move(now));
  for (const NodeId node : before) {
    if (maintained_.contains(node) || down_.contains(node)) continue;
    reopen(node);
  }
  for (const NodeId node : maintained_) {
    if (before.contains(node) || down_.contains(node)) continue;
    set_open(node, false);
    for (const WorkloadId id : starting_on(*this, node)) lose_room_to_come(id);
  }
}

void State::hold(const std::vector<HeldPlaces>& holdings) {
  holdings_ = holdings;
  history_.add(std::uint64_t{holdings.size()});
  for (const HeldPlaces& each : holdings) {
    history_.add(each.reservation.value()).add(each.drains_at.ms);
    for (const GpusOfNode& held : each.gpus) history_.add(held.node.value()).add(held.gpus.bits());
  }
}

}  // namespace berth
