// A scenario while it is read: all that the lines above have declared.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
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
  std::string name_space = {};
  std::vector<std::string> groups = {};     // names of the sets after the first
  std::optional<std::size_t> step_of = {};  // of a step: of which set of its workload it is one pod more
  RetryWords retries = {};
};

// INVARIANT: `flavors` and `queues` are numbered as their names are.
struct ScenarioReading {
  explicit ScenarioReading(const std::string& file_name) : file(file_name) {}

  template <class What>
  void add(const ScenarioLine& line, What what, std::optional<Duration> from_now = {}) {
    scenario.statements.push_back({line.number(), std::move(what), from_now});
  }
  void add_flavor(std::int64_t line, Flavor flavor);
  void add_queue(std::int64_t line, Queue queue);
  // The queue of this path, and those above it that no line has declared: they have nothing of their own.
  void declare_queue(const ScenarioLine& line, const std::string& path, Order order, Quota quota);
  void change_queue(const ScenarioLine& line, QueueId id, Queue now);

  std::optional<WorkloadId> take_workload(ScenarioLine& line);
  // A moment to come; at once, and a complaint, if it is none. Where it counts from when the line is carried out, how long
  // after that it is goes into `from_now`.
  Time moment_of(const ScenarioLine& line, const ScenarioWord& word, std::optional<Duration>& from_now);

  // From here on nothing is added to the workloads submitted so far.
  void close_drafts();

  const std::string& file;
  Complaints complaints;
  Scenario scenario;
  ScenarioClock clock;
  ScenarioNames names;
  std::vector<Flavor> flavors;
  bool begun = false;                           // something stands above that is no configuration
  std::vector<Queue> queues;                    // as they are where the reading stands
  std::set<std::string> implied_queues;         // those that only a path below them has named
  std::vector<Circle> circles;                  // as they are where the reading stands
  bool looks_beyond_devices = false;            // some circle keeps strangers further away, somewhere
  std::map<FlavorId, std::int64_t> whole_gpus;  // of nodes that are never shared, so far
  std::vector<WorkloadDraft> drafts;
  std::int64_t pods = 0;
  std::map<WorkloadId, std::int64_t> pods_of;  // with its steps; of those that are submitted here
  std::size_t windows = 0;
  std::map<std::string, std::uint32_t> hours;  // of workloads: the numbers of their windows, by how they are written
  std::map<std::string, std::vector<WorkloadId>> arrays;
  std::map<std::pair<std::string, std::string>, SeriesId> singletons;  // by user and name
  std::size_t series = 0;
};

}  // namespace berth::scenario
