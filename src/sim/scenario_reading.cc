#include "sim/scenario_reading.h"

#include <variant>

namespace berth::scenario {

void ScenarioReading::add_flavor(std::int64_t line, Flavor flavor) {
  names.flavors.add(flavor.name);
  gpu_memory_mib.push_back(flavor.memory_mib);
  scenario.statements.push_back({line, FlavorAdded{std::move(flavor)}});
}

void ScenarioReading::add_queue(std::int64_t line, Queue queue) {
  names.queues.add(queue.name);
  queues.push_back(queue);
  scenario.statements.push_back({line, QueueAdded{std::move(queue)}});
}

void ScenarioReading::change_queue(const ScenarioLine& line, QueueId id, Queue now) {
  queues[id.index()] = now;
  add(line, Event(QueueChanged{id, std::move(now)}));
}

std::optional<WorkloadId> ScenarioReading::take_workload(ScenarioLine& line) {
  const ScenarioWord* const word = line.take_plain("the name of a workload");
  return word == nullptr ? std::nullopt : names.workload(line, *word, word->value);
}

Time ScenarioReading::moment_of(const ScenarioLine& line, const ScenarioWord& word) {
  if (clock.may_be_later() && word.value.starts_with('+')) {
    line.complain(word,
                  word.key + ": how late it is after a 'settle' shows only when it is run; write a moment like 08:00");
    return {};
  }
  const Parsed<Time> moment = clock.later(word.value);
  if (moment) return *moment;
  line.complain(word, word.key + ": " + moment.error());
  return {};
}

void ScenarioReading::close_drafts() {
  for (const WorkloadDraft& draft : drafts) {
    Statement& statement = scenario.statements[draft.statement];
    if (set_with_a_choice_of_its_own(draft.sets) != nullptr) {
      complaints.add(
          {file, statement.line, 1},
          "a pod set may take several flavors, but not all that the first set with GPUs may; give it one flavor, "
          "the same ones, or mixed=yes");
      continue;
    }
    auto& event = std::get<Event>(statement.action);
    std::get<WorkloadSubmitted>(event).shape.ways = shape_of(draft.sets).ways;
  }
  drafts.clear();
}

}  // namespace berth::scenario
