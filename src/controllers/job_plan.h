// What a Job needs next, as a function of the Job, its pods and the time: pods to create and to delete, its new status,
// when to look again.
//
// A pod is counted once, for ever, when it ends: its number (job_pods.h) goes into one of the sets in status.countedPods,
// in the same write that raises status.succeeded or status.failed. So no pod is counted twice, however often it is seen,
// and none that was counted is lost when its object is deleted. `dropped` has those that the Job itself gave up (suspended,
// or more than wanted): they count for nothing. A live pod whose number is in a set is deleted, but not before the set is
// stored: whoever reads that deletion later knows whose it was.
//
// A pod that is deleted by somebody else while it ran has failed; one that had not begun is made anew.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "manifest/value.h"

namespace berth {

struct JobPod {
  const Value* pod = nullptr;  // as it is, or was
  bool gone = false;
};

struct JobFacts {
  const Value& job;
  std::vector<JobPod> pods;  // those that have the Job as their controller
  Time now;
  std::size_t creations_max = 0;
  // Whether there is a pod of that name in the Job's namespace, whosever.
  std::function<bool(const std::string& name)> name_is_taken;
};

// To be told when the status that belongs to it is stored.
struct JobNews {
  bool warning = false;
  std::string reason;
  std::string note;
};

// While there are pods to create, nothing else is asked for: the status is written when they are there.
struct JobPlan {
  std::vector<Value> creations;
  std::vector<const Value*> deletions;
  std::optional<Value> status;  // the whole of it, if it is not what is stored
  std::vector<JobNews> news;
  bool delete_job = false;         // its time after the end has passed
  bool waits_to_create = false;    // more is wanted than creations_max allows
  std::optional<Time> look_again;  // though nothing changes
};
JobPlan plan_job(const JobFacts& facts);

// The merge patch of the Job that makes its status this one.
Value status_change(const Value& job, const Value& status);

}  // namespace berth
