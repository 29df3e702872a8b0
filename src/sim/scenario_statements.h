// How each statement of a scenario is read: `line` begins with its word, and what it says goes into `reading`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario_line.h"
#include "sim/scenario_reading.h"

namespace berth::scenario {

// The lines of a text that say something: 10,000 at most.
std::vector<ScenarioLine> lines_of(ScenarioReading& reading, std::string_view text);

// sim/scenario_read_cluster.cc: flavors and nodes.
void read_flavor(ScenarioReading& reading, ScenarioLine& line);
void read_nodes(ScenarioReading& reading, ScenarioLine& line);
void read_add(ScenarioReading& reading, ScenarioLine& line);
void read_fail(ScenarioReading& reading, ScenarioLine& line);
void read_restore(ScenarioReading& reading, ScenarioLine& line);
void read_scrub(ScenarioReading& reading, ScenarioLine& line);
void read_repair(ScenarioReading& reading, ScenarioLine& line);
void read_scrub_fails(ScenarioReading& reading, ScenarioLine& line);
void read_recut_fails(ScenarioReading& reading, ScenarioLine& line);
// What stands behind `set node`.
void set_node(ScenarioReading& reading, ScenarioLine& line);
// `kind` is the word behind the verb, if there is one.
void change_node(ScenarioReading& reading, ScenarioLine& line, const ScenarioWord* kind, const std::string& verb,
                 NodeChange change);

// sim/scenario_read_queue.cc: queues, what they are granted, and their windows.
void read_queue(ScenarioReading& reading, ScenarioLine& line);
void read_grant(ScenarioReading& reading, ScenarioLine& line);
void read_circle(ScenarioReading& reading, ScenarioLine& line);
void read_dissolve(ScenarioReading& reading, ScenarioLine& line);
void read_trust(ScenarioReading& reading, ScenarioLine& line);
void read_window(ScenarioReading& reading, ScenarioLine& line);
void read_hold(ScenarioReading& reading, ScenarioLine& line);
void read_release(ScenarioReading& reading, ScenarioLine& line);
// Of a queue, or of a node.
void read_drain(ScenarioReading& reading, ScenarioLine& line);
// What stands behind `set queue`.
void set_queue(ScenarioReading& reading, ScenarioLine& line);

// sim/scenario_read_reservation.cc: what is promised for a time.
void read_reserve(ScenarioReading& reading, ScenarioLine& line);
void read_maintain(ScenarioReading& reading, ScenarioLine& line);

// sim/scenario_read_workload.cc: workloads.
// "w/3": one pod, from 0; nothing, and a complaint, if it is none.
struct PodOfWorkload {
  WorkloadId workload;
  std::uint32_t number = 0;
};
std::optional<PodOfWorkload> read_pod(const ScenarioReading& reading, const ScenarioLine& line,
                                      const ScenarioWord& word, const std::string& form);
void read_submit(ScenarioReading& reading, ScenarioLine& line);
void read_group(ScenarioReading& reading, ScenarioLine& line);
void read_end(ScenarioReading& reading, ScenarioLine& line);
// Of a workload, or of a reservation.
void read_cancel(ScenarioReading& reading, ScenarioLine& line);
void read_ready(ScenarioReading& reading, ScenarioLine& line);
void read_checkpoint(ScenarioReading& reading, ScenarioLine& line);
// What stands behind `set workload`.
void set_workload(ScenarioReading& reading, ScenarioLine& line);

}  // namespace berth::scenario
