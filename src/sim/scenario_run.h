// Runs a scenario: facts go into a session, cycles are run, and what is expected is compared with what is found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sim/session.h"
#include "state/state.h"

namespace berth {

struct ScenarioOutcome {
  std::string file;
  std::int64_t statements = 0;
  std::int64_t expectations = 0;
  // What was expected and not found; or, if it was refused, what is wrong with the text.
  Complaints failures;
  bool refused = false;  // it could not be read, and nothing was run
  std::uint64_t state_hash = 0;

  bool passed() const { return failures.empty(); }
};

// `file_name` is for the complaints; the text is all that is read.
ScenarioOutcome run_scenario(const std::string& file_name, std::string_view text);

// Where it ends; complaints if something is not as it expects.
struct ScenarioEnd {
  State state;
  Time now;
  std::vector<std::string> workloads;  // names, by number
};
Result<ScenarioEnd> end_of_scenario(const std::string& file_name, std::string_view text,
                                    Session::Recorder recorder = nullptr);

}  // namespace berth
