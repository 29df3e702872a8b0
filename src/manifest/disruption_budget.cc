#include "manifest/disruption_budget.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "manifest/timestamp.h"
#include "model/quantity.h"

namespace berth {
namespace {

bool is_ready(const Value& pod) {
  return std::ranges::any_of(pod["status"]["conditions"].items(), [](const Value& condition) {
    return condition["type"].text() == "Ready" && condition["status"].text() == "True";
  });
}

// A count as it stands, a share of `whole` rounded up.
std::int64_t part_of(const Value& amount, std::int64_t whole) {
  if (amount.is_integer()) return amount.integer();
  const std::string_view text = amount.text();
  const std::int64_t percent = text.empty() ? 0 : parse_integer(text.substr(0, text.size() - 1), 0, 100).value_or(0);
  return (whole * percent + 99) / 100;
}

Value condition_of(const Value& budget, const BudgetCount& count, Time now) {
  const bool allowed = count.allowed() > 0;
  Value condition = Value::map_of({{"type", "DisruptionAllowed"},
                                   {"status", allowed ? "True" : "False"},
                                   {"observedGeneration", budget["metadata"]["generation"].integer()},
                                   {"lastTransitionTime", format_timestamp(now)},
                                   {"reason", allowed ? "SufficientPods" : "InsufficientPods"},
                                   {"message", ""}});
  for (const Value& had : budget["status"]["conditions"].items()) {
    const bool same = had["type"] == condition["type"] && had["status"] == condition["status"];
    if (same && had["lastTransitionTime"].is_text()) condition.set("lastTransitionTime", had["lastTransitionTime"]);
  }
  return condition;
}

}  // namespace

bool is_healthy_pod(const Value& pod) {
  return pod["status"]["phase"].text() == "Running" && is_ready(pod) && pod["metadata"]["deletionTimestamp"].is_null();
}

void BudgetTally::add(const Value& pod) {
  const std::string_view phase = pod["status"]["phase"].text();
  if (phase == "Succeeded" || phase == "Failed") return;
  ++there_;
  healthy_ += is_healthy_pod(pod) ? 1 : 0;
  for (const Value& owner : pod["metadata"]["ownerReferences"].items()) {
    if (!owner["controller"].truth()) continue;
    const auto [known, added] = owners_.emplace(owner["uid"].text(), std::nullopt);
    if (added) known->second = wanted_(owner);
    meant_ += known->second ? (added ? *known->second : 0) : 1;
    return;
  }
  ++meant_;
}

BudgetCount BudgetTally::count(const Value& budget_spec) const {
  BudgetCount count;
  count.healthy = healthy_;
  const Value& most_away = budget_spec["maxUnavailable"];
  const Value& least_there = budget_spec["minAvailable"];
  if (!most_away.is_null()) {
    count.expected = meant_;
    count.desired = std::max<std::int64_t>(0, meant_ - part_of(most_away, meant_));
  } else {
    count.expected = least_there.is_integer() ? there_ : meant_;
    count.desired = part_of(least_there, meant_);
  }
  return count;
}

std::optional<std::int64_t> pods_wanted_by(const Value& owner) {
  if (owner["spec"]["tasks"].is_list()) {  // Volcano's Job
    std::int64_t pods = 0;
    for (const Value& task : owner["spec"]["tasks"].items()) pods += task["replicas"].integer();
    return pods;
  }
  const Value& count = owner["spec"][owner["kind"].text() == "Job" ? "parallelism" : "replicas"];
  if (!count.is_integer()) return std::nullopt;
  return count.integer();
}

Value budget_status(const Value& budget, const BudgetCount& count, Time now) {
  Value status = budget["status"].is_map() ? budget["status"] : Value::map();
  status.set("observedGeneration", budget["metadata"]["generation"].integer());
  status.set("disruptionsAllowed", count.allowed());
  status.set("currentHealthy", count.healthy);
  status.set("desiredHealthy", count.desired);
  status.set("expectedPods", count.expected);
  Value condition = condition_of(budget, count, now);
  if (!status["conditions"].is_list()) status.set("conditions", Value::list());
  for (Value& each : status.at("conditions").edit_items()) {
    if (each["type"] == condition["type"]) {
      each = std::move(condition);
      return status;
    }
  }
  status.at("conditions").push_back(std::move(condition));
  return status;
}

}  // namespace berth
