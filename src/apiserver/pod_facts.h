// What Berth reads in a pod: amounts, GPUs, its group, whether it has ended; and where objects carry pods in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/canonical_quantity.h"
#include "manifest/gpu_need.h"
#include "manifest/gpu_part.h"
#include "manifest/kinds.h"
#include "manifest/labels.h"
#include "manifest/value.h"

namespace berth {

// On a PriorityClass or WorkloadPriorityClass: "true" says that only who may `use` it may name it.
inline constexpr std::string_view kRestrictedAnnotation = "berth.dev/restricted";
// Most kinds of resources that one container may ask for; they are looked for one by one.
inline constexpr std::size_t kResourceNamesMax = 100;
// Most pods of one group: more than any fleet here runs at once.
inline constexpr std::int64_t kPodGroupSizeMax = 100'000;

// Amounts by resource name: "cpu" -> 500m.
using Amounts = std::map<std::string, Quantity, std::less<>>;

bool is_pod_kind(const KindInfo& kind);
bool is_job_kind(const KindInfo& kind);
bool is_job_set_kind(const KindInfo& kind);
bool is_volcano_job_kind(const KindInfo& kind);
// Whether it makes pods: a Job, Kubernetes' or Volcano's, or a JobSet.
bool makes_pods(const KindInfo& kind);
// The pod itself, or the templates of the pods that it makes.
std::vector<const Value*> pods_in(const KindInfo& kind, const Value& object);
// The same, and of kinds of which operators make pods (manifest/gang_owner.h): what in their specs has the form of a template.
std::vector<const Value*> all_pods_in(const KindInfo& kind, const Value& object);

// The controllers' user: what it makes was asked for by whoever made its owner.
inline constexpr std::string_view kControllersUser = "system:berth-controllers";
// Whether it will never run (again): Succeeded or Failed.
bool pod_has_ended(const Value& pod);

// A quantity as text or number; none if it is none.
std::optional<Quantity> quantity_of(const Value& value);
// `amount` times a count from 0 to kPodGroupSizeMax.
Quantity times(Quantity amount, std::int64_t count);
void add_amounts(Amounts& sum, const Amounts& more);

// What the pod needs at most at a time: all containers together, or one init container with the sidecars started before
// it, if that is more; with its overhead. `which` is "requests" or "limits".
Amounts pod_amounts(const Value& spec, std::string_view which);
std::int64_t gpus_of(const Value& spec);  // whole devices asked for; 0 if the amount is none
// What it asks of slices (MIG), by their resources.
std::map<std::string, std::int64_t> slices_of(const Value& spec);
// The part of one GPU that a pod, or one of a template, asks; with what is wrong with it.
ReadGpuPart gpu_part_of(const Value& metadata, const Value& spec);
// What each of its GPUs must have at least; with what is wrong with it.
ReadGpuNeed gpu_need_of(const Value& metadata, const Value& spec);
std::string qos_class_of(const Value& spec);  // Guaranteed, Burstable, BestEffort

// `name`: no other group of the namespace has it; the gang of a JobSet is counted sort by sort of its Jobs, whose pods are alike.
struct PodGroup {
  std::string name;
  std::int64_t size = 1;
  std::string sort = {};  // of Jobs; empty if it is no JobSet's
};
// Of Berth's label and annotation, or Kueue's.
std::optional<PodGroup> pod_group_of(const Value& pod);

}  // namespace berth
