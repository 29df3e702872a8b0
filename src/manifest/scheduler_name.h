// Which pods are Berth's to place: by the scheduler that they name. All others are counted where they run.
#pragma once

#include <string>
#include <string_view>

#include "manifest/value.h"

namespace berth {

// Those whose pods Berth places; a pod that names none is given the second one's name by the API server.
inline constexpr std::string_view kOwnSchedulerNames[] = {"berth", "default-scheduler"};

// Of a pod or a template of pods that names a scheduler that is not Berth: whose it is, and what to write so that Berth places
// it; empty: it is Berth's, or has a node already.
std::string left_to_another_scheduler(const Value& pod);

}  // namespace berth
