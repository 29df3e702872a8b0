// What a LiveEngine's work amounts to, by queue and by LocalQueue: only groups of which something has changed are counted
// again, for it is asked each second, and most of what there is stands still.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "service/live_engine.h"

namespace berth {
namespace {

void add(Holding& sum, const Holding& more, std::int64_t sign) {
  sum.pending += sign * more.pending;
  sum.reserving += sign * more.reserving;
  sum.admitted += sign * more.admitted;
  sum.waiting += sign * more.waiting;
  sum.running += sign * more.running;
  sum.reserved.resize(more.reserved.size());
  sum.used.resize(more.used.size());
  for (std::size_t dim = 0; dim < more.reserved.size(); ++dim) sum.reserved[dim] += sign * more.reserved[dim];
  for (std::size_t dim = 0; dim < more.used.size(); ++dim) sum.used[dim] += sign * more.used[dim];
}

std::string door_of(const PodFacts& pod) {
  return pod.local_queue.empty() ? std::string() : pod.name_space + "/" + pod.local_queue;
}

}  // namespace

// Something of the group has changed.
void LiveEngine::touch(const std::string& group) {
  unsettled_.insert(group);
  uncounted_.insert(group);
}

// In another life of the engine amounts have other dimensions.
void LiveEngine::forget_counts() {
  counted_.clear();
  by_queue_.clear();
  by_door_.clear();
  for (const auto& [key, group] : groups_) uncounted_.insert(key);
}

void LiveEngine::count_anew() {
  const auto add_to = [](std::map<std::string, Holding>& sums, const std::string& name, const Holding& more,
                         std::int64_t sign) {
    if (name.empty()) return;
    Holding& sum = sums[name];
    add(sum, more, sign);
    if (sum.is_nothing()) sums.erase(name);
  };
  for (const std::string& key : std::exchange(uncounted_, {})) {
    if (const auto before = counted_.find(key); before != counted_.end()) {
      add_to(by_queue_, before->second.queue, before->second.holding, -1);
      add_to(by_door_, before->second.door, before->second.holding, -1);
      counted_.erase(before);
    }
    Counted counted = counted_of(key);
    if (counted.holding.is_nothing()) continue;
    add_to(by_queue_, counted.queue, counted.holding, 1);
    add_to(by_door_, counted.door, counted.holding, 1);
    counted_.emplace(key, std::move(counted));
  }
}

// Of a group, or of what is on its way between two places and has no pods just now.
LiveEngine::Counted LiveEngine::counted_of(const std::string& key) const {
  if (const auto moves = moves_.find(key); moves != moves_.end()) {
    const PodFacts& first = runs_.at(*moves->second.begin()).moving->asked.front();
    return {first.queue, door_of(first), holding_on_its_way(key)};
  }
  const auto group = groups_.find(key);
  if (group == groups_.end() || group->second.members.empty()) return {};
  const PodFacts& first = members_.at(by_sequence_.at(*group->second.members.begin())).facts;
  return {first.queue, door_of(first), holding_of(group->second)};
}

Holding LiveEngine::holding_of(const Group& group) const {
  bool admitted = false, reserving = false, waits = false, runs = false, starts_or_waits = false;
  std::set<WorkloadId> workloads;
  for (const std::uint64_t sequence : group.members) {
    const Member& member = members_.at(by_sequence_.at(sequence));
    const Run* const run = run_of(member);
    const bool starts = run != nullptr && run->starting;
    // Who was told to stop holds his room and nothing of a quota.
    const bool leaves = member.stop_by || member.facts.leaving_until;
    const bool placed = member.facts.stage == PodStage::kBound || (run != nullptr && !starts);
    const bool waiting = member.facts.stage == PodStage::kWaiting;
    admitted = admitted || (placed && !leaves);
    reserving = reserving || (run != nullptr && !leaves);
    waits = waits || (run == nullptr && waiting);
    runs = runs || placed;
    starts_or_waits = starts_or_waits || starts || (!placed && waiting);
    // Of who is moved those count who have come in their place.
    const bool has_heirs = leaves && run != nullptr && run->moving && !run->moving->heirs.empty();
    if (run != nullptr && !has_heirs) workloads.insert(member.running);
  }
  Holding holding;
  holding.admitted = admitted ? 1 : 0;
  holding.reserving = admitted || reserving ? 1 : 0;
  holding.pending = waits && !admitted && !reserving ? 1 : 0;
  holding.running = runs ? 1 : 0;
  holding.waiting = starts_or_waits && !runs ? 1 : 0;
  holding.reserved.resize(state().quotas().tree().dims());
  holding.used.resize(holding.reserved.size());
  for (const WorkloadId id : workloads) {
    const UnitId unit = state().workload(id).unit;
    if (unit.is_none()) continue;
    for (const Amount& each : state().quotas().held_by(unit)) {
      holding.reserved[each.dim.index()] += each.amount;
      if (!runs_.at(id).starting) holding.used[each.dim.index()] += each.amount;
    }
  }
  return holding;
}

const std::map<std::string, Holding>& LiveEngine::holdings_by_queue() {
  count_anew();
  return by_queue_;
}

const std::map<std::string, Holding>& LiveEngine::holdings_by_door() {
  count_anew();
  return by_door_;
}

std::size_t LiveEngine::remembered() const {
  return members_.size() + by_sequence_.size() + groups_.size() + limits_.size() + movable_from_.size() +
         movable_again_.size() + pending_groups_.size() + runs_.size() + groups_by_shape_.size() +
         without_room_.size() + checkpoints_.size() + found_.size() + unsettled_.size() + untold_.size() +
         partial_.size() + uncounted_.size() + counted_.size() + by_queue_.size() + by_door_.size() +
         explained_.size() + gave_back_.size() + moves_.size() + moved_in_.size() + lacking_.size() + heirs_.size() +
         goes_first_.size() + tries_.size() + unready_.size();
}

bool Holding::is_nothing() const {
  const auto none = [](const AmountsByDim& amounts) {
    return std::ranges::all_of(amounts, [](std::int64_t amount) { return amount == 0; });
  };
  return pending == 0 && reserving == 0 && admitted == 0 && waiting == 0 && running == 0 && none(reserved) &&
         none(used);
}

}  // namespace berth
