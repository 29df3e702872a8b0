#include "sim/what_if.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/wording.h"
#include "sim/recorded_names.h"
#include "sim/run_ahead.h"
#include "sim/scenario_pod_facts.h"
#include "sim/scenario_statements.h"
#include "sim/timeline_recorder.h"

namespace berth {
namespace {

using namespace scenario;

// `rather`: whether the first is meant rather than one before him of the same name. Those whose names nobody knows any more cannot be
// named.
template <class Rather>
void add_names(NameTable& table, const std::vector<std::string>& names, Rather rather) {
  std::map<std::string_view, std::size_t> meant;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [at, is_first] = meant.emplace(names[i], i);
    if (!is_first && rather(i, at->second)) at->second = i;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) {
      table.add_nameless();
    } else {
      table.add(meant[names[i]] == i ? names[i] : names[i] + "#" + std::to_string(i));
    }
  }
}

void know(ScenarioReading& reading, const Recorded& recorded) {
  const State& state = recorded.engine.state;
  for (const Flavor& flavor : state.flavors()) {
    reading.names.flavors.add(flavor.name);
    reading.names.gpu_models.push_back(flavor.model);
    reading.flavors.push_back(flavor);
  }
  for (const Queue& queue : state.queues()) {
    reading.names.queues.add(queue.name);
    reading.queues.push_back(queue);
  }
  std::vector<std::string> nodes;
  for (std::size_t i = 0; i < state.nodes(); ++i) {
    const Node& node = state.node(NodeId(i));
    nodes.push_back(node.name);
    if (node.gpus > 0 && node.sharing == Sharing::kExclusive && node.other_modes.empty())
      reading.whole_gpus[node.flavor] += node.gpus;
  }
  add_names(reading.names.nodes, nodes, [](std::size_t, std::size_t) { return true; });
  add_names(reading.names.workloads, recorded.workloads, [&](std::size_t one, std::size_t other) {
    return is_meant_rather(state, WorkloadId(one), WorkloadId(other));
  });
  reading.names.workloads.also_find_by([&recorded](const std::string& name) -> std::optional<std::size_t> {
    const std::optional<WorkloadId> meant = recorded.find(name);
    return meant ? std::optional(meant->index()) : std::nullopt;
  });
  // What is numbered here is not what has these numbers there.
  reading.windows = state.windows().size();
  const auto& series = state.series().all();
  reading.series = series.empty() ? 0 : series.rbegin()->first.index() + 1;
  reading.begun = true;
  reading.clock.advance_to(recorded.now);
  if (is_date(recorded.now)) reading.clock.begin_in_1970();
}

void read_policy_fact(ScenarioReading& reading, ScenarioLine& line) {
  const ScenarioWord* const word = line.take_plain("policy best-fit");
  const auto policy = word == nullptr ? std::nullopt : find_placement_policy(word->value);
  if (word != nullptr && !policy) {
    line.complain(*word, "there is no policy " + quote(word->value) + line.instead(word->value, kPlacementPolicyNames));
  }
  line.finish({});
  if (policy) reading.add(line, RunConfigured{Seed{}, *policy});
}

struct Word {
  std::string_view name;
  void (*read)(ScenarioReading&, ScenarioLine&);
};

void read_set_fact(ScenarioReading& reading, ScenarioLine& line) {
  const char* const kForm = "set queue research guarantee=8, or set workload w priority=200";
  const ScenarioWord* const kind = line.take_plain(kForm);
  if (kind == nullptr) return;
  if (kind->value == "queue") return set_queue(reading, line);
  if (kind->value == "workload") return set_workload(reading, line);
  line.complain(*kind, quote(kind->value) + " cannot be set; write " + kForm);
}

