// What a PodDisruptionBudget asks for and leaves, in numbers. The server, which lets pods be evicted, and the controller,
// which tells the budget's status, count by the same rules. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/time.h"
#include "manifest/value.h"

namespace berth {

// Running, ready, and not asked to go.
bool is_healthy_pod(const Value& pod);

struct BudgetCount {
  std::int64_t expected = 0;  // how many pods there are meant to be
  std::int64_t healthy = 0;
  std::int64_t desired = 0;  // how many of them must stay healthy

  // How many may go now; nothing to protect leaves nothing to give.
  std::int64_t allowed() const { return expected > 0 && healthy > desired ? healthy - desired : 0; }
};

// Counts the pods that a budget selects, given one by one.
class BudgetTally {
 public:
  // How many pods the owner that a reference names means to have; none if it does not say, or is gone.
  using Wanted = std::function<std::optional<std::int64_t>(const Value& owner_reference)>;
  explicit BudgetTally(Wanted wanted) : wanted_(std::move(wanted)) {}

  void add(const Value& pod);
  // A share of the pods is one of those that their owners mean to have, so that it does not shrink with each that goes; a
  // pod without such an owner counts itself.
  BudgetCount count(const Value& budget_spec) const;

 private:
  Wanted wanted_;
  std::map<std::string, std::optional<std::int64_t>, std::less<>> owners_;  // by uid
  std::int64_t there_ = 0, meant_ = 0, healthy_ = 0;
};

// How many pods a Job, or whatever else makes pods, means to have at a time.
std::optional<std::int64_t> pods_wanted_by(const Value& owner);

// The budget's status as it should be. What does not change keeps its place and its time.
Value budget_status(const Value& budget, const BudgetCount& count, Time now);

}  // namespace berth
