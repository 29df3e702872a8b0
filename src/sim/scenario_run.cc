#include "sim/scenario_run.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/wide.h"
#include "base/wording.h"
#include "cycle/explain.h"
#include "cycle/explanation_text.h"
#include "cycle/feasibility.h"
#include "fairness/lending.h"
#include "fairness/rights.h"
#include "fairness/share.h"
#include "manifest/window_times.h"
#include "model/quantity.h"
#include "sim/scenario_amount.h"
#include "sim/scenario_moment.h"
#include "sim/scenario_parse.h"
#include "sim/scenario_policy.h"
#include "sim/session.h"

namespace berth {
namespace {

using namespace scenario;

// What a scenario may cost, in looks at a node or a pod: a few seconds. Scenarios are one screen long; this is for the
// text that wants to keep us busy for ever.
constexpr std::int64_t kStepsMax = 20'000'000;
constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::size_t kNamesShownMax = 8;

std::string joined(std::span<const std::string> names) {
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kNamesShownMax); ++i) out += (i > 0 ? ", " : "") + names[i];
  return names.size() > kNamesShownMax ? out + ", ..." : out;
}

std::string counted(std::int64_t count, const std::string& thing) {
  return with_separators(count) + " " + thing + (count == 1 ? "" : "s");
}

// A workload's pods in a few words.
struct Whereabouts {
  std::int64_t pods = 0;
  std::vector<std::string> nodes;  // sorted
  FlavorSet flavors;               // of its GPUs
};

class ScenarioRun {
 public:
  ScenarioRun(const std::string& file, Scenario scenario) : file_(file), scenario_(std::move(scenario)) {
    places_.file = file;
  }

  ScenarioOutcome go() {
    for (const Statement& statement : scenario_.statements) {
      line_ = statement.line;
      const bool expects = std::holds_alternative<Expectation>(statement.action);
      // "Since last" goes back to what was expected before the run of expectations in which it stands.
      if (!expects && expected_before_) evictions_checked_ = evictions_.size();
      expected_before_ = expects;
      std::visit([this](const auto& action) { carry_out(action); }, statement.action);
      if (stopped_) break;
    }
    return {.file = file_,
            .statements = scenario_.lines,
            .expectations = scenario_.expectations,
            .failures = std::move(failures_),
            .refused = false,
            .state_hash = session_.close()};
  }

 private:
  // An end that is due, unless the attempt that it belongs to has ended otherwise. At one moment who is done is done,
  // before anybody is ended by his run limit.
  struct End {
    Time at;
    bool enforced = false;
    WorkloadId workload;
    std::uint32_t attempt = 0;

    friend auto operator<=>(const End&, const End&) = default;
  };
  struct Submitted {
    std::string name;
    Duration run;
    // As it was when it ended: the state forgets those that ended long ago.
    std::optional<Workload> last;
  };
  struct Evicted {
    WorkloadId workload;
    Time at;
    Eviction decision;  // what was decided about it; of a lost node: nothing
  };

  const State& state() const { return session_.state(); }
  const Workload& workload(WorkloadId id) const {
    const std::optional<Workload>& last = submitted_[id.index()].last;
    return last ? *last : state().workload(id);
  }
  const std::string& name_of_workload(WorkloadId id) const { return submitted_[id.index()].name; }
  const std::string& flavor_name(FlavorId id) const { return state().flavors()[id.index()].name; }

  void fail(std::string text) { failures_.add({file_, line_}, std::move(text)); }
  void compare(const std::string& what, const std::string& expected, const std::string& found) {
    if (expected != found) fail("expected " + what + " " + expected + ", found " + found);
  }

  // Whether so many steps are left; takes them. What cannot be afforded is not done, and the scenario ends there.
  [[nodiscard]] bool afford(Wide steps) {
    if (steps > steps_left_ && !stopped_)
      stop("this is more work than a scenario may ask for; take fewer nodes, pods or cycles");
    if (!stopped_) steps_left_ -= static_cast<std::int64_t>(steps);
    return !stopped_;
  }
  void stop(std::string text) {
    fail(std::move(text));
    stopped_ = true;
  }
  std::int64_t nodes() const { return static_cast<std::int64_t>(state().nodes()); }