// It is gone: what waits in it starts nowhere, and what runs goes on without a floor.
void remove_queue(ScenarioReading& reading, ScenarioLine& line) {
  const ScenarioWord* const path = line.take_plain("remove queue research");
  const auto id = path == nullptr ? std::nullopt : reading.names.queue(line, *path);
  line.finish({});
  if (!id) return;
  const auto is_below = [&](const Queue& queue) { return queue.parent == *id; };
  if (std::ranges::any_of(reading.queues, is_below))
    return line.complain(*path, "queue " + quote(path->value) + " has others below it; remove these before");
  Queue now = reading.queues[id->index()];
  now.quota = {};
  now.held = true;
  reading.change_queue(line, *id, std::move(now));
}

void read_remove(ScenarioReading& reading, ScenarioLine& line) {
  const char* const kForm = "remove node n3 or remove queue research";
  const ScenarioWord* const kind = line.take_plain(kForm);
  if (kind == nullptr) return;
  if (kind->value == "node") return change_node(reading, line, kind, "remove", NodeChange::kFail);
  if (kind->value == "queue") return remove_queue(reading, line);
  line.complain(*kind, quote(kind->value) + " cannot be removed; write " + kForm);
}

constexpr Word kWords[] = {
    {"add", read_add},       {"submit", read_submit},      {"group", read_group},  {"end", read_end},
    {"cancel", read_cancel}, {"fail", read_fail},          {"drain", read_drain},  {"restore", read_restore},
    {"hold", read_hold},     {"release", read_release},    {"set", read_set_fact}, {"queue", read_queue},
    {"remove", read_remove}, {"policy", read_policy_fact},
};

void read_line(ScenarioReading& reading, ScenarioLine& line) {
  const ScenarioWord& word = *line.take_any("a change");
  std::vector<std::string_view> known;
  for (const Word& each : kWords) {
    known.push_back(each.name);
    if (each.name == word.value && !word.is_pair()) return each.read(reading, line);
  }
  line.complain_unknown(word, word.is_pair() ? word.key : word.value, known, "is no change");
}

// The facts that statements stand for, each told to a copy of the state after those before it. What is no fact there is a complaint.
class Facts {
 public:
  Facts(ScenarioReading& reading, const Recorded& recorded)
      : reading_(reading),
        now_(recorded.now),
        known_nodes_(recorded.engine.state.nodes()),
        then_(recorded.engine.state.fork()) {}

  void tell(const Statement& statement) {
    line_ = statement.line;
    std::visit([&](const auto& action) { tell_of(action); }, statement.action);
  }

  Changes take() && { return std::move(changes_); }

 private:
  void tell_of(const Event& event) {
    if (const auto* const configured = std::get_if<RunConfigured>(&event)) return place_by(configured->policy);
    Event fact = event;
    if (auto* const submitted = std::get_if<WorkloadSubmitted>(&fact)) submitted->at = now_;
    add(std::move(fact));
  }
  void tell_of(const ChangeNode& change) {
    const std::optional<NodeId> node = node_of(change.node);
    if (!node) return;  // it was refused, which is a complaint already
    if (change.change == NodeChange::kDrain) return add(NodeDrained{*node});
    if (change.change == NodeChange::kRestore) return add(NodeRestored{*node});
    add(NodeFailed{*node});
  }
  void tell_of(const EndWorkload& end) { add(WorkloadEnded{end.workload}); }
  void tell_of(const CancelWorkload& cancel) { add(WorkloadCancelled{cancel.workload}); }
  void tell_of(const SetWorkload& set) {
    if (set.priority) add(WorkloadPrioritized{set.workload, *set.priority});
    if (set.queue) add(WorkloadMoved{set.workload, *set.queue});
  }
  void tell_of(const FailPod& fail) { add_of_pod(fact_of(then_, fail), fail.workload, fail.pod); }
  void tell_of(const EndPod& end) {
    const std::string& name = reading_.names.workloads[end.workload.index()];
    if (!is_above_minimum(then_, end)) return add_of_pod(fact_of(then_, end), end.workload, end.pod);
    complain("pod " + std::to_string(end.pod) + " of " + quote(name) +
             " is a step: it ends with the others; write end " + name);
  }
  // When it is open is told as a scheduler would tell it now.
  void tell_of(const DeclareWindow& declared) {
    Window window = declared.window;
    window.known_until = now_ + kCalendarAhead;
    window.open = declared.times.openings(now_, window.known_until, reading_.clock.zero_since_1970());
    add(TimePassed{now_});
    add(WindowChanged{static_cast<std::uint32_t>(then_.windows().size()), std::move(window)});
  }
  template <class NoFact>
  void tell_of(const NoFact&) {
    complain("that is nothing that may be otherwise from now on; leave the line out");
  }

