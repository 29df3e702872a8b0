#include <algorithm>
#include <cstdint>
#include <iterator>
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
    "queue",    "pods",    "min",         "gpus",         "gpu_memory", "cpu",         "memory",      "flavor",
    "mixed",    "run",     "priority",    "preempts",     "guaranteed", "coverage",    "grace",       "pdb",
    "limit",    "user",    "begin",       "after",        "after_ok",   "namespace",   "select",      "tolerate",
    "topology", "slice",   "prefer",      "spread",       "strategy",   "latency",     "movable",     "labels",
    "near",     "apart",   "rather_near", "rather_apart", "even",       "rather_even", "ports",       "parallel",
    "max",      "resize",  "array",       "at_most",      "singleton",  "after_any",   "after_start", "max_wait",
    "then",     "only",    "days",        "zone",         "replaces",   "on_fail",     "on_evict",    "on_exit",
    "on_end",   "retries", "retry_after", "never_ready",  "exclusive",  "image"};
constexpr std::string_view kSetWorkloadKeys[] = {"priority", "queue"};
constexpr std::string_view kGroupKeys[] = {
    "pods",    "min",      "gpus",        "gpu_memory",   "cpu",       "memory",      "flavor",   "mixed",
    "select",  "tolerate", "topology",    "slice",        "prefer",    "spread",      "strategy", "labels",
    "near",    "apart",    "rather_near", "rather_apart", "even",      "rather_even", "ports",    "parallel",
    "on_fail", "on_evict", "on_exit",     "on_end",       "exclusive", "image"};

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

// Of an array all.
void take_dependencies(ScenarioReading& reading, ScenarioLine& line, const std::string& key, DependsOn what,
                       std::vector<Dependency>& after) {
  const ScenarioWord* const word = line.take(key);
  if (word == nullptr) return;
  for (const std::string& name : line.list(*word)) {
    if (const auto array = reading.arrays.find(name); array != reading.arrays.end()) {
      for (const WorkloadId each : array->second) after.push_back({each, what});
    } else if (const auto other = reading.names.workload(line, *word, name)) {
      after.push_back({*other, what});
    }
  }
}

constexpr std::int64_t kArrayMax = 1'000;

// How many are submitted at once as w.1, w.2 and so on; 0: one, as w.
std::int64_t take_array(ScenarioReading& reading, ScenarioLine& line, WorkloadSubmitted& submitted) {
  const ScenarioWord* const array = line.take("array");
  const ScenarioWord* const at_most = line.take("at_most");
  const ScenarioWord* const singleton = line.take("singleton");
  if (at_most != nullptr && array == nullptr) {
    line.complain(*at_most, "at_most= is of an array; write array=10 at_most=3, or singleton=name for one at a time");
  }
  if (singleton != nullptr && array != nullptr) {
    line.complain(*singleton, "an array with singleton= is one of which one runs at a time; write at_most=1");
  } else if (singleton != nullptr) {
    const auto [known, is_new] = reading.singletons.try_emplace({submitted.user, singleton->value}, reading.series);
    if (is_new) ++reading.series;
    submitted.series = known->second;
  }
  const std::int64_t size = line.integer(array, 1, kArrayMax, 0);
  if (at_most != nullptr && array != nullptr) {
    submitted.at_most = static_cast<std::int32_t>(line.integer(at_most, 1, kArrayMax, 1));
    submitted.series = SeriesId(reading.series++);
  }
  return size;
}

