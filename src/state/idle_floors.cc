#include "state/idle_floors.h"

#include <algorithm>

namespace berth {

void IdleFloors::note(Memory& memory, std::size_t dim, std::int64_t amount, Time now) {
  std::deque<Peak>& peaks = memory.before[dim];
  while (!peaks.empty() && peaks.front().until + memory.idle_after <= now) peaks.pop_front();
  while (!peaks.empty() && peaks.back().amount <= amount) peaks.pop_back();
  if (amount > 0) peaks.push_back({amount, now});
}

void IdleFloors::advance(Memory& memory, const QuotaLedger& quotas, QueueId queue, Time now) {
  for (std::size_t dim = 0; dim < memory.before.size(); ++dim) {
    if (memory.floor[dim] > 0) note(memory, dim, quotas.used_of_floor(queue, Dim::at(dim)), now);
  }
}

void IdleFloors::advance(const QuotaLedger& quotas, QueueId queue, Time now) {
  if (!counts_) return;
  for (; !queue.is_none(); queue = quotas.tree().parent(queue)) advance(memories_[queue.index()], quotas, queue, now);
}

void IdleFloors::advance_all(const QuotaLedger& quotas, Time now) {
  if (!counts_) return;
  for (std::size_t i = 0; i < memories_.size(); ++i) advance(memories_[i], quotas, QueueId(i), now);
}

void IdleFloors::lay_out(const std::vector<Queue>& queues, const QuotaLedger& quotas, Time now) {
  memories_.resize(queues.size());
  counts_ = false;
  for (std::size_t i = 0; i < queues.size(); ++i) {
    Memory& memory = memories_[i];
    // What was longer ago than it was asked about until now is not known any more: another time begins now.
    if (memory.idle_after != queues[i].quota.idle_after) memory = {};
    memory.idle_after = queues[i].quota.idle_after;
    if (memory.idle_after.ms == 0) continue;
    counts_ = true;
    const auto floor = quotas.tree().floor(QueueId(i));
    memory.floor.resize(floor.size());
    memory.before.resize(floor.size());
    for (std::size_t dim = 0; dim < floor.size(); ++dim) {
      const std::int64_t more = floor[dim] - memory.floor[dim];
      if (more > 0) {
        for (Peak& peak : memory.before[dim]) peak.amount += more;
        note(memory, dim, quotas.used_of_floor(QueueId(i), Dim::at(dim)) + more, now);
      }
      memory.floor[dim] = floor[dim];
    }
  }
}

void IdleFloors::remember(QueueId queue, const AmountList& floor, const std::vector<FloorUse>& held) {
  Memory& memory = memories_[queue.index()];
  if (memory.idle_after.ms == 0) return;
  memory.floor.assign(memory.floor.size(), 0);
  memory.before.assign(memory.before.size(), {});
  for (const Amount& each : floor) memory.floor[each.dim.index()] = each.amount;
  for (const FloorUse& each : held) memory.before[each.dim.index()].push_back({each.amount, each.until});
}

std::vector<FloorUse> IdleFloors::held(const QuotaLedger& quotas, QueueId queue, Time now) const {
  Memory memory = memories_[queue.index()];
  advance(memory, quotas, queue, now);
  std::vector<FloorUse> held;
  for (std::size_t dim = 0; dim < memory.before.size(); ++dim) {
    for (const Peak& peak : memory.before[dim]) {
      if (peak.until + memory.idle_after > now) held.push_back({Dim::at(dim), peak.amount, peak.until});
    }
  }
  return held;
}

AmountsByDim IdleFloors::idle(const QuotaLedger& quotas, QueueId queue, Time now) const {
  const Memory& memory = memories_[queue.index()];
  AmountsByDim idle(quotas.tree().dims());
  for (std::size_t dim = 0; dim < memory.before.size(); ++dim) {
    std::int64_t most = quotas.used_of_floor(queue, Dim::at(dim));
    const std::deque<Peak>& peaks = memory.before[dim];
    const auto recent = std::find_if(peaks.begin(), peaks.end(),
                                     [&](const Peak& peak) { return peak.until + memory.idle_after > now; });
    if (recent != peaks.end()) most = std::max(most, recent->amount);
    idle[dim] = std::max<std::int64_t>(0, memory.floor[dim] - most);
  }
  return idle;
}

}  // namespace berth
