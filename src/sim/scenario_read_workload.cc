#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/wording.h"
#include "sim/scenario_neighbours.h"
#include "sim/scenario_pod_set.h"
#include "sim/scenario_statements.h"
#include "sim/scenario_values.h"

namespace berth::scenario {
namespace {

// Words that have a meaning of their own after `expect` or in a list of workloads.
constexpr std::string_view kReservedNames[] = {"none", "usage",  "fragments", "share", "borrowed",
                                               "lent", "device", "mig",       "budget"};

constexpr std::string_view kSubmitKeys[] = {
    "queue",    "pods",   "min",         "gpus",         "gpu_memory", "cpu",         "memory",  "flavor",
    "mixed",    "run",    "priority",    "preempts",     "guaranteed", "coverage",    "grace",   "pdb",
    "limit",    "user",   "begin",       "after",        "after_ok",   "namespace",   "select",  "tolerate",
    "topology", "slice",  "prefer",      "spread",       "strategy",   "latency",     "movable", "labels",
    "near",     "apart",  "rather_near", "rather_apart", "even",       "rather_even", "ports",   "parallel",
    "max",      "resize", "replaces"};
constexpr std::string_view kSetWorkloadKeys[] = {"priority", "queue"};
constexpr std::string_view kGroupKeys[] = {
    "pods",   "min",      "gpus",        "gpu_memory",   "cpu",    "memory",      "flavor",   "mixed",
    "select", "tolerate", "topology",    "slice",        "prefer", "spread",      "strategy", "labels",
    "near",   "apart",    "rather_near", "rather_apart", "even",   "rather_even", "ports",    "parallel"};

Terms take_terms(ScenarioLine& line) {
  Terms terms;
  terms.priority = static_cast<std::int32_t>(line.integer(line.take("priority"), -kPriorityMax, kPriorityMax, 0));
  terms.preempts = !takes_the_word(line, "preempts", "never");
  terms.guaranteed_only = takes_the_word(line, "guaranteed", "only");
  terms.best_effort = takes_the_word(line, "coverage", "best-effort");
  terms.latency_critical = takes_the_word(line, "latency", "critical");
  terms.movable = takes_yes(line, "movable");
  terms.resizes_live = takes_the_word(line, "resize", "live");
  terms.replaces = takes_yes(line, "replaces");
  if (terms.best_effort && terms.guaranteed_only) {
    line.complain("guaranteed=only insists on a floor, and best effort is inside none; write one of the two");
  }
  terms.grace = take_duration(line, "grace", terms.grace);
  terms.run_limit = take_length_of_run(line, "limit");
  if (const ScenarioWord* const word = line.take("pdb")) {
    std::string_view percent = word->value;
    const bool well_formed = percent.ends_with('%');
    if (well_formed) percent.remove_suffix(1);
    const auto value = parse_integer(percent, 0, 100);
    if (!well_formed || !value) {
      line.complain(*word, "pdb: " + quote(word->value) + " is no part of its pods; write one such as 50%");
    } else {
      terms.disruption_permille = static_cast<std::int32_t>(*value * 10);
    }
  }
  return terms;
}

void take_dependencies(ScenarioReading& reading, ScenarioLine& line, const std::string& key, bool only_if_done,
                       std::vector<Dependency>& after) {
  const ScenarioWord* const word = line.take(key);
  if (word == nullptr) return;
  for (const std::string& name : line.list(*word)) {
    if (const auto other = reading.names.workload(line, *word, name)) after.push_back({*other, only_if_done});
  }
}

QueueId take_queue(ScenarioReading& reading, ScenarioLine& line) {
  if (const ScenarioWord* const word = line.take("queue")) return reading.names.queue(line, *word).value_or(QueueId());
  if (reading.names.queues.size() == 1) return QueueId(0);
  line.complain(reading.names.queues.size() == 0 ? "no queue is declared yet; write queue lines above"
                                                 : "there are several queues; write queue=" + reading.names.queues[0]);
  return {};
}

// Each pod above the minimum is submitted below it, as one that runs beside it.
void submit_steps(ScenarioReading& reading, const ScenarioLine& line, WorkloadSubmitted step, SetDraft set) {
  const std::string of = std::move(step.name);
  step.step_of = WorkloadId(reading.names.workloads.size() - 1);
  step.declared_run = kRunNotDeclared;
  step.not_before = {};
  step.after.clear();
  step.shape.terms.movable = false;
  // Of a scenario with too many pods nothing is run.
  const std::int64_t steps = reading.pods > kScenarioPodsMax ? 0 : set.steps;
  set.steps = 0;
  set.count = 1;
  for (std::int64_t number = 1; number <= steps; ++number) {
    step.name = of + "+" + std::to_string(number);
    reading.drafts.push_back({WorkloadId(reading.names.workloads.size()), reading.scenario.statements.size(), {set}});
    reading.pods_of[WorkloadId(reading.names.workloads.size())] = 1;
    reading.names.workloads.add(step.name);
    reading.add(line, Event(step));
  }
}

}  // namespace

void read_submit(ScenarioReading& reading, ScenarioLine& line) {
  const ScenarioWord* const name = line.take_plain("submit w gpus=8");
  WorkloadSubmitted submitted{.name = {}, .queue = take_queue(reading, line), .at = reading.clock.now(), .shape = {}};
  submitted.declared_run = take_length_of_run(line, "run").value_or(kRunNotDeclared);
  submitted.shape.terms = take_terms(line);
  // Who names no user is told apart by its namespace (rule 32).
  std::string name_space = "default";
  if (const ScenarioWord* const space = line.take("namespace")) name_space = submitted.user = space->value;
  if (const ScenarioWord* const user = line.take("user")) submitted.user = user->value;
  std::optional<Duration> from_now;
  if (const ScenarioWord* const begin = line.take("begin")) {
    submitted.not_before = reading.moment_of(line, *begin, from_now);
  }
  take_dependencies(reading, line, "after", false, submitted.after);
  take_dependencies(reading, line, "after_ok", true, submitted.after);
  SetDraft set = take_set(reading, line);
  set.neighbours = in_namespace(std::move(set.neighbours), name_space);
  line.finish(kSubmitKeys);
  if (name == nullptr || !line.is_name(*name)) return;
  const bool reserved =
      std::find(std::begin(kReservedNames), std::end(kReservedNames), name->value) != std::end(kReservedNames);
  if (reserved) {
    return line.complain(*name, quote(name->value) + " has a meaning of its own after expect; choose another name");
  }
  if (!reading.names.workloads.is_new(line, *name, name->value) ||
      !reading.names.reservations.is_new(line, *name, name->value)) {
    return;
  }
  for (std::int64_t number = 1; number <= set.steps; ++number) {
    if (!reading.names.workloads.is_new(line, *name, name->value + "+" + std::to_string(number))) return;
  }
  const WorkloadId workload(reading.names.workloads.size());
  reading.names.workloads.add(name->value);
  submitted.name = name->value;
  reading.drafts.push_back({workload, reading.scenario.statements.size(), {set}, name_space});
  if (set.steps > 0) reading.scenario.sizes[workload] = set.pods;
  reading.pods_of[workload] = set.count + set.steps;
  reading.add(line, Event(submitted), from_now);
  submit_steps(reading, line, std::move(submitted), set);
}

void read_group(ScenarioReading& reading, ScenarioLine& line) {
  const ScenarioWord* const name = line.take_plain("group w workers pods=2 gpus=8");
  const ScenarioWord* const set_name =
      name == nullptr ? nullptr : line.take_plain("a name for the pods, as in group w workers");
  SetDraft set = take_set(reading, line);
  line.finish(kGroupKeys);
  if (set_name == nullptr || !line.is_name(*set_name)) return;
  const auto workload = reading.names.workload(line, *name, name->value);
  if (!workload) return;
  const auto draft = std::find_if(reading.drafts.begin(), reading.drafts.end(),
                                  [&](const WorkloadDraft& each) { return each.workload == *workload; });
  if (draft == reading.drafts.end()) {
    return line.complain(*name, quote(name->value) + " is submitted already; write group lines right below its submit");
  }
  const Statement& statement = reading.scenario.statements[draft->statement];
  const bool is_step = !std::get<WorkloadSubmitted>(std::get<Event>(statement.action)).step_of.is_none();
  if (is_step || set.steps > 0 || draft->sets.front().steps > 0) {
    return line.complain(
        "min= and max= are of workloads whose pods are all of one kind: one that comes, or stands in for another, is "
        "like all of them; write group lines with pods= alone, or the pods that come and go as a workload of their "
        "own");
  }
  if (std::ranges::find(draft->groups, set_name->value) != draft->groups.end()) {
    return line.complain(*set_name, "group " + quote(set_name->value) + " of " + quote(name->value) +
                                        " stands above already; choose another name");
  }
  draft->groups.push_back(set_name->value);
  set.neighbours = in_namespace(std::move(set.neighbours), draft->name_space);
  reading.pods_of[*workload] += set.count;
  draft->sets.push_back(set);
}

void read_end(ScenarioReading& reading, ScenarioLine& line) {
  reading.close_drafts();
  if (const auto workload = reading.take_workload(line)) reading.add(line, EndWorkload{*workload});
  line.finish({});
}
void read_cancel(ScenarioReading& reading, ScenarioLine& line) {
  reading.close_drafts();
  const ScenarioWord* const word = line.take_plain("the name of a workload or a reservation");
  const auto reserved = word == nullptr ? std::nullopt : reading.names.reservations.find(word->value);
  if (reserved) {
    reading.add(line, CancelReservation{ReservationId(*reserved)});
  } else if (const auto workload = word == nullptr ? std::nullopt : reading.names.workload(line, *word, word->value)) {
    reading.add(line, CancelWorkload{*workload});
  }
  line.finish({});
}
void read_checkpoint(ScenarioReading& reading, ScenarioLine& line) {
  reading.close_drafts();
  if (const auto workload = reading.take_workload(line)) reading.add(line, ReportCheckpoint{*workload});
  line.finish({});
}

void set_workload(ScenarioReading& reading, ScenarioLine& line) {
  reading.close_drafts();
  const auto workload = reading.take_workload(line);
  SetWorkload change{.workload = workload.value_or(WorkloadId()), .priority = {}, .queue = {}};
  if (const ScenarioWord* const word = line.take("priority")) {
    change.priority = static_cast<std::int32_t>(line.integer(word, -kPriorityMax, kPriorityMax, 0));
  }
  if (const ScenarioWord* const word = line.take("queue")) change.queue = reading.names.queue(line, *word);
  if (names_none_of(line, kSetWorkloadKeys)) line.complain("nothing is set; write priority=200 or queue=other");
  line.finish(kSetWorkloadKeys);
  if (workload) reading.add(line, change);
}

}  // namespace berth::scenario
