#include "cycle/reserved_text.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/wording.h"
#include "cycle/explanation_text.h"
#include "cycle/in_the_way.h"
#include "cycle/terms_of.h"
#include "fairness/gates.h"
#include "model/quantity.h"
#include "state/trial.h"

namespace berth {
namespace {

// In whole minutes, and seconds of less than one: whoever waits is told anew when the text is another.
std::string rounded_down(Duration length) {
  const std::int64_t unit_ms = length.ms >= 60'000 ? 60'000 : 1'000;
  return format_duration_ms(length.ms >= unit_ms ? length.ms / unit_ms * unit_ms : length.ms);
}

bool may_use(const State& state, const Shape& shape, NodeId node) {
  return std::ranges::any_of(shape.ways, [&](const auto& way) {
    return std::ranges::any_of(way, [&](const NumberedPodSet& set) {
      const PodRequest& request = state.request(set.request);
      const NodeFree& free = state.ledger().node(node);
      const bool suits = request.gpus == 0 || (free.gpus > 0 && free.has_flavor_of(request.flavors));
      return suits && state.ledger().matches().allows(request.constraints, node);
    });
  });
}

// Some of its nodes, or of those that it has.
bool is_on_nodes_for(const State& state, const Shape& shape, ReservationId id, const Reservation& reservation) {
  const auto suits = [&](NodeId node) { return may_use(state, shape, node); };
  if (reservation.is_maintenance()) return std::ranges::any_of(reservation.nodes, suits);
  const HeldPlaces* const holding = state.holding_of(id);
  return holding != nullptr && std::ranges::any_of(holding->gpus, suits, &GpusOfNode::node);
}

const Reservation* first_met(const State& state, const Workload& workload, Time end) {
  const Shape& shape = state.shape(workload.shape);
  const Reservation* first = nullptr;
  for (const auto& [id, each] : state.reservations()) {
    const bool own = !each.is_maintenance() && state.is_below(workload.queue, each.queue);
    if (own || !is_on_nodes_for(state, shape, id, each) || !each.meets(state.clock(), end)) continue;
    if (first == nullptr || each.from < first->from) first = &each;
  }
  return first;
}

std::string nodes_text(const State& state, const Reservation& maintenance) {
  std::string text;
  for (const NodeId node : maintenance.nodes) text += (text.empty() ? "" : ", ") + state.node(node).name;
  return text + (maintenance.nodes.size() == 1 ? " is" : " are") + " closed for maintenance (" + maintenance.name + ")";
}

// `by`: when it begins to be in the way.
std::string text_of(const State& state, const Terms& terms, const Reservation& reservation, Time by) {
  std::string text = reservation.is_maintenance()
                         ? nodes_text(state, reservation)
                         : "there is room, reserved for queue " + state.queues()[reservation.queue.index()].name +
                               " (" + reservation.name + ")";
  if (by <= state.clock()) return text + " for " + rounded_down(reservation.to() - state.clock()) + " more";
  const std::string ahead = rounded_down(by - state.clock());
  text += " in " + ahead + " for " + format_duration_ms(reservation.lasts.ms) + "; ";
  return text + (terms.run_limit
                     ? "with its limit of " + format_duration_ms(terms.run_limit->ms) + " it may still run then"
                     : "it has no limit, and may still run then: with one of " + ahead + " or less it would start");
}

bool has_ended_by(const State& state, WorkloadId id, Time then) {
  const Workload& workload = state.workload(id);
  if (workload.phase == Phase::kStopping) return workload.stop_by <= then;
  return workload.phase == Phase::kRunning && state.end_of(id, workload.started) <= then;
}

// What quotas would say to the one who is promised room if this one still ran then; none: no more than they would without it.
std::optional<QuotaRefusal> refused_beside(const State& state, WorkloadId id, const Shadow& promise) {
  State fork = state.fork();
  Trial trial(fork.ledger_for_trial(), fork.quotas_for_trial());
  std::vector<UnitId> gone;
  for (std::size_t queue = 0; queue < state.queues().size(); ++queue) {
    for (const UnitId unit : state.quotas().units_in(QueueId(queue))) {
      if (has_ended_by(state, state.quotas().unit(unit).workload, promise.at)) gone.push_back(unit);
    }
  }
  for (const UnitId unit : gone) trial.remove(unit);
  const Workload& promised = state.workload(promise.start.workload);
  const Shape& shape = state.shape(promised.shape);
  const auto refusal = [&] {
    return quota_refusal(trial.quotas(), promised.queue, shape.user, shape.terms,
                         amounts_held(state, shape, promise.start));
  };
  if (refusal()) return std::nullopt;
  const Workload& workload = state.workload(id);
  const Shape& own = state.shape(workload.shape);
  trial.add({.workload = id,
             .queue = workload.queue,
             .user = workload.user,
             .priority = own.terms.priority,
             .admitted = state.clock(),
             .may_be_covered = !own.terms.best_effort,
             .end = state.end_of(id, state.clock()),
             .covered_at = {}},
            asked_by(state, workload.queue, own, 0));
  return refusal();
}

// By when it would have to be gone; before the other starts at the latest, who is foretold to start earlier then.
std::string text_of(const State& state, WorkloadId id, const InTheWay& first) {
  const Terms& terms = terms_of(state, id);
  const Shadow& promise = *first.promise;
  const bool foretold = first.by + state.scrub() < promise.at;
  const std::string starts =
      " starts in " + format_duration_ms(std::max<std::int64_t>(0, (promise.at - state.clock()).ms)) + " at the latest";
  const auto refusal = first.takes_room ? std::nullopt : refused_beside(state, id, promise);
  std::string text = refusal ? "there is room, and who waits ahead of it is promised what quotas leave, and" + starts +
                                   ": if this one still ran then, " + quota_text(state, *refusal) + " for that one"
                             : "there is room, promised to who waits ahead of it" + (foretold ? "" : " and" + starts);
  if (refusal && refusal->code == ReasonCode::kBudget) return text;
  const std::string then = foretold ? "when that one is foretold to start (foresight)" : "then";
  text += terms.run_limit ? "; with its limit of " + format_duration_ms(terms.run_limit->ms) + " it may still run "
                          : "; it has no limit, and may still run ";
  text += then;
  if (first.by <= state.clock()) return text;
  return text + ": with one of " + format_duration_ms((first.by - state.clock()).ms) + " or less it would go ahead";
}

}  // namespace

std::string in_the_way_text(const State& state, WorkloadId id) {
  const auto first = first_in_the_way(state, id);
  if (!first) return "there is room, promised to who waits ahead of it; it will be tried again";
  return first->promise != nullptr ? text_of(state, id, *first)
                                   : text_of(state, terms_of(state, id), *first->reservation, first->by);
}

std::optional<std::string> reserved_text(const State& state, WorkloadId id) {
  const Workload& workload = state.workload(id);
  const Terms& terms = state.shape(workload.shape).terms;
  const Reservation* const first = first_met(state, workload, state.end_of(id, workload.started));
  if (first == nullptr) return std::nullopt;
  return text_of(state, terms, *first, first->from);
}

}  // namespace berth
