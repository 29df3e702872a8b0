#include "cycle/reserved_text.h"

#include <algorithm>
#include <cstdint>

#include "base/wording.h"
#include "model/quantity.h"

namespace berth {
namespace {

// In whole minutes, and seconds of less than one: whoever waits is told anew when the text is another.
std::string rounded_down(Duration length) {
  const std::int64_t unit_ms = length.ms >= 60'000 ? 60'000 : 1'000;
  return format_duration_ms(length.ms >= unit_ms ? length.ms / unit_ms * unit_ms : length.ms);
}

const Reservation* first_met(const State& state, const Workload& workload, Time end) {
  const Reservation* first = nullptr;
  for (const auto& [id, each] : state.reservations()) {
    const HeldPlaces* const holding = state.holding_of(id);
    const bool has_room = each.is_maintenance() || (holding != nullptr && !holding->gpus.empty());
    const bool own = !each.is_maintenance() && state.is_below(workload.queue, each.queue);
    if (own || !has_room || !each.meets(state.clock(), end)) continue;
    if (first == nullptr || each.from < first->from) first = &each;
  }
  return first;
}

std::string nodes_text(const State& state, const Reservation& maintenance) {
  std::string text;
  for (const NodeId node : maintenance.nodes) text += (text.empty() ? "" : ", ") + state.node(node).name;
  return text + (maintenance.nodes.size() == 1 ? " is" : " are") + " closed for maintenance (" + maintenance.name + ")";
}

}  // namespace

std::optional<std::string> reserved_text(const State& state, const Workload& workload) {
  const Terms& terms = state.shape(workload.shape).terms;
  const Reservation* const first = first_met(state, workload, enforced_end(terms, state.clock()));
  if (first == nullptr) return std::nullopt;
  std::string text = first->is_maintenance() ? nodes_text(state, *first)
                                             : "there is room, reserved for queue " +
                                                   state.queues()[first->queue.index()].name + " (" + first->name + ")";
  if (first->has_begun(state.clock())) {
    text += " for " + rounded_down(first->to() - state.clock()) + " more";
    return text;
  }
  const std::string ahead = rounded_down(first->from - state.clock());
  text += " in " + ahead + " for " + format_duration_ms(first->lasts.ms) + "; ";
  return text + (terms.run_limit
                     ? "with its limit of " + format_duration_ms(terms.run_limit->ms) + " it may still run then"
                     : "it has no limit, and may still run then: with one of " + ahead + " or less it would start");
}

}  // namespace berth
