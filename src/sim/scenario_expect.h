// The `expect` lines of a scenario.
#pragma once

#include <optional>

#include "sim/scenario_line.h"
#include "sim/scenario_moment.h"
#include "sim/scenario_names.h"
#include "sim/scenario_parse.h"

namespace berth {

// What the rest of a line expects, whose first word was `expect`; none after a complaint. The clock may learn a date.
std::optional<scenario::Expectation> read_expectation(ScenarioLine& line, const ScenarioNames& names,
                                                      ScenarioClock& clock);
// What the rest of a line expects of the linter, whose first word was `lint`.
std::optional<scenario::Expectation> read_lint(ScenarioLine& line, const ScenarioNames& names);

}  // namespace berth
