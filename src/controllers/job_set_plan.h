// What a JobSet needs next, as a function of the JobSet, its Jobs and the time: Jobs to create, to delete, to suspend and to
// let go, its new status, when to look again.
//
// A Job carries in which attempt of its set it was made. When the set starts anew, that is one write of its status
// (`restarts`): from then on the Jobs of the attempt before are nobody's, and go; each new one comes when the old one of its
// name, with its pods, is gone. So it is the same wherever we are cut off.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/time.h"
#include "controllers/job_plan.h"
#include "manifest/value.h"

namespace berth {

struct JobSetFacts {
  const Value& set;
  std::vector<const Value*> jobs;  // those that have the set as their controller
  Time now;
  std::size_t creations_max = 0;
};

struct JobSetPlan {
  struct Change {
    const Value* job = nullptr;
    Value change;  // a merge patch
  };

  std::vector<Value> creations;
  std::vector<const Value*> deletions;  // with their pods
  std::vector<Change> changes;
  std::optional<Value> status;  // the whole of it, if it is not what is stored
  std::vector<JobNews> news;    // to be told when the status is stored
  bool delete_set = false;      // its time after the end has passed
  std::optional<Time> look_again;
};
JobSetPlan plan_job_set(const JobSetFacts& facts);

// Whether somebody else makes the set's Jobs (spec.managedBy).
bool set_is_managed_elsewhere(const Value& set);

}  // namespace berth
