// What a namespace that goes away says of itself while it is being emptied.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "manifest/value.h"

namespace berth {

// What is left of one kind.
struct LeftOver {
  std::string kind;  // "pods", "jobs.batch"
  std::int64_t count = 0;
  std::vector<std::string> finalizers;  // of those looked at
};

struct Emptying {
  std::vector<LeftOver> left;         // nothing of kinds of which nothing is left
  std::vector<std::string> failures;  // what went wrong: "pods: 500 InternalError"
};

// Whether nothing more holds the namespace.
inline bool is_empty(const Emptying& emptying) { return emptying.left.empty() && emptying.failures.empty(); }

// Merge patch of its status: the conditions as Kubernetes names them.
Value emptying_status(const Value& name_space, const Emptying& emptying, Time now);
// Merge patch that lets it go.
Value released_namespace(const Value& name_space);

}  // namespace berth
