#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/admission_rules.h"
#include "apiserver/object_records.h"
#include "apiserver/pod_facts.h"

namespace berth {

namespace {

void fill_amounts(Value& container, std::string_view which, const Value& defaults) {
  for (const Value::Member& member : defaults.members()) {
    Value& amounts = container.at("resources").at(which);
    if (amounts[member.key].is_null()) amounts.set(member.key, member.value);
  }
}

void fill_pod(Value& pod, const Value& item) {
  for (const char* const list : {"containers", "initContainers"}) {
    if (!pod["spec"][list].is_list()) continue;
    for (Value& container : pod.at("spec").at(list).edit_items()) {
      fill_amounts(container, "limits", item["default"]);
      fill_amounts(container, "requests", item["defaultRequest"]);
    }
  }
}

std::optional<Quantity> amount_in(const Amounts& amounts, const std::string& name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? std::nullopt : std::optional(found->second);
}

// What is outside of the bounds that `item` gives for one container, or for the pod.
void add_excess(const Value& item, const Amounts& requests, const Amounts& limits, std::vector<std::string>& reasons) {
  const std::string per = " usage per " + std::string(item["type"].text()) + " is ";
  for (const Value::Member& member : item["max"].members()) {
    const std::optional<Quantity> most = quantity_of(member.value);
    const std::optional<Quantity> limit = amount_in(limits, member.key);
    if (!most || (limit && *limit <= *most)) continue;
    reasons.push_back("maximum " + member.key + per + most->to_string() +
                      (limit ? ", but limit is " + limit->to_string() : ".  No limit is specified"));
  }
  for (const Value::Member& member : item["min"].members()) {
    const std::optional<Quantity> least = quantity_of(member.value);
    const std::optional<Quantity> request = amount_in(requests, member.key);
    if (!least || (request && *request >= *least)) continue;
    reasons.push_back("minimum " + member.key + per + least->to_string() +
                      (request ? ", but request is " + request->to_string() : ".  No request is specified"));
  }
}

Amounts amounts_of_container(const Value& container, std::string_view which) {
  Amounts amounts;
  for (const Value::Member& member : container["resources"][which].members()) {
    if (const std::optional<Quantity> quantity = quantity_of(member.value))
      amounts.insert_or_assign(member.key, *quantity);
  }
  return amounts;
}

void check_pod_within(const Value& pod, const Value& item, std::vector<std::string>& reasons) {
  const Value& spec = pod["spec"];
  if (item["type"].text() == "Pod") {
    return add_excess(item, pod_amounts(spec, "requests"), pod_amounts(spec, "limits"), reasons);
  }
  for (const char* const list : {"containers", "initContainers"}) {
    for (const Value& container : spec[list].items()) {
      add_excess(item, amounts_of_container(container, "requests"), amounts_of_container(container, "limits"), reasons);
    }
  }
}

}  // namespace

Refusal apply_limit_ranges(AdmissionRequest& request, Transaction& transaction, const Authorizer&) {
  if (!is_pod_kind(*request.kind) || request.operation != Operation::kCreate || !request.subresource.empty()) return {};
  Value& pod = *request.object;
  std::vector<Value> ranges;
  transaction.for_each(object_key("limitranges", pod["metadata"]["namespace"].text(), ""),
                       [&](const RecordPtr& record) { ranges.push_back(object_of(record)); });
  if (ranges.empty()) return {};
  std::vector<std::string> reasons;
  for (const Value& range : ranges) {
    for (const Value& item : range["spec"]["limits"].items()) fill_pod(pod, item);
  }
  for (const Value& range : ranges) {
    for (const Value& item : range["spec"]["limits"].items()) check_pod_within(pod, item, reasons);
  }
  pod.at("status").set("qosClass", qos_class_of(pod["spec"]));
  if (reasons.empty()) return {};
  std::string all;
  for (const std::string& reason : reasons) all.append(all.empty() ? "" : ", ").append(reason);
  return forbidden(*request.kind, pod["metadata"]["name"].text(), reasons.size() == 1 ? all : "[" + all + "]");
}

}  // namespace berth
