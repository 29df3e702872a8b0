#include "sim/scenario_reading.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/wide.h"
#include "model/replica_ways.h"

namespace berth::scenario {

void ScenarioReading::add_flavor(std::int64_t line, Flavor flavor) {
  names.flavors.add(flavor.name);
  names.gpu_models.push_back(flavor.model);
  flavors.push_back(flavor);
  scenario.statements.push_back({line, FlavorAdded{std::move(flavor)}});
}

void ScenarioReading::add_queue(std::int64_t line, Queue queue) {
  names.queues.add(queue.name);
  queues.push_back(queue);
  scenario.statements.push_back({line, QueueAdded{std::move(queue)}});
}

void ScenarioReading::declare_queue(const ScenarioLine& line, const std::string& path, Order order, Quota quota) {
  if (implied_queues.erase(path) > 0) {
    const QueueId id(*names.queues.find(path));
    Queue now = queues[id.index()];
    now.order = order;
    now.quota = std::move(quota);
    return change_queue(line, id, std::move(now));
  }
  QueueId parent;
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string above = path.substr(0, slash);
    if (!names.queues.contains(above)) {
      add_queue(line.number(), {.name = above, .parent = parent, .order = Order::kFifo});
      implied_queues.insert(above);
    }
    parent = QueueId(*names.queues.find(above));
  }
  add_queue(line.number(), {.name = path, .parent = parent, .order = order, .quota = std::move(quota)});
}

void ScenarioReading::change_queue(const ScenarioLine& line, QueueId id, Queue now) {
  queues[id.index()] = now;
  add(line, Event(QueueChanged{id, std::move(now)}));
}

std::optional<WorkloadId> ScenarioReading::take_workload(ScenarioLine& line) {
  const ScenarioWord* const word = line.take_plain("the name of a workload");
  return word == nullptr ? std::nullopt : names.workload(line, *word, word->value);
}

Time ScenarioReading::moment_of(const ScenarioLine& line, const ScenarioWord& word, std::optional<Duration>& from_now) {
  const Parsed<Time> moment = clock.planned(word.value);
  if (moment && word.value.starts_with('+')) from_now = *moment - clock.now();
  if (moment) return *moment;
  line.complain(word, word.key + ": " + moment.error());
  return {};
}

namespace {

// Of elastic work the core is told how long its minimum alone takes for it. Rounded up, so that what was written is found again.
Duration run_with_minimum(Duration run, const std::vector<SetDraft>& sets, std::int64_t pods) {
  std::int64_t minimum = 0;
  for (const SetDraft& each : sets) minimum += each.count;
  const Wide whole = Wide{run.ms} * pods + minimum - 1;
  return {static_cast<std::int64_t>(std::min<Wide>(whole / minimum, kTimeMax.ms))};
}

}  // namespace

void ScenarioReading::close_drafts() {
  std::map<WorkloadId, const WorkloadSubmitted*> all;
  for (const WorkloadDraft& draft : drafts) {
    std::vector<TolerationLengths>& lengths = scenario.toleration_lengths[draft.workload];
    for (const SetDraft& set : draft.sets) lengths.push_back(set.toleration_lengths);
    Statement& statement = scenario.statements[draft.statement];
    auto& submitted = std::get<WorkloadSubmitted>(std::get<Event>(statement.action));
    WorkloadShape& shape = submitted.shape;
    if (draft.step_of) {
      const WorkloadSubmitted* const minimum = all.at(submitted.step_of);
      // One pod more of its set, in each of the ways.
      for (const PodSets& way : minimum->shape.ways) {
        shape.ways.push_back({way[*draft.step_of]});
        shape.ways.back().front().count = 1;
      }
      submitted.on_failure = minimum->on_failure;
      if (submitted.on_failure) submitted.on_failure->sets = {submitted.on_failure->sets[*draft.step_of]};
      continue;
    }
    all.emplace(draft.workload, &submitted);
    const auto size = scenario.sizes.find(draft.workload);
    if (size != scenario.sizes.end() && submitted.declared_run != kRunNotDeclared)
      submitted.declared_run = run_with_minimum(submitted.declared_run, draft.sets, size->second);
    submitted.on_failure = failure_policy_of(draft.retries, draft.sets);
    if (set_with_a_choice_of_its_own(draft.sets) != nullptr) {
      complaints.add(
          {file, statement.line, 1},
          "a pod set may take several flavors, but not all that the first set with GPUs may; give it one flavor, "
          "the same ones, or, unless it asks slices, mixed=yes");
      continue;
    }
    shape.ways = shape_of(*this, draft.sets).ways;
    if (shape.terms.best_effort) offer_extra(shape);
    add_replica_ways(shape);
  }
  drafts.clear();
}

}  // namespace berth::scenario
