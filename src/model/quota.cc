#include "model/quota.h"

#include <algorithm>
#include <iterator>

namespace berth {
namespace {

template <class Enum, std::size_t size>
std::optional<Enum> find_in(const std::string_view (&names)[size], std::string_view name) {
  const auto* const found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) return std::nullopt;
  return static_cast<Enum>(found - std::begin(names));
}

}  // namespace

std::optional<FairReclaim> find_fair_reclaim(std::string_view name) {
  return find_in<FairReclaim>(kFairReclaimNames, name);
}

std::optional<Preempt> find_preempt(std::string_view name) { return find_in<Preempt>(kPreemptNames, name); }

std::optional<UserOrder> find_user_order(std::string_view name) { return find_in<UserOrder>(kUserOrderNames, name); }

std::optional<Backfill> find_backfill(std::string_view name) { return find_in<Backfill>(kBackfillNames, name); }

std::optional<std::int32_t> find_loans(std::string_view text) {
  if (text == "none") return 0;
  const bool well_formed = text.size() == 3 && text[0] >= '5' && text[0] <= '9' && text[1] >= '0' && text[1] <= '9';
  if (!well_formed || text[2] != '%') return std::nullopt;
  return 10 * (text[0] - '0') + (text[1] - '0');
}

std::string loans_text(std::int32_t percent) { return percent == 0 ? "none" : std::to_string(percent) + "%"; }
std::optional<OverRun> find_over_run(std::string_view name) { return find_in<OverRun>(kOverRunNames, name); }

std::optional<BudgetEnd> find_budget_end(std::string_view name) { return find_in<BudgetEnd>(kBudgetEndNames, name); }

void Quota::add_to(Hasher& hasher) const {
  for (const AmountList* const amounts : this->amounts()) {
    hasher.add(std::uint64_t{amounts->size()});
    for (const Amount& each : *amounts) hasher.add(std::uint64_t{each.dim.index()}).add(each.amount);
  }
  hasher.add(weight_milli).add(static_cast<std::uint64_t>(fair_reclaim)).add(static_cast<std::uint64_t>(preempt));
  hasher.add(reclaim_within.ms).add(patience.ms).add(min_runtime.ms).add(cooldown.ms).add(idle_after.ms);
  hasher.add(static_cast<std::uint64_t>(users)).add(half_life.ms).add(static_cast<std::uint64_t>(backfill));
  if (loans_percent > 0) hasher.add(loans_percent);
  if (!foresight) hasher.add(std::uint64_t{5});
  if (over_run != OverRun::kStop) hasher.add(std::uint64_t{4}).add(extend.ms).add(extensions);
  hasher.add(budget_gpu_us.value_or(-1)).add(static_cast<std::uint64_t>(budget_end));
  for (const Label& label : dedicated) hasher.add(label.key).add(label.value);
  for (const FloorCells& each : cells) hasher.add(each.flavor.value()).add(each.level).add(each.count);
}

}  // namespace berth
