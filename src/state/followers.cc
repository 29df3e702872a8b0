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

std::vector<WorkloadId> Followers::tell(WorkloadId workload, News news) {
  const auto found = followers_.find(workload);
  if (found == followers_.end()) return {};
  const std::vector<WorkloadId> followers = std::move(found->second);
  followers_.erase(found);
  std::vector<WorkloadId> released;
  std::vector<WorkloadId> left;
  for (const WorkloadId follower : followers) {
    Waiting& waiting = waiting_.at(follower);
    bool in_vain = false;
    std::erase_if(waiting.after, [&](const Dependency& each) {
      if (each.on != workload || (news == News::kBegun && each.what != DependsOn::kBegin)) return false;
      in_vain = in_vain || (each.what == DependsOn::kDone && news == News::kNotDone);
      return true;
    });
    if (std::ranges::find(waiting.after, workload, &Dependency::on) != waiting.after.end()) left.push_back(follower);
    if (in_vain) give_up(follower);
    if (!waiting.after.empty() || waiting.in_vain) continue;
    waiting_.erase(follower);
    released.push_back(follower);
  }
  if (!left.empty()) followers_.emplace(workload, std::move(left));
  return released;
}

// And whoever waits for it to be done, and for those.
void Followers::give_up(WorkloadId follower) {
  std::vector<WorkloadId> all = {follower};
  while (!all.empty()) {
    const WorkloadId id = all.back();
    all.pop_back();
    Waiting& waiting = waiting_.at(id);
    if (std::exchange(waiting.in_vain, true)) continue;
    const auto others = followers_.find(id);
    if (others == followers_.end()) continue;
    for (const WorkloadId other : others->second) {
      const Dependency on_it{id, DependsOn::kDone};
      if (std::ranges::find(waiting_.at(other).after, on_it) != waiting_.at(other).after.end()) all.push_back(other);
    }
  }
}

std::size_t Followers::waits_for(WorkloadId follower) const {
  const auto found = waiting_.find(follower);
  return found == waiting_.end() ? 0 : found->second.after.size();
}

std::size_t Followers::waits_for_ends(WorkloadId follower) const {
  const auto found = waiting_.find(follower);
  if (found == waiting_.end()) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(
      found->second.after, [](const Dependency& each) { return each.what != DependsOn::kBegin; }));
}

std::vector<Dependency> Followers::awaited_by(WorkloadId follower) const {
  const auto found = waiting_.find(follower);
  return found == waiting_.end() ? std::vector<Dependency>() : found->second.after;
}

bool Followers::waits_in_vain(WorkloadId follower) const {
  const auto found = waiting_.find(follower);
  return found != waiting_.end() && found->second.in_vain;
}

}  // namespace berth
