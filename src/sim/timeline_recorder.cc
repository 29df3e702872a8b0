#include "sim/timeline_recorder.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace berth {
namespace {

using Change = Timeline::Change;

}  // namespace

void TimelineRecorder::begin_with(const State& state, const std::vector<std::string>& workloads, Time now) {
  know_nodes(state);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (state.is_down(NodeId(i))) failed_.insert(NodeId(i));
  }
  began_later_ = true;
  first_ = latest_ = now;
  now_ = now;
  kept_time_ = state.keeps_time();
  note_capacity(state);
  for (const auto& [id, reservation] : state.reservations()) reserve(state, id, reservation);
  for (std::size_t i = 0; i < state.workloads().next_id().index(); ++i) {
    const WorkloadId id(i);
    const Workload* const workload = state.workloads().find(id);
    if (workload == nullptr || workload->phase == Phase::kEnded || workload->phase == Phase::kCancelled) {
      seats_.emplace_back();
      continue;
    }
    const std::size_t row = new_row(state, id, workloads[i]);
    Change first = seen(state, id, {});
    first.at = is_there(first.doing) ? workload->started : workload->submitted;
    if (is_there(first.doing)) first.doing = Doing::kRuns;
    timeline_.rows[row].changes.push_back(std::move(first));
    sit(state, id, row, 0);
    look(state, id);
  }
}

void TimelineRecorder::take(const State& state, const JournalRecord& record) {
  if (const auto* const event = std::get_if<Event>(&record)) take_event(state, *event);
  if (const auto* const asked = std::get_if<CycleAsked>(&record)) take_cycle(*asked);
  if (const auto* const plan = std::get_if<Plan>(&record)) take_plan(state, *plan);
}

Timeline TimelineRecorder::finish(Time end) && {
  timeline_.end = std::max(end, latest_);
  const Time first = first_.value_or(latest_);
  timeline_.begin = began_later_ || is_date(first) ? first : Time{};
  leave_out_stand_ins();
  return std::move(timeline_);
}

// A live cluster calls all that is of one Job by its name: who never ran and waits no more, while another of that name runs, has
// taken the place of a pod that it lost. Nobody has cancelled him.
void TimelineRecorder::note_stand_in(WorkloadId id) {
  if (!is_date(latest_) || !seats_[id.index()]) return;
  const std::size_t row = seats_[id.index()]->row;
  const auto was_there = [](const Change& change) { return is_there(change.doing); };
  if (std::ranges::any_of(timeline_.rows[row].changes, was_there)) return;
  const auto is_whole = [&](WorkloadId other) {
    return timeline_.rows[seats_[other.index()]->row].name == timeline_.rows[row].name;
  };
  if (std::ranges::any_of(in_world_, is_whole)) stand_ins_.insert(row);
}

void TimelineRecorder::leave_out_stand_ins() {
  std::vector<Timeline::Row> rows;
  std::vector<std::size_t> moved_to(timeline_.rows.size());
  for (std::size_t i = 0; i < timeline_.rows.size(); ++i) {
    moved_to[i] = rows.size();
    if (!stand_ins_.contains(i)) rows.push_back(std::move(timeline_.rows[i]));
  }
  for (Timeline::Row& row : rows) {
    if (row.step_of) row.step_of = moved_to[*row.step_of];
  }
  timeline_.rows = std::move(rows);
}

void TimelineRecorder::take_event(const State& state, const Event& event) {
  if (std::holds_alternative<RunConfigured>(event)) begin_run();
  // A state that keeps time is told how late it is before anything else.
  const bool is_dated = kept_time_ && state.keeps_time() && state.clock() >= latest_;
  kept_time_ = state.keeps_time();
  now_ = is_dated ? std::optional(state.clock()) : std::nullopt;
  std::visit([&](const auto& one) { on(state, one); }, event);
}

void TimelineRecorder::take_cycle(const CycleAsked& asked) {
  happened_at(asked.now);
  // What the run before had and nobody has found again.
  for (const auto& [name, row] : left_) {
    if (!is_over(timeline_.rows[row].changes.back().doing)) {
      put(row, {.doing = Doing::kGone});
    }
  }
  left_.clear();
  for (std::size_t i = 0; i < timeline_.reserved.size(); ++i) {
    const bool is_here = std::ranges::any_of(reserved_, [&](const auto& each) { return each.second == i; });
    if (!is_here && !timeline_.reserved[i].removed) timeline_.reserved[i].removed = asked.now;
  }
}

