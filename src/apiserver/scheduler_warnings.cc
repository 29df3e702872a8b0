#include "apiserver/scheduler_warnings.h"

#include <algorithm>
#include <utility>

#include "apiserver/pod_facts.h"
#include "manifest/scheduler_name.h"

namespace berth {

// A Job of Volcano's may name Volcano: its pods are made with Berth's name.
std::vector<std::string> scheduler_warnings(const KindInfo& kind, const Value& object) {
  std::vector<std::string> warnings;
  if (is_volcano_job_kind(kind)) return warnings;
  for (const Value* const pod : pods_in(kind, object)) {
    std::string text = left_to_another_scheduler(*pod);
    if (text.empty() || std::ranges::find(warnings, text) != warnings.end()) continue;
    warnings.push_back(std::move(text));
  }
  return warnings;
}

}  // namespace berth