  // ---- what happens ---------------------------------------------------------------------------------------------

  bool apply(const Event& event) {
    if (const auto refusal = state().refusal(event)) {
      stop(*refusal);
      return false;
    }
    session_.pass_time(now_);
    session_.apply(event);
    return true;
  }

  void carry_out(const Event& event) {
    if (const auto* const added = std::get_if<NodesAdded>(&event)) return add_nodes(*added);
    // Whoever waits below a queue that changes may be moved, and coverage is settled anew.
    if (std::holds_alternative<QueueChanged>(event) &&
        !afford(1 + Wide{std::ssize(state().queues())} + std::ssize(submitted_) + std::ssize(state().pods()))) {
      return;
    }
    if (!apply(event)) return;
    places_.note(line_, event);
    if (const auto* const fact = std::get_if<WorkloadSubmitted>(&event)) note_submitted(*fact);
  }

  void add_nodes(const NodesAdded& added) {
    // The nodes that there are, with their names, are copied.
    const auto types = static_cast<std::int64_t>(state().node_types().counts.size());
    if (!afford(8 * Wide{nodes()} + cost_of_freeing(std::ssize(added.nodes)) + Wide{types} * std::ssize(added.nodes)))
      return;
    const std::size_t first = state().nodes();
    if (!apply(added)) return;
    for (std::size_t i = first; i < state().nodes(); ++i) node_ids_.emplace(state().node(NodeId(i)).name, NodeId(i));
  }

  void note_submitted(const WorkloadSubmitted& fact) {
    submitted_.push_back({fact.name, fact.declared_run, {}});
    const Shape& shape = state().shape(state().workload(WorkloadId(submitted_.size() - 1)).shape);
    sets_ += sets_of(shape);
    largest_ = {std::max(largest_.sets, sets_of(shape)), std::max(largest_.pods, shape.pods * std::ssize(shape.ways))};
  }

  // Room that comes free on a node is counted for every shape that waits for some.
  Wide cost_of_freeing(std::int64_t pods_or_nodes) const {
    return Wide{pods_or_nodes} * (1 + std::ssize(state().queues()) + sets_);
  }
  // An upper bound of what trying one workload costs.
  std::int64_t cost_of_attempt() const { return 1 + largest_.sets * nodes() + largest_.pods; }
  // Pod sets in all its ways.
  static std::int64_t sets_of(const Shape& shape) { return std::ssize(shape.ways) * std::ssize(shape.ways.front()); }

  void carry_out(const PassTime& action) { pass_time(action.by ? now_ + *action.by : std::max(now_, action.until)); }

  // Delivers the ends of runs and of graces that are due; at one moment the runs end first. What the calendar changes comes
  // after all that happens at its moment: before the next cycle, or when time goes on.
  void pass_time(Time until) {
    while (!stopped_) {
      const Time end = ends_.empty() ? kForever : ends_.begin()->at;
      const Time stop = next_stop();
      if (const Time turn = state().next_turn(); turn < std::min({end, stop, until})) {
        turn_calendar(turn);
        continue;
      }
      if (std::min(end, stop) > until) break;
      now_ = std::max(now_, std::min(end, stop));
      if (end <= stop) {
        end_one();
      } else {
        stop_one();
      }
    }
    now_ = until;
  }

  void end_one() {
    const End end = *ends_.begin();
    ends_.erase(ends_.begin());
    const Workload& ending = workload(end.workload);
    if (ending.attempts != end.attempt) return;
    if (!end.enforced && is_there(ending.phase)) finish(WorkloadEnded{end.workload}, end.workload, Phase::kEnded);
    // Who was told to stop has stopped by then.
    if (end.enforced && ending.phase == Phase::kRunning) enforce_end(end.workload);
  }

