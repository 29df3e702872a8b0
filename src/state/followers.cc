#include "state/followers.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace berth {

void Followers::add(WorkloadId follower, const std::vector<Dependency>& after, bool in_vain) {
  BERTH_ASSERT(!waits(follower));
  for (const Dependency& each : after) {
    std::vector<WorkloadId>& others = followers_[each.on];
    if (others.empty() || others.back() != follower) others.push_back(follower);
  }
  waiting_.emplace(follower, Waiting{after, in_vain});
}

void Followers::forget(WorkloadId follower) {
  const auto found = waiting_.find(follower);
  if (found == waiting_.end()) return;
  for (const Dependency& each : found->second.after) {
    const auto others = followers_.find(each.on);
    if (others == followers_.end()) continue;
    std::erase(others->second, follower);
    if (others->second.empty()) followers_.erase(others);
  }
  waiting_.erase(found);
}

std::vector<WorkloadId> Followers::ended(WorkloadId workload, bool done) {
  const auto found = followers_.find(workload);
  if (found == followers_.end()) return {};
  const std::vector<WorkloadId> followers = std::move(found->second);
  followers_.erase(found);
  std::vector<WorkloadId> released;
  for (const WorkloadId follower : followers) {
    Waiting& waiting = waiting_.at(follower);
    std::erase_if(waiting.after, [&](const Dependency& each) {
      if (each.on != workload) return false;
      waiting.in_vain = waiting.in_vain || (each.only_if_done && !done);
      return true;
    });
    if (!waiting.after.empty() || waiting.in_vain) continue;
    waiting_.erase(follower);
    released.push_back(follower);
  }
  return released;
}

std::size_t Followers::waits_for(WorkloadId follower) const {
  const auto found = waiting_.find(follower);
  return found == waiting_.end() ? 0 : found->second.after.size();
}

bool Followers::waits_in_vain(WorkloadId follower) const {
  const auto found = waiting_.find(follower);
  return found != waiting_.end() && found->second.in_vain;
}

}  // namespace berth
