#include "sim/scenario_world.h"

#include <algorithm>
#include <variant>

#include "cycle/changes.h"
#include "cycle/defragment.h"
#include "cycle/over_run.h"
#include "fairness/rights.h"
#include "manifest/window_times.h"
#include "model/plan.h"
#include "sim/scenario_pod_facts.h"

namespace berth::scenario {

const Workload& ScenarioWorld::workload(WorkloadId id) const {
  const std::optional<Workload>& last = submitted_[id.index()].last;
  return last ? *last : state().workload(id);
}

std::vector<std::string> ScenarioWorld::names_of_workloads() const {
  std::vector<std::string> names;
  for (const Submitted& each : submitted_) names.push_back(each.name);
  return names;
}

void ScenarioWorld::compare(const std::string& what, const std::string& expected, const std::string& found) {
  if (expected != found) fail("expected " + what + " " + expected + ", found " + found);
}

bool ScenarioWorld::afford(Wide steps) {
  if (steps > steps_left_ && !stopped_)
    stop("this is more work than a scenario may ask for; take fewer nodes, pods or cycles");
  if (!stopped_) steps_left_ -= static_cast<std::int64_t>(steps);
  return !stopped_;
}

void ScenarioWorld::stop(std::string text) {
  fail(std::move(text));
  stopped_ = true;
}

bool ScenarioWorld::apply(const Event& event) {
  if (const auto refusal = state().refusal(event)) {
    stop(*refusal);
    return false;
  }
  bring_state_to_now();
  session_.apply(event);
  note_sizes();
  note_scrubs();
  note_recuts();
  note_who_has_to_leave();
  return !stopped_;
}

// Those that are to be scrubbed now, and no others: whoever takes a device that is being scrubbed ends that.
void ScenarioWorld::note_scrubs() {
  if (state().scrub() == Duration{0} && failing_.empty()) return;
  if (!afford(1 + std::ssize(state().pods()) * (1 + std::ssize(state().ledger().dirty()) + std::ssize(failing_))))
    return;
  std::map<Device, Time> now;
  for (const Device& device : state().to_scrub()) {
    const auto begun = scrubs_.find(device);
    now[device] = begun == scrubs_.end() ? now_ + state().scrub() : begun->second;
  }
  scrubs_ = std::move(now);
  // Where a scrub takes no time, one is over when all have left.
  if (state().scrub() > Duration{0}) return;
  const std::set<Device> failing = failing_;
  for (const Device& device : failing) {
    const std::set<Attempt> there = attempts_on(device);
    for (const auto& [id, attempt] : there) used_[device].insert(state().tenant_of(workload(id).queue));
    if (there.empty() && used_.erase(device) > 0) {
      failing_.erase(device);
      apply(DeviceScrubbed{device.node, device.gpu, true});
    }
  }
}

// Each takes its time once nobody holds it up; on a closed node it begins anew.
void ScenarioWorld::note_recuts() {
  if (state().being_cut().empty() && recuts_.empty()) return;
  if (!afford(1 + std::ssize(state().pods()) + std::ssize(state().being_cut()))) return;
  std::map<Device, Time> now;
  for (const Device& device : state().to_recut()) {
    const auto begun = recuts_.find(device);
    now[device] = begun == recuts_.end() ? now_ + state().node(device.node).recut : begun->second;
  }
  recuts_ = std::move(now);
}

Time ScenarioWorld::next_recut() const {
  Time next = kForever;
  for (const auto& each : recuts_) next = std::min(next, each.second);
  return next;
}

void ScenarioWorld::recut_one() {
  const auto next = std::ranges::min_element(recuts_, {}, [](const auto& each) { return each.second; });
  const Device device = next->first;
  if (!afford(cost_of_freeing(1))) return;
  apply(SlicesRecut{device.node, device.gpu});
}

const Repartition* ScenarioWorld::find_repartition(Device device) const {
  const auto found = repartitions_.find(device);
  return found == repartitions_.end() || !state().being_cut().contains(device) ? nullptr : &found->second;
}

std::set<ScenarioWorld::Attempt> ScenarioWorld::attempts_on(Device device) const {
  std::set<Attempt> there;
  for (const Pod& pod : state().pods()) {
    if (pod.workload.is_none() || pod.node != device.node || !pod.gpus.contains(device.gpu)) continue;
    const Workload& occupant = workload(pod.workload);
    if (!is_there(occupant.phase)) continue;
    for_each_leaving_pod(state(), pod.workload, [&](const Pod& each) {
      if (&each == &pod) there.emplace(pod.workload, occupant.attempts);
    });
  }
  return there;
}

std::map<Device, std::set<ScenarioWorld::Attempt>> ScenarioWorld::attempts_where_scrubs_fail() const {
  std::map<Device, std::set<Attempt>> there;
  if (state().scrub() > Duration{0}) return there;
  for (const Device& device : failing_) there.emplace(device, attempts_on(device));
  return there;
}

// A plan in which all leave a device and others begin there has a scrub between them. Where that fails they do not begin: the
// world refuses it, and they wait anew. Who trusts all who have been there needs none; beside somebody who stays nobody else begins.
void ScenarioWorld::refuse_where_scrubs_fail(const std::map<Device, std::set<Attempt>>& before) {
  for (const auto& [device, left] : before) {
    const std::set<Attempt> there = attempts_on(device);
    const auto is_trusted = [&](const Attempt& each) {
      const QueueId tenant = state().tenant_of(workload(each.first).queue);
      return std::ranges::all_of(used_[device],
                                 [&](QueueId other) { return state().ledger().trust().trust(tenant, other); });
    };
    if (left.empty() || std::ranges::all_of(there, is_trusted)) continue;
    for (const auto& [id, attempt] : there) {
      const bool is_step = !workload(id).step_of.is_none();
      const Event refused = is_step ? Event(PodFailed{id, 0}) : Event(LeavingFound{id, now_});
      if (!afford(cost_of_freeing(id)) || !apply(refused)) return;
      while (!stopped_ && next_stop() <= now_) stop_one();
    }
  }
}

std::optional<Device> ScenarioWorld::find_device(const DeviceName& name) {
  const auto node = find_node(name.node);
  if (!node) return std::nullopt;  // it was refused, which is a failure already
  const std::int64_t gpus = state().node(*node).gpus;
  if (name.gpu < gpus) return Device{*node, static_cast<std::int32_t>(name.gpu)};
  fail(gpus == 0 ? name.node + " has no GPUs"
                 : name.node + " has the GPUs 0 to " + std::to_string(gpus - 1) + " alone");
  return std::nullopt;
}

void ScenarioWorld::fail_next_scrub(const DeviceName& name) {
  const auto device = find_device(name);
  if (!device) return;
  if (state().ledger().may_be(device->node, Sharing::kMig)) {
    return fail("slices of " + name.node + " are not scrubbed: they are made anew");
  }
  failing_.insert(*device);
  note_scrubs();
}

Time ScenarioWorld::next_scrub() const {
  Time next = kForever;
  for (const auto& each : scrubs_) next = std::min(next, each.second);
  return next;
}

bool ScenarioWorld::afford_changes(WorkloadId id) {
  const Shape& shape = state().shape(workload(id).shape);
  Wide tries = 64 * Wide{std::ssize(state().node_types().counts)} + std::ssize(state().flavors());
  for (const NumberedPodSet& set : shape.ways.front()) tries += std::min(set.count, kChangeTriesMax) + kGpusPerNodeMax;
  tries += std::min<std::int64_t>(kChangeTriesMax, std::ssize(submitted_)) * 3;
  return afford(tries * (cost_of_attempt() + std::ssize(submitted_) + std::ssize(state().queues())));
}

void ScenarioWorld::scrub_one() {
  const auto next = std::ranges::min_element(scrubs_, {}, [](const auto& each) { return each.second; });
  const Device device = next->first;
  if (!afford(cost_of_freeing(1))) return;
  apply(DeviceScrubbed{device.node, device.gpu, failing_.erase(device) > 0});
}

void ScenarioWorld::declare(const Event& event) {
  if (const auto* const added = std::get_if<NodesAdded>(&event)) return add_nodes(*added);
  // Whoever waits below a queue that changes may be moved, and coverage is settled anew.
  if (std::holds_alternative<QueueChanged>(event) &&
      !afford(1 + Wide{std::ssize(state().queues())} + std::ssize(submitted_) + std::ssize(state().pods()))) {
    return;
  }
  // Everybody is looked at, and every node.
  if (std::holds_alternative<TrustChanged>(event) &&
      !afford(1 + Wide{nodes()} + std::ssize(submitted_) + std::ssize(state().pods()) + cost_of_freeing(64))) {
    return;
  }
  const auto* const reserved = std::get_if<ReservationAdded>(&event);
  // So that it is known what time it is before there was anything to know it for.
  if (reserved != nullptr && (!afford(1 + 8 * Wide{nodes()}) || !apply(TimePassed{now_}))) return;
  if (!apply(event)) return;
  const auto* const fact = std::get_if<WorkloadSubmitted>(&event);
  places_.note(line_, event);
  if (reserved != nullptr) reservations_.push_back(reserved->reservation.name);
  if (fact != nullptr) note_submitted(*fact);
}

void ScenarioWorld::fail_recut(const FailRecut& action) {
  const std::optional<NodeId> node = find_node(action.node);
  if (!node) return;
  const Repartition* const cut = find_repartition({*node, 0});
  if (cut == nullptr || !state().ledger().is_cut_at_once(*node)) {
    return fail("the GPUs of " + action.node +
                " are not being cut at once; its node needs layouts=, and somebody for whom it is cut");
  }
  if (!afford(cost_of_freeing(std::ssize(state().starting()))) || !apply(TimePassed{now_})) return;
  apply(CutFound{*node, cut->before, false, now_ + action.rests});
}

void ScenarioWorld::defragment(const Defragment& asked) {
  if (!afford((1 + Wide{std::ssize(submitted_)}) * (cost_of_attempt() + nodes()))) return;
  bring_state_to_now();
  const DefragmentOptions options{
      .gpus = asked.gpus, .slice = asked.slice, .horizon = asked.horizon, .attempts = asked.attempts};
  const auto request = request_of(state(), options);
  if (!request) return fail("no node is cut into slices of '" + asked.slice + "'; its nodes need mode=mig");
  apply(asked_for(plan_defragmentation(state(), now_, options), *request, asked.horizon));
}

void ScenarioWorld::add_nodes(const NodesAdded& added) {
  // The nodes that there are, with their names, are copied.
  const auto types = static_cast<std::int64_t>(state().node_types().counts.size());
  if (!afford(8 * Wide{nodes()} + cost_of_freeing(std::ssize(added.nodes)) + Wide{types} * std::ssize(added.nodes)))
    return;
  const std::size_t first = state().nodes();
  if (!apply(added)) return;
  for (std::size_t i = first; i < state().nodes(); ++i) {
    const Node& node = state().node(NodeId(i));
    node_ids_.emplace(node.name, NodeId(i));
    note_taints(NodeId(i), node.taints);
  }
}

void ScenarioWorld::note_submitted(const WorkloadSubmitted& fact) {
  const WorkloadId id(submitted_.size());
  submitted_.push_back({.name = fact.name, .run = fact.declared_run, .last = {}});
  const auto size = sizes_.find(id);
  const std::int64_t pods = state().shape(state().workload(id).shape).pods;
  submitted_.back().size = size == sizes_.end() ? pods : size->second;
  // As it was written (ScenarioReading::close_drafts()).
  if (size != sizes_.end() && fact.declared_run != kRunNotDeclared)
    submitted_.back().run.ms = static_cast<std::int64_t>(Wide{fact.declared_run.ms} * pods / size->second);
  const Shape& shape = state().shape(state().workload(WorkloadId(submitted_.size() - 1)).shape);
  sets_ += sets_of(shape);
  for (const PodSet& set : fact.shape.ways.front()) {
    each_pod_looks_ = each_pod_looks_ || !set.topology.asks_nothing() || !set.constraints.preferred.empty() ||
                      set.parallel.is_declared();
    // Its constraints and its topology are looked up for all nodes.
    if (!afford(4 * Wide{nodes()})) return;
  }
  largest_ = {std::max(largest_.sets, sets_of(shape)), std::max(largest_.pods, shape.pods * std::ssize(shape.ways))};
}

Wide ScenarioWorld::cost_of_freeing(std::int64_t pods_or_nodes) const {
  return Wide{pods_or_nodes} * (1 + std::ssize(state().queues()) + sets_);
}

Wide ScenarioWorld::cost_of_freeing(WorkloadId id) const {
  return cost_of_freeing(state().shape(workload(id).shape).pods);
}

void ScenarioWorld::pass_time(Time until) {
  while (!stopped_) {
    const Time end = ends_.empty() ? kForever : ends_.begin()->at;
    const Time stop = next_stop();
    const Time scrub = next_scrub();
    const Time recut = next_recut();
    const Time deadline = next_deadline();
    const Time wait = state().next_max_wait();
    const Time unready = state().next_unready();
    const Time leave = taints_.next();
    const Time next = std::min({end, stop, scrub, recut, deadline, wait, unready, leave});
    if (const Time turn = state().next_turn(); turn < next && turn <= until) {
      turn_calendar(turn);
      continue;
    }
    if (const Time telling = next_telling(); telling < next && telling <= until) {
      now_ = std::max(now_, telling);
      if (!apply(TimePassed{now_})) break;
      tell_later_times();
      continue;
    }
    if (next > until) break;
    now_ = std::max(now_, next);
    if (next == end) {
      end_one();
    } else if (next == stop) {
      stop_one();
    } else if (next == leave) {
      evict_one_for_a_taint();
    } else if (next == scrub) {
      scrub_one();
    } else if (next == recut) {
      recut_one();
    } else if (next == deadline) {
      give_up_one();
    } else if (next == unready) {
      never_ready_one();
    } else {
      end_one_wait();
    }
  }
  now_ = until;
  bring_state_to_now();
}

void ScenarioWorld::end_one() {
  const End end = *ends_.begin();
  ends_.erase(ends_.begin());
  const Workload& ending = workload(end.workload);
  if (ending.attempts != end.attempt) return;
  // Who lacks some of its pods does not go on, and after its repair ends later.
  const bool is_done = end.at == submitted_[end.workload.index()].done_at;
  const bool is_whole = state().find_repairing(end.workload) == nullptr;
  if (!end.enforced && is_done && is_whole && is_there(ending.phase))
    finish(WorkloadEnded{end.workload}, end.workload, Phase::kEnded);
  // Who was told to stop has stopped by then.
  if (!end.enforced || ending.phase != Phase::kRunning || extend_limit(end.workload) || stopped_) return;
  enforce_end(end.workload);
}

// Whether its queue lets it go on for a while; then that ends later.
bool ScenarioWorld::extend_limit(WorkloadId id) {
  const Workload& workload = state().workload(id);
  const Quota& quota = state().queues()[workload.queue.index()].quota;
  if (quota.over_run != OverRun::kExtend || workload.extensions >= quota.extensions) return false;
  bring_state_to_now();
  // Three forks at most, and cycles on them until nobody is left who starts.
  const Wide cycles = 3 * (1 + static_cast<Wide>(state().pending()));
  if (!afford(cycles * (cost_of_attempt() + std::ssize(state().queues()) + std::ssize(submitted_)))) return false;
  const std::optional<Duration> by = extension_of(state(), id, now_);
  if (!by || !apply(LimitExtended{id, *by})) return false;
  ends_.insert({now_ + *by, true, id, state().workload(id).attempts});
  return true;
}

void ScenarioWorld::enforce_end(WorkloadId id) {
  const std::int64_t lost = lost_if_taken_gpu_s(state(), id, now_);
  finish(WorkloadOverran{id}, id, Phase::kEnded);
  if (stopped_) return;
  submitted_[id.index()].last->evicted_by = EvictionRule::kOverRun;
  submitted_[id.index()].last->evicted_for = WorkloadId();
  evictions_.push_back({id, now_, {id, WorkloadId(), EvictionRule::kOverRun, now_, lost}});
}

Time ScenarioWorld::next_deadline() const {
  Time next = kForever;
  for (const auto& [id, repairing] : state().repairing()) {
    if (!repairing.lost.empty()) next = std::min(next, repairing.until);
  }
  return next;
}

void ScenarioWorld::give_up_one() {
  const auto due = std::ranges::find_if(
      state().repairing(), [&](const auto& each) { return !each.second.lost.empty() && each.second.until <= now_; });
  const WorkloadId id = due->first;
  if (!afford(cost_of_freeing(id))) return;
  const RepairGivenUp event{id};
  const StoppedForALoss loss(state(), event, now_);
  if (apply(event)) note_stopped(loss);
}

void ScenarioWorld::never_ready_one() {
  bring_state_to_now();
  const WorkloadId id = state().unready().begin()->second;
  const NeverReady event{id};
  const StoppedForALoss loss(state(), event, now_);
  const auto before = with_steps(id);
  if (!afford(cost_of_freeing(id) + cost_of_freeing(std::ssize(before))) || !apply(event)) return;
  note_over(before);
  note_stopped(loss);
}

// By the one who has waited longest.
void ScenarioWorld::end_one_wait() {
  bring_state_to_now();
  const WorkloadId id = state().max_waits().begin()->second;
  const MaxWait wait = *state().workload(id).max_wait;
  if (wait.then != AfterWait::kCancel) {
    sets_ += sets_of(state().shape(workload(id).shape));
    apply(MaxWaitPassed{id});
    return;
  }
  submitted_[id.index()].waited_in_vain = wait.length;
  finish(MaxWaitPassed{id}, id, Phase::kCancelled);
}

Time ScenarioWorld::next_stop() const {
  Time next = kForever;
  for (const WorkloadId id : state().stopping()) next = std::min(next, state().workload(id).stop_by);
  return next;
}

void ScenarioWorld::stop_one() {
  const Time next = next_stop();
  const auto& stopping = state().stopping();
  const auto due = std::find_if(stopping.begin(), stopping.end(),
                                [&](WorkloadId id) { return state().workload(id).stop_by == next; });
  const WorkloadId id = *due;
  if (afford(cost_of_freeing(id))) apply(WorkloadStopped{id});
}

void ScenarioWorld::declare(const DeclareWindow& window) {
  windows_.push_back(window);
  places_.note(line_, window);
  if (apply(TimePassed{now_})) tell_window(windows_.size() - 1);
}

void ScenarioWorld::declare(const DeclareReservation& declared) {
  Reservation reservation = declared.reservation;
  for (const std::string& name : declared.nodes) {
    if (const auto node = find_node(name)) reservation.nodes.push_back(*node);
  }
  std::ranges::sort(reservation.nodes);
  if (declared.on_days && !place_on_days(*declared.on_days, reservation)) return;
  declare(Event(ReservationAdded{std::move(reservation)}));
}

// When it comes, as far as that is told now.
bool ScenarioWorld::place_on_days(const DeclareReservation::OnDays& asked, Reservation& reservation) {
  if (!afford(kCalendarAhead.ms / kDayMs)) return false;
  Time first = reservation.from;
  if (asked.begins_by_its_clock)
    first = WindowTimes::next_at(Duration{first.ms % kDayMs}, asked.zone, now_, zero_since_1970_).value_or(first);
  const auto times = WindowTimes::coming_again(first, reservation.lasts, asked.days, asked.zone, zero_since_1970_);
  const std::vector<Interval> all =
      times ? times->openings_since(first, now_, zero_since_1970_) : std::vector<Interval>();
  if (all.empty()) {
    fail("expected times at which reservation " + reservation.name + " comes, found " +
         (times ? "none within 400 days" : "that " + times.error()));
    return false;
  }
  reservation.from = all.front().from;
  reservation.lasts = all.front().to - all.front().from;
  reservation.later.assign(all.begin() + 1, all.end());
  reserved_on_days_.insert_or_assign(state().next_reservation(), OnDays{first, *times});
  return true;
}

// When less is left of what was told than has to be.
Time ScenarioWorld::next_telling() const {
  Time next = kForever;
  for (const auto& [id, on_days] : reserved_on_days_) {
    const auto known = state().reservations().find(id);
    if (known == state().reservations().end()) continue;
    const Time last = known->second.later.empty() ? known->second.from : known->second.later.back().from;
    next = std::min(next, Time{last.ms - kCalendarLeft.ms + 1});
  }
  return next;
}

void ScenarioWorld::tell_later_times() {
  for (const auto& [id, on_days] : reserved_on_days_) {
    const auto known = state().reservations().find(id);
    if (known == state().reservations().end() || !known->second.ends_before(now_ + kCalendarLeft)) continue;
    if (!afford(kCalendarAhead.ms / kDayMs)) return;
    ReservationTimesTold told{id, on_days.times.openings_since(on_days.first, now_, zero_since_1970_)};
    std::erase_if(told.later, [&](const Interval& each) { return each.from < known->second.to(); });
    apply(told);
  }
}

void ScenarioWorld::cancel(const CancelReservation& action) {
  if (state().reservations().contains(action.reservation)) {
    if (afford(cost_of_freeing(1 + nodes()))) apply(ReservationRemoved{action.reservation});
    return;
  }
  fail("expected reservation " + name_of_reservation(action.reservation) +
       " still to come, or lasting, so that it could be cancelled, found that it is over");
}

Wide ScenarioWorld::cost_of_calendar() const {
  const Wide openings = Wide{std::ssize(windows_)} * kCalendarAhead.ms / kDayMs;
  return openings * 4 + Wide{std::ssize(state().queues())} * (1 + 4 * std::ssize(windows_));
}

void ScenarioWorld::tell_window(std::size_t number) {
  if (!afford(cost_of_calendar())) return;
  Window window = windows_[number].window;
  window.known_until = now_ + kCalendarAhead;
  window.open = windows_[number].times.openings(now_, window.known_until, zero_since_1970_);
  apply(WindowChanged{static_cast<std::uint32_t>(number), std::move(window)});
}

void ScenarioWorld::turn_calendar(Time at) {
  now_ = std::max(now_, at);
  if (!afford(cost_of_calendar()) || !apply(CalendarTurned{at})) return;
  for (std::size_t number = 0; number < windows_.size(); ++number) {
    if (state().windows()[number].known_until < now_ + kCalendarLeft) tell_window(number);
  }
}

std::vector<std::pair<WorkloadId, Workload>> ScenarioWorld::with_steps(WorkloadId id) const {
  std::vector<std::pair<WorkloadId, Workload>> all = {{id, workload(id)}};
  for (const WorkloadId step : state().steps_of(id)) all.emplace_back(step, workload(step));
  return all;
}

// Those of them that were not over before, and are now: the state forgets them some day.
void ScenarioWorld::note_over(const std::vector<std::pair<WorkloadId, Workload>>& before) {
  for (const auto& [id, was] : before) {
    const Workload* const now = state().workloads().find(id);
    if (now == nullptr || (now->phase != Phase::kEnded && now->phase != Phase::kCancelled)) continue;
    Workload last = was;
    last.phase = now->phase;
    last.failure = now->failure;
    last.exit_code = now->exit_code;
    last.first_pod = PodId();
    submitted_[id.index()].last = last;
  }
}

void ScenarioWorld::finish(const Event& event, WorkloadId id, Phase phase) {
  std::vector<std::pair<WorkloadId, Workload>> over = with_steps(id);
  if (!afford(cost_of_freeing(id) + cost_of_freeing(std::ssize(over) - 1)) || !apply(event)) return;
  for (auto& [each, last] : over) {
    last.phase = phase;
    last.first_pod = PodId();
    submitted_[each.index()].last = last;
  }
}

bool ScenarioWorld::prioritize(WorkloadId id, std::int32_t priority) {
  sets_ += sets_of(state().shape(workload(id).shape));
  return apply(WorkloadPrioritized{id, priority});
}

std::optional<NodeId> ScenarioWorld::find_node(const std::string& name) const {
  const auto known = node_ids_.find(name);
  return known == node_ids_.end() ? std::nullopt : std::optional(known->second);
}

void ScenarioWorld::change_node(const ChangeNode& action) {
  const auto known = find_node(action.node);
  if (!known) return;  // it was refused, which is a failure already
  const NodeId node = *known;
  if (action.change == NodeChange::kDrain) {
    apply(NodeDrained{node});
  } else if (action.change == NodeChange::kRestore) {
    if (afford(cost_of_freeing(1))) apply(NodeRestored{node});
  } else {
    fail_node(node);
  }
}

void ScenarioWorld::relabel_node(const RelabelNode& action) {
  const auto known = find_node(action.node);
  if (!known || !afford(cost_of_freeing(1) + 8 * Wide{nodes()} + sets_)) return;
  if (action.images) apply(NodeImagesChanged{*known, *action.images});
  if (!action.labels && !action.taints && !action.spare) return;
  const Node& node = state().node(*known);
  const NodeRelabelled event{*known, action.labels.value_or(node.labels), action.taints.value_or(node.taints),
                             action.spare.value_or(node.spare)};
  if (!apply(event)) return;
  note_taints(*known, event.taints);
  note_who_has_to_leave();
  evict_those_due();
}

void ScenarioWorld::note_taints(NodeId node, const std::vector<Taint>& taints) {
  for (const Taint& taint : taints) each_pod_looks_ = each_pod_looks_ || taint.effect == TaintEffect::kPreferNoSchedule;
  taints_.note(node, taints, now_);
}

void ScenarioWorld::note_who_has_to_leave() {
  if (taints_.look_at_pods() && afford(1 + 8 * Wide{std::ssize(state().pods())})) taints_.look(state(), now_);
}

void ScenarioWorld::evict_those_due() {
  while (!stopped_ && taints_.next() <= now_) evict_one_for_a_taint();
}

void ScenarioWorld::evict_one_for_a_taint() {
  bring_state_to_now();
  const auto [of, pods] = taints_.first(state());
  const WorkloadId id = workload(of).step_of.is_none() ? of : workload(of).step_of;
  const PodsEvicted event{of, pods, now_ + state().shape(workload(of).shape).terms.grace};
  const StoppedForALoss loss(state(), event, now_);
  const auto before = with_steps(id);
  if (!afford(cost_of_freeing(id) + cost_of_freeing(std::ssize(before))) || !apply(event)) return;
  note_over(before);
  note_stopped(loss);
}

void ScenarioWorld::fail_node(NodeId node) {
  const NodeFailed event{node};
  const StoppedForALoss loss(state(), event, now_);
  Wide cost = std::ssize(state().pods());
  std::vector<std::pair<WorkloadId, Workload>> before;
  for (const WorkloadId id : loss.looked_at()) {
    cost += cost_of_freeing(id);
    const WorkloadId whole = workload(id).step_of.is_none() ? id : workload(id).step_of;
    if (state().failure_policy_of(whole) == nullptr) continue;
    const auto all = with_steps(whole);
    before.insert(before.end(), all.begin(), all.end());
    cost += cost_of_freeing(std::ssize(all));
  }
  if (!afford(cost) || !apply(event)) return;
  note_over(before);
  note_stopped(loss);
}

void ScenarioWorld::fail_pod(const FailPod& action) {
  const WorkloadId id = action.workload;
  const std::optional<Event> event = fact_of(state(), action);
  if (!event) return fail_for_want_of(id, action.pod, "fail");
  // Who had been told to stop has been counted.
  const StoppedForALoss loss(state(), *event, now_);
  const auto before = with_steps(id);
  if (!afford(cost_of_freeing(id) + cost_of_freeing(std::ssize(before))) || !apply(*event)) return;
  note_over(before);
  note_stopped(loss);
}

void ScenarioWorld::fail_for_want_of(WorkloadId id, std::uint32_t pod, const std::string& what) {
  fail("expected pod " + std::to_string(pod) + " of " + name_of_workload(id) + " running, so that it could " + what +
       ", found that it does not");
}

void ScenarioWorld::end_pod(const EndPod& action) {
  const WorkloadId id = action.workload;
  if (is_above_minimum(state(), action)) {
    return fail("pod " + std::to_string(action.pod) + " of " + name_of_workload(id) +
                " is a step: it ends with the others; write end " + name_of_workload(id));
  }
  const std::optional<Event> event = fact_of(state(), action);
  if (!event) return fail_for_want_of(id, action.pod, "end");
  if (std::holds_alternative<WorkloadEnded>(*event)) return finish(*event, id, Phase::kEnded);
  const auto before = with_steps(id);
  if (afford(cost_of_freeing(id) + cost_of_freeing(std::ssize(before))) && apply(*event)) note_over(before);
}

void ScenarioWorld::note_stopped(const StoppedForALoss& loss) {
  for (const Eviction& each : loss.evictions(state())) evictions_.push_back({each.workload, now_, each});
}

bool ScenarioWorld::run_cycle() {
  bring_state_to_now();
  const std::int64_t cost = cost_of_attempt();
  if (!afford(1 + std::ssize(state().queues()) + static_cast<std::int64_t>(state().pending()) + cost)) return false;
  std::set<WorkloadId> coming;  // in the place of lost ones
  for (const auto& [id, repairing] : state().repairing()) coming.insert(id);
  // Each looks at all devices, and at all who are there.
  const Wide devices = Wide{std::ssize(state().reservations())} * (8 * nodes() + std::ssize(state().pods()));
  if (!afford(devices) || !afford(Wide{std::ssize(failing_)} * 2 * std::ssize(state().pods()))) return false;
  const auto on_failing = attempts_where_scrubs_fail();
  const Plan plan = session_.one_cycle(now_, Effort{1 + steps_left_ / cost});
  static_cast<void>(afford(Wide{plan.attempts} * cost));
  refuse_where_scrubs_fail(on_failing);
  note_scrubs();
  for (const Repartition& each : plan.repartitions) repartitions_[{each.node, each.gpu}] = each;
  note_recuts();
  for (const Start& start : plan.starts) {
    if (!start.waits && is_there(workload(start.workload).phase)) note_begun(start.workload);
  }
  for (const WorkloadId id : plan.begins) {
    coming.contains(id) ? note_repaired(id) : note_begun(id);
  }
  for (const Repair& repair : plan.repairs) {
    if (!repair.waits) note_repaired(repair.workload);
  }
  for (const Eviction& decision : plan.evictions) evictions_.push_back({decision.workload, now_, decision});
  for (const Migration& move : plan.migrations) {
    const WorkloadId id = move.start.workload;
    if (!move.start.waits) note_begun(id);
    const EvictionRule rule = is_for_its_own_sake(move) ? EvictionRule::kNode : EvictionRule::kDefragment;
    evictions_.push_back({id, now_, {id, move.claimant, rule, move.stop_by, move.lost_gpu_s}});
  }
  note_sizes();
  note_who_has_to_leave();
  return !plan.changes_nothing();
}

void ScenarioWorld::note_begun(WorkloadId id) {
  if (!workload(id).step_of.is_none()) return;  // it ends with the others
  Submitted& submitted = submitted_[id.index()];
  submitted.unsafe = 0;  // what earlier attempts reported is safe still
  submitted.pods = pods_there(id);
  submitted.unsafe_since = now_;
  note_done_at(id);
  const Time enforced = enforced_end(state().shape(workload(id).shape).terms, now_);
  if (enforced != kForever) ends_.insert({enforced, true, id, workload(id).attempts});
}

void ScenarioWorld::note_done_at(WorkloadId id) {
  Submitted& submitted = submitted_[id.index()];
  if (submitted.run == kRunNotDeclared) return;
  const Wide left = Wide{submitted.run.ms} * submitted.size - submitted.safe - submitted.unsafe;
  const Wide takes_ms = (std::max<Wide>(0, left) + submitted.pods - 1) / submitted.pods;
  submitted.done_at = submitted.unsafe_since + Duration{narrow(takes_ms).value_or(kTimeMax.ms)};
  ends_.insert({submitted.done_at, false, id, workload(id).attempts});
}

// If it lacks nobody any more it goes on from its last checkpoint; its run limit counts from its start.
void ScenarioWorld::note_repaired(WorkloadId id) {
  if (state().find_repairing(id) != nullptr || workload(id).phase != Phase::kRunning) return;
  submitted_[id.index()].unsafe = 0;
  submitted_[id.index()].unsafe_since = now_;
  note_done_at(id);
}

std::int64_t ScenarioWorld::pods_there(WorkloadId id) const {
  return state().shape(workload(id).shape).pods + std::ranges::count_if(state().steps_of(id), [&](WorkloadId step) {
           return is_there(state().workload(step).phase);
         });
}

// Who has other pods than before goes on with these; unless he resizes live, from his last checkpoint.
void ScenarioWorld::note_sizes() {
  for (const auto& [id, steps] : state().elastic()) {
    if (state().workload(id).phase != Phase::kRunning || state().find_repairing(id) != nullptr) continue;
    Submitted& submitted = submitted_[id.index()];
    const std::int64_t pods = pods_there(id);
    if (pods == submitted.pods) continue;
    const bool live = state().shape(state().workload(id).shape).terms.resizes_live;
    submitted.unsafe = live ? submitted.done_unsafe(now_) : 0;
    submitted.pods = pods;
    submitted.unsafe_since = now_;
    note_done_at(id);
  }
}

void ScenarioWorld::note_checkpoint(WorkloadId id) {
  Submitted& submitted = submitted_[id.index()];
  submitted.safe += submitted.done_unsafe(now_);
  submitted.unsafe = 0;
  submitted.unsafe_since = now_;
  apply(CheckpointReported{id, now_});
}

}  // namespace berth::scenario