  void enforce_end(WorkloadId id) {
    const std::int64_t lost = lost_gpu_s(state(), id, now_);
    finish(WorkloadOverran{id}, id, Phase::kEnded);
    if (stopped_) return;
    submitted_[id.index()].last->evicted_by = EvictionRule::kOverRun;
    submitted_[id.index()].last->evicted_for = WorkloadId();
    evictions_.push_back({id, now_, {id, WorkloadId(), EvictionRule::kOverRun, now_, lost}});
  }

  Time next_stop() const {
    Time next = kForever;
    for (const WorkloadId id : state().stopping()) next = std::min(next, state().workload(id).stop_by);
    return next;
  }

  void stop_one() {
    const Time next = next_stop();
    const auto& stopping = state().stopping();
    const auto due = std::find_if(stopping.begin(), stopping.end(),
                                  [&](WorkloadId id) { return state().workload(id).stop_by == next; });
    const WorkloadId id = *due;
    if (afford(cost_of_freeing(state().shape(workload(id).shape).pods))) apply(WorkloadStopped{id});
  }

  void carry_out(const DeclareWindow& action) {
    windows_.push_back(action);
    if (apply(TimePassed{now_})) tell_window(windows_.size() - 1);
  }

  // The trees of all hours that there are in a year are made anew.
  Wide cost_of_calendar() const {
    const Wide openings = Wide{std::ssize(windows_)} * kCalendarAhead.ms / kDayMs;
    return openings * 4 + Wide{std::ssize(state().queues())} * (1 + 4 * std::ssize(windows_));
  }

  void tell_window(std::size_t number) {
    if (!afford(cost_of_calendar())) return;
    Window window = windows_[number].window;
    window.known_until = now_ + kCalendarAhead;
    window.open = windows_[number].times.openings(now_, window.known_until, scenario_.zero_since_1970);
    apply(WindowChanged{static_cast<std::uint32_t>(number), std::move(window)});
  }

  void turn_calendar(Time at) {
    now_ = std::max(now_, at);
    if (!afford(cost_of_calendar()) || !apply(CalendarTurned{at})) return;
    for (std::size_t number = 0; number < windows_.size(); ++number) {
      if (state().windows()[number].known_until < now_ + kCalendarLeft) tell_window(number);
    }
  }

  // A cycle knows the time, and what the calendar has brought until then.
  void tell_time() {
    if (!state().keeps_time()) return;
    if (state().next_turn() <= now_) {
      turn_calendar(now_);
    } else {
      session_.pass_time(now_);
    }
  }

  void carry_out(const ReportCheckpoint& action) {
    if (!is_there(workload(action.workload).phase)) {
      return fail("expected " + name_of_workload(action.workload) +
                  " running, so that it could report a checkpoint, found it " + how_it_is(action.workload));
    }
    apply(CheckpointReported{action.workload, now_});
    // Told to stop, and now it has: that is its word.
    if (workload(action.workload).phase == Phase::kStopping) apply(WorkloadStopped{action.workload});
  }

  void finish(const Event& event, WorkloadId id, Phase phase) {
    if (!afford(cost_of_freeing(state().shape(workload(id).shape).pods))) return;
    Workload last = workload(id);
    if (!apply(event)) return;
    last.phase = phase;
    last.first_pod = PodId();
    submitted_[id.index()].last = last;
  }

  void carry_out(const EndWorkload& action) {
    if (workload(action.workload).phase != Phase::kRunning) {
      return fail("expected " + name_of_workload(action.workload) + " running, so that it could end, found it " +
                  how_it_is(action.workload));
    }
    finish(WorkloadEnded{action.workload}, action.workload, Phase::kEnded);
  }

