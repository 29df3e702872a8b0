// Kueue's kinds, v1beta1 and v1beta2. What Kueue's own checks would refuse is refused here too, or named.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/wording.h"
#include "manifest/label_syntax.h"
#include "manifest/labels.h"
#include "manifest/selector.h"
#include "model/gpu.h"
#include "policy/object_reader.h"
#include "policy/read_objects.h"

namespace berth {
namespace {

std::string item(const std::string& list, std::size_t index) { return list + "[" + std::to_string(index) + "]"; }

std::vector<std::string_view> names_in(const Value& list, bool of_objects) {
  std::vector<std::string_view> names;
  for (const Value& each : list.items()) names.push_back(of_objects ? each["name"].text() : each.text());
  return names;
}

class ResourceGroups {
 public:
  ResourceGroups(ObjectReader& reader, QueuePart& queue) : reader_(reader), queue_(queue) {}

  void read() {
    const Value& groups = reader_.spec()["resourceGroups"];
    for (std::size_t i = 0; i < groups.items().size(); ++i) {
      read_group(groups.items()[i], item("spec.resourceGroups", i));
    }
  }

 private:
  void read_group(const Value& group, const std::string& path) {
    const std::vector<std::string_view> covered = names_in(group["coveredResources"], false);
    for (const std::string_view resource : covered) {
      if (!covered_.insert(std::string(resource)).second) {
        reader_.refuse(path + ".coveredResources", quote(resource) + " is covered twice",
                       "Kueue refuses it: nobody could say which amount holds", "name it in one resource group");
      }
    }
    const Value::List& flavors = group["flavors"].items();
    std::size_t with_gpus = 0;
    for (std::size_t i = 0; i < flavors.size(); ++i) {
      const std::string at = item(path + ".flavors", i);
      const std::string_view name = flavors[i]["name"].text();
      if (name.empty()) reader_.refuse(at + ".name", "the flavor has no name", "", "write that of a ResourceFlavor");
      if (!flavors_.insert(std::string(name)).second) {
        reader_.refuse(at + ".name", quote(name) + " stands there twice", "Kueue refuses it",
                       "name each flavor once, in one resource group");
      }
      compare_names(covered, flavors[i], at);
      with_gpus += read_flavor(flavors[i], at) ? 1 : 0;
    }
    if (with_gpus > 1) {
      reader_.leave_out(path + ".flavors",
                        "the order of flavors is not followed: a workload tries those that it names, in "
                        "its own order");
    }
    reader_.finish(group, path, {"coveredResources", "flavors"});
  }

  // Kueue wants the names of coveredResources in each flavor, all of them and in that order.
  void compare_names(const std::vector<std::string_view>& covered, const Value& flavor, const std::string& path) {
    const std::vector<std::string_view> named = names_in(flavor["resources"], true);
    const std::string of = "flavor " + quote(flavor["name"].text());
    bool same_set = named.size() == covered.size();
    for (const std::string_view resource : covered) {
      if (std::ranges::find(named, resource) != named.end()) continue;
      same_set = false;
      reader_.refuse(path + ".resources", of + " lacks " + quote(resource) + ", which coveredResources names",
                     "Kueue refuses it", "add it, with nominalQuota 0 if nothing is promised");
    }
    for (const std::string_view resource : named) {
      if (std::ranges::find(covered, resource) != covered.end()) continue;
      same_set = false;
      reader_.refuse(path + ".resources", of + " gives " + quote(resource) + ", which coveredResources does not name",
                     "Kueue refuses it", "name it there, or leave it out here");
    }
    if (same_set && named != covered) {
      reader_.doubt(Severity::kWarning, "resource-order", path + ".resources",
                    of + " lists its resources in another order than coveredResources",
                    "Kueue refuses it; here it means the same", "write them in the order of coveredResources");
    }
  }

