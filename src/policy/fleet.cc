#include "policy/fleet.h"

#include <algorithm>
#include <map>
#include <optional>

#include "model/gpu.h"

namespace berth {
namespace {

bool has_labels(const SeenNodes& seen, const PolicyFlavor& flavor) {
  return std::ranges::all_of(flavor.node_labels, [&](const auto& label) {
    return std::ranges::find(seen.labels, label) != seen.labels.end();
  });
}

std::optional<FlavorId> flavor_of(const Policy& policy, const SeenNodes& seen) {
  const GpuModel* const model = find_gpu_model(seen.gpu_model);
  for (std::size_t i = 0; i < policy.flavors.size(); ++i) {
    const PolicyFlavor& flavor = policy.flavors[i];
    const GpuModel* const wanted = find_gpu_model(flavor.flavor.model);
    const bool any = wanted == nullptr || flavor.flavor.model == "gpu";
    if (any ? has_labels(seen, flavor) : wanted == model) return FlavorId(i);
  }
  return std::nullopt;
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
