// How events and plans stand in a journal, field by field.
#pragma once

#include <iterator>

#include "journal/codec.h"
#include "journal/value_fields.h"

namespace berth::wire {

template <class Io>
void fields(Io& io, Eviction& eviction) {
  fields(io, eviction.workload);
  fields(io, eviction.claimant);
  enumerator(io, eviction.rule, std::size(kEvictionRuleNames));
  fields(io, eviction.stop_by);
  io(eviction.lost_gpu_s);
  fields(io, eviction.reservation);
}

template <class Io>
void fields(Io& io, Start& start) {
  fields(io, start.workload);
  io(start.way);
  fields(io, start.pods);
  io(start.waits);
  io(start.best_effort);
  io(start.only_borrows);
  fields(io, start.lent_until);
}

template <class Io>
void fields(Io& io, Migration& migration) {
  fields(io, migration.start);
  fields(io, migration.claimant);
  fields(io, migration.stop_by);
  io(migration.lost_gpu_s);
}

template <class Io>
void fields(Io& io, Repair& repair) {
  fields(io, repair.workload);
  fields(io, repair.pods);
  io(repair.waits);
  io(repair.lost_gpu_s);
}

template <class Io>
void fields(Io& io, Repartition& repartition) {
  fields(io, repartition.node);
  io(repartition.gpu);
  fields(io, repartition.before);
  fields(io, repartition.after);
  fields(io, repartition.claimant);
  fields(io, repartition.takes);
  io(repartition.lost_gpu_s);
}

template <class Io>
void fields(Io& io, Blocked& blocked) {
  fields(io, blocked.line);
  fields(io, blocked.shape);
  io(blocked.missing);
  enumerator(io, blocked.gate, std::size(kReasonNames));
  io(blocked.by_quota);
}

template <class Io>
void fields(Io& io, GpusOfNode& held) {
  fields(io, held.node);
  fields(io, held.gpus);
}

template <class Io>
void fields(Io& io, HeldPlaces& holding) {
  fields(io, holding.reservation);
  fields(io, holding.gpus);
  fields(io, holding.drains_at);
}

template <class Io>
void fields(Io& io, ReservationAdded& event) {
  Reservation& reservation = event.reservation;
  io(reservation.name);
  fields(io, reservation.queue);
  fields(io, reservation.flavor);
  io(reservation.gpus);
  fields(io, reservation.nodes);
  fields(io, reservation.from);
  fields(io, reservation.lasts);
  fields(io, reservation.every);
  fields(io, reservation.later);
  io(event.found);
  fields(io, event.had);
}

template <class Io>
void fields(Io& io, MoveAsked& move) {
  fields(io, move.workload);
  fields(io, move.to);
}

template <class Io>
void fields(Io& io, DefragmentationAsked& event) {
  fields(io, event.moves);
  io(event.gpus);
  fields(io, event.horizon);
  io(event.slice);
  fields(io, event.flavor);
}

template <class Io>
void fields(Io& io, ReservationRemoved& event) {
  fields(io, event.reservation);
}

template <class Io>
void fields(Io& io, ReservationTimesTold& event) {
  fields(io, event.reservation);
  fields(io, event.later);
}

template <class Io>
void fields(Io& io, Shadow& shadow) {
  fields(io, shadow.at);
  fields(io, shadow.start);
}

template <class Io>
void fields(Io& io, RunConfigured& event) {
  io(event.seed.value);
  enumerator(io, event.policy, std::size(kPlacementPolicyNames));
}

template <class Io>
void fields(Io& io, FlavorAdded& event) {
  io(event.flavor.name);
  io(event.flavor.model);
  io(event.flavor.memory_mib);
  io(event.flavor.weight);
}

template <class Io>
void fields(Io& io, TypicalPodsChosen& event) {
  fields(io, event.pods);
}

template <class Io>
void fields(Io& io, Queue& queue) {
  io(queue.name);
  fields(io, queue.parent);
  bool has_order = queue.order.has_value();
  io(has_order);
  if (has_order) {
    Order order = queue.order.value_or(Order::kFifo);
    enumerator(io, order, std::size(kOrderNames));
    queue.order = order;
  }
  fields(io, queue.quota);
  io(queue.held);
  io(queue.closed);
}

template <class Io>
void fields(Io& io, QueueAdded& event) {
  fields(io, event.queue);
}

template <class Io>
void fields(Io& io, QueueChanged& event) {
  fields(io, event.queue);
  fields(io, event.now);
}

template <class Io>
void fields(Io& io, WorkloadPrioritized& event) {
  fields(io, event.workload);
  io(event.priority);
}

template <class Io>
void fields(Io& io, TimePassed& event) {
  fields(io, event.now);
}

template <class Io>
void fields(Io& io, WorkloadMoved& event) {
  fields(io, event.workload);
  fields(io, event.queue);
}

template <class Io>
void fields(Io& io, NodesAdded& event) {
  fields(io, event.nodes);
}

template <class Io, class Event>
  requires(std::is_same_v<Event, NodeFailed> || std::is_same_v<Event, NodeDrained> ||
           std::is_same_v<Event, NodeRestored>)
void fields(Io& io, Event& event) {
  fields(io, event.node);
}

template <class Io>
void fields(Io& io, NodeRelabelled& event) {
  fields(io, event.node);
  fields(io, event.labels);
  fields(io, event.taints);
  io(event.spare);
}

template <class Io>
void fields(Io& io, Circle& circle) {
  fields(io, circle.queues);
  for (std::string& level : circle.apart) io(level);
}

template <class Io>
void fields(Io& io, TrustChanged& event) {
  fields(io, event.circles);
  fields(io, event.part_by);
  io(event.beyond_devices);
}

template <class Io>
void fields(Io& io, NodeImagesChanged& event) {
  fields(io, event.node);
  fields(io, event.images);
}

template <class Io>
void fields(Io& io, ScrubChosen& event) {
  fields(io, event.takes);
}

template <class Io>
void fields(Io& io, DeviceScrubbed& event) {
  fields(io, event.node);
  io(event.gpu);
  io(event.failed);
}

template <class Io>
void fields(Io& io, SlicesRecut& event) {
  fields(io, event.node);
  io(event.gpu);
}

template <class Io>
void fields(Io& io, CutFound& event) {
  fields(io, event.node);
  fields(io, event.slices);
  io(event.is_coming);
  fields(io, event.rests_until);
}

template <class Io>
void fields(Io& io, MaxWait& wait) {
  fields(io, wait.length);
  enumerator(io, wait.then, std::size(kAfterWaitNames));
  io(wait.raise);
}

template <class Io>
void fields(Io& io, ExitRule& rule) {
  io(rule.code);
  enumerator(io, rule.then, std::size(kMemberActionNames));
}

template <class Io>
void fields(Io& io, MemberPolicy& set) {
  enumerator(io, set.on_fail, std::size(kMemberActionNames));
  enumerator(io, set.on_evict, std::size(kMemberActionNames));
  fields(io, set.on_exit);
  io(set.completes);
}

template <class Io>
void fields(Io& io, FailurePolicy& policy) {
  fields(io, policy.sets);
  fields(io, policy.retries);
  fields(io, policy.retry_after);
  fields(io, policy.never_ready);
}

template <class Io>
void fields(Io& io, Dependency& dependency) {
  fields(io, dependency.on);
  enumerator(io, dependency.what, kDependsOnCount);
}

template <class Io>
void fields(Io& io, BackOff& before) {
  fields(io, before.until);
  enumerator(io, before.why, std::size(kEvictionRuleNames));
  io(before.times);
}

template <class Io>
void fields(Io& io, WorkloadSubmitted& event) {
  io(event.name);
  fields(io, event.queue);
  fields(io, event.at);
  fields(io, event.declared_run);
  io(event.rank);
  fields(io, event.shape.ways);
  fields(io, event.shape.terms);
  io(event.user);
  fields(io, event.not_before);
  fields(io, event.after);
  fields(io, event.step_of);
  fields(io, event.series);
  io(event.at_most);
  fields(io, event.max_wait);
  io(event.goes_first);
  fields(io, event.at_home_with);
  fields(io, event.on_failure);
  fields(io, event.backs_off);
}

template <class Io, class Event>
  requires(std::is_same_v<Event, WorkloadEnded> || std::is_same_v<Event, WorkloadCancelled> ||
           std::is_same_v<Event, WorkloadStopped> || std::is_same_v<Event, WorkloadOverran> ||
           std::is_same_v<Event, RepairGivenUp> || std::is_same_v<Event, MaxWaitPassed> ||
           std::is_same_v<Event, WorkloadReady> || std::is_same_v<Event, NeverReady>)
void fields(Io& io, Event& event) {
  fields(io, event.workload);
}

template <class Io>
void fields(Io& io, CheckpointReported& event) {
  fields(io, event.workload);
  fields(io, event.at);
}

template <class Io>
void fields(Io& io, NodeFailureFound& event) {
  fields(io, event.node);
  fields(io, event.at);
}

template <class Io>
void fields(Io& io, WorkloadFound& event) {
  fields(io, event.workload);
  fields(io, event.pods);
  fields(io, event.started);
  io(event.only_borrows);
  fields(io, event.lost);
  fields(io, event.repair_until);
}

template <class Io>
void fields(Io& io, PodEnded& event) {
  fields(io, event.workload);
  io(event.pod);
}

template <class Io>
void fields(Io& io, RepairChosen& event) {
  fields(io, event.within);
}

template <class Io>
void fields(Io& io, PodFailed& event) {
  fields(io, event.workload);
  io(event.pod);
  io(event.exit_code);
}

template <class Io>
void fields(Io& io, PodsEvicted& event) {
  fields(io, event.workload);
  fields(io, event.pods);
  fields(io, event.stop_by);
}

template <class Io>
void fields(Io& io, LimitExtended& event) {
  fields(io, event.workload);
  fields(io, event.by);
}

template <class Io>
void fields(Io& io, LeavingFound& event) {
  fields(io, event.workload);
  fields(io, event.stop_by);
}

template <class Io>
void fields(Io& io, Interval& interval) {
  fields(io, interval.from);
  fields(io, interval.to);
}

template <class Io>
void fields(Io& io, WindowChanged& event) {
  io(event.number);
  Window& window = event.window;
  fields(io, window.queue);
  fields(io, window.guarantee);
  fields(io, window.limit);
  fields(io, window.borrowing_limit);
  fields(io, window.lending_limit);
  fields(io, window.weight_milli);
  fields(io, window.open);
  fields(io, window.known_until);
}

template <class Io>
void fields(Io& io, GrantAdded& event) {
  fields(io, event.queue);
  io(event.gpu_us);
  fields(io, event.until);
}

template <class Io>
void fields(Io& io, GpuTimeUsed& event) {
  fields(io, event.queue);
  io(event.pot);
  io(event.gpu_us);
}

template <class Io>
void fields(Io& io, PastUseFound& event) {
  fields(io, event.queue);
  fields(io, event.at);
  fields(io, event.average);
}

template <class Io>
void fields(Io& io, GpuTimeCounted& event) {
  fields(io, event.queue);
  fields(io, event.until);
}

template <class Io>
void fields(Io& io, GpuTimeMissed& event) {
  fields(io, event.queue);
  io(event.gpu_milli);
  fields(io, event.from);
  fields(io, event.until);
}

template <class Io>
void fields(Io& io, RoomGivenBack& event) {
  fields(io, event.workload);
  fields(io, event.at);
}

template <class Io>
void fields(Io& io, FloorUse& use) {
  fields(io, use.dim);
  io(use.amount);
  fields(io, use.until);
}

template <class Io>
void fields(Io& io, FloorUseFound& event) {
  fields(io, event.queue);
  fields(io, event.floor);
  fields(io, event.held);
}

template <class Io>
void fields(Io& io, PastUseKept& event) {
  fields(io, event.queue);
  fields(io, event.begun);
  fields(io, event.at);
  fields(io, event.average);
  fields(io, event.in_step);
}

template <class Io>
void fields(Io& io, CalendarTurned& event) {
  fields(io, event.at);
}

template <class Io>
void fields(Io& io, CycleAsked& record) {
  fields(io, record.now);
  io(record.effort.attempts_max);
}

template <class Io>
void fields(Io& io, Plan& plan) {
  fields(io, plan.now);
  io(plan.revision);
  fields(io, plan.begins);
  fields(io, plan.evictions);
  fields(io, plan.unpaid);
  fields(io, plan.migrations);
  fields(io, plan.repairs);
  fields(io, plan.starts);
  fields(io, plan.repartitions);
  fields(io, plan.blocked);
  fields(io, plan.shadows);
  fields(io, plan.holdings);
  io(plan.defragmented);
  io(plan.attempts);
  io(plan.finished);
}

template <class Io>
void fields(Io& io, RunClosed& record) {
  io(record.state_hash);
}

}  // namespace berth::wire
