// The pods of Volcano's Job, place by place: which is there and how it stands. A pure reading of the job and its pods.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/volcano_job_pods.h"
#include "manifest/value.h"
#include "manifest/volcano_job.h"

namespace berth {

enum class VolcanoPodState : std::uint8_t {
  kAbsent,
  kWaiting,   // for a place
  kStarting,  // has one
  kRunning,
  kUnknown,  // its machine is silent
  kSucceeded,
  kFailed,
  kEvicted,  // told to end by somebody else while it had a place; not gone yet
};

struct VolcanoSlot {
  VolcanoPlace place;
  const Value* pod = nullptr;  // null: absent
  VolcanoPodState state = VolcanoPodState::kAbsent;
  bool in_gang = false;
};

class VolcanoTally {
 public:
  VolcanoTally(const VolcanoJob& spec, const Value& job, const std::vector<const Value*>& pods);

  std::vector<VolcanoSlot> slots;  // task by task, each in the order of its indexes
  // Those that are to go: made before the last restart, restarted one by one, without a place in the job, or deleted before
  // they had a node.
  std::vector<const Value*> given_up;

  std::int64_t count(VolcanoPodState state) const;
  // Of which it is known that they began: of minAvailable these count.
  std::int64_t begun() const;
  // Pods of which more may be heard.
  std::int64_t live() const;
  std::int64_t terminating() const;
  std::int64_t of_task(std::size_t task, VolcanoPodState state) const;
  // Whether enough of it run or have succeeded for those who wait for it.
  bool is_up(std::size_t task) const;
  bool has_pods(std::size_t task) const;
  // Whether as many as start together with it have a place, or had one.
  bool gang_is_placed(std::size_t task) const;
  // How many a pod of its gang that is made now starts with: who was left failed does not count. 0: it is on its own.
  std::int64_t group_size(std::size_t task) const;
  bool is_own(const std::string& pod_name) const { return names_.contains(pod_name); }
  // The fields of the status that tell of pods.
  void write(Value& status) const;

 private:
  void take(const Value& pod, std::int64_t version, const std::set<std::string>& restarting);
  // Of which it is known that they have a place, or had one.
  std::int64_t placed_of_task(std::size_t task) const;

  const VolcanoJob& spec_;
  std::vector<std::size_t> first_of_;  // slots, by task
  std::set<std::string> names_;
};

// "Running", as pods and statuses say it.
std::string_view phase_of(VolcanoPodState state);

}  // namespace berth
