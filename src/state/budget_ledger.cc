#include "state/budget_ledger.h"

#include <algorithm>

#include "base/assert.h"
#include "model/workload.h"

namespace berth {

void BudgetLedger::set_budgets(const std::vector<Queue>& queues) {
  accounts_.resize(queues.size());
  bounded_ = 0;
  for (std::size_t i = 0; i < queues.size(); ++i) {
    Account& account = accounts_[i];
    account.bounded = queues[i].quota.budget_gpu_us.has_value();
    if (!account.bounded) continue;
    ++bounded_;
    if (account.pots.empty()) {
      account.pots.push_back({.until = kForever});
      account.order = {0};
    }
    account.pots.front().given_gpu_us = *queues[i].quota.budget_gpu_us;
  }
}

void BudgetLedger::grant(QueueId queue, std::int64_t gpu_us, Time until) {
  Account& account = accounts_[queue.index()];
  BERTH_ASSERT(account.bounded);
  const auto later = std::find_if(account.order.begin(), account.order.end(),
                                  [&](std::size_t pot) { return account.pots[pot].until > until; });
  account.order.insert(later, account.pots.size());
  account.pots.push_back({.until = until, .given_gpu_us = gpu_us});
}

void BudgetLedger::note_used(QueueId queue, std::size_t pot, std::int64_t gpu_us) {
  accounts_[queue.index()].pots[pot].used_gpu_us += gpu_us;
}

void BudgetLedger::note_counted(QueueId queue, Time until) { accounts_[queue.index()].counted_until = until; }

void BudgetLedger::note_run(const QuotaTree& tree, QueueId queue, const GpuTimeAsked& ran) {
  for (; !queue.is_none(); queue = tree.parent(queue)) {
    Account& account = accounts_[queue.index()];
    if (!account.bounded) continue;
    for (const Part& part : parts_of(account, not_counted(account, ran))) {
      account.pots[part.pot].used_gpu_us += part.gpu_us;
    }
  }
}

GpuTimeAsked BudgetLedger::not_counted(const Account& account, GpuTimeAsked asked) {
  asked.from = std::min(std::max(asked.from, account.counted_until), asked.end);
  return asked;
}

// What it would take of each pot. Of a grant, no more than it can have used when that becomes void; what no pot has left is
// the last part's, the budget's.
std::vector<BudgetLedger::Part> BudgetLedger::parts_of(const Account& account, const GpuTimeAsked& asked) {
  std::vector<Part> parts;
  Wide placed = 0;
  for (const std::size_t pot : account.order) {
    const bool is_budget = pot == 0;
    const Time until = std::min(account.pots[pot].until, asked.end);
    const Wide usable = GpuTimeAsked{asked.gpu_milli, asked.from, until}.gpu_us() - placed;
    const Wide part = is_budget ? usable : std::min(usable, account.pots[pot].left_gpu_us());
    if (part <= 0) continue;
    parts.push_back({pot, part});
    placed += part;
  }
  return parts;
}

std::optional<BudgetLedger::Refusal> BudgetLedger::refusal(const QuotaTree& tree, QueueId queue,
                                                           const GpuTimeAsked& asked) const {
  for (; !queue.is_none(); queue = tree.parent(queue)) {
    if (!at(queue).bounded) continue;
    const Pot& budget = at(queue).pots.front();
    Wide from_grants = 0;
    Wide from_budget = 0;
    for (const Part& part : parts_of(at(queue), asked)) (part.pot == 0 ? from_budget : from_grants) += part.gpu_us;
    if (from_budget > std::max<Wide>(0, budget.left_gpu_us())) {
      return Refusal{queue, from_grants + std::max<Wide>(0, budget.left_gpu_us())};
    }
  }
  return std::nullopt;
}

void BudgetLedger::reserve(const QuotaTree& tree, WorkloadId workload, QueueId queue, const GpuTimeAsked& asked) {
  if (!has_any() || asked.gpu_milli == 0) return;
  std::vector<Charge> charges;
  for (; !queue.is_none(); queue = tree.parent(queue)) {
    Account& account = accounts_[queue.index()];
    if (!account.bounded) continue;
    Charge& charge = charges.emplace_back(Charge{.queue = queue, .parts = {}, .endless = asked.end == kForever});
    account.endless += charge.endless ? 1 : 0;
    charge.counted_gpu_us = Wide{asked.gpu_milli} * std::max<std::int64_t>(0, (account.counted_until - asked.from).ms);
    if (!charge.endless) charge.parts = parts_of(account, not_counted(account, asked));
    for (const Part& part : charge.parts) account.pots[part.pot].reserved_gpu_us += part.gpu_us;
  }
  if (!charges.empty()) charges_.emplace(workload, std::move(charges));
}

void BudgetLedger::cancel(WorkloadId workload) {
  const auto found = charges_.find(workload);
  if (found == charges_.end()) return;
  for (const Charge& charge : found->second) {
    Account& account = accounts_[charge.queue.index()];
    account.endless -= charge.endless ? 1 : 0;
    for (const Part& part : charge.parts) account.pots[part.pot].reserved_gpu_us -= part.gpu_us;
  }
  charges_.erase(found);
}

void BudgetLedger::settle(WorkloadId workload, Wide used_gpu_us) {
  const auto found = charges_.find(workload);
  if (found == charges_.end()) return;
  for (const Charge& charge : found->second) {
    std::vector<Pot>& pots = accounts_[charge.queue.index()].pots;
    Wide left = used_gpu_us - charge.counted_gpu_us;
    for (const Part& part : charge.parts) {
      const Wide used = std::min(part.gpu_us, left);
      pots[part.pot].used_gpu_us += used;
      left -= used;
    }
    pots.front().used_gpu_us += left;
  }
  cancel(workload);
}

BudgetState BudgetLedger::state_of(QueueId queue, Time now) const {
  BudgetState state;
  for (const Pot& pot : at(queue).pots) {
    state.used_gpu_us += pot.used_gpu_us;
    state.reserved_gpu_us += pot.reserved_gpu_us;
    if (pot.until > now) state.left_gpu_us += pot.left_gpu_us();
  }
  return state;
}

bool BudgetLedger::reserves_nothing() const {
  return std::all_of(accounts_.begin(), accounts_.end(), [](const Account& account) {
    return account.endless == 0 && std::all_of(account.pots.begin(), account.pots.end(),
                                               [](const Pot& pot) { return pot.reserved_gpu_us == 0; });
  });
}

}  // namespace berth
