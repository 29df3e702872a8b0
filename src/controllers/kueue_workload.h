// Kueue's Workload of a Job, or of a pod that nothing controls, as Kueue's users expect it: what is asked for, and how it
// stands. What the scheduler decided is read from where it wrote it, on the pods, in its own words. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "controllers/cluster_view.h"
#include "manifest/value.h"

namespace berth {

inline constexpr std::string_view kKueueWorkloads = "workloads.kueue.x-k8s.io";

struct KueueSource {
  bool is_job = false;             // else a pod
  const Value& owner;              // the Job, or the pod
  std::vector<const Value*> pods;  // its own; of a pod itself
};

// The LocalQueue in which it waits; empty: in none of Kueue's, and there is no Workload of it.
std::string local_queue_of(const Value& owner, bool is_job);
// "job-train-1f3c9", the same each time.
std::string kueue_workload_name(const Value& owner, bool is_job);
// Whether it is over, well or not.
bool is_over(const KueueSource& source);

// The object, without a status.
Value kueue_workload_of(const KueueSource& source, const ClusterView& view);
// What of its spec is no longer as its source has it; null: nothing.
Value kueue_spec_change(const Value& workload, const KueueSource& source, const ClusterView& view);
Value kueue_status(const Value& workload, const KueueSource& source, const ClusterView& view, Time now);

// Whether the Job has to be suspended or let go, because spec.active says so.
enum class Deactivation : unsigned char { kNone, kSuspend, kResume };
Deactivation deactivation_of(const Value& workload, const KueueSource& source);

// The same but for the wording of why it waits: its reason begins with the same code.
bool same_but_for_wording(const Value& status, const Value& other);

}  // namespace berth
