#include "apiserver/node_amounts.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "apiserver/object_records.h"
#include "manifest/labels.h"
#include "manifest/scheduled_resources.h"

namespace berth {
namespace {

constexpr Duration kLookEvery = seconds(1);

// Of what else there is on a machine nodes need not say anything; nor of what they promise more than once, in how many parts.
bool is_counted(std::string_view resource) {
  if (resource == kBatchCpuResource || resource == kBatchMemoryResource) return false;
  return resource == "cpu" || resource == "memory" || resource.find('/') != std::string_view::npos;
}

const Quantity* quantity_in(const Amounts& amounts, const std::string& resource) {
  const auto found = amounts.find(resource);
  return found == amounts.end() || found->second.is_zero() ? nullptr : &found->second;
}

// The most that a node has; nullptr: none has any.
const Quantity* most_of(const std::set<Amounts>& nodes, const std::string& resource) {
  const Quantity* most = nullptr;
  for (const Amounts& node : nodes) {
    const Quantity* const has = quantity_in(node, resource);
    if (has != nullptr && (most == nullptr || *has > *most)) most = has;
  }
  return most;
}

std::string no_node_has(const Quantity* most) {
  return most == nullptr ? "no node has any" : "no node has more than " + most->to_string();
}

bool has_all(const Amounts& node, const Amounts& asked) {
  return std::ranges::all_of(asked, [&](const auto& each) {
    const Quantity* const has = quantity_in(node, each.first);
    return !is_counted(each.first) || each.second.is_zero() || (has != nullptr && *has >= each.second);
  });
}

std::string in_words(const Amounts& asked) {
  std::string text;
  for (const auto& [resource, amount] : asked) {
    if (is_counted(resource) && !amount.is_zero())
      text += (text.empty() ? "" : ", ") + resource + " " + amount.to_string();
  }
  return text;
}

// Where only a limit is said that is the request, too. On pods the server has filled it in, in most templates it has not.
Value with_requests(Value spec) {
  for (const char* const list : {"initContainers", "containers"}) {
    if (!spec[list].is_list()) continue;
    for (Value& container : spec.at(list).edit_items()) {
      const Value limits = container["resources"]["limits"];
      for (const Value::Member& limit : limits.members()) {
        Value& requests = container.at("resources").at("requests");
        if (requests[limit.key].is_null()) requests.set(limit.key, limit.value);
      }
    }
  }
  return spec;
}

}  // namespace

Amounts allocatable_of(const Value& node) {
  Amounts amounts;
  for (const Value::Member& each : node["status"]["allocatable"].members()) {
    const auto amount = is_counted(each.key) ? quantity_of(each.value) : std::nullopt;
    if (amount) amounts[each.key] = *amount;
  }
  return amounts;
}

std::vector<std::string> beyond_all_nodes(const Value& pod, const std::set<Amounts>& nodes) {
  std::vector<std::string> beyond;
  if (!pod["spec"]["nodeName"].is_empty()) return beyond;
  const Value spec = with_requests(pod["spec"]);
  const Amounts requests = pod_amounts(spec, "requests"), limits = pod_amounts(spec, "limits");
  for (const auto& [resource, amount] : requests) {
    if (!is_scheduled_resource(resource)) beyond.push_back("a pod waits: " + not_scheduled_by(resource));
  }
  if (nodes.empty()) return beyond;
  for (const auto& [resource, amount] : requests) {
    if (!is_scheduled_resource(resource)) continue;
    const Quantity* const most = most_of(nodes, resource);
    if (!is_counted(resource) || amount.is_zero() || (most != nullptr && amount <= *most)) continue;
    beyond.push_back("a pod asks " + amount.to_string() + " of " + resource + ", and " + no_node_has(most) +
                     "; it waits until one has");
  }
  const bool somewhere = std::ranges::any_of(nodes, [&](const Amounts& node) { return has_all(node, requests); });
  if (beyond.empty() && !somewhere) {
    beyond.push_back("no node has all that a pod asks at once (" + in_words(requests) + "); it waits until one has");
  }
  for (const auto& [resource, limit] : limits) {
    const Quantity* const most = most_of(nodes, resource);
    const Quantity* const request = quantity_in(requests, resource);
    const bool asked = request != nullptr && *request == limit;
    if (asked || !is_counted(resource) || most == nullptr || limit <= *most) continue;
    beyond.push_back("a pod has a limit of " + limit.to_string() + " of " + resource + ", and " + no_node_has(most) +
                     "; it limits nothing");
  }
  return beyond;
}

void NodeAmounts::look(Time now) {
  if (looked_ && now >= looked_at_ && now - looked_at_ < kLookEvery) return;
  looked_ = true;
  looked_at_ = now;
  std::map<std::string, Read> nodes;
  for (const RecordPtr& record : store_.list("nodes/").records) {
    const auto known = nodes_.find(record->key);
    const bool same = known != nodes_.end() && known->second.revision == record->revision;
    nodes[record->key] = same ? std::move(known->second) : Read{record->revision, allocatable_of(object_of(record))};
  }
  nodes_ = std::move(nodes);
  distinct_.clear();
  for (const auto& [key, read] : nodes_) distinct_.insert(read.amounts);
}

std::vector<std::string> NodeAmounts::warnings(const KindInfo& kind, const Value& object, Time now) {
  const std::vector<const Value*> pods = all_pods_in(kind, object);
  if (pods.empty()) return {};
  const std::lock_guard lock(mutex_);
  look(now);
  std::vector<std::string> warnings;
  std::size_t looked = 0;
  for (const Value* const pod : pods) {
    if (looked++ == kTemplatesMax) break;
    for (std::string& each : beyond_all_nodes(*pod, distinct_)) {
      if (std::ranges::find(warnings, each) == warnings.end()) warnings.push_back(std::move(each));
    }
  }
  return warnings;
}

}  // namespace berth
