#include "service/requests.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "kube/calls.h"
#include "manifest/gpu_need.h"
#include "manifest/labels.h"
#include "manifest/slice_resources.h"
#include "manifest/time_request.h"
#include "manifest/timestamp.h"
#include "manifest/told_changes.h"
#include "manifest/value.h"
#include "manifest/vgpu_resources.h"
#include "model/quantity.h"

namespace berth {
namespace {

void add_rendezvous(const Rendezvous& rendezvous, Value& metadata) {
  Value& annotations = metadata.at("annotations");
  annotations.set(kRankAnnotation, std::to_string(rendezvous.rank));
  annotations.set(kWorldSizeAnnotation, std::to_string(rendezvous.world_size));
  annotations.set(kLeaderAnnotation, rendezvous.leader);
  if (!rendezvous.hosts.empty()) annotations.set(kHostsAnnotation, rendezvous.hosts);
}

}  // namespace

ApiCall rendezvous_call(const RendezvousChanged& changed) {
  Value body;
  body.at("metadata").set("uid", changed.pod.uid);
  add_rendezvous(changed.now, body.at("metadata"));
  return call_with("PATCH", api_path("pods", changed.pod.name_space, changed.pod.name, "status"), body,
                   "application/strategic-merge-patch+json");
}

ApiCall extended_call(const LimitExtension& extension) {
  Value body;
  body.at("metadata").set("uid", extension.pod.uid);
  body.at("metadata")
      .at("annotations")
      .set(kExtendedAnnotation, format_duration_ms(extension.extended.ms) + " " + std::to_string(extension.extensions));
  return call_with("PATCH", api_path("pods", extension.pod.name_space, extension.pod.name, "status"), body,
                   "application/strategic-merge-patch+json");
}

ApiCall binding_call(const Binding& binding) {
  Value body = Value::map_of({{"apiVersion", "v1"}, {"kind", "Binding"}});
  Value& metadata = body.at("metadata");
  metadata.set("name", binding.pod.name);
  metadata.set("namespace", binding.pod.name_space);
  metadata.set("uid", binding.pod.uid);
  if (!binding.given.gpus.empty()) {
    metadata.at("annotations").set(kGpusAnnotation, format_given_gpus(binding.given));
  }
  if (binding.best_effort) metadata.at("annotations").set(kCoverageAnnotation, "best-effort");
  if (binding.only_borrows) metadata.at("annotations").set(kOnlyBorrowsAnnotation, "true");
  if (binding.moved_at) metadata.at("annotations").set(kMovedAtAnnotation, format_timestamp(*binding.moved_at));
  if (binding.rendezvous) add_rendezvous(*binding.rendezvous, metadata);
  body.set("target", Value::map_of({{"apiVersion", "v1"}, {"kind", "Node"}, {"name", binding.node}}));
  return call_with("POST", api_path("pods", binding.pod.name_space, binding.pod.name, "binding"), body);
}

ApiCall waiting_call(const WaitingReason& reason, Time now) {
  Value condition = Value::map_of(
      {{"type", "PodScheduled"}, {"status", "False"}, {"reason", "Unschedulable"}, {"message", reason.text}});
  if (reason.first) condition.set("lastTransitionTime", format_timestamp(now));
  Value body;
  body.at("metadata").set("uid", reason.pod.uid);
  body.at("metadata").set("resourceVersion", reason.revision);
  body.at("status").at("conditions").push_back(std::move(condition));
  return call_with("PATCH", api_path("pods", reason.pod.name_space, reason.pod.name, "status"), body,
                   "application/strategic-merge-patch+json");
}

namespace {

ApiCall pod_condition_call(const PodName& pod, Value condition) {
  Value body;
  body.at("metadata").set("uid", pod.uid);
  body.at("status").at("conditions").push_back(std::move(condition));
  return call_with("PATCH", api_path("pods", pod.name_space, pod.name, "status"), body,
                   "application/strategic-merge-patch+json");
}

}  // namespace

ApiCall changes_call(const FoundChanges& found, Time now) {
  const bool searched = found.told.not_searched.empty();
  const std::string_view reason = found.kept_aside              ? kKeptAsideReason
                                  : !found.told.changes.empty() ? "SmallestChanges"
                                  : searched                    ? "NoSmallChange"
                                                                : "NotSearched";
  return pod_condition_call(found.pod, Value::map_of({{"type", kChangesCondition},
                                                      {"status", found.told.changes.empty() ? "False" : "True"},
                                                      {"reason", reason},
                                                      {"message", to_text(found.told)},
                                                      {"lastProbeTime", format_timestamp(found.as_of)},
                                                      {"lastTransitionTime", format_timestamp(now)}}));
}

ApiCall no_changes_call(const PodName& pod, Time now) {
  return pod_condition_call(pod, Value::map_of({{"type", kChangesCondition},
                                                {"status", "False"},
                                                {"reason", kHasPlaceReason},
                                                {"message", ""},
                                                {"lastTransitionTime", format_timestamp(now)}}));
}

// A pod of a Job would be made again, so its Job ends: by its deadline, which is any controller's to keep.
ApiCall give_up_call(const GivenUp& given_up, Time now) {
  Value body;
  const OwnerFacts& owner = given_up.owner;
  if (!owner.uid.empty()) {
    body.at("metadata").set("uid", owner.uid);
    body.at("spec").set("activeDeadlineSeconds", 1);
    return call_with("PATCH", api_path("jobs.batch", given_up.pod.name_space, owner.name), body,
                     "application/merge-patch+json");
  }
  body.at("metadata").set("uid", given_up.pod.uid);
  body.at("status").set("phase", "Failed");
  body.at("status").set("reason", given_up.reason);
  body.at("status").set("message", given_up.text);
  body.at("status")
      .at("conditions")
      .push_back(Value::map_of({{"type", "Ready"},
                                {"status", "False"},
                                {"reason", given_up.reason},
                                {"lastTransitionTime", format_timestamp(now)}}));
  return call_with("PATCH", api_path("pods", given_up.pod.name_space, given_up.pod.name, "status"), body,
                   "application/strategic-merge-patch+json");
}

ApiCall begun_call(const std::string& name_space, const OwnerFacts& job, Time now) {
  Value body;
  body.at("metadata").set("uid", job.uid);
  body.at("metadata").at("annotations").set(kBegunAtAnnotation, format_timestamp(now));
  return call_with("PATCH", api_path("jobs.batch", name_space, job.name), body, "application/merge-patch+json");
}

ApiCall eviction_notice_call(const PodEviction& eviction, Time now) {
  Value body;
  body.at("metadata").set("uid", eviction.pod.uid);
  body.at("status")
      .at("conditions")
      .push_back(Value::map_of({{"type", kEvictedCondition},
                                {"status", "True"},
                                {"reason", kEvictedReason},
                                {"message", eviction.why},
                                {"lastTransitionTime", format_timestamp(now)}}));
  return call_with("PATCH", api_path("pods", eviction.pod.name_space, eviction.pod.name, "status"), body,
                   "application/strategic-merge-patch+json");
}

ApiCall best_effort_call(const PodName& pod, Time now) {
  Value body;
  body.at("metadata").set("uid", pod.uid);
  body.at("status")
      .at("conditions")
      .push_back(Value::map_of({{"type", kBestEffortCondition},
                                {"status", "True"},
                                {"reason", "BudgetUsed"},
                                {"message", "a budget is used up: it counts for nothing, and nothing protects it"},
                                {"lastTransitionTime", format_timestamp(now)}}));
  return call_with("PATCH", api_path("pods", pod.name_space, pod.name, "status"), body,
                   "application/strategic-merge-patch+json");
}

ApiCall eviction_call(const PodEviction& eviction, Time now) {
  // Without any grace a kubelet is not asked, and its devices may be busy still.
  const std::int64_t left_s = std::max<std::int64_t>((eviction.stop_by - now).ms / 1000, 1);
  Value body = Value::map_of({{"apiVersion", "v1"}, {"kind", "DeleteOptions"}});
  body.set("gracePeriodSeconds", left_s);
  body.at("preconditions").set("uid", eviction.pod.uid);
  return call_with("DELETE", api_path("pods", eviction.pod.name_space, eviction.pod.name), body);
}

ApiCall rollback_call(const Rollback& rollback) {
  const PodName& pod = rollback.pod;
  Value body = Value::map_of({{"apiVersion", "v1"}, {"kind", "DeleteOptions"}});
  body.at("preconditions").set("uid", pod.uid);
  body.at("preconditions").set("resourceVersion", rollback.revision);
  return call_with("DELETE", api_path("pods", pod.name_space, pod.name), body);
}

namespace {

Value requests_of(const WorkloadNews& news) {
  const PodRequest& request = news.request;
  Value requests = Value::map();
  if (request.cpu_milli > 0) requests.set("cpu", format_milli(request.cpu_milli));
  if (request.memory_bytes > 0) requests.set("memory", format_bytes(request.memory_bytes));
  if (request.gpus == 0) return requests;
  if (news.slice_by_need) {
    requests.set(kSliceNeedAnnotation, "1");
  } else if (!news.slice.empty()) {
    requests.set(slice_resource(news.slice), "1");
  } else if (!news.vgpu.empty()) {
    requests.set(vgpu_resource(news.vgpu), "1");
  } else if (request.is_replica()) {
    requests.set(kSharedGpuResource, "1");
  } else if (request.gpu_memory_mib > 0 && request.gpu_milli < kMilliPerGpu) {
    requests.set(kGpuMemoryAnnotation, format_bytes(request.gpu_memory_mib << 20));
  } else {
    requests.set(kGpuResource, format_milli(request.gpu_milli_total()));
  }
  return requests;
}

Value topology_status(const Shortfall& shortfall) {
  const bool with_gpus = shortfall.gpu_milli > 0;
  Value made = Value::map_of({{"level", shortfall.level}, {"together", shortfall.together}, {"pods", shortfall.pods}});
  if (with_gpus) made.set("gpusPerPod", format_milli(shortfall.gpu_milli));
  for (const DomainShortfall& each : shortfall.domains) {
    Value domain = Value::map_of({{"name", each.name}, {"podsFit", each.pods_fit}});
    if (with_gpus) domain.set("gpusFree", each.gpus_free);
    if (with_gpus && shortfall.together) {
      const std::int64_t pods = std::max<std::int64_t>(0, shortfall.pods - each.pods_fit);
      domain.set("gpusLacking", format_milli(pods * shortfall.gpu_milli));
    }
    made.at("domains").push_back(std::move(domain));
  }
  made.set("moreDomains", shortfall.more_domains);
  return made;
}

Value network_status(const NetworkUse& network) {
  Value made = Value::map_of({{"cost", network.cost}});
  for (const UplinkUse& each : network.uplinks) {
    made.at("uplinks").push_back(Value::map_of({{"level", each.level}, {"domain", each.domain}, {"gpus", each.gpus}}));
  }
  if (network.more_uplinks > 0) made.set("moreUplinks", network.more_uplinks);
  return made;
}

Value condition(const char* type, bool holds, const std::string& reason, const std::string& message, Time now) {
  return Value::map_of({{"type", type},
                        {"status", holds ? "True" : "False"},
                        {"reason", reason},
                        {"message", message},
                        {"lastTransitionTime", format_timestamp(now)}});
}

// Whole, so that nothing is left of amounts that are no more.
ApiCall whole_status_call(std::string path, Value status) {
  Value patch = Value::list();
  patch.push_back(Value::map_of({{"op", "add"}, {"path", "/status"}, {"value", std::move(status)}}));
  return call_with("PATCH", std::move(path), patch, "application/json-patch+json");
}

Value budget_status(const BudgetStanding& budget) {
  Value made = Value::map_of({{"used", budget.used}, {"reserved", budget.reserved}, {"left", budget.left}});
  for (const auto& [until, used] : budget.grants) {
    made.at("grants").push_back(Value::map_of({{"until", format_timestamp(until)}, {"used", used}}));
  }
  return made;
}

Value floor_use_status(const FloorRecord& record) {
  Value floor = Value::map(), held = Value::list();
  for (const FlavorAmount& each : record.floor) floor.set(name_of(each), format_amount(each.resource, each.amount));
  for (const HeldUntil& each : record.held) {
    Value amounts = Value::map();
    amounts.set(name_of(each.held), format_amount(each.held.resource, each.held.amount));
    held.push_back(Value::map_of({{"until", format_micro_timestamp(each.until)}, {"amounts", std::move(amounts)}}));
  }
  return Value::map_of({{"floor", std::move(floor)}, {"held", std::move(held)}});
}

}  // namespace

Value workload_spec(const WorkloadNews& news) {
  Value spec = Value::map_of({{"queue", news.queue}});
  spec.at("podSets").push_back(
      Value::map_of({{"name", "main"}, {"count", news.size}, {"requests", requests_of(news)}}));
  return spec;
}

ApiCall workload_creation_call(const WorkloadNews& news) {
  Value body = Value::map_of({{"apiVersion", "berth.dev/v1alpha1"}, {"kind", "Workload"}});
  Value metadata = Value::map_of({{"name", news.name}, {"namespace", news.name_space}});
  Value spec = workload_spec(news);
  if (!news.owner.uid.empty()) {
    const Value owner = Value::map_of({{"apiVersion", news.owner.api_version},
                                       {"kind", news.owner.kind},
                                       {"name", news.owner.name},
                                       {"uid", news.owner.uid}});
    metadata.at("ownerReferences").push_back(owner);
    spec.set("owner", owner);
  }
  body.set("metadata", std::move(metadata));
  body.set("spec", std::move(spec));
  return call_with("POST", api_path("workloads.berth.dev", news.name_space), body);
}

ApiCall workload_status_call(const WorkloadNews& news, Time now) {
  const bool evicted = news.phase == WorkloadPhase::kEvicted;
  const bool pending = news.phase == WorkloadPhase::kPending || evicted;
  const std::string code = evicted ? "Evicted" : pending ? news.text.substr(0, news.text.find(':')) : "Placed";
  Value conditions = Value::list();
  conditions.push_back(condition("Admitted", !pending, code.empty() ? "Pending" : code,
                                 pending ? news.text : "every pod was given its place", now));
  if (evicted) {
    conditions.push_back(condition("Evicted", true, std::string(kEvictedReason), news.text, now));
  }
  if (news.phase == WorkloadPhase::kFinished) {
    conditions.push_back(condition("Finished", true, "PodsEnded", "its pods have ended", now));
  }
  Value body;
  body.at("status").set("conditions", std::move(conditions));
  body.at("status").set("reason", pending ? Value(news.text) : Value());
  body.at("status").set("topology", news.shortfall ? topology_status(*news.shortfall) : Value());
  body.at("status").set("network", news.network ? network_status(*news.network) : Value());
  return call_with("PATCH", api_path("workloads.berth.dev", news.name_space, news.name, "status"), body,
                   "application/merge-patch+json");
}

namespace {

Value tries_status(const std::string& of, const Tries& tries) {
  Value told = Value::map_of({{"of", of}, {"at", format_micro_timestamp(tries.noted)}});
  if (tries.lost_nodes > 0) told.set("lostNodes", tries.lost_nodes);
  if (tries.lost_at) told.set("lostNodeAt", format_micro_timestamp(*tries.lost_at));
  if (tries.never_ready > 0) told.set("neverReady", tries.never_ready);
  if (tries.backs_off) {
    told.set("waitsFor", std::string(name_of(tries.backs_off->why)));
    told.set("waitsUntil", format_micro_timestamp(tries.backs_off->until));
  }
  return told;
}

}  // namespace

ApiCall queue_status_call(std::string_view queue, const QueueStanding& standing) {
  const auto map_of = [](const std::map<std::string, std::string>& amounts) {
    Value made = Value::map();
    for (const auto& [key, amount] : amounts) made.set(key, amount);
    return made;
  };
  Value status = Value::map_of({{"pending", standing.pending}, {"running", standing.running}});
  if (!standing.used.empty()) status.set("used", map_of(standing.used));
  if (!standing.guaranteed.empty()) status.set("guaranteed", map_of(standing.guaranteed));
  if (!standing.borrowed.empty()) status.set("borrowed", map_of(standing.borrowed));
  if (!standing.floor.empty()) status.set("floor", map_of(standing.floor));
  if (!standing.lent.empty()) status.set("lent", map_of(standing.lent));
  for (const Value& each : standing.cells) status.at("cells").push_back(each);
  if (!standing.lenders.empty()) status.set("lenders", map_of(standing.lenders));
  if (standing.more_lenders > 0) status.set("moreLenders", standing.more_lenders);
  if (!standing.share.empty()) status.set("share", standing.share);
  if (!standing.share_parts.items().empty()) status.set("shareParts", standing.share_parts);
  if (!standing.turn.empty()) status.set("turn", standing.turn);
  for (const std::string& name : standing.waiting) status.at("waiting").push_back(name);
  if (standing.budget) status.set("budget", budget_status(*standing.budget));
  if (!standing.past_use.empty()) status.set("pastUse", map_of(standing.past_use));
  for (const auto& [controller, since] : standing.cooling_down) {
    status.at("coolingDown")
        .push_back(Value::map_of({{"controller", controller}, {"since", format_micro_timestamp(since)}}));
  }
  for (const auto& [of, tries] : standing.tries) status.at("tries").push_back(tries_status(of, tries));
  if (!standing.idle.empty()) status.set("idle", map_of(standing.idle));
  if (standing.floor_use) status.set("floorUse", floor_use_status(*standing.floor_use));
  if (standing.as_of) status.set("asOf", format_micro_timestamp(*standing.as_of));
  for (const QueueCondition& each : standing.conditions) {
    status.at("conditions").push_back(condition(each.type.c_str(), each.holds, each.reason, each.message, each.since));
  }
  return whole_status_call(api_path("queues.berth.dev", "", queue, "status"), std::move(status));
}

ApiCall uses_call(const NodeUses& uses) {
  Value body;
  body.at("metadata").at("annotations").set(kGpusUsedAnnotation, uses.text.empty() ? Value() : Value(uses.text));
  return call_with("PATCH", api_path("nodes", "", uses.node), body, "application/merge-patch+json");
}

// The label of what cut it last says nothing of this one.
ApiCall cut_call(const NodeUses& record) {
  Value body;
  body.at("metadata").at("annotations").set(kCutAnnotation, record.text.empty() ? Value() : Value(record.text));
  const NodeCut cut = read_node_cut(record.text);
  if (cut.stage == CutStage::kAsked) {
    Value& labels = body.at("metadata").at("labels");
    labels.set(kMigConfigLabel, cut.layout);
    labels.set(kMigStateLabel, kCutPending);
  }
  return call_with("PATCH", api_path("nodes", "", record.node), body, "application/merge-patch+json");
}

std::optional<ApiCall> circle_call(const CircleStanding& standing) {
  const CircleFacts& circle = standing.said;
  const auto list_of = [](const std::vector<std::string>& texts) {
    Value list = Value::list();
    for (const std::string& text : texts) list.push_back(text);
    return list;
  };
  if (circle.finalizers != standing.finalizers) {
    Value body;
    body.at("metadata").set("uid", circle.uid);
    body.at("metadata").set("resourceVersion", circle.revision);
    body.at("metadata").set("finalizers", list_of(standing.finalizers));
    return call_with("PATCH", api_path("trustcircles.berth.dev", "", circle.name), body,
                     "application/merge-patch+json");
  }
  const bool told = circle.queues == standing.queues && circle.apart == standing.apart &&
                    circle.parting == standing.parting && circle.conditions == standing.conditions;
  if (told) return std::nullopt;
  Value status = Value::map();
  if (!standing.queues.empty()) status.set("queues", list_of(standing.queues));
  if (standing.apart != Apart()) status.set("apart", apart_value(standing.apart));
  for (const EndedTrust& each : standing.parting) {
    Value ended = Value::map_of({{"queues", list_of(each.queues)},
                                 {"since", format_micro_timestamp(each.since)},
                                 {"by", format_micro_timestamp(each.by)}});
    if (each.apart) ended.set("apart", *each.apart == Apart() ? Value::map() : apart_value(*each.apart));
    status.at("parting").push_back(std::move(ended));
  }
  for (const QueueCondition& each : standing.conditions) {
    status.at("conditions").push_back(condition(each.type.c_str(), each.holds, each.reason, each.message, each.since));
  }
  return whole_status_call(api_path("trustcircles.berth.dev", "", circle.name, "status"), std::move(status));
}

std::optional<ApiCall> reservation_call(const ReservationStanding& standing) {
  if (standing.status.is_null()) return std::nullopt;
  Value status = standing.status;
  for (const QueueCondition& each : standing.conditions) {
    status.at("conditions").push_back(condition(each.type.c_str(), each.holds, each.reason, each.message, each.since));
  }
  if (status == standing.said.status) return std::nullopt;
  return whole_status_call(api_path("reservations.berth.dev", "", standing.said.name, "status"), std::move(status));
}

ApiCall answer_call(const std::string& qualified, const std::string& name, const Value& status) {
  return whole_status_call(api_path(qualified, "", name, "status"), status);
}

ApiCall other_status_call(const OtherStatus& status) {
  return whole_status_call(api_path(status.qualified, status.name_space, status.name, "status"), status.status);
}

}  // namespace berth
