// The pods of a Job as the Job counts them: which are active, which have ended how, how far the counting of each has come.
// A pure reading of the Job and its pods; only what the Job decides about active pods (fail, drop) is added by its planner.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "controllers/job_pods.h"
#include "controllers/number_set.h"
#include "manifest/value.h"

namespace berth {

struct ActivePod {
  const Value* pod = nullptr;
  std::int64_t index = -1;  // -1: the Job has none
  bool runs = false;
};

class JobTally {
 public:
  JobTally(const Value& job, const std::vector<const Value*>& pods);

  // Every active pod counts as failed.
  void fail_active();
  // That pod counts for nothing and goes. PRE: it is not in `active` any more
  void drop(const ActivePod& given_up);
  void drop_active();
  // The index has failed for good, or its pods are of no more use, if the status that is stored says so.
  void release_carriers(bool all);

  std::int64_t successes() const;
  std::int64_t failures() const { return failed_ + static_cast<std::int64_t>(failed_uids_.size()); }
  std::int64_t active_count() const { return static_cast<std::int64_t>(active.size()); }
  // Whether the status says it all: no end of a pod is on its way into the counts.
  bool is_settled() const { return succeeded_uids_.empty() && failed_uids_.empty() && !awaits_index_; }
  PodRetries retries_of(std::int64_t index) const;
  // When a pod for that index may be made; with limits per index each waits for itself.
  Time end_of_pause(std::int64_t index) const;
  // The fields of the status that tell of pods.
  void write(Value& status) const;

  std::vector<ActivePod> active;
  std::vector<const Value*> releases, deletions;
  std::int64_t terminating = 0;
  std::int64_t succeeded_there = 0;  // pods that have succeeded and are objects still
  NumberSet done, failed_indexes;    // of an Indexed Job, those of the status included
  std::string fail_job;              // why, if a pod's failure is the Job's

 private:
  // A failed pod that tells how often its index was tried, until another does.
  struct Carrier {
    const Value* pod = nullptr;
    PodRetries next;  // what the next pod of the index will carry
    Time ended;
  };

  void read_status();
  void take(const Value& pod);
  void take_success(const Value& pod, const std::string& uid);
  void take_failure(const Value& pod, const std::string& uid);
  void carry(const Value& pod, std::int64_t index, PodRetries next);
  void note_end(const Value& pod);
  void release(const Value& pod) { releases.push_back(&pod); }
  bool is_wanted(std::int64_t index) const;

  const Value& job_;
  const Value& spec_;
  const bool indexed_;
  const bool per_index_;
  std::int64_t succeeded_ = 0, failed_ = 0;                 // counted
  std::set<std::string> stored_succeeded_, stored_failed_;  // uncounted, as stored
  std::set<std::string> succeeded_uids_, failed_uids_;      // uncounted, and new ones
  NumberSet stored_done_, stored_failed_indexes_;
  bool awaits_index_ = false;
  std::map<std::int64_t, std::vector<Carrier>> carriers_;
  std::map<std::int64_t, std::int64_t> tries_;  // the most that a pod of the index, not given up, has behind it
  std::vector<Time> failure_ends_;
  Time last_success_{0};
};

}  // namespace berth
