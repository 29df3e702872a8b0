#include "service/other_queues.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/wording.h"
#include "manifest/labels.h"
#include "manifest/queue_spec.h"
#include "manifest/timestamp.h"
#include "manifest/topology_request.h"
#include "model/gpu.h"
#include "model/quantity.h"
#include "policy/assemble.h"
#include "policy/read_objects.h"

namespace berth {
namespace {

constexpr std::string_view kClusterQueues = "clusterqueues.kueue.x-k8s.io";
constexpr std::string_view kCohorts = "cohorts.kueue.x-k8s.io";
constexpr std::string_view kLocalQueues = "localqueues.kueue.x-k8s.io";
constexpr std::string_view kKueueFlavors = "resourceflavors.kueue.x-k8s.io";
constexpr std::string_view kTopologies = "topologies.kueue.x-k8s.io";
constexpr std::string_view kVolcanoQueues = "queues.scheduling.volcano.sh";
// Where Volcano puts who names no queue, and who makes Jobs for it writes that: there always is one.
constexpr std::string_view kVolcanoDefault = "volcano/default";

std::string text_at(const Value& object, std::string_view field) {
  return std::string(object["metadata"][field].text());
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string local_name(const Value& object) {
  const std::string name_space = text_at(object, "namespace");
  return (name_space.empty() ? "" : name_space + "/") + text_at(object, "name");
}

std::string engine_name(const PolicyQueue& queue) {
  if (queue.origin == Origin::kVolcano) return "volcano/" + queue.queue.name;
  return (queue.cohort ? "cohort/" : "clusterqueue/") + queue.queue.name;
}

void append(PolicyParts& all, const PolicyParts& more) {
  const auto add = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  add(all.queues, more.queues);
  add(all.flavors, more.flavors);
  add(all.doors, more.doors);
  add(all.priorities, more.priorities);
}

std::vector<FlavorAmount> by_name(const Policy& policy, Origin origin, const AmountList& amounts) {
  std::vector<FlavorAmount> named;
  for (const Amount& each : amounts) {
    const FlavorId flavor = each.dim.flavor();
    std::string name;
    if (!flavor.is_none()) name = origin == Origin::kVolcano ? std::string(kOnlyFlavor) : policy.name_of(flavor);
    named.push_back({std::move(name), each.dim.resource(), each.amount});
  }
  return named;
}

// The model is known by the label of the product, under any of its names; all other labels have to be those of the node.
FlavorFacts flavor_facts(const PolicyFlavor& flavor) {
  FlavorFacts facts{.name = flavor.flavor.name, .gpu_model = {}, .node_labels = Value::map()};
  const GpuModel* const model = flavor.flavor.model == "gpu" ? nullptr : find_gpu_model(flavor.flavor.model);
  if (model != nullptr) facts.gpu_model = model->short_name;
  for (const auto& [key, value] : flavor.node_labels) {
    if (model == nullptr || key != kGpuProductLabel) facts.node_labels.set(key, value);
  }
  facts.weight = flavor.flavor.weight;
  return facts;
}

std::string resource_name(Resource resource) {
  return resource == Resource::kGpu ? std::string(kGpuResource) : std::string(name_of(resource));
}

// Kueue's own number: thousandths.
Value weighted_share(const LiveEngine& engine, const std::string& queue) {
  const auto share_milli = engine.share_milli(queue);
  return share_milli ? Value::map_of({{"weightedShare", *share_milli}}) : Value();
}

const Holding& holding_in(const std::map<std::string, Holding>& holdings, const std::string& name) {
  static const Holding nothing;
  const auto found = holdings.find(name);
  return found == holdings.end() ? nothing : found->second;
}

}  // namespace

Value status_condition(const char* type, bool holds, const std::string& reason, const std::string& message,
                       const Value& object, Time now) {
  const char* const status = holds ? "True" : "False";
  Value since = format_timestamp(now);
  for (const Value& known : object["status"]["conditions"].items()) {
    if (known["type"].text() == type && known["status"].text() == status) since = known["lastTransitionTime"];
  }
  Value made = Value::map_of({{"type", type},
                              {"status", status},
                              {"reason", reason},
                              {"message", message},
                              {"lastTransitionTime", std::move(since)}});
  if (!object["metadata"]["generation"].is_null()) made.set("observedGeneration", object["metadata"]["generation"]);
  return made;
}

bool same_standing(const OtherStatus& a, const OtherStatus& b) {
  const auto timeless = [](Value status) {
    if (status.find("conditions") == nullptr) return status;
    for (Value& each : status.at("conditions").edit_items()) each.erase("lastTransitionTime");
    return status;
  };
  return a.uid == b.uid && timeless(a.status) == timeless(b.status);
}

void OtherQueues::set(const std::string& qualified, const Value& object) {
  const auto [at, is_new] = objects_.try_emplace({qualified, local_name(object)});
  Held& held = at->second;
  // Its status is ours: nothing follows from it.
  const bool same = !is_new && held.object["spec"] == object["spec"] && held.object["value"] == object["value"] &&
                    text_at(held.object, "uid") == text_at(object, "uid");
  held.object = object;
  if (same) return;
  held.parts = {};
  read_policy_object(object, {}, held.parts);
  changed_ = true;
}

void OtherQueues::remove(const std::string& qualified, const Value& object) {
  changed_ = objects_.erase({qualified, local_name(object)}) > 0 || changed_;
}

// ---- into the engine ------------------------------------------------------------------------------------------------

void OtherQueues::settle() {
  if (!std::exchange(changed_, false)) return;
  // Names of the two do not meet, and neither knows the other's flavors.
  PolicyParts of_kueue, of_volcano;
  for (const auto& [key, held] : objects_) append(key.first == kVolcanoQueues ? of_volcano : of_kueue, held.parts);
  const std::vector<QueueDoor> doors = of_kueue.doors;
  priorities_.clear();
  for (const Priority& each : of_kueue.priorities) {
    priorities_[each.name] =
        static_cast<std::int32_t>(std::clamp<std::int64_t>(each.value, -kPriorityMax, kPriorityMax));
  }
  const Policy kueue = assemble(std::move(of_kueue)), volcano = assemble(std::move(of_volcano));
  std::vector<FlavorFacts> flavors;
  for (const PolicyFlavor& each : kueue.flavors) {
    if (each.declared) flavors.push_back(flavor_facts(each));
  }
  engine_.set_other_flavors(std::move(flavors));
  std::map<std::string, QueueFacts> queues;
  take_over(kueue, queues);
  take_over(volcano, queues);
  for (const auto& [name, queue] : told_queues_) {
    if (!queues.contains(name)) engine_.remove_queue(name);
  }
  for (const auto& [name, queue] : queues) {
    const auto told = told_queues_.find(name);
    if (told == told_queues_.end() || !told->second.same_queue(queue)) engine_.set_queue(queue);
  }
  told_queues_ = std::move(queues);
  doors_.clear();
  for (const QueueDoor& each : doors) {
    const std::string name = each.name_space + "/" + each.name;
    doors_[name] = door_of(each, objects_.at({std::string(kLocalQueues), name}).object);
  }
  for (const auto& [uid, pod] : std::exchange(pods_, {})) set_pod(pod);
}

void OtherQueues::take_over(const Policy& policy, std::map<std::string, QueueFacts>& queues) const {
  for (const PolicyQueue& each : policy.queues) {
    QueueFacts facts{.name = engine_name(each)};
    QueueSpec& spec = facts.spec;
    if (!each.queue.parent.is_none()) spec.parent = engine_name(policy.queues[each.queue.parent.index()]);
    spec.order = each.queue.order;
    spec.stop = each.queue.held ? QueueStop::kHold : QueueStop::kNone;
    const Quota& quota = each.queue.quota;
    spec.policies = quota;
    for (const auto& [from, to, left] :
         {std::tuple(&quota.guarantee, &spec.guarantee, &spec.policies.guarantee),
          std::tuple(&quota.limit, &spec.limit, &spec.policies.limit),
          std::tuple(&quota.borrowing_limit, &spec.borrowing_limit, &spec.policies.borrowing_limit),
          std::tuple(&quota.lending_limit, &spec.lending_limit, &spec.policies.lending_limit)}) {
      *to = by_name(policy, each.origin, *from);
      left->clear();
    }
    facts.only_listed = each.origin == Origin::kKueue && !each.cohort;
    const auto held = objects_.find({std::string(kClusterQueues), each.queue.name});
    if (facts.only_listed && held != objects_.end()) {
      const std::string missing = lacks_flavors(held->second.parts);
      if (!missing.empty()) facts.problem = "there is no ResourceFlavor " + missing + "; create it";
      const std::string lacking = lacks_topologies(held->second.parts);
      if (!lacking.empty()) facts.problem += (missing.empty() ? "" : "; ") + lacking + "; create it";
    }
    queues.emplace(facts.name, std::move(facts));
  }
}

// "a, b"; empty: all that its amounts name are there.
std::string OtherQueues::lacks_flavors(const PolicyParts& parts) const {
  std::set<std::string> missing;
  for (const QueuePart& queue : parts.queues) {
    for (const PartAmount& each : queue.amounts) {
      if (!objects_.contains({std::string(kKueueFlavors), each.flavor})) missing.insert(each.flavor);
    }
  }
  std::string text;
  for (const std::string& name : missing) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Null: there is no such flavor.
const FlavorPart* OtherQueues::flavor_part(const std::string& flavor) const {
  const auto held = objects_.find({std::string(kKueueFlavors), flavor});
  return held == objects_.end() || held->second.parts.flavors.empty() ? nullptr : &held->second.parts.flavors.front();
}

// Null: it names none, or one that is not there.
const TopologyPart* OtherQueues::topology_of(const FlavorPart& flavor) const {
  const auto held = objects_.find({std::string(kTopologies), flavor.topology});
  return held == objects_.end() || held->second.parts.topologies.empty() ? nullptr
                                                                         : &held->second.parts.topologies.front();
}

// In Kueue's words; empty: all that its flavors name are there.
std::string OtherQueues::lacks_topologies(const PolicyParts& parts) const {
  std::set<std::string> missing;
  for (const QueuePart& queue : parts.queues) {
    for (const PartAmount& each : queue.amounts) {
      const FlavorPart* const flavor = flavor_part(each.flavor);
      if (flavor == nullptr || flavor->topology.empty() || topology_of(*flavor) != nullptr) continue;
      missing.insert("there is no Topology \"" + flavor->topology + "\" for TAS flavor \"" + each.flavor + "\"");
    }
  }
  std::string text;
  for (const std::string& each : missing) text += (text.empty() ? "" : ", ") + each;
  return text;
}

OtherQueues::Door OtherQueues::door_of(const QueueDoor& door, const Value& object) const {
  Door made{.queue = "clusterqueue/" + door.queue, .shut = {}, .reason = {}, .message = {}};
  const std::string own = "LocalQueue " + quote(door.name) + " of namespace " + quote(door.name_space);
  const auto queue = told_queues_.find(made.queue);
  const std::string_view stop = object["spec"]["stopPolicy"].text("None");
  if (stop != "None") {
    made.shut = {"Held", own + " is on hold"};
    made.reason = "Stopped";
    made.message = "LocalQueue is stopped";
  } else if (queue == told_queues_.end()) {
    made.shut = {"QueueUnknown", own + " leads to ClusterQueue " + quote(door.queue) + ", which there is not"};
    made.reason = "ClusterQueueDoesNotExist";
    made.message = "Can't submit new workloads to clusterQueue";
  } else if (queue->second.spec.stop == QueueStop::kHold || !queue->second.problem.empty()) {
    made.reason = "ClusterQueueIsInactive";
    made.message = "Can't submit new workloads to clusterQueue";
  }
  const auto held = objects_.find({std::string(kClusterQueues), door.queue});
  if (held == objects_.end() || held->second.parts.queues.empty() || !made.shut.code.empty()) return made;
  const Submitters& submitters = held->second.parts.queues.front().submitters;
  const bool takes = submitters.who == Submitters::Who::kEverybody ||
                     std::ranges::find(submitters.namespaces, door.name_space) != submitters.namespaces.end();
  if (!takes) {
    made.shut = {"QueueUnknown", "ClusterQueue " + quote(door.queue) + " does not select namespace " +
                                     quote(door.name_space) + "; add it to its namespaceSelector"};
  }
  return made;
}

// ---- pods ---------------------------------------------------------------------------------------------------------------

void OtherQueues::set_pod(const PodFacts& pod) {
  if (pod.local_queue.empty() && pod.priority_class.empty() && pod.queue != kVolcanoDefault) {
    pods_.erase(pod.uid);
    return engine_.set_pod(pod);
  }
  pods_[pod.uid] = pod;
  engine_.set_pod(resolved(pod));
}

void OtherQueues::remove_pod(const std::string& uid) {
  pods_.erase(uid);
  engine_.remove_pod(uid);
}

// A flavor that names a Topology takes who asks for levels of that one alone, as in Kueue. Who asks for no GPU may be on any
// node: he waits only where each flavor of his ClusterQueue refuses him.
void OtherQueues::keep_to_topologies(PodFacts& pod) const {
  std::vector<std::string> asked;
  if (pod.topology.together != Togetherness::kAnywhere) asked.push_back(label_of_level(pod.topology.level));
  if (pod.topology.has_slices()) asked.push_back(label_of_level(pod.topology.slice_level));
  if (!pod.exclusive_level.empty()) asked.push_back(label_of_level(pod.exclusive_level));
  const auto held = objects_.find({std::string(kClusterQueues), pod.queue.substr(pod.queue.find('/') + 1)});
  if (asked.empty() || held == objects_.end() || held->second.parts.queues.empty()) return;
  bool some_open = false;
  std::vector<std::string> closed;
  std::string levels;
  for (const PartAmount& each : held->second.parts.queues.front().amounts) {
    if (each.kind != AmountKind::kGuarantee || (pod.request.gpus > 0 && each.resource != Resource::kGpu)) continue;
    if (std::ranges::find(closed, each.flavor) != closed.end()) continue;
    const FlavorPart* const flavor = flavor_part(each.flavor);
    const TopologyPart* const topology = flavor == nullptr ? nullptr : topology_of(*flavor);
    const auto is_there = [&](const std::string& label) {
      return std::ranges::find(topology->levels, label) != topology->levels.end();
    };
    if (topology == nullptr || std::ranges::all_of(asked, is_there)) {
      some_open = true;
      continue;
    }
    closed.push_back(each.flavor);
    levels += "; flavor " + each.flavor + " is of Topology " + topology->name + ", with " + joined(topology->levels);
  }
  if (closed.empty()) return;
  if (some_open) {
    if (pod.request.gpus > 0) pod.closed_flavors = std::move(closed);
    return;
  }
  if (!pod.shut.code.empty()) return;
  pod.shut = {std::string(name_of(ReasonCode::kTopology)), "no flavor of " + pod.queue +
                                                               " has a Topology with the levels that it asks, " +
                                                               joined(asked) + levels + "; ask levels of one of these"};
}

PodFacts OtherQueues::resolved(const PodFacts& pod) const {
  PodFacts made = pod;
  if (pod.queue == kVolcanoDefault && !told_queues_.contains(pod.queue)) made.queue = kDefaultQueue;
  if (!pod.local_queue.empty()) {
    const auto door = doors_.find(pod.name_space + "/" + pod.local_queue);
    if (door == doors_.end()) {
      made.shut = {"QueueUnknown", "there is no LocalQueue " + quote(pod.local_queue) + " in namespace " +
                                       quote(pod.name_space) + "; create it, or name another in the label " +
                                       std::string(kKueueQueueLabel)};
    } else {
      made.queue = door->second.queue;
      if (made.shut.code.empty()) made.shut = door->second.shut;  // whom it starts with may keep it, too
      keep_to_topologies(made);
    }
  }
  if (pod.priority_class.empty()) return made;
  const auto priority = priorities_.find(pod.priority_class);
  if (priority != priorities_.end()) {
    made.terms.priority = priority->second;
  } else if (made.shut.code.empty()) {
    made.shut = {"NotFollowed", "there is no WorkloadPriorityClass " + quote(pod.priority_class) +
                                    "; create it, or leave out the label " + std::string(kKueuePriorityLabel)};
  }
  return made;
}

// ---- statuses -----------------------------------------------------------------------------------------------------------

std::vector<OtherStatus> OtherQueues::statuses(Time now) const {
  if (objects_.empty()) return {};
  const std::map<std::string, Holding>& by_queue = engine_.holdings_by_queue();
  const std::map<std::string, Holding>& by_door = engine_.holdings_by_door();
  std::vector<OtherStatus> statuses;
  for (const auto& [key, held] : objects_) {
    const bool is_known = told_queues_.contains("clusterqueue/" + text_at(held.object, "name"));
    if (key.first == kClusterQueues && is_known) statuses.push_back(cluster_queue_status(held, by_queue, now));
    const std::string cohort = "cohort/" + text_at(held.object, "name");
    if (key.first == kCohorts && told_queues_.contains(cohort)) {
      const Value share = weighted_share(engine_, cohort);
      const Value status = share.is_null() ? Value::map() : Value::map_of({{"fairSharing", share}});
      statuses.push_back(
          {std::string(kCohorts), "", text_at(held.object, "name"), text_at(held.object, "uid"), status});
    }
    if (key.first == kLocalQueues) statuses.push_back(local_queue_status(held, by_door, now));
    if (key.first == kVolcanoQueues) statuses.push_back(volcano_status(held, by_queue));
  }
  return statuses;
}

// Of each flavor and resource that the ClusterQueue lists, in its order. What is held on nodes without GPUs is of the first
// of its flavors that has none.
Value OtherQueues::usage(const std::string& cluster_queue, const AmountsByDim& amounts, bool with_borrowed) const {
  Value flavors = Value::list();
  const auto held = objects_.find({std::string(kClusterQueues), cluster_queue});
  if (held == objects_.end() || held->second.parts.queues.empty()) return flavors;
  std::set<Resource> bare_told;
  for (const PartAmount& each : held->second.parts.queues.front().amounts) {
    if (each.kind != AmountKind::kGuarantee) continue;
    const auto flavor = engine_.flavor_named(each.flavor);
    const bool is_first = flavor || bare_told.insert(each.resource).second;
    const std::size_t dim = Dim(flavor.value_or(FlavorId()), each.resource).index();
    const std::int64_t total = is_first && dim < amounts.size() ? amounts[dim] : 0;
    Value resource =
        Value::map_of({{"name", resource_name(each.resource)}, {"total", format_amount(each.resource, total)}});
    if (with_borrowed) {
      resource.set("borrowed", format_amount(each.resource, std::max<std::int64_t>(0, total - each.amount)));
    }
    const auto same =
        std::ranges::find(flavors.items(), each.flavor, [](const Value& of) { return of["name"].text(); });
    if (same == flavors.items().end()) {
      flavors.push_back(Value::map_of({{"name", each.flavor}, {"resources", Value::list()}}));
    }
    for (Value& of : flavors.edit_items()) {
      if (of["name"].text() == each.flavor) of.at("resources").push_back(resource);
    }
  }
  return flavors;
}

OtherStatus OtherQueues::cluster_queue_status(const Held& held, const std::map<std::string, Holding>& by_queue,
                                              Time now) const {
  const std::string name = text_at(held.object, "name");
  const Holding& holding = holding_in(by_queue, "clusterqueue/" + name);
  const QueueFacts& queue = told_queues_.at("clusterqueue/" + name);
  const std::string missing = lacks_flavors(held.parts), lacking = lacks_topologies(held.parts);
  Value active =
      !missing.empty()
          ? status_condition("Active", false, "FlavorNotFound",
                             "Can't admit new workloads: references missing ResourceFlavor(s): " + missing +
                                 (lacking.empty() ? "" : ", " + lacking),
                             held.object, now)
      : !lacking.empty() ? status_condition("Active", false, "TopologyNotFound",
                                            "Can't admit new workloads: " + lacking, held.object, now)
      : queue.spec.stop == QueueStop::kHold
          ? status_condition("Active", false, "Stopped", "Can't admit new workloads: is stopped", held.object, now)
          : status_condition("Active", true, "Ready", "Can admit new workloads", held.object, now);
  Value::List conditions = {std::move(active)};
  for (const QueueCondition& each : engine_.conditions_of("clusterqueue/" + name)) {
    if (each.type != kNotFollowedCondition) continue;
    conditions.push_back(status_condition(each.type.c_str(), each.holds, each.reason, each.message, held.object, now));
  }
  Value status = Value::map_of({{"conditions", std::move(conditions)},
                                {"pendingWorkloads", holding.pending},
                                {"reservingWorkloads", holding.reserving},
                                {"admittedWorkloads", holding.admitted},
                                {"flavorsReservation", usage(name, holding.reserved, true)},
                                {"flavorsUsage", usage(name, holding.used, true)}});
  if (Value share = weighted_share(engine_, "clusterqueue/" + name); !share.is_null()) {
    status.set("fairSharing", std::move(share));
  }
  return {std::string(kClusterQueues), "", name, text_at(held.object, "uid"), std::move(status)};
}

OtherStatus OtherQueues::local_queue_status(const Held& held, const std::map<std::string, Holding>& by_door,
                                            Time now) const {
  const std::string name_space = text_at(held.object, "namespace"), name = text_at(held.object, "name");
  const Holding& holding = holding_in(by_door, name_space + "/" + name);
  const std::string cluster_queue(held.object["spec"]["clusterQueue"].text());
  const auto door = doors_.find(name_space + "/" + name);
  Value active =
      door == doors_.end() || door->second.reason.empty()
          ? status_condition("Active", true, "Ready", "Can submit new workloads to localQueue", held.object, now)
          : status_condition("Active", false, door->second.reason, door->second.message, held.object, now);
  Value status = Value::map_of({{"conditions", Value::List{std::move(active)}},
                                {"pendingWorkloads", holding.pending},
                                {"reservingWorkloads", holding.reserving},
                                {"admittedWorkloads", holding.admitted},
                                {"flavorsReservation", usage(cluster_queue, holding.reserved, false)},
                                {"flavorsUsage", usage(cluster_queue, holding.used, false)}});
  return {std::string(kLocalQueues), name_space, name, text_at(held.object, "uid"), std::move(status)};
}

OtherStatus OtherQueues::volcano_status(const Held& held, const std::map<std::string, Holding>& by_queue) const {
  const std::string name = text_at(held.object, "name");
  const Holding& holding = holding_in(by_queue, "volcano/" + name);
  Value allocated = Value::map();
  for (const Resource kind : {Resource::kGpu, Resource::kCpu, Resource::kMemory}) {
    std::int64_t total = 0;
    for (std::size_t dim = 0; dim < holding.used.size(); ++dim) {
      total += Dim::at(dim).resource() == kind ? holding.used[dim] : 0;
    }
    allocated.set(resource_name(kind), format_amount(kind, total));
  }
  Value status = Value::map_of({{"state", "Open"},
                                {"pending", holding.pending},
                                {"inqueue", holding.reserving - holding.admitted},
                                {"running", holding.admitted},
                                {"allocated", std::move(allocated)}});
  return {std::string(kVolcanoQueues), "", name, text_at(held.object, "uid"), std::move(status)};
}

}  // namespace berth
