// How a LiveEngine makes the cooldown of a queue hold for work that a controller makes anew: whoever loses his room on a cluster
// is gone, and what comes in his place is another pod, another workload. What controls both is the same, and goes by its uid.
#include <algorithm>
#include <functional>
#include <utility>

#include "service/live_engine.h"

namespace berth {
namespace {

// So many of a queue are written down for a scheduler that is started anew: the latest.
constexpr std::size_t kCoolingTold = 64;

}  // namespace

Duration LiveEngine::cooldown_of(const std::string& queue) const {
  const auto known = queues_.find(queue);
  return known == queues_.end() ? Duration{0} : known->second.spec.policies.cooldown;
}

// A pod that nothing controls does not come again.
void LiveEngine::note_gave_back(const std::string& controller, const std::string& queue, Time at) {
  if (controller.empty() || cooldown_of(queue).ms == 0) return;
  gave_back_[controller] = {queue, at};
}

void LiveEngine::forget_cooled_down(Time now) {
  std::erase_if(gave_back_, [&](const auto& each) { return each.second.at + cooldown_of(each.second.queue) <= now; });
}

// PRE: it waits.
void LiveEngine::cool_down(WorkloadId submitted, const PodFacts& first) {
  const auto gave_back = gave_back_.find(first.maker_uid);
  if (gave_back == gave_back_.end()) return;
  const Time at = gave_back->second.at;
  if (state().clock() < at) session_->apply(TimePassed{at});
  session_->apply(RoomGivenBack{submitted, at});
  if (const ShapeId shape = state().workload(submitted).shape; state().shape(shape).cools) cooling_[submitted] = shape;
}

void LiveEngine::note_who_borrows_again() {
  for (auto at = cooling_.begin(); at != cooling_.end();) {
    const auto [id, was] = *at++;
    const ShapeId is = state().workload(id).shape;
    if (is == was) continue;
    const std::string key = pending_groups_.at(id);
    forget_shape_of(id, key);
    groups_by_shape_[is].insert(key);
    if (state().shape(is).cools || state().is_kept_aside(id)) cooling_[id] = is;
    untold_.insert(key);
  }
}

void LiveEngine::note_cooling_down(std::map<std::string, QueueStanding>& standings) const {
  for (const auto& [controller, gave_back] : gave_back_) {
    const auto standing = standings.find(gave_back.queue);
    if (standing != standings.end()) standing->second.cooling_down.emplace_back(controller, gave_back.at);
  }
  for (auto& [name, standing] : standings) {
    auto& cooling = standing.cooling_down;
    if (cooling.size() <= kCoolingTold) continue;
    std::ranges::stable_sort(cooling, std::greater(), &std::pair<std::string, Time>::second);
    cooling.resize(kCoolingTold);
  }
}

}  // namespace berth
