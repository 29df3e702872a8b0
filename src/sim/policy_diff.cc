#include "sim/policy_diff.h"

#include <algorithm>
#include <set>
#include <utility>

namespace berth {

Result<PolicyDiff> diff_policies(Trace trace, const Policy& before, const std::string& before_source,
                                 const Policy& after, const std::string& after_source, const PolicyDiffOptions& options,
                                 const std::string& source,
                                 const std::function<void(std::int64_t, std::int64_t)>& progress) {
  PolicyDiff made;
  Unmatched unmatched;
  Complaints complaints;
  const Result<TraceQueues> old_queues = queues_on_trace(before, trace, before_source, unmatched);
  if (!old_queues) complaints.add_all(old_queues.error());
  const Result<TraceQueues> new_queues = queues_on_trace(after, trace, after_source, unmatched);
  if (!new_queues) complaints.add_all(new_queues.error());
  if (!complaints.empty()) return complaints;
  std::set<std::string> told;
  for (std::string& each : unmatched) {
    if (told.insert(each).second) made.unmatched.push_back(std::move(each));
  }
  std::int64_t run = 0;
  const auto go = [&](const TraceQueues& queues) {
    auto done = run_cluster(trace,
                            {.policy = PlacementPolicy::kFgd,
                             .seed = options.seed,
                             .checkpoint_every = options.checkpoint_every,
                             .tree = queues},
                            source, nullptr, [&](std::int64_t at, std::int64_t all) {
                              if (progress) progress(run * all + at, 2 * all);
                            });
    ++run;
    return done;
  };
  auto first = go(*old_queues);
  if (!first) return first.error();
  auto second = go(*new_queues);
  if (!second) return second.error();
  made.before = {"before", std::move(*first)};
  made.after = {"after", std::move(*second)};
  made.trace = std::move(trace);
  return made;
}

}  // namespace berth