void TimelineRecorder::take_plan(const State& state, const Plan& plan) {
  now_ = plan.now;
  for (const WorkloadId id : plan.begins) look_with_steps(state, id);
  for (const Eviction& eviction : plan.evictions) look_with_steps(state, eviction.workload);
  for (const Migration& migration : plan.migrations) look_with_steps(state, migration.start.workload);
  for (const Repair& repair : plan.repairs) look_with_steps(state, repair.workload);
  for (const Start& start : plan.starts) look(state, start.workload);
  kept_time_ = state.keeps_time();
}

void TimelineRecorder::begin_run() {
  if (is_date(latest_)) {
    for (const std::optional<Seat>& seat : seats_) {
      if (!seat || is_over(timeline_.rows[seat->row].changes.back().doing)) continue;
      left_[timeline_.rows[seat->row].name] = seat->row;
    }
  } else {
    timeline_ = {};
    stand_ins_.clear();
    node_by_name_.clear();
    undated_.clear();
    undated_capacity_ = 0;
    latest_ = {};
    first_.reset();
  }
  seats_.clear();
  in_world_.clear();
  nodes_.clear();
  failed_.clear();
  reserved_.clear();
  kept_time_ = false;
}

std::size_t TimelineRecorder::new_row(const State& state, WorkloadId id, const std::string& name) {
  const Workload& workload = state.workload(id);
  timeline_.rows.push_back({.name = name,
                            .queue = state.queues()[workload.queue.index()].name,
                            .user = state.user_name(workload.user),
                            .asks_gpu_milli = state.shape(workload.shape).gpu_milli,
                            .submitted = workload.submitted,
                            .step_of = {},
                            .changes = {}});
  return timeline_.rows.size() - 1;
}

void TimelineRecorder::sit(const State& state, WorkloadId id, std::size_t row, std::uint32_t attempts_before) {
  seats_.push_back(Seat{.row = row, .attempts_before = attempts_before});
  const WorkloadId minimum = state.workload(id).step_of;
  if (minimum.is_none() || !seats_[minimum.index()]) return;
  timeline_.rows[row].step_of = seats_[minimum.index()]->row;
  seats_[minimum.index()]->steps.push_back(id);
}

void TimelineRecorder::add(const State& state, const WorkloadSubmitted& submitted, std::optional<Time> started) {
  const WorkloadId id(seats_.size());
  const auto before = left_.find(submitted.name);
  if (before == left_.end()) {
    const std::size_t row = new_row(state, id, submitted.name);
    if (!started || submitted.at < *started) {
      timeline_.rows[row].changes.push_back({.at = submitted.at});
    } else {
      Change first = seen(state, id, {});
      first.at = *started;
      timeline_.rows[row].changes.push_back(std::move(first));
    }
    sit(state, id, row, 0);
  } else {
    const Change& last = timeline_.rows[before->second].changes.back();
    const bool goes_on = started && is_there(last.doing) && last.attempt > 0;
    sit(state, id, before->second, goes_on ? last.attempt - 1 : last.attempt);
    left_.erase(before);
  }
  now_ = started ? started : submitted.at;
  look(state, id);
}

void TimelineRecorder::on(const State& state, const WorkloadMoved& event) {
  const QueueId queue = state.workload(event.workload).queue;
  timeline_.rows[seats_[event.workload.index()]->row].queue = state.queues()[queue.index()].name;
}

void TimelineRecorder::on(const State& state, const NodesAdded&) {
  know_nodes(state);
  note_capacity(state);
}

void TimelineRecorder::on(const State& state, const NodeFailed& event) {
  failed_.insert(event.node);
  note_capacity(state);
  look_at_everybody(state);
}

void TimelineRecorder::on(const State& state, const NodeRestored& event) {
  failed_.erase(event.node);
  note_capacity(state);
  look_at_everybody(state);
}

void TimelineRecorder::on(const State& state, const ReservationAdded& event) {
  reserve(state, ReservationId(state.next_reservation().index() - 1), event.reservation);
  look_at_everybody(state);
}