  void place_by(PlacementPolicy policy) {
    changes_.policy = policy;
    if (!needs_typical_pods(policy) || !then_.typical_pods().empty()) return;
    complain(quote(name_of(policy)) +
             " measures by typical pods, and this cluster knows none; write best-fit, or another that needs none");
  }
  // Nodes that come are numbered in another order than they are named.
  std::optional<NodeId> node_of(const std::string& name) const {
    const std::size_t named = *reading_.names.nodes.find(name);
    if (named < known_nodes_) return NodeId(named);
    for (std::size_t i = known_nodes_; i < then_.nodes(); ++i) {
      if (then_.node(NodeId(i)).name == name) return NodeId(i);
    }
    return std::nullopt;
  }
  void add_of_pod(std::optional<Event> fact, WorkloadId workload, std::uint32_t pod) {
    if (fact) return add(*std::move(fact));
    complain("makes no sense there: pod " + std::to_string(pod) + " of " +
             quote(reading_.names.workloads[workload.index()]) + " does not run; name one that does");
  }
  void add(Event fact) {
    if (auto refusal = then_.refusal(fact)) return complain("makes no sense there: " + *refusal);
    then_.apply(fact);
    changes_.facts.push_back(std::move(fact));
  }
  void complain(std::string text) { reading_.complaints.add({reading_.file, line_}, std::move(text)); }

  ScenarioReading& reading_;
  const Time now_;
  const std::size_t known_nodes_;
  State then_;
  std::int64_t line_ = 0;
  Changes changes_;
};

class Future {
 public:
  Future(const Recorded& recorded, const std::vector<WorkloadId>& waiting, const Changes& changes,
         RunAhead::LengthOfRun run_of)
      : waiting_(waiting),
        submitted_(submitted_by(recorded.engine.state, changes.facts)),
        ahead_(recorded.engine.state, recorded.now, std::move(run_of),
               [this](const State& state, const JournalRecord& record) {
                 recorder_.take(state, record);
                 note_cancelled(state, record);
               }) {
    recorder_.begin_with(ahead_.state(), recorded.workloads, recorded.now);
    for (const auto* const all : {&waiting_, &submitted_}) {
      for (const WorkloadId id : *all) starts_[id] = std::nullopt;
    }
    left_ = starts_.size();
    if (changes.policy) ahead_.place_by(*changes.policy);
    for (const Event& event : changes.facts) ahead_.apply(event);
    ahead_.decide();
    note_starts();
  }
  Future(const Future&) = delete;
  Future& operator=(const Future&) = delete;

  Time now() const { return ahead_.now(); }
  void go_until_all_have_started(Time horizon, const std::function<bool()>& is_broken_off) {
    while (left_ > 0 && !is_broken_off() && ahead_.go_on(horizon)) note_starts();
  }
  void go_until(Time moment, const std::function<bool()>& is_broken_off) {
    while (!is_broken_off() && ahead_.go_on(moment)) note_starts();
  }

  Outlook outlook(Time end) && {
    Outlook outlook;
    for (const RunAhead::Stopped& stopped : ahead_.stopped()) {
      outlook.lost_gpu_s += stopped.lost_gpu_s;
      if (stopped.is_step) continue;
      ++outlook.evictions;
      Outlook::Evicted& evicted = outlook.evicted[stopped.workload];
      if (++evicted.times == 1) evicted.rule = name_of(stopped.rule);
      evicted.lost_gpu_s += stopped.lost_gpu_s;
    }
    const auto one = [&](WorkloadId id) -> Outlook::One {
      const auto evicted = outlook.evicted.find(id);
      const std::int64_t times = evicted == outlook.evicted.end() ? 0 : evicted->second.times;
      return {id, starts_[id], times, cancelled_.contains(id)};
    };
    for (const WorkloadId id : waiting_) outlook.waiting.push_back(one(id));
    for (const WorkloadId id : submitted_) outlook.submitted.push_back(one(id));
    outlook.timeline = std::move(recorder_).finish(end);
    return outlook;
  }

