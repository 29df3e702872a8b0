// What a Job needs next, as a function of the Job, its pods and the time: pods to create, to release and to delete, its
// new status, when to look again.
//
// A pod of a Job carries the finalizer batch.kubernetes.io/job-tracking until what became of it is stored in the Job's
// status; so none is lost that ends while nobody looks, and none is counted twice, wherever we are cut off. How a pod
// goes (job_tally.h reads how far it has come):
//   1. it ends: its uid is written to status.uncountedTerminatedPods (its index to completedIndexes);
//   2. then its finalizer is taken: it is released;
//   3. then its uid is taken from there and counted, both in one write.
// What the Job gives up itself (suspended, or more than wanted) is released without being counted, and what lives
// without the finalizer is deleted.
//
// A pod that somebody else deletes while it runs has failed; one that had not begun is made anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "manifest/value.h"

namespace berth {

struct JobFacts {
  const Value& job;
  std::vector<const Value*> pods;  // those that have the Job as their controller
  Time now;
  std::size_t creations_max = 0;
  std::int64_t group_missing_elsewhere = 0;  // pods of its gang that other Jobs do not bring any more
  // Whether there is a pod of that name in the Job's namespace, whosever.
  std::function<bool(const std::string& name)> name_is_taken;
};

// To be told when the status that belongs to it is stored.
struct JobNews {
  bool warning = false;
  std::string reason;
  std::string note;
};

// Its parts may be carried out in any order, or not at all. While there are pods to create, the status waits until they
// are there.
struct JobPlan {
  struct Change {
    const Value* pod = nullptr;
    Value change;  // a merge patch
  };

  std::vector<Value> creations;
  std::vector<const Value*> releases;
  std::vector<const Value*> deletions;
  std::vector<const Value*> renewals;  // to delete if they wait still, as they are: they will be made anew
  std::vector<Change> changes;         // if they wait still, as they are
  std::optional<Value> status;         // the whole of it, if it is not what is stored
  std::vector<JobNews> news;
  bool delete_job = false;         // its time after the end has passed
  bool waits_to_create = false;    // more is wanted than creations_max allows
  std::optional<Time> look_again;  // though nothing changes
  std::int64_t group_missing = 0;  // pods of its gang that have succeeded and are gone
};
JobPlan plan_job(const JobFacts& facts);

// Whether somebody else makes the Job into pods (spec.managedBy).
bool is_managed_elsewhere(const Value& job);

Time moment_in(const Value& text, Time otherwise);
// A time the user gave in seconds, however large.
Duration seconds_in(const Value& number);

// The merge patch of the Job that makes its status this one.
Value status_change(const Value& job, const Value& status);

}  // namespace berth