// How long it waits at most, and what then.
std::optional<MaxWait> take_max_wait(ScenarioLine& line, const Terms& terms) {
  const bool is_said = line.find("max_wait") != nullptr;
  const auto length = take_length_of_run(line, "max_wait");
  const ScenarioWord* const then = line.take("then");
  if (!length) {
    if (then != nullptr && !is_said)
      line.complain(*then, "then= says what becomes of it after max_wait=; write max_wait=2h");
    return std::nullopt;
  }
  if (then == nullptr) {
    line.complain(
        "max_wait= says how long it waits, and not what then; write then=cancel, then=best-effort or then=raise:100");
    return std::nullopt;
  }
  if (then->value == kAfterWaitNames[0]) return MaxWait{*length};
  if (then->value == kAfterWaitNames[1]) {
    if (terms.guaranteed_only)
      line.complain(*then, "guaranteed=only insists on a floor, and best effort is inside none");
    return MaxWait{*length, AfterWait::kBestEffort};
  }
  constexpr std::string_view kRaise = "raise:";
  const std::string_view value = then->value;
  const auto by = value.starts_with(kRaise) ? parse_integer(value.substr(kRaise.size()), 1, kPriorityMax)
                                            : std::unexpected(std::string());
  if (by) return MaxWait{*length, AfterWait::kRaise, static_cast<std::int32_t>(*by)};
  line.complain(*then,
                quote(then->value) + " is nothing that is done after a wait; write cancel, best-effort or raise:100");
  return std::nullopt;
}

// The window of the calendar that is its hours; one for all who write the same.
std::optional<std::uint32_t> take_hours(ScenarioReading& reading, ScenarioLine& line) {
  const ScenarioWord* const only = line.take("only");
  const ScenarioWord* const days = line.take("days");
  const ScenarioWord* const zone = line.take("zone");
  if (only == nullptr) {
    for (const ScenarioWord* const word : {days, zone}) {
      if (word != nullptr) line.complain(*word, "days= and zone= are of hours; write only=20:00-08:00 beside");
    }
    return std::nullopt;
  }
  const std::string on_days = days == nullptr ? "daily" : days->value;
  const std::string in_zone = zone == nullptr ? std::string(WindowTimes::kUtc) : zone->value;
  const std::string as_written = on_days + " " + only->value + " " + in_zone;
  if (const auto known = reading.hours.find(as_written); known != reading.hours.end()) return known->second;
  const Parsed<WindowTimes> times = WindowTimes::read(on_days, only->value, in_zone);
  if (!times) {
    line.complain(zone != nullptr && times.error().starts_with("zone") ? *zone : *only, times.error());
    return std::nullopt;
  }
  const auto number = static_cast<std::uint32_t>(reading.windows);
  if (++reading.windows > kWindowsMax) {
    line.complain("more than 64 windows and hours in one scenario; take fewer");
    return std::nullopt;
  }
  reading.hours.emplace(as_written, number);
  reading.add(line, DeclareWindow{.window = {}, .times = *times});
  return number;
}

QueueId take_queue(ScenarioReading& reading, ScenarioLine& line) {
  if (const ScenarioWord* const word = line.take("queue")) return reading.names.queue(line, *word).value_or(QueueId());
  if (reading.names.queues.size() == 1) return QueueId(0);
  line.complain(reading.names.queues.size() == 0 ? "no queue is declared yet; write queue lines above"
                                                 : "there are several queues; write queue=" + reading.names.queues[0]);
  return {};
}

// Each pod above the minimum is submitted below it, as one that runs beside it. `before`: so many are there of other pod sets.
void submit_steps(ScenarioReading& reading, const ScenarioLine& line, WorkloadId minimum, WorkloadSubmitted step,
                  std::size_t set_index, SetDraft set, std::int64_t before) {
  const std::string of = std::move(step.name);
  step.step_of = minimum;
  step.declared_run = kRunNotDeclared;
  step.not_before = {};
  step.after.clear();
  step.series = {};
  step.max_wait.reset();
  step.shape.terms.movable = false;
  // Of a scenario with too many pods nothing is run.
  const std::int64_t steps = reading.pods > kScenarioPodsMax ? 0 : set.steps;
  set.steps = 0;
  set.count = 1;
  for (std::int64_t number = before + 1; number <= before + steps; ++number) {
    step.name = of + "+" + std::to_string(number);
    WorkloadDraft& draft = reading.drafts.emplace_back(WorkloadId(reading.names.workloads.size()),
                                                       reading.scenario.statements.size(), std::vector{set});
    draft.step_of = set_index;
    reading.pods_of[WorkloadId(reading.names.workloads.size())] = 1;
    reading.names.workloads.add(step.name);
    reading.add(line, Event(step));
  }
}

