// What happened to Volcano's Job for which it has a policy, and what is to be done about it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/time.h"
#include "controllers/volcano_job_tally.h"
#include "manifest/value.h"
#include "manifest/volcano_job.h"

namespace berth {

struct VolcanoVerdict {
  VolcanoAction action = VolcanoAction::kRestartPod;
  std::string event;                 // "PodFailed", of the first that led to it
  std::string why;                   // "pod train-worker-0 failed with exit code 1; RestartJob by spec.policies[0]"
  std::set<std::size_t> tasks = {};  // of RestartTask
  std::set<std::string> pods = {};   // of RestartPod: uids
  std::int64_t retries = 0;          // how many restarts it counts as: what the scheduler took back is none
};

struct VolcanoJudgement {
  std::optional<VolcanoVerdict> verdict;  // the strongest action that is due
  std::optional<Time> look_again;         // when one may be that is not yet
};
// `was_running`: the whole gang ran when the job was last looked at.
VolcanoJudgement judge_volcano_job(const VolcanoJob& spec, const VolcanoTally& tally, bool was_running, Time now);

}  // namespace berth