  // Whether it has GPUs.
  bool read_flavor(const Value& flavor, const std::string& path) {
    bool has_gpus = false;
    const Value::List& resources = flavor["resources"].items();
    for (std::size_t i = 0; i < resources.size(); ++i) {
      const Value& each = resources[i];
      const std::string at = item(path + ".resources", i);
      const std::optional<Resource> resource = reader_.counted_resource(each["name"].text(), at);
      reader_.finish(each, at, {"name", "nominalQuota", "borrowingLimit", "lendingLimit"});
      if (!resource) continue;
      has_gpus = has_gpus || *resource == Resource::kGpu;
      if (each.find("nominalQuota") == nullptr) {
        reader_.refuse(at + ".nominalQuota", "there is no nominalQuota", "Kueue refuses it",
                       "write 0 if nothing is promised");
      }
      read_amounts(each, at, std::string(flavor["name"].text()), *resource);
    }
    reader_.finish(flavor, path, {"name", "resources"});
    return has_gpus;
  }

  void read_amounts(const Value& given, const std::string& path, const std::string& flavor, Resource resource) {
    struct Named {
      const char* field;
      AmountKind kind;
    };
    constexpr Named kNamed[] = {{"nominalQuota", AmountKind::kGuarantee},
                                {"borrowingLimit", AmountKind::kBorrowingLimit},
                                {"lendingLimit", AmountKind::kLendingLimit}};
    for (const Named& each : kNamed) {
      const Value& value = given[each.field];
      if (value.is_null()) continue;
      const std::string at = path + "." + each.field;
      if (each.kind != AmountKind::kGuarantee && queue_.parent.empty()) {
        reader_.refuse(at, std::string(each.field) + " without a " + (queue_.cohort ? "parent" : "cohort"),
                       "Kueue refuses it: there is nobody to borrow from or lend to",
                       queue_.cohort ? "leave it out, or name a parent" : "leave it out, or name a cohort");
        continue;
      }
      const std::optional<std::int64_t> amount = reader_.amount(value, resource, at);
      if (amount) queue_.amounts.push_back({each.kind, flavor, resource, *amount, reader_.place(at)});
    }
  }