void TimelineRecorder::reserve(const State& state, ReservationId id, const Reservation& made) {
  std::int64_t gpus = made.gpus;
  for (const NodeId node : made.nodes) gpus += state.node(node).gpus;
  Timeline::Reserved reserved{.name = made.name,
                              .queue = made.is_maintenance() ? "" : state.queues()[made.queue.index()].name,
                              .gpus = gpus,
                              .from = made.from,
                              .lasts = made.lasts,
                              .every = made.every,
                              .later = made.later,
                              .removed = {}};
  // One that the run before had already.
  const auto same = std::ranges::find_if(timeline_.reserved, [&](const Timeline::Reserved& each) {
    return each.name == reserved.name && each.lasts == reserved.lasts && !each.removed;
  });
  reserved_[id] = static_cast<std::size_t>(same - timeline_.reserved.begin());
  if (same == timeline_.reserved.end()) timeline_.reserved.push_back(std::move(reserved));
}

// Those that it has begun by then are behind it.
void TimelineRecorder::on(const State& state, const ReservationTimesTold& event) {
  std::vector<Interval>& later = timeline_.reserved[reserved_.at(event.reservation)].later;
  const Time known = event.later.empty() ? kForever : event.later.front().from;
  std::erase_if(later, [&](const Interval& each) { return each.from >= known; });
  later.insert(later.end(), event.later.begin(), event.later.end());
  look_at_everybody(state);
}

void TimelineRecorder::on(const State& state, const ReservationRemoved& event) {
  timeline_.reserved[reserved_.at(event.reservation)].removed = now_.value_or(latest_);
  look_at_everybody(state);
}

void TimelineRecorder::on(const State& state, const TimePassed& event) {
  happened_at(event.now);
  if (!state.reservations().empty()) look_at_everybody(state);
}

void TimelineRecorder::know_nodes(const State& state) {
  for (std::size_t i = nodes_.size(); i < state.nodes(); ++i) {
    const std::string& name = state.node(NodeId(i)).name;
    const auto [known, is_new] = node_by_name_.emplace(name, timeline_.nodes.size());
    if (is_new) timeline_.nodes.push_back(name);
    nodes_.push_back(known->second);
  }
}

void TimelineRecorder::note_capacity(const State& state) {
  std::int64_t gpu_milli = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!failed_.contains(NodeId(i))) gpu_milli += std::int64_t{state.node(NodeId(i)).gpus} * kMilliPerGpu;
  }
  timeline_.capacity.push_back({now_.value_or(latest_), gpu_milli});
  if (!now_) ++undated_capacity_;
}

void TimelineRecorder::look_at_everybody(const State& state) {
  const std::set<WorkloadId> all = in_world_;  // who is looked at may leave it
  for (const WorkloadId id : all) look(state, id);
}

void TimelineRecorder::look_with_steps(const State& state, WorkloadId id, std::optional<Doing> outcome) {
  look(state, id, outcome);
  if (!seats_[id.index()]) return;
  for (const WorkloadId step : seats_[id.index()]->steps) {
    // Those that were ended by themselves before are over.
    if (!is_over(timeline_.rows[seats_[step.index()]->row].changes.back().doing)) look(state, step, outcome);
  }
}

void TimelineRecorder::look(const State& state, WorkloadId id, std::optional<Doing> outcome) {
  if (!seats_[id.index()]) return;
  const Seat& seat = *seats_[id.index()];
  Change now = seen(state, id, outcome);
  const bool has_room = now.doing >= Doing::kStarts && now.doing <= Doing::kMoves;
  has_room ? void(in_world_.insert(id)) : void(in_world_.erase(id));
  const Change& last = timeline_.rows[seat.row].changes.back();
  const bool is_new_attempt = has_room && last.attempt != now.attempt;
  if (last.doing == now.doing && !is_new_attempt && last.places == now.places) return;
  put(seat.row, std::move(now));
}

