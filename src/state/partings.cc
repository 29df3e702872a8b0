#include "state/partings.h"

#include <algorithm>

#include "model/workload.h"

namespace berth {

const Partings::Others& Partings::of(WorkloadId id) const {
  static const Others kNobody;
  const auto found = all_->find(id);
  return found == all_->end() ? kNobody : found->second;
}

Time Partings::by(WorkloadId a, WorkloadId b) const {
  const Others& others = of(a);
  const auto found = others.find(b);
  return found == others.end() ? kForever : found->second;
}

Time Partings::next_after(Time now) const {
  Time next = kForever;
  for (const auto& [id, others] : *all_) {
    for (const auto& [other, by] : others) {
      if (by > now) next = std::min(next, by);
    }
  }
  return next;
}

std::map<WorkloadId, Partings::Others>& Partings::own() {
  if (all_.use_count() > 1) all_ = std::make_shared<std::map<WorkloadId, Others>>(*all_);
  return *all_;
}

void Partings::add(WorkloadId a, WorkloadId b, Time by) {
  if (by == kForever) return;
  std::map<WorkloadId, Others>& all = own();
  all[a].emplace(b, by);
  all[b].emplace(a, by);
}

void Partings::forget(WorkloadId id, WorkloadId other) {
  const auto found = own().find(id);
  if (found == all_->end()) return;
  found->second.erase(other);
  if (found->second.empty()) all_->erase(found);
}

void Partings::remove(WorkloadId a, WorkloadId b) {
  forget(a, b);
  forget(b, a);
}

void Partings::remove(WorkloadId id) {
  const Others others = of(id);
  for (const auto& [other, by] : others) remove(id, other);
}

}  // namespace berth
