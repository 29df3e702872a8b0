#include "manifest/workload_name.h"

#include "manifest/gang_owner.h"
#include "manifest/labels.h"
#include "manifest/pod_group.h"

namespace berth {
namespace {

// Names of groups are label values, which may hold more than names of objects.
std::string as_object_name(std::string_view group) {
  std::string name;
  for (const char c : group) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool large = c >= 'A' && c <= 'Z';
    name += letter ? c : large ? static_cast<char>(c - 'A' + 'a') : '-';
  }
  return name;
}

}  // namespace

std::string_view group_uid_of(const Value& pod) {
  const Value& metadata = pod["metadata"];
  if (!metadata["labels"][kGroupLabel].is_empty() && !metadata["annotations"][kGroupUidAnnotation].is_empty()) {
    return metadata["annotations"][kGroupUidAnnotation].text();
  }
  for (const Value& owner : metadata["ownerReferences"].items()) {
    if (owner["controller"].truth()) return owner["uid"].text();
  }
  return {};
}

std::string workload_name_of(const Value& pod) {
  const Value& labels = pod["metadata"]["labels"];
  const std::string_view group = labels[kGroupLabel].text(labels[kKueueGroupLabel].text());
  if (!group.empty()) return workload_name_of_job(group, group_uid_of(pod));
  const auto pod_group = pod_group_named_by(pod);
  if (!pod_group) return "";
  const GangOwnerKind* const owner = find_gang_owner_kind(pod_group->qualified);
  if (owner == nullptr) return pod_group->name;
  return as_object_name(std::string(owner->kind) + "-" + pod_group->group());
}

std::string workload_name_of_job(std::string_view name, std::string_view uid) {
  return uid.empty() ? as_object_name(name) : as_object_name(name) + "-" + std::string(uid.substr(0, 5));
}

}  // namespace berth
