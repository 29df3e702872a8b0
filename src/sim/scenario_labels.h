// Labels and taints of nodes, and what pods ask of them, as scenarios write them: labels=rack:r1,zone:z1
// taints=team:a:NoSchedule; select=rack:r1 tolerate=team:a,spot:yes:5m prefer=rack:r1:50.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/node_constraints.h"
#include "sim/scenario_line.h"
#include "sim/scenario_taints.h"

namespace berth::scenario {

// "k:v"; nothing, and a complaint, if it is none.
std::optional<Label> label_in(ScenarioLine& line, const ScenarioWord& word, const std::string& text);
// labels= of the line, if it is there; `none` says that it has none.
Labels take_label_list(ScenarioLine& line);
// The same of nodes, which have a word of its own for one of them.
Labels take_labels(ScenarioLine& line);
// dedicated= of the line, or what it was; `none` says that no node is its queue's own.
std::vector<Label> take_dedicated(ScenarioLine& line, std::vector<Label> otherwise);
// taints= of the line, if it is there.
std::vector<Taint> take_taints(ScenarioLine& line);
// select=, tolerate= and prefer=.
NodeConstraints take_constraints(ScenarioLine& line, TolerationLengths& lengths);

}  // namespace berth::scenario