bool are_new_steps(const ScenarioReading& reading, const ScenarioLine& line, const ScenarioWord& word,
                   const std::string& name, std::int64_t steps, std::int64_t before = 0) {
  for (std::int64_t number = before + 1; number <= before + steps; ++number) {
    if (!reading.names.workloads.is_new(line, word, name + "+" + std::to_string(number))) return false;
  }
  return true;
}

// By how many pods the run time of an elastic workload is meant.
void note_size(ScenarioReading& reading, const WorkloadDraft& draft) {
  if (std::ranges::none_of(draft.sets, [](const SetDraft& each) { return each.steps > 0; })) return;
  std::int64_t pods = 0;
  for (const SetDraft& each : draft.sets) pods += each.pods;
  reading.scenario.sizes[draft.workload] = pods;
}

// Names of workloads, each with those of its steps.
bool are_new(const ScenarioReading& reading, const ScenarioLine& line, const ScenarioWord& word,
             const std::vector<std::string>& names, std::int64_t steps) {
  const ScenarioNames& known = reading.names;
  if (reading.arrays.contains(word.value)) {
    line.complain(word, "there is an array " + quote(word.value) + " already; choose another name");
    return false;
  }
  for (const std::string& name : names) {
    if (!known.workloads.is_new(line, word, name) || !known.reservations.is_new(line, word, name)) return false;
    if (!are_new_steps(reading, line, word, name, steps)) return false;
  }
  // What is called as the array is, is asked for where the array is meant.
  return known.workloads.is_new(line, word, word.value) && known.reservations.is_new(line, word, word.value);
}

// With its steps.
void submit_one(ScenarioReading& reading, const ScenarioLine& line, const WorkloadSubmitted& submitted,
                const SetDraft& set, const std::string& name_space, const RetryWords& retries,
                std::optional<Duration> from_now) {
  const WorkloadId workload(reading.names.workloads.size());
  reading.names.workloads.add(submitted.name);
  reading.drafts.push_back({workload, reading.scenario.statements.size(), sets_of(set), name_space});
  reading.drafts.back().retries = retries;
  note_size(reading, reading.drafts.back());
  reading.pods_of[workload] = set.count + set.steps;
  reading.add(line, Event(submitted), from_now);
  submit_steps(reading, line, workload, submitted, 0, set, 0);
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
  take_dependencies(reading, line, "after", DependsOn::kEnd, submitted.after);
  take_dependencies(reading, line, "after_any", DependsOn::kEnd, submitted.after);
  take_dependencies(reading, line, "after_ok", DependsOn::kDone, submitted.after);
  take_dependencies(reading, line, "after_start", DependsOn::kBegin, submitted.after);
  submitted.max_wait = take_max_wait(line, submitted.shape.terms);
  submitted.shape.terms.hours = take_hours(reading, line);
  const std::int64_t array = take_array(reading, line, submitted);
  const RetryWords retries = take_retry_words(line);
  SetDraft set = take_set(reading, line);
  set.neighbours = in_namespace(std::move(set.neighbours), name_space);
  line.finish(kSubmitKeys);
  if (name == nullptr || !line.is_name(*name)) return;
  const bool reserved =
      std::find(std::begin(kReservedNames), std::end(kReservedNames), name->value) != std::end(kReservedNames);
  if (reserved) {
    return line.complain(*name, quote(name->value) + " has a meaning of its own after expect; choose another name");
  }
  std::vector<std::string> names = {name->value};
  if (array > 0) names.clear();
  for (std::int64_t number = 1; number <= array; ++number) names.push_back(name->value + "." + std::to_string(number));
  if (!are_new(reading, line, *name, names, set.steps)) return;
  for (const std::string& each : names) {
    submitted.name = each;
    if (array > 0) reading.arrays[name->value].emplace_back(reading.names.workloads.size());
    submit_one(reading, line, submitted, set, name_space, retries, from_now);
  }
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
  const auto submitted =
      std::get<WorkloadSubmitted>(std::get<Event>(reading.scenario.statements[draft->statement].action));
  if (draft->step_of) {
    return line.complain(*name, quote(name->value) + " is one pod of another workload; write group lines for that one");
  }
  if (std::ranges::find(draft->groups, set_name->value) != draft->groups.end()) {
    return line.complain(*set_name, "group " + quote(set_name->value) + " of " + quote(name->value) +
                                        " stands above already; choose another name");
  }
  draft->groups.push_back(set_name->value);
  set.neighbours = in_namespace(std::move(set.neighbours), draft->name_space);
  std::int64_t before = 0;  // pods above their minimum, of the others
  for (const SetDraft& each : draft->sets) before += each.steps;
  if (!are_new_steps(reading, line, *name, name->value, set.steps, before)) return;
  reading.pods_of[*workload] += set.count + set.steps;
  std::ranges::move(sets_of(set), std::back_inserter(draft->sets));
  note_size(reading, *draft);
  const std::size_t set_index = draft->sets.size() - 1;
  submit_steps(reading, line, *workload, submitted, set_index, set, before);
}

