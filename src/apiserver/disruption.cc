// Whether a pod may be evicted: the pods that its disruption budgets select are counted on the spot, in the transaction
// that evicts, so that two evictions at the same time cannot both be let through.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/admission.h"
#include "apiserver/object_records.h"
#include "manifest/disruption_budget.h"
#include "manifest/json.h"
#include "manifest/selector.h"

namespace berth {

namespace {

// A part of the record that every object with the selector's first label has, so that few others need to be read.
std::string tell_tale(const Value& selector) {
  const Value::Map& labels = selector["matchLabels"].members();
  if (labels.empty()) return {};
  std::string text;
  append_json_text(labels.front().key, text);
  text += ':';
  append_json_text(labels.front().value.text(), text);
  return text;
}

BudgetTally tally_of(const Transaction& transaction, std::string_view name_space, const Value& selector) {
  BudgetTally tally([&transaction, name_space](const Value& owner) -> std::optional<std::int64_t> {
    const KindInfo* const kind = find_served_kind(owner["apiVersion"].text(), owner["kind"].text());
    if (kind == nullptr) return std::nullopt;
    const std::string key = object_key(kind->qualified(), name_space, owner["name"].text());
    return pods_wanted_by(find_object(transaction, key));
  });
  const Result<LabelSelector> parsed = LabelSelector::from_object(selector);
  if (!parsed) return tally;
  const std::string needed = tell_tale(selector);
  transaction.for_each(object_key("pods", name_space, ""), [&](const RecordPtr& record) {
    if (!needed.empty() && record->bytes.find(needed) == std::string::npos) return;
    const Value pod = object_of(record);
    if (parsed->matches(pod["metadata"]["labels"])) tally.add(pod);
  });
  return tally;
}

struct Budget {
  std::string key;
  Value object;
};

std::vector<Budget> budgets_of(const Transaction& transaction, const Value& pod) {
  std::vector<Budget> budgets;
  transaction.for_each(object_key("poddisruptionbudgets.policy", pod["metadata"]["namespace"].text(), ""),
                       [&](const RecordPtr& record) {
                         Value budget = object_of(record);
                         const Result<LabelSelector> selector = LabelSelector::from_object(budget["spec"]["selector"]);
                         if (selector && selector->matches(pod["metadata"]["labels"])) {
                           budgets.push_back({record->key, std::move(budget)});
                         }
                       });
  return budgets;
}

ApiError refuse(const Value& budget, const BudgetCount& count) {
  ApiError error = too_many_requests("Cannot evict pod as it would violate the pod's disruption budget.", 0);
  error.causes.push_back({"DisruptionBudget",
                          "The disruption budget " + std::string(budget["metadata"]["name"].text()) + " needs " +
                              std::to_string(count.desired) + " healthy pods and has " + std::to_string(count.healthy) +
                              " currently",
                          ""});
  return error;
}

// A pod that is not ready takes nothing away: it may go if enough others are there, or if the budget says so.
bool may_go_anyway(const Value& spec, const BudgetCount& count) {
  if (spec["unhealthyPodEvictionPolicy"].text() == "AlwaysAllow") return true;
  return count.desired > 0 && count.healthy >= count.desired;
}

}  // namespace

std::optional<ApiError> admit_eviction(const Value& pod, Transaction& transaction, Time now) {
  // What does not run, or is going anyway, disturbs nobody by going.
  const bool runs = pod["status"]["phase"].text() == "Running" && pod["metadata"]["deletionTimestamp"].is_null();
  if (!runs) return std::nullopt;
  const bool healthy = is_healthy_pod(pod);
  for (Budget& budget : budgets_of(transaction, pod)) {
    const Value& spec = budget.object["spec"];
    BudgetCount count = tally_of(transaction, pod["metadata"]["namespace"].text(), spec["selector"]).count(spec);
    if (!healthy && may_go_anyway(spec, count)) continue;
    if (count.allowed() == 0) return refuse(budget.object, count);
    if (healthy) --count.healthy;
    budget.object.set("status", budget_status(budget.object, count, now));
    put_object(transaction, budget.key, std::move(budget.object));
  }
  return std::nullopt;
}

}  // namespace berth
