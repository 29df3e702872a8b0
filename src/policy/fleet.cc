#include "policy/fleet.h"

#include <algorithm>
#include <map>
#include <optional>

#include "manifest/labels.h"
#include "model/gpu.h"

namespace berth {
namespace {

// `model` is that of the flavor, if it names one: then the label of the product may be written otherwise.
bool has_labels(const SeenNodes& seen, const PolicyFlavor& flavor, const GpuModel* model) {
  return std::ranges::all_of(flavor.node_labels, [&](const auto& label) {
    return (model != nullptr && label.first == kGpuProductLabel) ||
           std::ranges::find(seen.labels, label) != seen.labels.end();
  });
}

std::optional<FlavorId> flavor_of(const Policy& policy, const SeenNodes& seen) {
  const GpuModel* const model = find_gpu_model(seen.gpu_model);
  std::optional<FlavorId> most_exact;
  for (std::size_t i = 0; i < policy.flavors.size(); ++i) {
    const PolicyFlavor& flavor = policy.flavors[i];
    const GpuModel* const wanted = flavor.flavor.model == "gpu" ? nullptr : find_gpu_model(flavor.flavor.model);
    if ((wanted != nullptr && wanted != model) || !has_labels(seen, flavor, wanted)) continue;
    if (!most_exact || flavor.node_labels.size() > policy.flavors[most_exact->index()].node_labels.size()) {
      most_exact = FlavorId(i);
    }
  }
  return most_exact;
}

}  // namespace

void set_fleet(Policy& policy, std::vector<SeenNodes> seen) {
  std::vector<PolicyNodes> fleet;
  std::map<std::string, std::int64_t> without;
  for (SeenNodes& each : seen) {
    if (each.node.gpus > 0) {
      const auto flavor = flavor_of(policy, each);
      if (!flavor) {
        without[each.gpu_model] += each.count;
        continue;
      }
      each.node.flavor = *flavor;
    }
    each.node.labels.clear();
    for (const auto& [key, value] : each.labels) each.node.labels.push_back({key, value});
    std::ranges::sort(each.node.labels);
    fleet.push_back({each.node, each.count});
  }
  policy.fleet = std::move(fleet);
  for (const auto& [model, count] : without) {
    policy.findings.push_back(
        {.severity = Severity::kWarning,
         .rule = "nodes-without-flavor",
         .place = {},
         .queues = {},
         .what = std::to_string(count) + (count == 1 ? " node with " : " nodes with ") + model + " GPUs belong" +
                 (count == 1 ? "s" : "") + " to no flavor",
         .why = "no amount speaks of these GPUs, so that nobody is promised any and nobody is bounded",
         .instead = "declare a ResourceFlavor for them, and give amounts of it"});
  }
}

}  // namespace berth
