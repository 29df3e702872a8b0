#include "manifest/scheduler_name.h"

#include <algorithm>
#include <iterator>

#include "base/wording.h"

namespace berth {

std::string left_to_another_scheduler(const Value& pod) {
  const Value& spec = pod["spec"];
  const std::string_view name = spec["schedulerName"].text();
  const bool own = std::ranges::find(kOwnSchedulerNames, name) != std::end(kOwnSchedulerNames);
  if (name.empty() || own || !spec["nodeName"].is_empty()) return "";
  return "schedulerName " + quote(name) +
         " is not Berth's, which leaves the pod to the scheduler of that name; write schedulerName: berth, or leave it "
         "out";
}

}  // namespace berth
