#include "controllers/garbage.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "controllers/controller.h"

namespace berth {
namespace {

// In a merge patch null takes the member away: an empty list would stay.
Value none_if_empty(Value list) { return list.is_empty() ? Value() : list; }

constexpr std::string_view kForeground = "foregroundDeletion";
constexpr std::string_view kOrphan = "orphan";

Value without_finalizer(const Value& object, std::string_view finalizer) {
  Value left = Value::list();
  for (const Value& each : object["metadata"]["finalizers"].items()) {
    if (each.text() != finalizer) left.push_back(each);
  }
  Value change;
  change.at("metadata").set("finalizers", std::move(left));
  return change;
}

const Value* reference_to(const Value& object, std::string_view uid) {
  for (const Value& owner : object["metadata"]["ownerReferences"].items()) {
    if (owner["uid"].text() == uid) return &owner;
  }
  return nullptr;
}

bool blocks(const Value& dependent, std::string_view owner_uid) {
  const Value* const reference = reference_to(dependent, owner_uid);
  return reference != nullptr && (*reference)["blockOwnerDeletion"].truth();
}

GarbageChore free_dependents(const Value& object, const std::vector<const Value*>& dependents) {
  if (dependents.empty()) return {.what = GarbageChore::What::kFinish, .change = without_finalizer(object, kOrphan)};
  return {.what = GarbageChore::What::kFreeDependents, .dependents = dependents};
}

GarbageChore wait_for_dependents(const Value& object, const std::vector<const Value*>& dependents) {
  GarbageChore chore{.what = GarbageChore::What::kDeleteDependents};
  bool blocked = false;
  for (const Value* const each : dependents) {
    if (!blocks(*each, object["metadata"]["uid"].text())) continue;
    blocked = true;
    if (!is_being_deleted(*each)) chore.dependents.push_back(each);
  }
  if (!blocked) return {.what = GarbageChore::What::kFinish, .change = without_finalizer(object, kForeground)};
  return chore;
}

bool is_any(const std::vector<OwnerState>& owners, OwnerState state) {
  return std::ranges::find(owners, state) != owners.end();
}

GarbageChore drop_references(const Value& object, const std::vector<OwnerState>& owners) {
  if (!is_any(owners, OwnerState::kGone) && !is_any(owners, OwnerState::kWaits)) return {};
  Value left = Value::list();
  const Value::List& references = object["metadata"]["ownerReferences"].items();
  for (std::size_t i = 0; i < references.size(); ++i) {
    const bool stays = owners[i] == OwnerState::kThere || owners[i] == OwnerState::kUnsure;
    if (stays) left.push_back(references[i]);
  }
  GarbageChore chore{.what = GarbageChore::What::kDropReferences};
  chore.change.at("metadata").set("ownerReferences", none_if_empty(std::move(left)));
  return chore;
}

}  // namespace

bool has_finalizer_named(const Value& object, std::string_view finalizer) {
  return std::ranges::any_of(object["metadata"]["finalizers"].items(),
                             [&](const Value& each) { return each.text() == finalizer; });
}

Value without_owner(const Value& object, std::string_view uid) {
  Value left = Value::list();
  for (const Value& each : object["metadata"]["ownerReferences"].items()) {
    if (each["uid"].text() != uid) left.push_back(each);
  }
  Value change;
  change.at("metadata").set("ownerReferences", none_if_empty(std::move(left)));
  return change;
}

GarbageChore garbage_chore(const Value& object, const std::vector<OwnerState>& owners,
                           const std::vector<const Value*>& dependents) {
  if (is_being_deleted(object)) {
    if (has_finalizer_named(object, kOrphan)) return free_dependents(object, dependents);
    if (has_finalizer_named(object, kForeground)) return wait_for_dependents(object, dependents);
    return {};
  }
  if (owners.empty()) return {};
  if (is_any(owners, OwnerState::kThere)) return drop_references(object, owners);
  if (is_any(owners, OwnerState::kUnsure)) return {.what = GarbageChore::What::kAskForOwners};
  GarbageChore chore{.what = GarbageChore::What::kDelete, .propagation = "Background"};
  // What waits for this object is not done before those are gone that wait behind it.
  if (is_any(owners, OwnerState::kWaits) && !dependents.empty()) chore.propagation = "Foreground";
  if (has_finalizer_named(object, kForeground)) chore.propagation = "Foreground";
  if (has_finalizer_named(object, kOrphan)) chore.propagation = "Orphan";
  return chore;
}

std::vector<const Value*> superfluous_pods(const std::vector<const Value*>& pods, std::size_t ended_max) {
  std::vector<const Value*> ended;
  for (const Value* const pod : pods) {
    if (has_ended(*pod) && !is_being_deleted(*pod)) ended.push_back(pod);
  }
  if (ended.size() <= ended_max) return {};
  const auto age_order = [](const Value* pod) {
    const Value& metadata = (*pod)["metadata"];
    // Timestamps of one form compare as texts.
    return std::tuple(metadata["creationTimestamp"].text(), metadata["namespace"].text(), metadata["name"].text());
  };
  std::ranges::sort(ended, {}, age_order);
  ended.resize(ended.size() - ended_max);
  return ended;
}

bool is_on_lost_node(const Value& pod, const std::function<bool(std::string_view)>& node_is_there) {
  const std::string_view node = pod["spec"]["nodeName"].text();
  return !node.empty() && !node_is_there(node);
}

Value lost_pod_status(const Value& pod, const std::string& now) {
  Value change;
  Value& status = change.at("status");
  status.set("phase", "Failed");
  Value conditions = Value::list();
  for (const Value& each : pod["status"]["conditions"].items()) {
    if (each["type"].text() != "DisruptionTarget") conditions.push_back(each);
  }
  conditions.push_back(Value::map_of({{"type", "DisruptionTarget"},
                                      {"status", "True"},
                                      {"lastTransitionTime", now},
                                      {"reason", "DeletionByPodGC"},
                                      {"message", "PodGC: node no longer exists"}}));
  status.set("conditions", std::move(conditions));
  return change;
}

}  // namespace berth