  void carry_out(const CancelWorkload& action) {
    const Phase phase = workload(action.workload).phase;
    if (phase != Phase::kPending && !has_room(phase) && !is_there(phase)) {
      return fail("expected " + name_of_workload(action.workload) +
                  " running or waiting, so that it could be cancelled, "
                  "found it " +
                  how_it_is(action.workload));
    }
    finish(WorkloadCancelled{action.workload}, action.workload, Phase::kCancelled);
  }

  void carry_out(const SetWorkload& action) {
    const WorkloadId id = action.workload;
    const Phase phase = workload(id).phase;
    if (phase != Phase::kPending && !has_room(phase) && !is_there(phase)) {
      return fail("expected " + name_of_workload(id) + " running or waiting, so that it could be changed, found it " +
                  how_it_is(id));
    }
    if (action.queue && phase != Phase::kPending) {
      return fail("expected " + name_of_workload(id) + " waiting, so that it could be moved, found it " +
                  how_it_is(id) + "; cancel it and submit it to " + state().queues()[action.queue->index()].name);
    }
    if (action.priority) {
      sets_ += sets_of(state().shape(workload(id).shape));
      if (!apply(WorkloadPrioritized{id, *action.priority})) return;
    }
    if (action.queue) apply(WorkloadMoved{id, *action.queue});
  }

  void carry_out(const ChangeNode& action) {
    const auto known = node_ids_.find(action.node);
    if (known == node_ids_.end()) return;  // its nodes were refused, which is a failure already
    const NodeId node = known->second;
    if (action.change == NodeChange::kDrain) {
      apply(NodeDrained{node});
    } else if (action.change == NodeChange::kRestore) {
      if (afford(cost_of_freeing(1))) apply(NodeRestored{node});
    } else {
      fail_node(node);
    }
  }

  void fail_node(NodeId node) {
    std::set<WorkloadId> lost;
    for (const Pod& pod : state().pods()) {
      const bool there = !pod.workload.is_none() && pod.node == node;
      // Who has been evicted already, or has not begun, is not evicted by this.
      if (there && workload(pod.workload).phase == Phase::kRunning) lost.insert(pod.workload);
    }
    Wide cost = std::ssize(state().pods());
    for (const WorkloadId id : lost) cost += cost_of_freeing(state().shape(workload(id).shape).pods);
    if (!afford(cost) || !apply(NodeFailed{node})) return;
    for (const WorkloadId id : lost) evictions_.push_back({id, now_, {}});
  }

  // Whether it changed anything.
  bool run_cycle_now() {
    tell_time();
    const std::int64_t cost = cost_of_attempt();
    if (!afford(1 + std::ssize(state().queues()) + static_cast<std::int64_t>(state().pending()) + cost)) return false;
    const Plan plan = session_.one_cycle(now_, Effort{1 + steps_left_ / cost});
    static_cast<void>(afford(Wide{plan.attempts} * cost));
    for (const Start& start : plan.starts) {
      if (!start.waits) note_begun(start.workload);
    }
    for (const WorkloadId id : plan.begins) note_begun(id);
    for (const Eviction& decision : plan.evictions) evictions_.push_back({decision.workload, now_, decision});
    return !plan.changes_nothing();
  }

  void note_begun(WorkloadId id) {
    const Duration run = submitted_[id.index()].run;
    if (run != kRunNotDeclared) ends_.insert({now_ + run, false, id, workload(id).attempts});
    const Time enforced = enforced_end(state().shape(workload(id).shape).terms, now_);
    if (enforced != kForever) ends_.insert({enforced, true, id, workload(id).attempts});
  }

  void carry_out(const Cycle&) { run_cycle_now(); }
  // Time passes to the end of graces that have begun, never on purpose to the end of a run.
  void carry_out(const Settle&) {
    while (!stopped_) {
      if (run_cycle_now()) continue;
      if (state().stopping().empty()) return;
      pass_time(next_stop());
    }
  }

  // ---- what is found --------------------------------------------------------------------------------------------