  ObjectReader& reader_;
  QueuePart& queue_;
  std::set<std::string> covered_;
  std::set<std::string> flavors_;
};

bool is_newer(const ObjectReader& reader) { return reader.object()["apiVersion"].text().ends_with("/v1beta2"); }

// A field that the two versions call by different names: what stands in the right one. The wrong one would be dropped in
// silence by an API server.
std::string renamed_text(ObjectReader& reader, const char* older, const char* newer) {
  const char* const right = is_newer(reader) ? newer : older;
  const char* const wrong = is_newer(reader) ? older : newer;
  if (reader.spec().find(wrong) != nullptr) {
    reader.refuse(std::string("spec.") + wrong,
                  std::string(reader.object()["apiVersion"].text()) + " has no field " + wrong,
                  "an API server would drop it, and the queue would stand alone", std::string("write ") + right);
  }
  return reader.text(std::string("spec.") + right);
}

void read_fair_sharing(ObjectReader& reader, QueuePart& queue) {
  queue.quota.weight_milli = reader.weight_milli("spec.fairSharing.weight", true).value_or(queue.quota.weight_milli);
  reader.finish(reader.spec()["fairSharing"], "spec.fairSharing", {"weight"});
}

void read_preemption(ObjectReader& reader, QueuePart& queue) {
  const Value& preemption = reader.spec()["preemption"];
  const std::string path = "spec.preemption";
  const std::size_t within =
      reader.one_of(path + ".withinClusterQueue", {"Never", "LowerPriority", "LowerOrNewerEqualPriority"});
  queue.quota.preempt = within == 0 ? Preempt::kNever : Preempt::kLowerPriority;
  if (within == 2) {
    reader.leave_out(path + ".withinClusterQueue",
                     "read as LowerPriority: equal priorities take nothing from each other, however new");
  }
  const std::size_t reclaim = reader.one_of(path + ".reclaimWithinCohort", {"Never", "LowerPriority", "Any"});
  queue.reclaims = reclaim != 0;
  if (reclaim == 0 && preemption.find("reclaimWithinCohort") != nullptr) {
    reader.leave_out(path + ".reclaimWithinCohort",
                     "read as Any: who lent its floor always gets it back; lend less, by lendingLimit");
  } else if (reclaim == 1) {
    reader.leave_out(path + ".reclaimWithinCohort",
                     "read as Any: what was lent is taken back whatever the priority of who borrowed it");
  }
  const Value& borrow = preemption["borrowWithinCohort"];
  if (reader.one_of(path + ".borrowWithinCohort.policy", {"Never", "LowerPriority"}) == 1) {
    reader.leave_out(path + ".borrowWithinCohort.policy", "read as Never: a priority never reaches into another queue");
    if (reclaim == 0) {
      reader.refuse(path + ".borrowWithinCohort.policy", "borrowWithinCohort needs reclaimWithinCohort",
                    "Kueue refuses it", "write reclaimWithinCohort: Any, or policy: Never");
    }
  }
  if (borrow.find("maxPriorityThreshold") != nullptr) {
    reader.leave_out(path + ".borrowWithinCohort.maxPriorityThreshold", "a priority never reaches into another queue");
  }
  reader.finish(borrow, path + ".borrowWithinCohort", {"policy", "maxPriorityThreshold"});
  reader.finish(preemption, path, {"withinClusterQueue", "reclaimWithinCohort", "borrowWithinCohort"});
}

void read_fungibility(ObjectReader& reader) {
  const Value& fungibility = reader.spec()["flavorFungibility"];
  const std::string path = "spec.flavorFungibility";
  const bool newer = is_newer(reader);
  const auto next = [&](const char* field, const char* older) {
    return !fungibility[field].is_empty() &&
           reader.one_of(path + "." + field, {newer ? "MayStopSearch" : older, "TryNextFlavor"}) == 1;
  };
  if (next("whenCanBorrow", "Borrow")) {
    reader.leave_out(path + ".whenCanBorrow",
                     "a workload takes the first flavor that it names and in which it fits, borrowed or not");
  }
  if (next("whenCanPreempt", "Preempt")) {
    reader.leave_out(path + ".whenCanPreempt",
                     "inside its floor a workload takes back the flavor that it prefers before it tries the next");
  }
  if (fungibility.find("preference") != nullptr) {
    reader.leave_out(path + ".preference", "flavors are tried in the order in which the workload names them");
  }
  reader.finish(fungibility, path, {"whenCanBorrow", "whenCanPreempt", "preference"});
}

void read_stop_policy(ObjectReader& reader, QueuePart& queue) {
  const std::size_t stop = reader.one_of("spec.stopPolicy", {"None", "Hold", "HoldAndDrain"});
  queue.held = stop != 0;
  queue.closed = stop == 2;
  if (stop == 2) {
    reader.leave_out(
        "spec.stopPolicy",
        "read as hold and drain: nothing starts, nothing more is let in, and what runs ends by itself instead "
        "of being evicted");
  }
}

// A selector by the name of the namespace says exactly who; other labels are not looked at.
void read_namespaces(ObjectReader& reader, QueuePart& queue) {
  const Value& object = reader.spec()["namespaceSelector"];
  const std::string path = "spec.namespaceSelector";
  if (object.is_null()) {
    queue.submitters = {Submitters::Who::kNobody, {}};
    return;
  }
  const Result<LabelSelector> selector = LabelSelector::from_object(object);
  if (!selector) return reader.refuse(path, selector.error().kept().front().text, "", "");
  if (selector->matches_everything()) return;
  constexpr std::string_view kNameLabel = "kubernetes.io/metadata.name";
  const auto& requirements = selector->requirements();
  if (requirements.size() == 1 && requirements[0].key == kNameLabel &&
      requirements[0].op == LabelSelector::Operator::kIn) {
    queue.submitters = {Submitters::Who::kNamed, requirements[0].values};
    return;
  }
  reader.leave_out(path,
                   "namespaces are not chosen by their labels: every namespace with a LocalQueue may submit; name "
                   "them by " +
                       std::string(kNameLabel));
}

void read_checks(ObjectReader& reader) {
  for (const char* const field : {"admissionChecks", "admissionChecksStrategy"}) {
    if (reader.spec()[field].is_empty()) continue;
    reader.leave_out(std::string("spec.") + field, "nobody waits for admission checks: workloads start without them");
  }
  if (!reader.spec()["admissionScope"].is_empty()) {
    reader.leave_out("spec.admissionScope", "LocalQueues share their queue by the order of submission");
  }
  if (!reader.spec()["concurrentAdmissionPolicy"].is_empty()) {
    reader.leave_out("spec.concurrentAdmissionPolicy", "a workload that runs is not moved to another flavor");
  }
}

}  // namespace

void read_cluster_queue(ObjectReader& reader) {
  QueuePart queue;
  queue.origin = Origin::kKueue;
  queue.name = reader.name();
  queue.place = reader.place();
  queue.parent = renamed_text(reader, "cohort", "cohortName");
  queue.parent_place = reader.place(is_newer(reader) ? "spec.cohortName" : "spec.cohort");
  queue.order =
      reader.one_of("spec.queueingStrategy", {"BestEffortFIFO", "StrictFIFO"}) == 0 ? Order::kFifoSkip : Order::kFifo;
  queue.quota.backfill = Backfill::kNone;  // StrictFIFO lets nobody pass
  ResourceGroups(reader, queue).read();
  read_fair_sharing(reader, queue);
  read_preemption(reader, queue);
  read_fungibility(reader);
  read_stop_policy(reader, queue);
  read_namespaces(reader, queue);
  read_checks(reader);
  reader.finish(reader.spec(), "spec",
                {"resourceGroups", "cohort", "cohortName", "queueingStrategy", "namespaceSelector", "flavorFungibility",
                 "preemption", "admissionChecks", "admissionChecksStrategy", "stopPolicy", "fairSharing",
                 "admissionScope", "concurrentAdmissionPolicy"});
  reader.parts().queues.push_back(std::move(queue));
}

void read_cohort(ObjectReader& reader) {
  QueuePart queue;
  queue.origin = Origin::kKueue;
  queue.cohort = true;
  queue.name = reader.name();
  queue.place = reader.place();
  queue.parent = renamed_text(reader, "parent", "parentName");
  queue.parent_place = reader.place(is_newer(reader) ? "spec.parentName" : "spec.parent");
  queue.order = Order::kFifoSkip;
  queue.reclaims = false;
  ResourceGroups(reader, queue).read();
  read_fair_sharing(reader, queue);
  reader.finish(reader.spec(), "spec", {"resourceGroups", "parent", "parentName", "fairSharing"});
  reader.parts().queues.push_back(std::move(queue));
}

void read_kueue_flavor(ObjectReader& reader) {
  const Value& spec = reader.spec();
  FlavorPart flavor;
  flavor.origin = Origin::kKueue;
  flavor.name = reader.name();
  flavor.place = reader.place();
  for (const Value::Member& label : spec["nodeLabels"].members()) {
    reader.check_label("spec.nodeLabels", label);
    flavor.node_labels.emplace_back(label.key, label.value.text());
    if (label.key != kGpuProductLabel) continue;
    if (const GpuModel* const model = find_gpu_model(label.value.text())) {
      flavor.model = model->name;
      flavor.memory_mib = model->memory_mib;
    }
  }
  struct Unfollowed {
    const char* field;
    const char* why;
  };
  constexpr Unfollowed kUnfollowed[] = {
      {"nodeTaints", "nodes with taints are left to pods that tolerate them, whatever their flavor"},
      {"tolerations", "pods get no tolerations: give them in the pods"}};
  for (const Unfollowed& each : kUnfollowed) {
    if (!spec[each.field].is_empty()) reader.leave_out(std::string("spec.") + each.field, each.why);
  }
  flavor.topology = reader.text("spec.topologyName");
  flavor.topology_place = reader.place("spec.topologyName");
  if (!flavor.topology.empty() && flavor.node_labels.empty()) {
    reader.refuse("spec.nodeLabels", "a flavor of a Topology names no label of its nodes", "Kueue refuses it",
                  "write one that its nodes have, or leave topologyName out");
  }
  reader.finish(spec, "spec", {"nodeLabels", "nodeTaints", "tolerations", "topologyName"});
  reader.parts().flavors.push_back(std::move(flavor));
}

void read_kueue_topology(ObjectReader& reader) {
  constexpr std::string_view kHostname = "kubernetes.io/hostname";
  constexpr std::size_t kLevelsMax = 16;
  const std::string list = "spec.levels";
  TopologyPart topology{.name = reader.name(), .levels = {}, .place = reader.place()};
  const Value::List& levels = reader.spec()["levels"].items();
  if (levels.empty()) {
    reader.refuse(list, "it has no level", "Kueue refuses it",
                  "write one at least, as in - nodeLabel: example.com/rack");
  }
  if (levels.size() > kLevelsMax) {
    reader.refuse(list, "it has " + std::to_string(levels.size()) + " levels", "Kueue refuses more than 16",
                  "leave out those that nobody asks for");
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::string at = item(list, i) + ".nodeLabel";
    const std::string label(levels[i]["nodeLabel"].text());
    if (!is_label_key(label)) {
      reader.refuse(at, quote(label) + " is no label", "no node can have it", "write one that nodes have");
    } else if (std::ranges::find(topology.levels, label) != topology.levels.end()) {
      reader.refuse(at, quote(label) + " stands there twice", "Kueue refuses it", "name each level once");
    } else if (label == kHostname && i + 1 < levels.size()) {
      reader.refuse(at, quote(label) + " is not the last level",
                    "Kueue refuses it: a node is one domain, and nothing is narrower", "write it at the end");
    }
    topology.levels.push_back(label);
    reader.finish(levels[i], item(list, i), {"nodeLabel"});
  }
  reader.finish(reader.spec(), "spec", {"levels"});
  reader.parts().topologies.push_back(std::move(topology));
}

void read_local_queue(ObjectReader& reader) {
  QueueDoor door;
  door.name_space = reader.object()["metadata"]["namespace"].text("default");
  door.name = reader.name();
  door.queue = reader.text("spec.clusterQueue");
  door.place = reader.place("spec.clusterQueue");
  if (door.queue.empty()) {
    reader.refuse("spec.clusterQueue", "it names no ClusterQueue", "what is submitted to it leads nowhere",
                  "write clusterQueue: and the name of one");
  }
  if (reader.one_of("spec.stopPolicy", {"None", "Hold", "HoldAndDrain"}) == 2) {
    reader.leave_out("spec.stopPolicy",
                     "read as hold and drain: nothing starts, and what runs ends by itself instead of being evicted");
  }
  if (!reader.spec()["fairSharing"].is_empty()) {
    reader.leave_out("spec.fairSharing", "LocalQueues share their queue by the order of submission");
  }
  if (!reader.spec()["wallTimePolicy"].is_empty()) {
    reader.leave_out("spec.wallTimePolicy", "the hours of a LocalQueue are not counted");
  }
  reader.finish(reader.spec(), "spec", {"clusterQueue", "stopPolicy", "fairSharing", "wallTimePolicy"});
  reader.parts().doors.push_back(std::move(door));
}

void read_kueue_priority(ObjectReader& reader) {
  const Value& object = reader.object();
  reader.parts().priorities.push_back({.name = reader.name(),
                                       .value = object["value"].integer(),
                                       .preempts = true,
                                       .description = std::string(object["description"].text()),
                                       .place = reader.place()});
}

void read_kueue_configuration(ObjectReader& reader) {
  const Value& sharing = reader.object()["fairSharing"];
  // v1beta1 has a switch beside the strategies; in v1beta2 being there is enough.
  const bool on = !sharing.is_null() && (sharing.find("enable") == nullptr || sharing["enable"].truth());
  if (on) {
    const Value::List& strategies = sharing["preemptionStrategies"].items();
    const bool initial = strategies.empty() || std::ranges::any_of(strategies, [](const Value& each) {
                           return each.text() == "LessThanInitialShare";
                         });
    reader.parts().kueue_fair_sharing = initial ? FairReclaim::kInitialShare : FairReclaim::kFinalShare;
  }
  for (const Value::Member& member : reader.object().members()) {
    if (member.key == "apiVersion" || member.key == "kind" || member.key == "metadata" || member.key == "fairSharing")
      continue;
    reader.leave_out(member.key, "of Kueue's configuration only fairSharing is followed");
  }
}

}  // namespace berth
