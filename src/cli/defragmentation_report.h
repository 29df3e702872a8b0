// What a plan of moves would do, as people and programs read it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cycle/defragment.h"
#include "manifest/value.h"
#include "state/state.h"

namespace berth {

// Who is meant; by number. Where nobody gave names: "job 17".
using WorkloadNames = std::vector<std::string>;

// Which sizes of gangs and slices still fit, of each flavor.
std::string fragments_as_table(const State& state);
nlohmann::ordered_json fragments_as_json(const State& state);

// What comes free and what that costs; and the moves, the first so many of them.
std::string defragmentation_as_table(const State& state, const Defragmentation& made, const DefragmentOptions& options,
                                     const WorkloadNames& names);
nlohmann::ordered_json defragmentation_as_json(const State& state, const Defragmentation& made,
                                               const DefragmentOptions& options, const WorkloadNames& names);

// The same of a plan that a scheduler has made: the status of a Defragmentation (manifest/schema_berth.cc) has it.
std::string told_plan_as_table(const Value& plan);
nlohmann::ordered_json told_plan_as_json(const Value& plan);

}  // namespace berth
