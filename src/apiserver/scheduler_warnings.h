// Pods that name a scheduler that is not Berth: nothing else would ever say why they wait.
#pragma once

#include <string>
#include <vector>

#include "manifest/kinds.h"
#include "manifest/value.h"

namespace berth {

// Of a pod, or of the templates of what makes pods: each once.
std::vector<std::string> scheduler_warnings(const KindInfo& kind, const Value& object);

}  // namespace berth
