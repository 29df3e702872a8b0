// Annotations that look like Berth's and are none: taken in silence they would be promises that nobody keeps.
#pragma once

#include <string>
#include <vector>

#include "manifest/kinds.h"
#include "manifest/value.h"

namespace berth {

// Of a pod, or of what makes pods and all templates: each once.
std::vector<std::string> annotation_warnings(const KindInfo& kind, const Value& object);

}  // namespace berth
