#include "service/group_workloads.h"

#include <utility>

#include "kube/calls.h"
#include "service/requests.h"

namespace berth {
namespace {

WorkloadKey key_of_workload(const Value& workload) {
  const Value& metadata = workload["metadata"];
  return {std::string(metadata["namespace"].text()), std::string(metadata["name"].text())};
}

ApiCall deletion_call(const WorkloadKey& key, const std::string& uid) {
  Value body = Value::map_of({{"apiVersion", "v1"}, {"kind", "DeleteOptions"}});
  body.at("preconditions").set("uid", uid);
  return call_with("DELETE", api_path("workloads.berth.dev", key.first, key.second), body);
}

}  // namespace

void GroupWorkloads::set(const Value& workload) {
  const Value& metadata = workload["metadata"];
  Known& known = known_[key_of_workload(workload)];
  Known now = {.uid = std::string(metadata["uid"].text()),
               .goes_by_itself = !metadata["ownerReferences"].is_empty() || workload["status"]["conditions"].is_empty(),
               .spec = workload["spec"]};
  if (known == now) return;
  if (now.goes_by_itself) {
    owned_by_nobody_.erase(key_of_workload(workload));
  } else {
    owned_by_nobody_.insert(key_of_workload(workload));
  }
  known = std::move(now);
  looked_ = false;
}

void GroupWorkloads::remove(const Value& workload, LiveEngine& engine) {
  const WorkloadKey key = key_of_workload(workload);
  known_.erase(key);
  owned_by_nobody_.erase(key);
  engine.tell_workload_anew(key);
}

std::optional<ApiCall> GroupWorkloads::correction(const WorkloadNews& news) const {
  const auto known = known_.find({news.name_space, news.name});
  if (known == known_.end()) return std::nullopt;
  const Value wanted = workload_spec(news);
  const Value& is = known->second.spec;
  if (is["queue"] == wanted["queue"] && is["podSets"] == wanted["podSets"]) return std::nullopt;
  Value body;
  body.at("metadata").set("uid", known->second.uid);
  body.at("spec").set("queue", wanted["queue"]);
  body.at("spec").set("podSets", wanted["podSets"]);
  return call_with("PATCH", api_path("workloads.berth.dev", news.name_space, news.name), body,
                   "application/merge-patch+json");
}

std::vector<ApiCall> GroupWorkloads::leftovers(const LiveEngine& engine) {
  std::vector<ApiCall> calls;
  if (std::exchange(looked_, true) && gone_ == engine.groups_gone()) return calls;
  gone_ = engine.groups_gone();
  std::set<WorkloadKey> of_nobody = owned_by_nobody_;
  if (!of_nobody.empty()) engine.leave_out_workloads_of_groups(of_nobody);
  for (const WorkloadKey& key : of_nobody) calls.push_back(deletion_call(key, known_.at(key).uid));
  return calls;
}

}  // namespace berth
