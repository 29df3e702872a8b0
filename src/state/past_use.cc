#include "state/past_use.h"

#include <utility>

#include "base/half_life.h"

namespace berth {
namespace {

constexpr std::int64_t kStepsPerHalfLife = 1024;

// Part of the average is kept, and the rest is what was held since. Rounded to the nearest: this is done so often that what is
// rounded down each time would add up.
std::int64_t mixed(std::int64_t average, std::int64_t kept, std::int64_t since) {
  const Wide sum = Wide{average} * kept + Wide{since} * (kWhole - kept);
  return static_cast<std::int64_t>((sum + kWhole / 2) >> kWholeBits);
}

}  // namespace

void PastUse::advance(const QuotaLedger& quotas, QueueId queue, Time now) {
  if (!counts_) return;
  for (; !queue.is_none(); queue = quotas.tree().parent(queue)) advance(memories_[queue.index()], quotas, queue, now);
}

void PastUse::advance_all(const QuotaLedger& quotas, Time now) {
  if (!counts_) return;
  for (std::size_t i = 0; i < memories_.size(); ++i) advance(memories_[i], quotas, QueueId(i), now);
}

void PastUse::advance(Memory& memory, const QuotaLedger& quotas, QueueId queue, Time now) {
  if (memory.half_life.ms == 0 || now <= memory.since) return;
  const std::int64_t step = memory.half_life.ms / kStepsPerHalfLife;
  const std::int64_t steps = now.ms / step - memory.since.ms / step;
  const std::int64_t step_end = (memory.since.ms / step + 1) * step;
  // Where a state began within a step, its first step is the rest of that one.
  const std::int64_t length = step_end - memory.begun.ms;
  const std::int64_t kept = steps == 0 ? 0 : kept_after(length, memory.half_life.ms);
  const std::int64_t kept_then = steps < 2 ? kWhole : kept_after((steps - 1) * step, memory.half_life.ms);
  for (std::size_t dim = 0; dim < memory.average.size(); ++dim) {
    const std::int64_t held = quotas.above_floor(queue, Dim::at(dim));
    Wide& in_step = memory.in_step[dim];
    if (steps == 0) {
      in_step += Wide{held} * (now - memory.since).ms;
      continue;
    }
    in_step += Wide{held} * (step_end - memory.since.ms);
    const auto mean = static_cast<std::int64_t>(((in_step << kPastFractionBits) + length / 2) / length);
    std::int64_t& average = memory.average[dim];
    average = mixed(average, kept, mean);
    average = mixed(average, kept_then, held << kPastFractionBits);
    in_step = Wide{held} * (now.ms % step);
  }
  memory.since = now;
  if (steps > 0) memory.begun = Time{now.ms - now.ms % step};
}

void PastUse::lay_out(const std::vector<Queue>& queues, std::size_t dims, Time now) {
  memories_.resize(queues.size());
  counts_ = false;
  for (std::size_t i = 0; i < queues.size(); ++i) {
    Memory& memory = memories_[i];
    const Duration half_life = queues[i].quota.half_life;
    // With another half-life the steps are others: the one that had begun is left out.
    if (memory.half_life != half_life) {
      memory.begun = memory.since = now;
      memory.in_step.clear();
    }
    memory.half_life = half_life;
    counts_ = counts_ || half_life.ms > 0;
    memory.average.resize(half_life.ms > 0 ? dims : 0);
    memory.in_step.resize(half_life.ms > 0 ? dims : 0);
  }
}

void PastUse::remember(QueueId queue, const AmountList& average, Time at) {
  Memory& memory = memories_[queue.index()];
  if (memory.half_life.ms == 0) return;
  memory.begun = memory.since = at;
  memory.in_step.assign(memory.in_step.size(), 0);
  memory.average.assign(memory.average.size(), 0);
  for (const Amount& each : average) memory.average[each.dim.index()] = each.amount << kPastFractionBits;
}

AmountsByDim PastUse::average(const QuotaLedger& quotas, QueueId queue, Time now) const {
  if (!counts_ || memories_[queue.index()].half_life.ms == 0) return {};
  Memory memory = memories_[queue.index()];
  advance(memory, quotas, queue, now);
  for (std::int64_t& amount : memory.average) amount >>= kPastFractionBits;
  return std::move(memory.average);
}

// Rounded to the nearest: a state that begins with this may begin again soon.
AmountsByDim PastUse::up_to(const QuotaLedger& quotas, QueueId queue, Time now) const {
  if (!counts_ || memories_[queue.index()].half_life.ms == 0) return {};
  Memory memory = memories_[queue.index()];
  advance(memory, quotas, queue, now);
  const std::int64_t kept = kept_after((memory.since - memory.begun).ms, memory.half_life.ms);
  for (std::size_t dim = 0; dim < memory.average.size(); ++dim) {
    const std::int64_t average = mixed(memory.average[dim], kept, mean_in_step(memory, dim));
    memory.average[dim] = (average + (std::int64_t{1} << (kPastFractionBits - 1))) >> kPastFractionBits;
  }
  return std::move(memory.average);
}

std::optional<PastUseKept> PastUse::keep(const QuotaLedger& quotas, QueueId queue, Time now) const {
  if (!counts_ || memories_[queue.index()].half_life.ms == 0) return std::nullopt;
  Memory memory = memories_[queue.index()];
  advance(memory, quotas, queue, now);
  PastUseKept kept{.queue = queue, .begun = memory.begun, .at = memory.since, .average = {}, .in_step = {}};
  for (std::size_t dim = 0; dim < memory.average.size(); ++dim) {
    const std::int64_t mean = mean_in_step(memory, dim);
    if (memory.average[dim] > 0) kept.average.push_back({Dim::at(dim), memory.average[dim]});
    if (mean > 0) kept.in_step.push_back({Dim::at(dim), mean});
  }
  return kept;
}

void PastUse::go_on(const PastUseKept& from) {
  Memory& memory = memories_[from.queue.index()];
  if (memory.half_life.ms == 0) return;
  memory.begun = from.begun;
  memory.since = from.at;
  memory.in_step.assign(memory.in_step.size(), 0);
  memory.average.assign(memory.average.size(), 0);
  for (const Amount& each : from.average) memory.average[each.dim.index()] = each.amount;
  for (const Amount& each : from.in_step) {
    memory.in_step[each.dim.index()] = Wide{each.amount} * (from.at - from.begun).ms >> kPastFractionBits;
  }
}

// Rounded to the nearest, as above.
std::int64_t PastUse::mean_in_step(const Memory& memory, std::size_t dim) {
  const std::int64_t length = (memory.since - memory.begun).ms;
  if (length <= 0) return 0;
  return static_cast<std::int64_t>(((memory.in_step[dim] << kPastFractionBits) + length / 2) / length);
}

}  // namespace berth
