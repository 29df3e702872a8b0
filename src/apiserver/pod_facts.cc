#include "apiserver/pod_facts.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "manifest/gang_owner.h"
#include "manifest/job_set_labels.h"
#include "manifest/slice_resources.h"
#include "manifest/vgpu_resources.h"
#include "model/quantity.h"

namespace berth {

namespace {

Amounts amounts_of(const Value& map) {
  Amounts amounts;
  for (const Value::Member& member : map.members()) {
    if (const std::optional<Quantity> quantity = quantity_of(member.value))
      amounts.insert_or_assign(member.key, *quantity);
  }
  return amounts;
}

void raise_to(Amounts& most, const Amounts& candidate) {
  for (const auto& [name, quantity] : candidate) {
    const auto [place, added] = most.emplace(name, quantity);
    if (!added && place->second < quantity) place->second = quantity;
  }
}

// Which of cpu and memory the container says for the word ("requests"), with a positive amount.
bool says(const Value& container, std::string_view which, std::string_view resource) {
  const std::optional<Quantity> quantity = quantity_of(container["resources"][which][resource]);
  return quantity && !quantity->is_zero();
}

}  // namespace

bool is_pod_kind(const KindInfo& kind) { return kind.group.empty() && kind.plural == "pods"; }
bool is_job_kind(const KindInfo& kind) { return kind.group == "batch" && kind.plural == "jobs"; }
bool is_job_set_kind(const KindInfo& kind) { return kind.group == "jobset.x-k8s.io"; }

bool is_volcano_job_kind(const KindInfo& kind) { return kind.group == "batch.volcano.sh" && kind.plural == "jobs"; }
bool makes_pods(const KindInfo& kind) {
  return is_job_kind(kind) || is_job_set_kind(kind) || is_volcano_job_kind(kind);
}

std::vector<const Value*> pods_in(const KindInfo& kind, const Value& object) {
  if (is_pod_kind(kind)) return {&object};
  if (is_job_kind(kind)) return {&object["spec"]["template"]};
  std::vector<const Value*> templates;
  if (is_volcano_job_kind(kind)) {
    for (const Value& task : object["spec"]["tasks"].items()) templates.push_back(&task["template"]);
  } else if (is_job_set_kind(kind)) {
    for (const Value& part : object["spec"]["replicatedJobs"].items()) {
      templates.push_back(&part["template"]["spec"]["template"]);
    }
  }
  return templates;
}

namespace {

// Templates stand no deeper than those of a RayJob's workers: spec.rayClusterSpec.workerGroupSpecs[0].template.
constexpr int kTemplateDepthMax = 6;

void find_templates(const Value& part, int depth, std::vector<const Value*>& templates) {
  if (depth > kTemplateDepthMax) return;
  if (part["spec"]["containers"].is_list()) return templates.push_back(&part);
  for (const Value::Member& each : part.members()) find_templates(each.value, depth + 1, templates);
  for (const Value& each : part.items()) find_templates(each, depth + 1, templates);
}

}  // namespace

std::vector<const Value*> all_pods_in(const KindInfo& kind, const Value& object) {
  if (find_gang_owner_kind(kind.qualified()) == nullptr) return pods_in(kind, object);
  std::vector<const Value*> templates;
  find_templates(object["spec"], 0, templates);
  return templates;
}

bool pod_has_ended(const Value& pod) {
  const std::string_view phase = pod["status"]["phase"].text();
  return phase == "Succeeded" || phase == "Failed";
}

std::optional<Quantity> quantity_of(const Value& value) {
  std::string text;
  if (value.is_text())
    text = value.text();
  else if (value.is_integer())
    text = std::to_string(value.integer());
  else
    text = value.number_text();
  Parsed<Quantity> parsed = Quantity::parse(text);
  if (!parsed) return std::nullopt;
  return *parsed;
}

Quantity times(Quantity amount, std::int64_t count) {
  BERTH_ASSERT(count >= 0 && count <= kPodGroupSizeMax);
  Quantity sum = amount;
  sum -= amount;  // zero, in the format of the amount
  for (; count > 0; count /= 2) {
    if (count % 2 == 1) sum += amount;
    amount += Quantity(amount);
  }
  return sum;
}

void add_amounts(Amounts& sum, const Amounts& more) {
  for (const auto& [name, quantity] : more) {
    const auto [place, added] = sum.emplace(name, quantity);
    if (!added) place->second += quantity;
  }
}

Amounts pod_amounts(const Value& spec, std::string_view which) {
  Amounts together;
  for (const Value& container : spec["containers"].items())
    add_amounts(together, amounts_of(container["resources"][which]));
  Amounts sidecars;
  Amounts starting;
  for (const Value& container : spec["initContainers"].items()) {
    Amounts now = amounts_of(container["resources"][which]);
    if (container["restartPolicy"].text() == "Always") {
      add_amounts(sidecars, now);
      raise_to(starting, sidecars);
    } else {
      add_amounts(now, sidecars);
      raise_to(starting, now);
    }
  }
  add_amounts(together, sidecars);
  raise_to(together, starting);
  add_amounts(together, amounts_of(spec["overhead"]));
  return together;
}

namespace {

std::int64_t whole_of(const Amounts& amounts, std::string_view resource) {
  const auto amount = amounts.find(resource);
  if (amount == amounts.end()) return 0;
  return parse_milli(amount->second.to_string()).value_or(0) / 1000;
}

}  // namespace

std::int64_t gpus_of(const Value& spec) { return whole_of(pod_amounts(spec, "limits"), kGpuResource); }

namespace {

GpuResources gpu_resources_of(const Value& spec) {
  const Amounts limits = pod_amounts(spec, "limits");
  std::map<std::string, std::int64_t> vgpus;
  for (const auto& [resource, amount] : limits) {
    if (const std::int64_t count = is_vgpu_resource(resource) ? whole_of(limits, resource) : 0; count > 0)
      vgpus[resource] = count;
  }
  return {.whole = whole_of(limits, kGpuResource),
          .shared = whole_of(limits, kSharedGpuResource),
          .slices = !slices_of(spec).empty(),
          .vgpus = std::move(vgpus)};
}

}  // namespace

ReadGpuPart gpu_part_of(const Value& metadata, const Value& spec) {
  return read_gpu_part(metadata["annotations"], gpu_resources_of(spec));
}

ReadGpuNeed gpu_need_of(const Value& metadata, const Value& spec) {
  return read_gpu_need(metadata["annotations"], gpu_resources_of(spec));
}

std::map<std::string, std::int64_t> slices_of(const Value& spec) {
  std::map<std::string, std::int64_t> slices;
  for (const auto& [resource, amount] : pod_amounts(spec, "limits")) {
    if (!is_slice_resource(resource)) continue;
    const std::int64_t count = parse_milli(amount.to_string()).value_or(0) / 1000;
    if (count > 0) slices[resource] = count;
  }
  return slices;
}

std::string qos_class_of(const Value& spec) {
  bool any = false;
  bool guaranteed = true;
  for (const std::string_view list : {"containers", "initContainers"}) {
    for (const Value& container : spec[list].items()) {
      for (const std::string_view resource : {"cpu", "memory"}) {
        const bool requests = says(container, "requests", resource);
        const bool limits = says(container, "limits", resource);
        any = any || requests || limits;
        guaranteed = guaranteed && limits &&
                     quantity_of(container["resources"]["requests"][resource]) ==
                         quantity_of(container["resources"]["limits"][resource]);
      }
    }
  }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

std::optional<PodGroup> pod_group_of(const Value& pod) {
  constexpr std::pair<std::string_view, std::string_view> kDialects[] = {{kGroupLabel, kGroupSizeAnnotation},
                                                                         {kKueueGroupLabel, kKueueGroupSizeAnnotation}};
  for (const auto& [label, annotation] : kDialects) {
    const std::string_view name = pod["metadata"]["labels"][label].text();
    if (name.empty()) continue;
    const Value& annotations = pod["metadata"]["annotations"];
    const Parsed<std::int64_t> size = parse_integer(annotations[annotation].text(), 1, kPodGroupSizeMax);
    PodGroup group{.name = std::string(name), .size = size.value_or(1)};
    if (label != kGroupLabel || annotations[kGroupUidAnnotation].is_empty()) return group;
    group.name.append("@").append(annotations[kGroupUidAnnotation].text());
    group.sort = pod["metadata"]["labels"][kReplicatedJobLabel].text();
    group.name.append("@").append(group.sort);
    return group;
  }
  return std::nullopt;
}

}  // namespace berth