 private:
  // They are numbered as they come.
  static std::vector<WorkloadId> submitted_by(const State& state, const std::vector<Event>& changes) {
    std::vector<WorkloadId> submitted;
    WorkloadId next = state.workloads().next_id();
    for (const Event& event : changes) {
      const auto* const fact = std::get_if<WorkloadSubmitted>(&event);
      if (fact == nullptr) continue;
      if (fact->step_of.is_none()) submitted.push_back(next);
      next = WorkloadId(next.index() + 1);
    }
    return submitted;
  }

  void note_starts() {
    for (; seen_ < ahead_.begun().size(); ++seen_) {
      const auto found = starts_.find(ahead_.begun()[seen_].workload);
      if (found == starts_.end() || found->second) continue;
      found->second = ahead_.begun()[seen_].at;
      --left_;
    }
  }

  // Nobody waits for who waits no more.
  void note_cancelled(const State& state, const JournalRecord& record) {
    const auto* const event = std::get_if<Event>(&record);
    const auto* const cancelled = event == nullptr ? nullptr : std::get_if<WorkloadCancelled>(event);
    const auto* const waited = event == nullptr ? nullptr : std::get_if<MaxWaitPassed>(event);
    if (cancelled == nullptr && waited == nullptr) return;
    const WorkloadId id = cancelled != nullptr ? cancelled->workload : waited->workload;
    const auto found = starts_.find(id);
    if (found == starts_.end() || found->second) return;
    const Workload* const workload = state.workloads().find(id);
    if (workload != nullptr && workload->phase != Phase::kCancelled) return;
    if (cancelled_.insert(id).second) --left_;
  }

  const std::vector<WorkloadId>& waiting_;
  const std::vector<WorkloadId> submitted_;
  std::map<WorkloadId, std::optional<Time>> starts_;  // of who waits, the first
  std::set<WorkloadId> cancelled_;                    // of these, before it started
  std::size_t left_ = 0;                              // of these, who have neither started nor been cancelled
  std::size_t seen_ = 0;                              // of ahead_.begun()
  TimelineRecorder recorder_;
  RunAhead ahead_;
};

// What follows from who starts when, and from the timeline.
void sum_up(const State& state, const std::vector<std::string>& queues, Time now, Outlook& outlook) {
  outlook.queues.resize(queues.size());
  for (const Outlook::One& one : outlook.waiting) {
    Outlook::OfQueue& queue = outlook.queues[state.workload(one.workload).queue.index()];
    ++queue.waiting;
    queue.cancelled += one.cancelled ? 1 : 0;
    if (!one.starts) continue;
    ++queue.started;
    queue.waited = queue.waited + (*one.starts - now);
    queue.starts_at_once += *one.starts == now ? 1 : 0;
    outlook.starts_at_once += *one.starts == now ? 1 : 0;
  }
  std::map<std::string, std::size_t> by_name;
  for (std::size_t i = 0; i < queues.size(); ++i) by_name[queues[i]] = i;
  for (const Timeline::Row& row : outlook.timeline.rows) {
    outlook.queues[by_name[row.queue]].gpu_milli_ms += gpu_time_held(outlook.timeline, row, {now, now + kShareWindow});
  }
}