std::optional<PodOfWorkload> read_pod(const ScenarioReading& reading, const ScenarioLine& line,
                                      const ScenarioWord& word, const std::string& form) {
  const std::size_t slash = word.value.rfind('/');  // names of live clusters have some, too
  const auto number = slash == std::string::npos
                          ? std::nullopt
                          : std::optional(parse_integer(word.value.substr(slash + 1), 0, kScenarioPodsMax - 1));
  if (!number || !*number) {
    line.complain(word, quote(word.value) + " is no pod; write " + form + ", from 0");
    return std::nullopt;
  }
  const auto workload = reading.names.workload(line, word, word.value.substr(0, slash));
  if (!workload) return std::nullopt;
  const auto pods = reading.pods_of.find(*workload);
  if (pods != reading.pods_of.end() && **number >= pods->second) {
    const std::string first = word.value.substr(0, slash) + "/0";
    const std::string last = word.value.substr(0, slash) + "/" + std::to_string(pods->second - 1);
    line.complain(word, quote(word.value) + " is no pod of it; write " +
                            (pods->second == 1 ? first + ", its only one" : first + " to " + last));
    return std::nullopt;
  }
  return PodOfWorkload{*workload, static_cast<std::uint32_t>(**number)};
}

// Of a workload, or of one of its pods.
void read_end(ScenarioReading& reading, ScenarioLine& line) {
  reading.close_drafts();
  const ScenarioWord* const word = line.take_plain("the name of a workload, or pod w/3");
  const ScenarioWord* const named = word != nullptr && word->value == "pod" ? line.take_plain() : nullptr;
  if (named != nullptr) {
    const auto pod = read_pod(reading, line, *named, "end pod w/3");
    if (pod) reading.add(line, EndPod{pod->workload, pod->number});
  } else if (const auto workload = word == nullptr ? std::nullopt : reading.names.workload(line, *word, word->value)) {
    reading.add(line, EndWorkload{*workload});
  }
  line.finish({});
}
void read_cancel(ScenarioReading& reading, ScenarioLine& line) {
  reading.close_drafts();
  const ScenarioWord* const word = line.take_plain("the name of a workload or a reservation");
  const auto reserved = word == nullptr ? std::nullopt : reading.names.reservations.find(word->value);
  if (reserved) {
    reading.add(line, CancelReservation{ReservationId(*reserved)});
  } else if (const auto array = word == nullptr ? reading.arrays.end() : reading.arrays.find(word->value);
             array != reading.arrays.end()) {
    for (const WorkloadId each : array->second) reading.add(line, CancelWorkload{each});
  } else if (const auto workload = word == nullptr ? std::nullopt : reading.names.workload(line, *word, word->value)) {
    reading.add(line, CancelWorkload{*workload});
  }
  line.finish({});
}
void read_ready(ScenarioReading& reading, ScenarioLine& line) {
  reading.close_drafts();
  if (const auto workload = reading.take_workload(line)) reading.add(line, ReportReady{*workload});
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
