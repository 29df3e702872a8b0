// Whether a pod may be evicted: the pods that its disruption budgets select are counted on the spot, in the transaction
// that evicts, so that two evictions at the same time cannot both be let through.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/admission.h"
#include "apiserver/object_records.h"
#include "apiserver/pod_facts.h"
#include "manifest/json.h"
#include "manifest/selector.h"
#include "model/quantity.h"

namespace berth {

namespace {

bool is_ready(const Value& pod) {
  return std::ranges::any_of(pod["status"]["conditions"].items(), [](const Value& condition) {
    return condition["type"].text() == "Ready" && condition["status"].text() == "True";
  });
}

bool is_healthy(const Value& pod) {
  return pod["status"]["phase"].text() == "Running" && is_ready(pod) && pod["metadata"]["deletionTimestamp"].is_null();
}

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

struct Health {
  std::int64_t expected = 0;
  std::int64_t healthy = 0;
};

// How many pods the pod's owner means to have; none if the pod has no owner that says so.
std::optional<std::int64_t> wanted_by_owner(const Transaction& transaction, const Value& owner,
                                            std::string_view name_space) {
  const KindInfo* const kind = find_served_kind(owner["apiVersion"].text(), owner["kind"].text());
  if (kind == nullptr) return std::nullopt;
  const Value object = find_object(transaction, object_key(kind->qualified(), name_space, owner["name"].text()));
  const Value& count = object["spec"][is_job_kind(*kind) ? "parallelism" : "replicas"];
  if (!count.is_integer()) return std::nullopt;
  return count.integer();
}

Health health_of(const Transaction& transaction, std::string_view name_space, const Value& selector) {
  Health health;
  const Result<LabelSelector> parsed = LabelSelector::from_object(selector);
  if (!parsed) return health;
  const std::string needed = tell_tale(selector);
  std::map<std::string, std::optional<std::int64_t>> owners;
  transaction.for_each(object_key("pods", name_space, ""), [&](const RecordPtr& record) {
    if (!needed.empty() && record->bytes.find(needed) == std::string::npos) return;
    const Value pod = object_of(record);
    if (!parsed->matches(pod["metadata"]["labels"]) || pod_has_ended(pod)) return;
    health.healthy += is_healthy(pod) ? 1 : 0;
    // A pod that was just taken away still belongs to the number its owner wants; one without an owner counts itself.
    for (const Value& owner : pod["metadata"]["ownerReferences"].items()) {
      if (!owner["controller"].truth()) continue;
      const auto [known, added] = owners.emplace(owner["uid"].text(), std::nullopt);
      if (added) known->second = wanted_by_owner(transaction, owner, name_space);
      health.expected += known->second ? (added ? *known->second : 0) : 1;
      return;
    }
    ++health.expected;
  });
  return health;
}

// A count as it stands, a share of `whole` rounded up.
std::int64_t part_of(const Value& amount, std::int64_t whole) {
  if (amount.is_integer()) return amount.integer();
  const std::string_view text = amount.text();
  const std::int64_t percent = text.empty() ? 0 : parse_integer(text.substr(0, text.size() - 1), 0, 100).value_or(0);
  return (whole * percent + 99) / 100;
}

std::int64_t desired_healthy(const Value& spec, std::int64_t expected) {
  if (!spec["maxUnavailable"].is_null())
    return std::max<std::int64_t>(0, expected - part_of(spec["maxUnavailable"], expected));
  return part_of(spec["minAvailable"], expected);
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

ApiError refuse(const Value& budget, const Health& health, std::int64_t desired) {
  ApiError error = too_many_requests("Cannot evict pod as it would violate the pod's disruption budget.", 0);
  error.causes.push_back({"DisruptionBudget",
                          "The disruption budget " + std::string(budget["metadata"]["name"].text()) + " needs " +
                              std::to_string(desired) + " healthy pods and has " + std::to_string(health.healthy) +
                              " currently",
                          ""});
  return error;
}

void write_status(Transaction& transaction, Budget budget, const Health& health, std::int64_t desired) {
  Value& status = budget.object.at("status");
  status.set("observedGeneration", budget.object["metadata"]["generation"].integer());
  status.set("disruptionsAllowed", std::max<std::int64_t>(0, health.healthy - desired));
  status.set("currentHealthy", health.healthy);
  status.set("desiredHealthy", desired);
  status.set("expectedPods", health.expected);
  put_object(transaction, budget.key, std::move(budget.object));
}

}  // namespace

std::optional<ApiError> admit_eviction(const Value& pod, Transaction& transaction, Time) {
  // What does not run, or is going anyway, disturbs nobody by going.
  const bool runs = pod["status"]["phase"].text() == "Running" && pod["metadata"]["deletionTimestamp"].is_null();
  if (!runs) return std::nullopt;
  for (Budget& budget : budgets_of(transaction, pod)) {
    const Value& spec = budget.object["spec"];
    Health health = health_of(transaction, pod["metadata"]["namespace"].text(), spec["selector"]);
    const std::int64_t desired = desired_healthy(spec, health.expected);
    const bool healthy = is_healthy(pod);
    if (!healthy && spec["unhealthyPodEvictionPolicy"].text() == "AlwaysAllow") continue;
    // A pod that is not ready takes nothing away, as long as enough others are.
    const std::int64_t left = health.healthy - (healthy ? 1 : 0);
    if (left < desired) return refuse(budget.object, health, desired);
    health.healthy = left;
    write_status(transaction, std::move(budget), health, desired);
  }
  return std::nullopt;
}

}  // namespace berth