// `submitted`: by the changes, in the order of their numbers.
std::vector<WhatIf::Evicted> evicted_in(const Recorded& recorded,
                                        const std::vector<const WorkloadSubmitted*>& submitted, const WhatIf& both) {
  const State& state = recorded.engine.state;
  std::map<WorkloadId, WhatIf::Evicted> evicted;
  for (const auto& [id, each] : both.before.evicted) evicted[id].before = each;
  for (const auto& [id, each] : both.after.evicted) evicted[id].after = each;
  std::vector<WhatIf::Evicted> all;
  const std::size_t known = state.workloads().next_id().index();
  for (auto& [id, each] : evicted) {
    const bool is_new = id.index() >= known;
    const QueueId queue = is_new ? submitted[id.index() - known]->queue : state.workload(id).queue;
    each.who = {is_new ? submitted[id.index() - known]->name : recorded.workloads[id.index()],
                both.queues[queue.index()]};
    all.push_back(std::move(each));
  }
  return all;
}

}  // namespace

Result<Changes> read_changes(const std::string& source, std::string_view text, const Recorded& recorded,
                             std::vector<std::string>& workloads) {
  ScenarioReading reading(source);
  know(reading, recorded);
  const std::size_t known = reading.names.workloads.size();
  for (ScenarioLine& line : lines_of(reading, text)) read_line(reading, line);
  reading.close_drafts();
  if (!reading.complaints.empty()) return reading.complaints;
  for (std::size_t i = known; i < reading.names.workloads.size(); ++i) workloads.push_back(reading.names.workloads[i]);
  Facts facts(reading, recorded);
  for (const Statement& statement : reading.scenario.statements) facts.tell(statement);
  if (!reading.complaints.empty()) return reading.complaints;
  return std::move(facts).take();
}

RunAhead::LengthOfRun drawn_runs(const RunTimes& times, Time now, Seed seed) {
  return [&times, now, seed](const State& state, WorkloadId id) {
    const Workload& workload = state.workload(id);
    const Duration so_far = workload.started < now ? now - workload.started : Duration{0};
    return times.quantile(run_of(state, id), so_far, static_cast<RunQuantile>(Rng(seed, id.value()).next() >> 32));
  };
}

WhatIf what_if(const Recorded& recorded, const Changes& changes, const WhatIfOptions& options) {
  const State& state = recorded.engine.state;
  std::vector<WorkloadId> waiting;
  state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
    const bool waits = workload.phase == Phase::kPending || workload.phase == Phase::kStarting;
    if (waits && workload.step_of.is_none()) waiting.push_back(id);
  });
  const Time now = recorded.now;
  const RunAhead::LengthOfRun run_of = drawn_runs(recorded.run_times, now, options.seed);
  Future as_it_is(recorded, waiting, {}, run_of);
  Future with_changes(recorded, waiting, changes, run_of);
  Time end = now + kShareWindow;
  for (Future* const future : {&as_it_is, &with_changes}) {
    future->go_until_all_have_started(now + options.horizon, options.is_broken_off);
    end = std::max(end, future->now());
  }
  for (Future* const future : {&as_it_is, &with_changes}) future->go_until(end, options.is_broken_off);
  WhatIf both;
  both.before = std::move(as_it_is).outlook(end);
  both.after = std::move(with_changes).outlook(end);
  both.now = now;
  both.running = static_cast<std::int64_t>(state.running());
  both.pending = static_cast<std::int64_t>(state.pending());
  for (const Queue& queue : state.queues()) both.queues.push_back(queue.name);
  std::vector<const WorkloadSubmitted*> all_submitted;
  for (const Event& event : changes.facts) {
    if (const auto* const added = std::get_if<QueueAdded>(&event)) both.queues.push_back(added->queue.name);
    const auto* const submitted = std::get_if<WorkloadSubmitted>(&event);
    if (submitted != nullptr) all_submitted.push_back(submitted);
    if (submitted != nullptr && submitted->step_of.is_none())
      both.submitted.push_back({submitted->name, both.queues[submitted->queue.index()]});
  }
  for (const WorkloadId id : waiting)
    both.waiting.push_back({recorded.workloads[id.index()], state.queues()[state.workload(id).queue.index()].name});
  both.evicted = evicted_in(recorded, all_submitted, both);
  sum_up(state, both.queues, now, both.before);
  sum_up(state, both.queues, now, both.after);
  return both;
}

}  // namespace berth
