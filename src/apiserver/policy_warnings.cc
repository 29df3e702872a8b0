#include "apiserver/policy_warnings.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "apiserver/object_records.h"
#include "apiserver/other_views.h"
#include "manifest/gang_owner.h"
#include "manifest/labels.h"
#include "manifest/pod_group.h"
#include "policy/assemble.h"
#include "policy/lint.h"
#include "policy/read_objects.h"

namespace berth {
namespace {

// Each write of a queue reads all of them: a moment for so many.
constexpr std::size_t kQueuesMax = 300;

// In whose words a policy is written: these kinds make one.
constexpr std::array<std::string_view, 2> kOwnKinds = {"queues.berth.dev", "resourceflavors.berth.dev"};
constexpr std::array<std::string_view, 5> kKueueKinds = {"clusterqueues.kueue.x-k8s.io", "cohorts.kueue.x-k8s.io",
                                                         "resourceflavors.kueue.x-k8s.io", "topologies.kueue.x-k8s.io",
                                                         "localqueues.kueue.x-k8s.io"};
constexpr std::array<std::string_view, 1> kVolcanoKinds = {"queues.scheduling.volcano.sh"};

std::vector<std::string_view> kinds_beside(std::string_view qualified) {
  const auto listed = [&](const auto& kinds) { return std::ranges::find(kinds, qualified) != kinds.end(); };
  if (listed(kOwnKinds)) return {kOwnKinds.begin(), kOwnKinds.end()};
  if (listed(kKueueKinds)) return {kKueueKinds.begin(), kKueueKinds.end()};
  if (listed(kVolcanoKinds)) return {kVolcanoKinds.begin(), kVolcanoKinds.end()};
  return {};
}

// Everything of these kinds but the object itself; nothing if that is too much.
std::vector<Value> others(const Store& store, std::span<const std::string_view> kinds, const std::string& own_key) {
  std::vector<Value> objects;
  for (const std::string_view kind : kinds) {
    for (const RecordPtr& record : store.list(std::string(kind) + "/").records) {
      if (record->key == own_key) continue;
      if (objects.size() == kQueuesMax) return {};
      objects.push_back(object_of(record));
    }
  }
  return objects;
}

constexpr std::string_view kTrainJobs = "trainjobs.trainer.kubeflow.org";

// Where Kueue runs, it lets go what waits suspended in its queue; here nobody would.
std::vector<std::string> suspension_warnings(const Value& object) {
  if (object["metadata"]["labels"][kKueueQueueLabel].is_empty()) return {};
  const Value& spec = object["spec"];
  const bool of_policy = spec["runPolicy"]["suspend"].truth();
  if (!spec["suspend"].truth() && !of_policy) return {};
  return {std::string(of_policy ? "spec.runPolicy.suspend" : "spec.suspend") +
          ": it makes no pods until somebody lets it go, and Berth does not: leave it out, for its pods wait in their "
          "queue"};
}

std::vector<std::string> group_warnings(std::string_view qualified, const Value& object) {
  const PodGroupReading read = read_pod_group(qualified, object);
  std::vector<std::string> warnings = suspension_warnings(object);
  for (const SpecMistake& each : read.not_followed) warnings.push_back(each.field + " is not followed: " + each.text);
  for (const SpecMistake& each : read.advice) warnings.push_back(each.field + ": " + each.text);
  return warnings;
}

}  // namespace

std::vector<std::string> policy_warnings(const Store& store, const KindInfo& kind, const Value& object) {
  if (kind.plural == "podgroups" || find_gang_owner_kind(kind.qualified()) != nullptr) {
    return group_warnings(kind.qualified(), object);
  }
  if (kind.qualified() == kTrainJobs) return suspension_warnings(object);
  const std::vector<std::string_view> kinds = kinds_beside(kind.qualified());
  if (kinds.empty()) return {};
  const Value& metadata = object["metadata"];
  const std::string key = object_key(key_word(kind), metadata["namespace"].text(), metadata["name"].text());
  PolicyParts parts;
  read_policy_object(object, {}, parts);
  // What is not followed is said of this object alone; how it stands with the others follows.
  std::vector<std::string> warnings;
  for (const NotFollowed& each : parts.not_followed)
    warnings.push_back(each.place.field + " is not followed: " + each.why);
  const std::string own = parts.queues.empty() ? "" : parts.queues.front().name;
  for (const Value& other : others(store, kinds, key)) read_policy_object(other, {}, parts);
  // Objects are applied one after another: a name that leads nowhere may lead somewhere a moment later.
  for (const PolicyFinding& each : lint(assemble(std::move(parts), Whole::kNo))) {
    const bool about = !own.empty() && std::ranges::find(each.queues, own) != each.queues.end();
    const bool flavor_may_come = each.rule == "unreachable-flavor" && each.queues.size() == 1;
    if (!about || each.severity == Severity::kNote || flavor_may_come) continue;
    warnings.push_back(each.what + (each.instead.empty() ? "" : "; " + each.instead));
  }
  return warnings;
}

void check_policy_object(const AdmissionRequest& request, Causes& causes) {
  PolicyParts parts;
  read_policy_object(*request.object, {}, parts);
  for (const PolicyFinding& each : parts.findings) {
    if (each.severity == Severity::kError) causes.push_back(invalid_value(each.place.field, "", each.text()));
  }
}

}  // namespace berth
