// What a scenario declares, as the linter looks at it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "policy/policy.h"
#include "sim/scenario_parse.h"
#include "state/state.h"

namespace berth {

// Where in the text things were declared, in the order of their numbers.
struct ScenarioPlaces {
  std::string file;
  std::vector<std::int64_t> flavor_lines;
  std::vector<std::int64_t> queue_lines;
  std::vector<PolicyWorkload> workloads;
  std::vector<WorkloadId> workload_ids = {};  // of these
  std::size_t submitted = 0;                  // of all, steps too
  std::vector<GrantAdded> grants;
  std::vector<PolicyTrust> trust;  // as it was said last
  std::vector<PolicyWindow> windows;

  // Of statements in their order; what declares nothing is passed over.
  void note(std::int64_t line, const Event& event);
  void note(std::int64_t line, const scenario::DeclareWindow& declared);
  void note_trust(std::int64_t line, const std::vector<Circle>& circles);
};

// Flavors, queues and nodes as they are in the state now; failed and drained nodes count as there. Of those workloads that the state
// knows it is asked whether nodes could ever run them.
Policy policy_of(const State& state, const ScenarioPlaces& places);

// All that a text declares, without running it. What comes later in it, such as the end of a node, is not looked at.
Result<Policy> read_scenario_policy(const std::string& file_name, std::string_view text);

// What was expected of the linter and is not so; empty if it is.
std::string refuted(const scenario::ExpectLint& expected, const Policy& policy);

}  // namespace berth
