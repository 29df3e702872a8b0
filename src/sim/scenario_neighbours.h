// What pods are to each other, as scenarios write it: labels=app:web near=app:db@rack apart=app:web@node even=app:web@zone:1
// rather_near=app:db@zone:50 rather_apart=app:db@node rather_even=app:web@node ports=8080,53:UDP.
#pragma once

#include <string>

#include "model/neighbours.h"
#include "sim/scenario_line.h"

namespace berth::scenario {

// All of these words of the line. They are in no namespace yet.
Neighbours take_neighbours(ScenarioLine& line);

// Its pods are in this namespace, and so are those that they speak of.
Neighbours in_namespace(Neighbours neighbours, const std::string& name_space);

}  // namespace berth::scenario
