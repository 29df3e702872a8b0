#include "controllers/kueue_admission.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "manifest/canonical_quantity.h"
#include "manifest/labels.h"
#include "model/gpu.h"

namespace berth {
namespace {

// The product under any of its names; all other labels as they are. The scheduler reads flavors so.
bool has_label(const Value& labels, const std::string& key, std::string_view wanted) {
  const std::string_view has = labels[key].text();
  if (has == wanted) return labels.find(key) != nullptr;
  const GpuModel* const model = key == kGpuProductLabel ? find_gpu_model(wanted) : nullptr;
  return model != nullptr && find_gpu_model(has) == model;
}

// Of several flavors the one with most labels has the node; one without labels has all that no other has.
std::string flavor_on(const ClusterView& view, const Value& group, const Value& node) {
  std::string best;
  std::optional<std::size_t> labels_of_best;
  for (const Value& each : group["flavors"].items()) {
    const ObjectPtr flavor = view.find("resourceflavors.kueue.x-k8s.io", "", each["name"].text());
    if (!flavor) continue;
    const Value::Map& labels = (*flavor)["spec"]["nodeLabels"].members();
    const bool matches = std::ranges::all_of(labels, [&](const Value::Member& label) {
      return has_label(node["metadata"]["labels"], label.key, label.value.text());
    });
    if (!matches || (labels_of_best && labels.size() <= *labels_of_best)) continue;
    labels_of_best = labels.size();
    best = each["name"].text();
  }
  return best;
}

const Value* group_of(const Value& cluster_queue, std::string_view resource) {
  for (const Value& group : cluster_queue["spec"]["resourceGroups"].items()) {
    for (const Value& covered : group["coveredResources"].items()) {
      if (covered.text() == resource) return &group;
    }
  }
  return nullptr;
}

// What the containers request, of all of the pods together.
std::map<std::string, Quantity> requests_of(const std::vector<const Value*>& pods) {
  std::map<std::string, Quantity> total;
  for (const Value* const pod : pods) {
    for (const Value& container : (*pod)["spec"]["containers"].items()) {
      for (const Value::Member& request : container["resources"]["requests"].members()) {
        const auto amount = Quantity::parse(request.value.text());
        if (!amount) continue;
        const auto [at, is_new] = total.try_emplace(request.key, *amount);
        if (!is_new) at->second += *amount;
      }
    }
  }
  return total;
}

}  // namespace

std::string cluster_queue_of(const ClusterView& view, std::string_view name_space, std::string_view local_queue) {
  const ObjectPtr found = view.find("localqueues.kueue.x-k8s.io", name_space, local_queue);
  return found ? std::string((*found)["spec"]["clusterQueue"].text()) : std::string();
}

Value kueue_admission(const ClusterView& view, const std::string& cluster_queue,
                      const std::vector<const Value*>& holding) {
  const ObjectPtr queue = view.find("clusterqueues.kueue.x-k8s.io", "", cluster_queue);
  const ObjectPtr node = view.find("nodes", "", (*holding.front())["spec"]["nodeName"].text());
  Value flavors = Value::map(), usage = Value::map();
  for (const auto& [resource, amount] : requests_of(holding)) {
    const Value* const group = queue ? group_of(*queue, resource) : nullptr;
    if (group == nullptr) continue;
    usage.set(resource, amount.to_string());
    const std::string flavor = node ? flavor_on(view, *group, *node) : std::string();
    if (!flavor.empty()) flavors.set(resource, flavor);
  }
  Value assignment = Value::map_of({{"name", "main"},
                                    {"flavors", std::move(flavors)},
                                    {"resourceUsage", std::move(usage)},
                                    {"count", holding.size()}});
  return Value::map_of({{"clusterQueue", cluster_queue}, {"podSetAssignments", Value::List{std::move(assignment)}}});
}

}  // namespace berth