Change TimelineRecorder::seen(const State& state, WorkloadId id, std::optional<Doing> outcome) const {
  const Workload* const workload = state.workloads().find(id);
  if (workload == nullptr) return {.doing = outcome.value_or(Doing::kDone)};
  const std::uint32_t before = id.index() < seats_.size() ? seats_[id.index()]->attempts_before : 0;
  Change now{.attempt = before + workload->attempts, .why = workload->evicted_by, .places = places_of(state, id)};
  switch (workload->phase) {
    case Phase::kPending:
      now.doing = Doing::kWaits;
      break;
    case Phase::kStarting:
      now.doing = Doing::kStarts;
      break;
    case Phase::kRunning:
      now.doing = state.find_repairing(id) != nullptr ? Doing::kLacks : Doing::kRuns;
      break;
    case Phase::kStopping:
      now.doing = Doing::kStops;
      break;
    case Phase::kMigrating:
      now.doing = Doing::kMoves;
      break;
    case Phase::kEnded:
      now.doing = outcome.value_or(workload->failure != Failure::kNone              ? Doing::kFailed
                                   : workload->evicted_by == EvictionRule::kOverRun ? Doing::kOverran
                                                                                    : Doing::kDone);
      break;
    case Phase::kCancelled:
      now.doing = outcome.value_or(Doing::kCancelled);
      break;
  }
  return now;
}

std::vector<Timeline::Place> TimelineRecorder::places_of(const State& state, WorkloadId id) const {
  if (!is_there(state.workload(id).phase)) return {};
  std::map<std::size_t, std::int64_t> by_node;
  for_each_leaving_pod(state, id, [&](const Pod& pod) {
    const PodRequest& request = state.request(pod.request);
    const std::int64_t of_each = state.ledger().node(pod.node).milli_of(request);
    by_node[nodes_[pod.node.index()]] += std::int64_t{request.gpus} * of_each;
  });
  std::vector<Timeline::Place> places;
  for (const auto& [node, gpu_milli] : by_node) places.push_back({node, gpu_milli});
  return places;
}

void TimelineRecorder::put(std::size_t row, Change change) {
  std::vector<Change>& changes = timeline_.rows[row].changes;
  change.at = std::max(now_.value_or(latest_), changes.back().at);
  changes.push_back(std::move(change));
  if (!now_) undated_.emplace_back(row, changes.size() - 1);
}

void TimelineRecorder::forget_undated() {
  for (auto at = undated_.rbegin(); at != undated_.rend(); ++at) {
    std::vector<Change>& changes = timeline_.rows[at->first].changes;
    changes.resize(std::min(changes.size(), at->second));
  }
  undated_.clear();
  timeline_.capacity.resize(timeline_.capacity.size() - std::exchange(undated_capacity_, 0));
}

void TimelineRecorder::happened_at(Time moment) {
  for (const auto& [row, index] : undated_) {
    Change& change = timeline_.rows[row].changes[index];
    change.at = std::max(change.at, moment);
  }
  undated_.clear();
  for (; undated_capacity_ > 0; --undated_capacity_) {
    timeline_.capacity[timeline_.capacity.size() - undated_capacity_].at = moment;
  }
  now_ = moment;
  latest_ = std::max(latest_, moment);
  if (!first_) first_ = moment;
}

Result<RecordedTimeline> timeline_of(const std::vector<std::string>& names, const ReadJournal& read,
                                     std::optional<Time> until,
                                     const std::function<void(const Complaints&)>& left_out) {
  TimelineRecorder recorder;
  std::optional<Recorded> last;
  for (const std::string& name : names) {
    const Result<Bytes> file = read(name);
    if (!file) return file.error();
    const TimelineRecorder before = recorder;
    bool has_begun = false;
    Result<Recorded> recorded = recorded_at(name, *file, until, [&](const State& state, const JournalRecord& record) {
      has_begun = true;
      recorder.take(state, record);
    });
    if (!recorded && name == names.back() && (has_begun || !last)) return recorded.error();
    if (!recorded && (has_begun || !last)) left_out(recorded.error());
    if (!recorded) recorder = before;
    if (recorded) last = std::move(*recorded);
    if (recorded && last->goes_on) break;
  }
  if (last->goes_on) recorder.forget_undated();
  const Time end = last->goes_on ? *until : last->now;
  return RecordedTimeline{std::move(*last), std::move(recorder).finish(end)};
}

Result<RecordedTimeline> timeline_of(const std::string& name, std::span<const std::uint8_t> file,
                                     std::optional<Time> until) {
  return timeline_of(
      {name}, [&](const std::string&) { return Result<Bytes>(Bytes(file.begin(), file.end())); }, until,
      [](const Complaints&) {});
}

}  // namespace berth
