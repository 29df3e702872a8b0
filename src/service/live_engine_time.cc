// How a LiveEngine follows the clock: windows that open and close, and when to look again though nothing has happened.
#include <algorithm>
#include <tuple>
#include <utility>

#include "cycle/over_run.h"
#include "cycle/patience.h"
#include "manifest/timestamp.h"
#include "model/quantity.h"
#include "service/live_engine.h"

namespace berth {

// In an engine that keeps no time, nothing that happens costs anything for it.
void LiveEngine::it_is(Time now) {
  if (!state().keeps_time()) return;
  if (now > state().clock()) {
    for (const auto& [id, reservation] : state().reservations()) give_up_starts_on_closed_nodes(reservation, now);
  }
  if (state().next_turn() > now) {
    session_->pass_time(now);
    return tell_later_times(now);
  }
  session_->apply(CalendarTurned{now});
  for (std::size_t number = 0; number < windows_.size(); ++number) {
    if (state().windows()[number].known_until < now + kCalendarLeft) tell_window(number, now);
  }
  tell_later_times(now);
  for (const auto& [workload, group] : pending_groups_) untold_.insert(group);
}

// Those of a queue from the first that is refused on are left out, and said to be wrong.
void LiveEngine::tell_windows(Time now) {
  windows_.clear();
  hours_.clear();
  for (const auto& [name, id] : queue_ids_) {
    for (const WindowSpec& spec : queues_.at(name).spec.windows) {
      windows_.push_back({.window = {.queue = id,
                                     .guarantee = amounts_of(spec.guarantee),
                                     .limit = amounts_of(spec.limit),
                                     .borrowing_limit = amounts_of(spec.borrowing_limit),
                                     .lending_limit = amounts_of(spec.lending_limit),
                                     .weight_milli = spec.weight_milli},
                          .times = spec.times});
      if (windows_.size() == 1) session_->apply(TimePassed{now});
      if (tell_window(windows_.size() - 1, now)) continue;
      windows_.pop_back();
      break;
    }
  }
}

bool LiveEngine::tell_window(std::size_t number, Time now) {
  const LiveWindow& told = windows_[number];
  Window window = told.window;
  window.known_until = now + kCalendarAhead;
  window.open = told.times.openings(now, window.known_until, Duration{0});
  const WindowChanged event{static_cast<std::uint32_t>(number), std::move(window)};
  if (const auto refusal = state().refusal(event)) {
    const QueueId queue = told.window.queue;
    if (!queue.is_none()) queue_problems_[state().queues()[queue.index()].name] = "spec.windows: " + *refusal;
    return false;
  }
  session_->apply(event);
  return true;
}

// The window that is its hours; none: it keeps none, or why they cannot be kept. Those that nobody keeps any more are forgotten when
// there are too many.
std::optional<std::uint32_t> LiveEngine::hours_of(const PodFacts& pod, Time now, std::string& why_not) {
  if (!pod.time.hours) return std::nullopt;
  const std::string& written = pod.time.hours->text;
  if (const auto known = hours_.find(written); known != hours_.end()) return known->second;
  windows_.push_back({.window = {}, .times = pod.time.hours->times});
  if (windows_.size() == 1) session_->apply(TimePassed{now});
  const std::size_t number = windows_.size() - 1;
  if (tell_window(number, now)) {
    hours_[written] = static_cast<std::uint32_t>(number);
    return hours_[written];
  }
  windows_.pop_back();
  why_not =
      "with it there are more than 64 different hours and windows of queues, or they are over; keep hours that others "
      "keep";
  const auto is_kept = [&](const auto& hours) {
    return std::ranges::any_of(members_, [&](const auto& each) {
      const PodFacts& other = each.second.facts;
      const bool ended = other.stage == PodStage::kSucceeded || other.stage == PodStage::kFailed;
      return !ended && other.time.hours && other.time.hours->text == hours.first;
    });
  };
  if (!std::ranges::all_of(hours_, is_kept)) begin_anew();
  return std::nullopt;
}

// Turns are those of one name and one user; none: it takes none.
SeriesId LiveEngine::series_of(const PodFacts& pod) {
  if (pod.time.singleton.empty()) return SeriesId();
  return series_.try_emplace({pod.user, pod.time.singleton}, SeriesId(series_.size())).first->second;
}

// What is to be done with those who have waited for as long as they were to is done. Who is to be cancelled is ended in the world.
void LiveEngine::end_waits(Time now) {
  if (anew_ || state().next_max_wait() > now) return;
  session_->pass_time(now);
  while (state().next_max_wait() <= now) {
    const WorkloadId id = state().max_waits().begin()->second;
    const MaxWait waited = *state().workload(id).max_wait;
    if (waited.then == AfterWait::kCancel) {
      give_up(id, waited);
      continue;
    }
    // Best effort is another shape.
    const std::string& key = pending_groups_.at(id);
    if (waited.then == AfterWait::kBestEffort) forget_shape_of(id, key);
    session_->apply(MaxWaitPassed{id});
    const ShapeId shape = state().workload(id).shape;
    if (waited.then == AfterWait::kBestEffort) groups_by_shape_[shape].insert(key);
    if (waited.then == AfterWait::kBestEffort && state().is_kept_aside(id)) cooling_[id] = shape;
    untold_.insert(key);
  }
}

// Each of its Jobs once, and each pod that nothing made.
void LiveEngine::give_up(WorkloadId id, const MaxWait& waited) {
  const std::string key = pending_groups_.at(id);
  Group& group = groups_.at(key);
  withdraw(group);
  group.given_up = true;
  const Tally members = tally(group);
  std::tie(group.unsubmitted_code, group.unsubmitted_why) = obstacle(members);
  touch(key);
  untold_.insert(key);
  std::set<std::string> told;
  for (const Member* const member : members.waiting) {
    const PodFacts& pod = member->facts;
    if (!pod.owner.uid.empty() && !told.insert(pod.owner.uid).second) continue;
    given_up_.push_back({.pod = {pod.uid, pod.name_space, pod.name},
                         .owner = pod.owner,
                         .reason = "MaxWait",
                         .text = "it has waited for " + format_duration_ms(waited.length.ms) +
                                 ", as long as it was to (" + std::string(kMaxWaitAnnotation) + "), and is ended"});
  }
}

void LiveEngine::note_limit(WorkloadId id) {
  const Time end = state().end_of(id, state().workload(id).started);
  if (end != kForever) limits_.emplace(end, id);
}

// As cycle/moving.h has it, as far as time has a part in it.
void LiveEngine::note_movable(WorkloadId id) {
  const Workload& workload = state().workload(id);
  if (!state().shape(workload.shape).terms.movable) return;
  Time from = workload.started + state().queues()[workload.queue.index()].quota.min_runtime;
  if (workload.moved) from = std::max(from, *workload.moved + kMoveCooldown);
  movable_from_.emplace(from, id);
}

// One that was found is not movable in this life; several whose hour ends about the same time share the next.
void LiveEngine::note_moved_before(const PodFacts& found, Time now) {
  constexpr std::int64_t kTogether_ms = 300'000;
  if (!found.terms.movable || !found.moved_at || *found.moved_at + kMoveCooldown <= now) return;
  const std::int64_t from = (*found.moved_at + kMoveCooldown).ms;
  movable_again_.insert(Time{(from + kTogether_ms - 1) / kTogether_ms * kTogether_ms});
}

bool LiveEngine::ends_by_scheduler(const Run& run) const {
  return std::ranges::all_of(run.uids,
                             [&](const std::string& uid) { return members_.at(uid).facts.ends_by_scheduler; });
}

// Whether it goes on beyond its limit: its queue extends that, and nobody needs its room.
bool LiveEngine::extend(WorkloadId id, Round& round, Time now) {
  const Run& run = runs_.at(id);
  const Workload& workload = state().workload(id);
  Duration before{0};
  std::int32_t times = 0;
  for (const std::string& uid : run.uids) {
    before = std::max(before, members_.at(uid).facts.extended);
    times = std::max(times, members_.at(uid).facts.extensions);
  }
  // What stands on its pods was in this state's life, or before it.
  before = std::max(before, workload.extended);
  times = std::max(times, workload.extensions);
  if (times >= state().queues()[workload.queue.index()].quota.extensions) return false;
  session_->pass_time(now);
  const auto by = extension_of(state(), id, now);
  if (!by || state().refusal(LimitExtended{id, *by})) return false;
  session_->apply(LimitExtended{id, *by});
  const Time end = state().end_of(id, state().workload(id).started);
  limits_.emplace(end, id);
  for (const std::string& uid : run.uids) {
    const PodFacts& pod = members_.at(uid).facts;
    round.extended.push_back({.pod = {uid, pod.name_space, pod.name},
                              .extended = before + *by,
                              .extensions = times + 1,
                              .text = "it has run for as long as it may, and goes on until " + format_timestamp(end) +
                                      " at most: its queue extends limits while nobody needs the room"});
  }
  return true;
}

// Nodes end those whose limit is theirs, and may be late; the Jobs of the others are ended. Until they have gone they are there, and
// their room is no longer their own.
void LiveEngine::note_overruns(Round& round, Time now) {
  movable_from_.erase(movable_from_.begin(), movable_from_.upper_bound({now, WorkloadId()}));
  while (!limits_.empty() && limits_.begin()->first <= now) {
    const auto [end, id] = *limits_.begin();
    limits_.erase(limits_.begin());
    const auto run = runs_.find(id);
    if (run == runs_.end() || state().workload(id).phase != Phase::kRunning) continue;
    const bool is_ours = ends_by_scheduler(run->second) && !run->second.uids.empty();
    if (is_ours && extend(id, round, now)) continue;
    if (is_ours) {
      const Duration limit = end - state().workload(id).started;
      end_for_good(run->second, "OverRun",
                   "it has run for " + format_duration_ms(limit.ms) + ", as long as it may (" +
                       std::string(kRunLimitAnnotation) + ")",
                   round);
    }
    session_->apply(LeavingFound{id, end + state().shape(state().workload(id).shape).terms.grace});
    uncounted_.insert(members_.at(run->second.uids.front()).group);
    forget_vacancies(id);
  }
}

std::optional<Time> LiveEngine::next_moment(Time now) const {
  Time next = std::min({state().next_turn(), state().next_wake(), state().next_max_wait()});
  // Somebody may fit by it who waits.
  if (!movable_from_.empty() && !pending_groups_.empty()) next = std::min(next, movable_from_.begin()->first);
  if (!limits_.empty()) next = std::min(next, limits_.begin()->first);
  for (const auto& [maker, moves] : moves_) {
    for (const WorkloadId id : moves) next = std::min(next, runs_.at(id).moving->until.value_or(kForever));
  }
  const auto consider = [&](std::optional<Time> moment) {
    if (moment && *moment > now) next = std::min(next, *moment);
  };
  if (!movable_again_.empty() && !pending_groups_.empty()) consider(*movable_again_.begin());
  for (const auto& [id, key] : lacking_) {
    if (const auto group = groups_.find(key); group != groups_.end()) consider(group->second.whole_by);
    for (const Vacancy& each : runs_.at(id).vacancies) consider(each.kept_until);
  }
  next = std::min(next, state().partings().next_after(now));
  for (const WorkloadId id : unready_) consider(ready_by(id));
  for (std::size_t i = 0; i < state().queues().size(); ++i) {
    if (state().quotas().budgets().may_run_out(QueueId(i))) consider(end_of_budget(QueueId(i), now));
  }
  for (const std::optional<Line>& line : state().lines()) {
    if (!line || line->gated() == 0) continue;
    for (const ShapeInLine& entry : line->shapes()) {
      if (!entry.blocked() || entry.waiting.empty()) continue;
      if (entry.gate == ReasonCode::kPatience) consider(end_of_patience(entry));
    }
  }
  next = std::min(next, next_end_of_protection(state(), now));
  return next == kForever ? std::nullopt : std::optional(next);
}

// If all who are charged use it from now on; who has a grant uses that first, and then this is looked at again.
std::optional<Time> LiveEngine::end_of_budget(QueueId queue, Time now) const {
  const Wide left = *state().queues()[queue.index()].quota.budget_gpu_us - state().gpu_us_used_of(queue).front();
  Wide gpu_milli = 0;
  state().quotas().budgets().for_each_charged(queue,
                                              [&](WorkloadId id) { gpu_milli += state().workload(id).gpu_milli; });
  if (left <= 0 || gpu_milli == 0) return std::nullopt;
  return now + Duration{narrow((left + gpu_milli - 1) / gpu_milli).value_or(0)};
}

// The first of its shape is tried, and the others when that has started.
Time LiveEngine::end_of_patience(const ShapeInLine& entry) const {
  const Workload& first = state().workload(entry.waiting.front().workload);
  return first.submitted + state().queues()[first.queue.index()].quota.patience;
}

}  // namespace berth