  Whereabouts whereabouts(WorkloadId id) {
    Whereabouts found;
    // Names are copied and sorted, which costs more than a look at a number.
    if (!afford(20 * Wide{state().shape(workload(id).shape).pods})) return found;
    for_each_pod(state(), id, [&](const Pod& pod) {
      ++found.pods;
      const Node& node = state().node(pod.node);
      found.nodes.push_back(node.name);
      if (state().request(pod.request).gpus > 0) found.flavors.add(node.flavor);
    });
    std::sort(found.nodes.begin(), found.nodes.end());
    found.nodes.erase(std::unique(found.nodes.begin(), found.nodes.end()), found.nodes.end());
    return found;
  }

  std::string flavors_text(FlavorSet flavors) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < state().flavors().size(); ++i) {
      if (flavors.contains(FlavorId(i))) names.push_back(flavor_name(FlavorId(i)));
    }
    return names.empty() ? "no GPUs" : joined(names);
  }

  std::string names_of(const std::vector<WorkloadId>& workloads) const {
    std::vector<std::string> names;
    for (const WorkloadId id : workloads) names.push_back(name_of_workload(id));
    return names.empty() ? "nobody" : joined(names);
  }

  Explanation explained(WorkloadId id) {
    const bool affordable = afford(1 + Wide{nodes()} * sets_of(state().shape(workload(id).shape)));
    session_.pass_time(now_);
    return affordable ? explain(state(), id) : Explanation{};
  }

  std::string how_it_is(WorkloadId id) {
    switch (workload(id).phase) {
      case Phase::kEnded:
        return workload(id).evicted_by == EvictionRule::kOverRun ? "evicted: it ran as long as its limit allows"
                                                                 : "done";
      case Phase::kCancelled:
        return "cancelled";
      case Phase::kStarting:
        return "starting, as soon as those have stopped who are still where it goes";
      case Phase::kStopping:
        return "evicting, until " + format_moment(workload(id).stop_by);
      case Phase::kRunning: {
        const Whereabouts found = whereabouts(id);
        return "running: " + counted(found.pods, "pod") + " on " + joined(found.nodes) + " (" +
               flavors_text(found.flavors) + "), started " + format_moment(workload(id).started);
      }
      case Phase::kPending:
        break;
    }
    const Explanation why = explained(id);
    if (why.code == ReasonCode::kNone) return "waiting: not tried yet";
    return "waiting: " + std::string(name_of(why.code)) + ", " + why.text;
  }

  // ---- what is expected -----------------------------------------------------------------------------------------

  void carry_out(const Expectation& expectation) {
    std::visit([this](const auto& expected) { check(expected); }, expectation);
  }

  void check(const ExpectRunning& expected) {
    const std::string& name = name_of_workload(expected.workload);
    if (workload(expected.workload).phase != Phase::kRunning) {
      return fail("expected " + name + " running, found it " + how_it_is(expected.workload));
    }
    const Whereabouts found = whereabouts(expected.workload);
    if (stopped_) return;
    if (expected.pods) compare(name + " running with", counted(*expected.pods, "pod"), counted(found.pods, "pod"));
    if (!expected.on.empty() && expected.on != found.nodes) {
      fail("expected " + name + " on " + joined(expected.on) + ", found it on " + joined(found.nodes));
    }
    if (!expected.flavors.empty()) compare(name + " on", flavors_text(expected.flavors), flavors_text(found.flavors));
    const Time started = workload(expected.workload).started;
    const bool holds_by_the_clock =
        expected.started_on_any_day && expected.started && expected.started->ms % kDayMs == started.ms % kDayMs;
    if (expected.started && !holds_by_the_clock) {
      compare(name + " started", format_moment(*expected.started), format_moment(started));
    }
    check_coverage(expected);
    if (const std::string text = coverage_text(state(), expected.workload); !text.contains(expected.has)) {
      fail("expected " + name + " running with the words " + quote(expected.has) + ", found " + quote(text));
    }
  }

  void check_coverage(const ExpectRunning& expected) {
    const Workload& found = workload(expected.workload);
    const QueueId covered_at = state().quotas().unit(found.unit).covered_at;
    const std::string& name = name_of_workload(expected.workload);
    if (expected.covered) {
      const Coverage coverage = found.best_effort      ? Coverage::kBestEffort
                                : covered_at.is_none() ? Coverage::kBorrowed
                                                       : Coverage::kFloor;
      const auto text = [](Coverage value) {
        return value == Coverage::kFloor ? "floor" : value == Coverage::kBorrowed ? "borrowed" : "best-effort";
      };
      compare(name + " covered by", text(*expected.covered), text(coverage));
    }
    if (expected.against) {
      const auto text = [&](QueueId queue) {
        return queue.is_none() ? std::string("everyone") : state().queues()[queue.index()].name;
      };
      if (covered_at.is_none()) {
        fail("expected " + name + " guaranteed against " + text(*expected.against) +
             ", found it guaranteed against nobody");
      } else {
        compare(
            name + " guaranteed against", text(*expected.against),
            text(covered_at == found.queue && state().quotas().tree().is_leaf(found.queue) ? QueueId() : covered_at));
      }
    }
  }

  void check(const ExpectWaits& expected) {
    const WorkloadId id = expected.workload;
    const std::string& name = name_of_workload(id);
    if (workload(id).phase != Phase::kPending) return fail("expected " + name + " waiting, found it " + how_it_is(id));
    if (expected.reason && reason_of(state(), id) != *expected.reason) {
      fail("expected " + name + " waiting: " + std::string(name_of(*expected.reason)) + ", found it " + how_it_is(id));
    }
    if (!expected.has.empty()) {
      const std::string text = explained(id).text;
      if (!text.contains(expected.has)) {
        fail("expected " + name + " waiting with the words " + quote(expected.has) + ", found it " + how_it_is(id));
      }
    }
    if (expected.ahead) {
      if (!afford(static_cast<std::int64_t>(state().pending()))) return;
      const std::vector<WorkloadId> ahead = ahead_of(state(), id);
      if (ahead != *expected.ahead) {
        fail("expected " + names_of(*expected.ahead) + " ahead of " + name + ", found " + names_of(ahead));
      }
    }
  }

  void check(const ExpectImpossible& expected) {
    const WorkloadId id = expected.workload;
    const std::string& name = name_of_workload(id);
    if (workload(id).phase != Phase::kPending)
      return fail("expected " + name + " impossible, found it " + how_it_is(id));
    if (!afford(1 + Wide{std::ssize(state().node_types().counts)} * sets_of(state().shape(workload(id).shape)))) return;
    const ReasonCode never = state().followers().waits_in_vain(id)
                                 ? ReasonCode::kDependency
                                 : reason_never(state(), state().shape(workload(id).shape));
    if (never == ReasonCode::kNone) {
      fail("expected " + name + " impossible, found that it could run on idle nodes; it is " + how_it_is(id));
    } else if (expected.reason && *expected.reason != never) {
      fail("expected " + name + " impossible: " + std::string(name_of(*expected.reason)) + ", found " +
           std::string(name_of(never)) + "; it is " + how_it_is(id));
    }
  }

  // The last attempt ended so, requeued or not.
  void check(const ExpectEvicted& expected) {
    const Workload& found = workload(expected.workload);
    const std::string& name = name_of_workload(expected.workload);
    if (found.phase == Phase::kRunning || found.evicted_by == EvictionRule::kNone) {
      return fail("expected " + name + " evicted, found it " + how_it_is(expected.workload));
    }
    if (expected.rule) {
      compare(name + " evicted by the rule", std::string(name_of(*expected.rule)),
              std::string(name_of(found.evicted_by)));
    }
    const auto last = std::find_if(evictions_.rbegin(), evictions_.rend(),
                                   [&](const Evicted& each) { return each.workload == expected.workload; });
    if (expected.claimant) {
      compare(name + " evicted for", name_of_workload(*expected.claimant),
              found.evicted_for.is_none() ? "nobody" : name_of_workload(found.evicted_for));
    }
    if (expected.lost_gpu_s) {
      compare(name + " evicted with a loss of", counted(*expected.lost_gpu_s, "GPU-second"),
              counted(last == evictions_.rend() ? 0 : last->decision.lost_gpu_s, "GPU-second"));
    }
  }

  void check(const ExpectEvicting& expected) {
    if (workload(expected.workload).phase == Phase::kStopping) return;
    fail("expected " + name_of_workload(expected.workload) + " evicting, found it " + how_it_is(expected.workload));
  }

  void check(const ExpectOver& expected) {
    // Who was ended by his limit has not done what he was there for.
    const Workload& found = workload(expected.workload);
    if (found.phase == expected.phase && found.evicted_by != EvictionRule::kOverRun) return;
    fail("expected " + name_of_workload(expected.workload) +
         (expected.phase == Phase::kEnded ? " done" : " cancelled") + ", found it " + how_it_is(expected.workload));
  }

  void check(const ExpectNoneEvicted& expected) {
    const std::size_t first = expected.since_start ? 0 : evictions_checked_;
    if (first >= evictions_.size()) return;
    const Evicted& eviction = evictions_[first];
    fail("expected none evicted since " + std::string(expected.since_start ? "the start" : "the last expectations") +
         ", found " + counted(static_cast<std::int64_t>(evictions_.size() - first), "eviction") + ", the first of " +
         name_of_workload(eviction.workload) + " at " + format_moment(eviction.at));
  }

  // Of one flavor, or of all and the nodes without GPUs together.
  static std::int64_t sum_of(std::span<const std::int64_t> amounts, const UsageAmount& asked) {
    std::int64_t sum = 0;
    for (std::size_t at = 0; at < amounts.size(); ++at) {
      const Dim dim = Dim::at(at);
      if (dim.resource() == asked.resource && (!asked.flavor || dim.flavor() == *asked.flavor)) sum += amounts[at];
    }
    return sum;
  }
  AmountsByDim usage(QueueId queue, UsageKind kind) const {
    const QuotaLedger& quotas = state().quotas();
    if (kind == UsageKind::kBorrowed) return borrowed_by(quotas, queue);
    if (kind == UsageKind::kLent) return lent_by(quotas, queue);
    if (kind == UsageKind::kIdle) return state().idle_floor(queue, now_);
    return {quotas.used(queue).begin(), quotas.used(queue).end()};
  }

  void check(const ExpectUsage& expected) {
    const Wide queues = expected.kind == UsageKind::kLent ? Wide{std::ssize(state().queues())} : 1;
    if (!afford((1 + std::ssize(state().flavors())) * (queues * queues + std::ssize(expected.amounts)))) return;
    constexpr std::string_view kKinds[] = {"usage of ", "borrowed by ", "lent by ", "idle floor of "};
    const std::string what =
        std::string(kKinds[static_cast<std::size_t>(expected.kind)]) + state().queues()[expected.queue.index()].name;
    if (expected.kind == UsageKind::kIdle && !state().looks_at_idle_floor(expected.queue)) {
      return fail("expected something of the " + what + ", found that nobody looks; write idle_after= on its line");
    }
    const AmountsByDim found = usage(expected.queue, expected.kind);
    for (const UsageAmount& asked : expected.amounts) {
      const auto text = [&](std::int64_t amount) {
        const bool memory = asked.resource == Resource::kMemory;
        std::string out = asked.flavor ? flavor_name(*asked.flavor) : "";
        if (asked.resource != Resource::kGpu) out += "." + std::string(name_of(asked.resource));
        return out + (asked.flavor ? ":" : "") + (memory ? format_bytes(amount << 20) : format_milli(amount));
      };
      compare(what, text(asked.amount), text(sum_of(found, asked)));
    }
  }

  void check(const ExpectShare& expected) {
    if (!afford(1 + std::ssize(state().flavors()))) return;
    const Fraction found = share_of(state().quotas(), state().flavors(), expected.queue);
    if (Fraction(expected.part, expected.whole) == found) return;
    fail("expected the share of " + state().queues()[expected.queue.index()].name + " to be " +
         std::to_string(expected.part) + "/" + std::to_string(expected.whole) + ", found " + to_text(found));
  }

  void check(const ExpectBudget& expected) {
    if (!afford(1 + Wide{static_cast<std::int64_t>(state().running() + state().stopping().size())})) return;
    const std::string& name = state().queues()[expected.queue.index()].name;
    if (!state().quotas().budgets().has_budget(expected.queue)) {
      return fail("expected something of the budget of " + name + ", found that it has none");
    }
    session_.pass_time(now_);
    const BudgetState found = state().budget_of(expected.queue);
    const auto compare_time = [&](const char* what, const std::optional<std::int64_t>& asked, Wide amount) {
      if (asked)
        compare(std::string(what) + " of the budget of " + name, format_gpu_time(*asked), gpu_time_text(amount));
    };
    compare_time("used", expected.used_gpu_us, found.used_gpu_us);
    compare_time("reserved", expected.reserved_gpu_us, found.reserved_gpu_us);
    compare_time("left", expected.left_gpu_us, found.left_gpu_us);
    if (expected.warned) {
      compare("a warning that the budget of " + name + " is nearly gone:", *expected.warned ? "yes" : "no",
              found.is_nearly_gone() ? "yes" : "no");
    }
  }
  static std::string gpu_time_text(Wide gpu_us) {
    const std::int64_t amount = narrow(gpu_us).value_or(INT64_MAX);
    return amount < 0 ? "-" + format_gpu_time(-amount) : format_gpu_time(amount);
  }

  void check(const ExpectFragments& expected) {
    if (!afford(nodes())) return;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < state().nodes(); ++i) {
      const NodeFree& node = state().ledger().node(NodeId(i));
      if (node.open) count += node.whole_gpus / expected.gpus;
    }
    const std::string what = "whole free GPUs for pods of " + std::to_string(expected.gpus) + ": room for";
    compare(what, with_separators(expected.count), with_separators(count));
  }

  void check(const ExpectLint& expected) {
    // Every workload is compared with every queue above it and every kind of node.
    const Wide kinds = std::ssize(state().node_types().counts) + std::ssize(state().queues());
    if (!afford(kinds * (1 + sets_) + Wide{std::ssize(state().queues())} * std::ssize(state().queues()))) return;
    const std::string found = refuted(expected, policy_of(state(), places_));
    if (!found.empty()) fail(found);
  }

  // The dearest workload so far, of which an attempt looks at each node once a set and way.
  struct Largest {
    std::int64_t sets = 0;
    std::int64_t pods = 0;
  };

  const std::string& file_;
  Scenario scenario_;
  ScenarioPlaces places_;
  Session session_;
  Complaints failures_;
  std::int64_t line_ = 0;
  Time now_;
  std::vector<Submitted> submitted_;  // by workload
  std::map<std::string, NodeId> node_ids_;
  std::set<End> ends_;
  std::vector<DeclareWindow> windows_;
  std::vector<Evicted> evictions_;
  std::size_t evictions_checked_ = 0;
  bool expected_before_ = false;
  std::int64_t steps_left_ = kStepsMax;
  bool stopped_ = false;
  std::int64_t sets_ = 0;  // of all workloads, in all their ways
  Largest largest_;
};

}  // namespace

ScenarioOutcome run_scenario(const std::string& file_name, std::string_view text) {
  Result<Scenario> scenario = parse_scenario(file_name, text);
  if (!scenario) {
    return {.file = file_name,
            .statements = 0,
            .expectations = 0,
            .failures = scenario.error(),
            .refused = true,
            .state_hash = 0};
  }
  return ScenarioRun(file_name, std::move(*scenario)).go();
}

}  // namespace berth
