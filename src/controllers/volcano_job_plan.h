// What a Job of Volcano's needs next, as a function of the job, its pods and the time. The plan is in the words of job_plan.h.
//
// What is decided is stored before it is done, in one write of the status; whatever follows from it can be read there, so
// that it is done once, wherever we are cut off:
//   RestartJob    status.version counts up, and pods of a lower version (an annotation) go
//   RestartTask,  status.restarting names the pods that go, until they have gone
//   RestartPod
//   the others    status.state.phase is Aborting, Terminating, Completing or Failed, and what lives goes
// A pod carries the finalizer batch.kubernetes.io/job-tracking until the job is over or it is given up: somebody may delete
// one that has succeeded, and it counts still.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "controllers/job_plan.h"
#include "manifest/value.h"

namespace berth {

struct VolcanoJobFacts {
  const Value& job;
  std::vector<const Value*> pods;  // those that have the job as their controller
  Time now;
  std::size_t creations_max = 0;
  // Whether there is a pod of that name in the job's namespace, whosever.
  std::function<bool(const std::string& name)> name_is_taken;
  const Value* hosts = nullptr;    // the ConfigMap that has the name of the job's, whosever
  bool has_default_queue = false;  // whether Volcano's queue "default" is there; Berth's own is, otherwise
};

JobPlan plan_volcano_job(const VolcanoJobFacts& facts);

// Whether nothing becomes of it any more: Completed, Failed, Terminated or Aborted.
bool is_final_volcano_phase(std::string_view phase);

}  // namespace berth
