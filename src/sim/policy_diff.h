// One trace under two policies: what the second would have changed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "policy/policy.h"
#include "sim/compare.h"
#include "sim/trace.h"
#include "sim/trace_policy.h"

namespace berth {

struct PolicyDiffOptions {
  Seed seed;
  std::optional<Duration> checkpoint_every = {};
};

struct PolicyDiff {
  Trace trace;
  Comparison::Way before, after;
  Unmatched unmatched;  // what of the two makes no difference on this trace, each once
};

// `before_source` and `after_source` name the policies, `source` the jobs. All complaints at once.
Result<PolicyDiff> diff_policies(Trace trace, const Policy& before, const std::string& before_source,
                                 const Policy& after, const std::string& after_source, const PolicyDiffOptions& options,
                                 const std::string& source,
                                 const std::function<void(std::int64_t, std::int64_t)>& progress = {});

}  // namespace berth
