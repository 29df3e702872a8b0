#include "sim/what_if.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "base/wording.h"
#include "sim/run_ahead.h"
#include "sim/scenario_statements.h"
#include "sim/timeline_recorder.h"

namespace berth {
namespace {

using namespace scenario;

// Of several of one name the last is meant.
void add_names(NameTable& table, const std::vector<std::string>& names) {
  std::map<std::string, std::size_t> last;
  for (std::size_t i = 0; i < names.size(); ++i) last[names[i]] = i;
  for (std::size_t i = 0; i < names.size(); ++i) {
    table.add(last[names[i]] == i ? names[i] : names[i] + "#" + std::to_string(i));
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
  for (std::size_t i = 0; i < state.nodes(); ++i) nodes.push_back(state.node(NodeId(i)).name);
  add_names(reading.names.nodes, nodes);
  add_names(reading.names.workloads, recorded.workloads);
  reading.begun = true;
  reading.clock.advance_to(recorded.now);
}

// The last that is named, if any is.
std::optional<PlacementPolicy> policy_in(const std::vector<Statement>& statements) {
  std::optional<PlacementPolicy> policy;
  for (const Statement& statement : statements) {
    const auto* const event = std::get_if<Event>(&statement.action);
    const auto* const configured = event == nullptr ? nullptr : std::get_if<RunConfigured>(event);
    if (configured != nullptr) policy = configured->policy;
  }
  return policy;
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

// The facts that a statement stands for.
class Facts {
 public:
  Facts(const NameTable& nodes, Time now) : nodes_(nodes), now_(now) {}

  void add(const Action& action) {
    if (const auto* const event = std::get_if<Event>(&action)) return add(*event);
    if (const auto* const node = std::get_if<ChangeNode>(&action)) return add(*node);
    if (const auto* const end = std::get_if<EndWorkload>(&action))
      return facts_.push_back(WorkloadEnded{end->workload});
    if (const auto* const cancel = std::get_if<CancelWorkload>(&action)) {
      return facts_.push_back(WorkloadCancelled{cancel->workload});
    }
    if (const auto* const fail = std::get_if<FailPod>(&action))
      return facts_.push_back(PodFailed{fail->workload, fail->pod});
    if (const auto* const set = std::get_if<SetWorkload>(&action)) {
      if (set->priority) facts_.push_back(WorkloadPrioritized{set->workload, *set->priority});
      if (set->queue) facts_.push_back(WorkloadMoved{set->workload, *set->queue});
    }
  }

  std::vector<Event> take() && { return std::move(facts_); }

 private:
  void add(Event event) {
    if (auto* const submitted = std::get_if<WorkloadSubmitted>(&event)) submitted->at = now_;
    facts_.push_back(std::move(event));
  }
  void add(const ChangeNode& change) {
    const NodeId node(*nodes_.find(change.node));
    if (change.change == NodeChange::kDrain) {
      facts_.push_back(NodeDrained{node});
    } else if (change.change == NodeChange::kRestore) {
      facts_.push_back(NodeRestored{node});
    } else {
      facts_.push_back(NodeFailed{node});
    }
  }

  const NameTable& nodes_;
  const Time now_;
  std::vector<Event> facts_;
};

class Future {
 public:
  Future(const Recorded& recorded, const std::vector<WorkloadId>& waiting, const Changes& changes,
         RunAhead::LengthOfRun run_of)
      : waiting_(waiting),
        submitted_(submitted_by(recorded.engine.state, changes.facts)),
        ahead_(recorded.engine.state, recorded.now, std::move(run_of),
               [this](const State& state, const JournalRecord& record) { recorder_.take(state, record); }) {
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
    std::map<WorkloadId, std::int64_t> evictions;
    for (const RunAhead::Stopped& stopped : ahead_.stopped()) {
      ++outlook.evictions;
      ++evictions[stopped.workload];
      outlook.lost_gpu_s += stopped.lost_gpu_s;
    }
    for (const WorkloadId id : waiting_) outlook.waiting.push_back({id, starts_[id], evictions[id]});
    for (const WorkloadId id : submitted_) outlook.submitted.push_back({id, starts_[id], evictions[id]});
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

  const std::vector<WorkloadId>& waiting_;
  const std::vector<WorkloadId> submitted_;
  TimelineRecorder recorder_;
  RunAhead ahead_;
  std::map<WorkloadId, std::optional<Time>> starts_;  // of who waits, the first
  std::size_t seen_ = 0;                              // of ahead_.begun()
  std::size_t left_ = 0;
};

// What follows from who starts when, and from the timeline.
void sum_up(const State& state, const std::vector<std::string>& queues, Time now, Outlook& outlook) {
  outlook.queues.resize(queues.size());
  for (const Outlook::One& one : outlook.waiting) {
    Outlook::OfQueue& queue = outlook.queues[state.workload(one.workload).queue.index()];
    ++queue.waiting;
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
  State fork = recorded.engine.state.fork();
  Changes changes{.facts = {}, .policy = policy_in(reading.scenario.statements)};
  for (const Statement& statement : reading.scenario.statements) {
    const auto* const told = std::get_if<Event>(&statement.action);
    if (told != nullptr && std::holds_alternative<RunConfigured>(*told)) {
      if (needs_typical_pods(*changes.policy) && fork.typical_pods().empty()) {
        reading.complaints.add({source, statement.line}, quote(name_of(*changes.policy)) +
                                                             " measures by typical pods, and this cluster knows none; "
                                                             "write best-fit, or another that needs none");
      }
      continue;
    }
    Facts of_line(reading.names.nodes, recorded.now);
    of_line.add(statement.action);
    for (Event& event : std::move(of_line).take()) {
      if (auto refusal = fork.refusal(event)) {
        reading.complaints.add({source, statement.line}, "makes no sense there: " + *refusal);
        continue;
      }
      fork.apply(event);
      changes.facts.push_back(std::move(event));
    }
  }
  if (!reading.complaints.empty()) return reading.complaints;
  return changes;
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
  for (const Event& event : changes.facts) {
    if (const auto* const added = std::get_if<QueueAdded>(&event)) both.queues.push_back(added->queue.name);
    const auto* const submitted = std::get_if<WorkloadSubmitted>(&event);
    if (submitted != nullptr && submitted->step_of.is_none())
      both.submitted.push_back({submitted->name, both.queues[submitted->queue.index()]});
  }
  for (const WorkloadId id : waiting)
    both.waiting.push_back({recorded.workloads[id.index()], state.queues()[state.workload(id).queue.index()].name});
  sum_up(state, both.queues, now, both.before);
  sum_up(state, both.queues, now, both.after);
  return both;
}

}  // namespace berth
