// A scenario while it is read: all that the lines above have declared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sim/scenario_line.h"
#include "sim/scenario_moment.h"
#include "sim/scenario_names.h"
#include "sim/scenario_parse.h"
#include "sim/scenario_pod_set.h"

namespace berth::scenario {

// A workload to which pod sets may still be added.
struct WorkloadDraft {
  WorkloadId workload;
  std::size_t statement = 0;
  std::vector<SetDraft> sets;
};

// INVARIANT: `gpu_memory_mib` and `queues` are numbered as their names are.
struct ScenarioReading {
  explicit ScenarioReading(const std::string& file_name) : file(file_name) {}

  template <class What>
  void add(const ScenarioLine& line, What what) {
    scenario.statements.push_back({line.number(), std::move(what)});
  }
  void add_flavor(std::int64_t line, Flavor flavor);
  void add_queue(std::int64_t line, Queue queue);
  void change_queue(const ScenarioLine& line, QueueId id, Queue now);

  std::optional<WorkloadId> take_workload(ScenarioLine& line);
  // A moment to come; at once, and a complaint, if it is none.
  Time moment_of(const ScenarioLine& line, const ScenarioWord& word);

  // From here on nothing is added to the workloads submitted so far.
  void close_drafts();

  const std::string& file;
  Complaints complaints;
  Scenario scenario;
  ScenarioClock clock;
  ScenarioNames names;
  std::vector<std::int64_t> gpu_memory_mib;  // by flavor
  bool begun = false;                        // something stands above that is no configuration
  std::vector<Queue> queues;                 // as they are where the reading stands
  std::vector<WorkloadDraft> drafts;
  std::int64_t pods = 0;
  std::size_t windows = 0;
  std::vector<std::int64_t> dated_windows;  // by line
};

}  // namespace berth::scenario
