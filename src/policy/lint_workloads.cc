// The rules of the linter that look at workloads.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/wide.h"
#include "manifest/queue_spec.h"
#include "model/gpu_hardware.h"
#include "policy/lint.h"
#include "policy/stretches.h"
#include "state/quota_tree.h"
#include "state/zones.h"

namespace berth {
namespace {

class WorkloadLinter {
 public:
  WorkloadLinter(const Policy& policy, std::vector<PolicyFinding>& findings)
      : policy_(policy), findings_(findings), named_(policy.named_profiles()), dims_(named_.dims()) {}

  void look() {
    const std::vector<AtAllHours> amounts = at_all_hours();
    for (std::size_t i = 0; i < policy_.workloads.size(); ++i) {
      const PolicyWorkload& workload = policy_.workloads[i];
      if (amounts[i].broken) tell_of_limit(workload, *amounts[i].broken);
      if (!amounts[i].fits_floor) tell_of_floor(workload);
      look_at_budgets(workload);
      bool told = look_at_latency(workload);
      told = (policy_.fleet && look_at_nodes(workload)) || told;
      if (!told && workload.never) {
        find(Severity::kError, "never-runs", workload, workload.never->what, "it waits for ever",
             workload.never->instead);
      }
      look_at_flavors(workload, amounts[i].floors);
      look_at_preempting(workload);
    }
  }

 private:
  // A bound that one way of a workload breaks.
  struct Broken {
    QueueId queue;
    Dim dim;
    std::int64_t bound = 0;
    std::int64_t need = 0;
    bool of_user = false;
  };
  // Of a workload, whatever windows of the calendar are open.
  struct AtAllHours {
    std::optional<Broken> broken;  // where it keeps to the bounds at no hour: one of those that come nearest
    bool keeps_bounds = false;     // at some hour
    bool fits_floor = false;       // one that it insists on, at some hour
    FlavorSet floors;              // from its queue upwards, at some hour
  };

  // One tree at a time: there may be many hours, and many queues.
  std::vector<AtAllHours> at_all_hours() {
    std::vector<AtAllHours> found(policy_.workloads.size());
    const Stretches stretches(policy_);
    for (const OpenWindows open : stretches.all()) {
      tree_ = QuotaTree(stretches.queues_while(open), AmountsByDim(dims_, kNoBound), named_);
      for (std::size_t i = 0; i < found.size(); ++i) look_at_these_hours(policy_.workloads[i], found[i]);
    }
    return found;
  }

  void look_at_these_hours(const PolicyWorkload& workload, AtAllHours& found) const {
    if (!found.keeps_bounds) {
      const std::optional<Broken> broken = broken_bound(workload);
      found.keeps_bounds = !broken;
      if (!broken || !found.broken || broken->bound > found.broken->bound) found.broken = broken;
    }
    found.fits_floor = found.fits_floor || !workload.shape.terms.guaranteed_only || fits_some_floor(workload);
    for (std::size_t flavor = 0; flavor < policy_.flavors.size(); ++flavor) {
      if (has_floor_on_its_way(workload.queue, FlavorId(flavor))) found.floors.add(FlavorId(flavor));
    }
  }

  void find(Severity severity, const char* rule, const PolicyWorkload& workload, std::string what, std::string why,
            std::string instead) {
    findings_.push_back({severity,
                         rule,
                         workload.place,
                         {policy_.name_of(workload.queue)},
                         std::move(what),
                         std::move(why),
                         std::move(instead)});
  }

  // The flavor of all GPUs of a pod set; nothing where there is a choice.
  std::optional<FlavorId> only_flavor(const PodSet& set) const {
    std::optional<FlavorId> found;
    for (std::size_t i = 0; i < policy_.flavors.size(); ++i) {
      if (!set.request.flavors.contains(FlavorId(i))) continue;
      if (found) return std::nullopt;
      found = FlavorId(i);
    }
    return found;
  }

  // What it holds in one way, as far as that is settled before anything is placed.
  AmountsByDim needs_of(const PodSets& way) const {
    AmountsByDim needs(dims_, 0);
    for (const PodSet& set : way) {
      if (set.request.gpus == 0) continue;
      if (const auto flavor = only_flavor(set)) add_amounts(set.request, *flavor, set.count, needs);
    }
    return needs;
  }

  // The first on its way up.
  std::optional<Broken> broken_bound(const PolicyWorkload& workload, const PodSets& way) const {
    AmountsByDim needs = needs_of(way);
    // Of which flavors they are is no matter of bounds of all together.
    for (const PodSet& set : way) needs[kGpusOfAllFlavors.index()] += set.count * set.request.gpu_milli_total();
    for (QueueId queue = workload.queue; !queue.is_none(); queue = tree_.parent(queue)) {
      for (std::size_t dim = 0; dim < dims_; ++dim) {
        // How much of all GPUs would be borrowed shows only where they are placed.
        const bool of_all = Dim::at(dim) == kGpusOfAllFlavors;
        const auto held = [&](Dim each) { return needs[each.index()]; };
        const std::int64_t by_profile = tree_.milli_inside(queue, Dim::at(dim), tree_.guarantee(queue), held);
        const std::int64_t limit = tree_.limit(queue)[dim];
        const std::int64_t end = of_all ? kNoBound : tree_.borrowing_end(queue)[dim];
        if (needs[dim] > limit) return Broken{queue, Dim::at(dim), limit, needs[dim]};
        if (needs[dim] - by_profile > end) return Broken{queue, Dim::at(dim), end, needs[dim] - by_profile};
        const std::int64_t of_user = tree_.user_limit(queue)[dim];
        if (needs[dim] > of_user) return Broken{queue, Dim::at(dim), of_user, needs[dim], true};
      }
    }
    return std::nullopt;
  }

  // That of its first way, where none keeps to all bounds.
  std::optional<Broken> broken_bound(const PolicyWorkload& workload) const {
    std::optional<Broken> first;
    for (const PodSets& way : workload.shape.ways) {
      const auto broken = broken_bound(workload, way);
      if (!broken) return std::nullopt;
      if (!first) first = broken;
    }
    return first;
  }

  void tell_of_limit(const PolicyWorkload& workload, const Broken& broken) {
    const std::string& queue = policy_.name_of(broken.queue);
    find(Severity::kError, "never-runs", workload,
         workload.name + " asks " + policy_.text_of(broken.need, broken.dim) + ", more than the " +
             format_amount(broken.dim.resource(), broken.bound) + " that " + (broken.of_user ? "one user of " : "") +
             queue + " may ever hold",
         "it waits for ever",
         "ask less, raise the " + std::string(broken.of_user ? "user limit" : "limit") + " of " + queue +
             ", or submit it to another queue");
  }

  // A budget pays for the whole of a run beforehand, or not at all.
  void look_at_budgets(const PolicyWorkload& workload) {
    const Terms& terms = workload.shape.terms;
    std::int64_t gpu_milli = 0;
    for (const PodSet& set : workload.shape.ways.front()) gpu_milli += set.count * set.request.gpu_milli_total();
    if (terms.best_effort || gpu_milli == 0) return;
    for (QueueId queue = workload.queue; !queue.is_none(); queue = policy_.queues[queue.index()].queue.parent) {
      const PolicyQueue& at = policy_.queues[queue.index()];
      const Quota& quota = at.queue.quota;
      const bool goes_on_unpaid = quota.budget_end == BudgetEnd::kBestEffort && !terms.guaranteed_only;
      if (!quota.budget_gpu_us || goes_on_unpaid) continue;
      if (!terms.run_limit) {
        return find(Severity::kError, "never-runs", workload,
                    workload.name + " has no run limit, and " + policy_.name_of(queue) + " has a budget of GPU-hours",
                    "nobody knows what it would cost, so it waits for ever",
                    "give it a limit (activeDeadlineSeconds; limit= in a scenario)");
      }
      Wide all = *quota.budget_gpu_us;
      for (const GrantSpec& grant : at.grants) all += grant.gpu_us;
      if (Wide{gpu_milli} * terms.run_limit->ms <= all) continue;
      return find(Severity::kError, "never-runs", workload,
                  workload.name + " may use more GPU-hours up to its run limit than the whole budget of " +
                      policy_.name_of(queue) + " with its grants",
                  "it waits for ever", "ask less, set a shorter limit, or raise the budget");
    }
  }

  // Who insists on being guaranteed must fit a floor on its way up.
  bool fits_some_floor(const PolicyWorkload& workload) const {
    for (const PodSets& way : workload.shape.ways) {
      const AmountsByDim needs = needs_of(way);
      for (QueueId queue = workload.queue; !queue.is_none(); queue = tree_.parent(queue)) {
        if (fits_floor(queue, needs)) return true;
      }
    }
    return false;
  }

  void tell_of_floor(const PolicyWorkload& workload) {
    find(Severity::kError, "never-runs", workload,
         workload.name + " insists on being guaranteed, and is larger than every floor from " +
             policy_.name_of(workload.queue) + " upwards",
         "it waits for ever, beside idle GPUs too", "ask less, raise a guarantee, or leave guaranteed=only out");
  }

  bool fits_floor(QueueId queue, const AmountsByDim& needs) const {
    bool uses_some = false;
    for (const auto& [dim, amount] : tree_.counted_in_floor(queue, amounts_of(needs))) {
      if (!tree_.has_floor(queue, dim.resource())) continue;
      if (amount > tree_.guarantee(queue)[dim.index()]) return false;
      uses_some = true;
    }
    return uses_some;
  }

  // ---- nodes ----------------------------------------------------------------------------------------------------

  // How many pods of a request an idle node takes.
  std::int64_t room_for(const Node& node, const PodRequest& request) const {
    if (request.gpus > 0 && !has_gpus_of(node, request)) return 0;
    if (request.gpus > 0 && node.gpu_memory_mib < request.gpu_memory_mib) return 0;
    std::int64_t room = node.pods_max;
    if (request.is_slice()) {
      room = std::min<std::int64_t>(room, std::int64_t{node.gpus} * slices_on_each(node, request));
    } else if (request.gpus > 1 || request.is_whole_gpu()) {
      room = std::min<std::int64_t>(room, node.gpus / request.gpus);
    } else if (request.gpus == 1) {
      const std::int32_t on_each = request.is_replica() ? node.replicas : kMilliPerGpu / request.gpu_milli;
      room = std::min<std::int64_t>(room, std::int64_t{node.gpus} * on_each);
    }
    const std::int64_t keeping_gpus = request.gpus > 0 ? 0 : node.gpus;
    const HostAmounts extra = request.in_extra ? node.extra : HostAmounts();
    const std::int64_t cpu_milli = node.cpu_milli + extra.cpu_milli - keeping_gpus * node.kept_per_gpu.cpu_milli;
    const std::int64_t memory_bytes =
        node.memory_bytes + extra.memory_bytes - keeping_gpus * node.kept_per_gpu.memory_bytes;
    if (request.cpu_milli > node.cpu_milli || request.memory_bytes > node.memory_bytes) return 0;
    if (request.cpu_milli > 0) room = std::min(room, cpu_milli / request.cpu_milli);
    if (request.memory_bytes > 0) room = std::min(room, memory_bytes / request.memory_bytes);
    return std::min(room, room_for_zones(node, request));
  }

  // As many as its kubelet lets in for the sake of NUMA zones.
  static std::int64_t room_for_zones(const Node& node, const PodRequest& request) {
    if (node.numa_policy == NumaPolicy::kNone) return kPodsPerWorkloadMax;
    Ledger idle;
    const NodeId id = idle.add(node);
    const InZones where = in_zones(idle, id, request);
    if (where == InZones::kNever) return 0;
    return where == InZones::kOne ? room_in_zones(idle, id, request) : kPodsPerWorkloadMax;
  }

  // On nodes that take pods, or on those that are for repairs alone.
  std::int64_t room_in_fleet(const PodRequest& request, bool on_spares = false) const {
    std::int64_t room = 0;
    for (const PolicyNodes& each : *policy_.fleet) {
      if (each.node.spare != on_spares) continue;
      room = std::min(kPodsPerWorkloadMax,
                      room + std::min(kPodsPerWorkloadMax, room_for(each.node, request)) * each.count);
    }
    return room;
  }

  // Whether it is too much for them.
  bool look_at_nodes(const PolicyWorkload& workload) {
    const PodSet* too_large = nullptr;
    std::int64_t room = 0;
    for (const PodSets& way : workload.shape.ways) {
      const auto broken =
          std::ranges::find_if(way, [&](const PodSet& set) { return room_in_fleet(set.request) < set.count; });
      if (broken == way.end()) return false;
      const std::int64_t found = room_in_fleet(broken->request);
      if (too_large == nullptr || found > room) {
        too_large = &*broken;
        room = found;
      }
    }
    if (room == 0 && room_in_fleet(too_large->request, true) > 0) {
      find(Severity::kError, "never-runs", workload,
           "only spares are large enough for a pod of " + workload.name + pod_text(*too_large) +
               ", and nobody starts there",
           "it waits for ever", "let one of them take work, or add nodes");
    } else if (room == 0 && !has_flavor_of(too_large->request)) {
      find(Severity::kError, "never-runs", workload,
           "no node has GPUs of a flavor that " + workload.name + " accepts (" + flavors_text(too_large->request) +
               ")" + as_shared_text(too_large->request),
           "it waits for ever", "name a flavor that nodes have, or add such nodes");
    } else if (room == 0 && !has_slices_for(too_large->request)) {
      find(Severity::kError, "never-runs", workload,
           "no GPU that " + workload.name + " accepts has such a slice, and all of them were cut beforehand",
           "it waits for ever", "ask a slice that there is, or add nodes that are cut as pods ask");
    } else if (room == 0) {
      find(Severity::kError, "never-runs", workload,
           "no node is large enough for a pod of " + workload.name + pod_text(*too_large), "it waits for ever",
           "ask less of each pod, or another kind of GPU");
    } else {
      find(Severity::kError, "never-runs", workload,
           workload.name + " starts " + std::to_string(too_large->count) + " pods at once" + pod_text(*too_large) +
               ", and all nodes together hold " + std::to_string(room),
           "it waits for ever", "start fewer pods, or add nodes");
    }
    return true;
  }

  // How many slices there are, or could be, on one of the node's GPUs.
  int slices_on_each(const Node& node, const PodRequest& slice) const {
    const MigGeometry& mig = *mig_of(policy_.flavors[node.flavor.index()].flavor);
    return most_slices(node, mig, slice.slice);
  }

  bool has_slices_for(const PodRequest& request) const {
    return !request.is_slice() || std::ranges::any_of(*policy_.fleet, [&](const PolicyNodes& each) {
      return has_gpus_of(each.node, request) && slices_on_each(each.node, request) > 0;
    });
  }

  static bool has_gpus_of(const Node& node, const PodRequest& request) {
    return !node.flavor.is_none() && request.flavors.contains(node.flavor) && node.may_be(request.sharing);
  }

  bool has_flavor_of(const PodRequest& request) const {
    if (request.gpus == 0) return true;
    return std::ranges::any_of(*policy_.fleet,
                               [&](const PolicyNodes& each) { return has_gpus_of(each.node, request); });
  }

  // Where it is for this alone that the flavor will not do.
  std::string as_shared_text(const PodRequest& request) const {
    const auto otherwise_shared = std::ranges::find_if(*policy_.fleet, [&](const PolicyNodes& each) {
      return !each.node.flavor.is_none() && request.flavors.contains(each.node.flavor);
    });
    if (otherwise_shared == policy_.fleet->end()) return "";
    const bool asks_a_mode = request.sharing != Sharing::kExclusive;
    return " and are " +
           std::string(asks_a_mode ? words_of(request.sharing).is : words_of(otherwise_shared->node.sharing).is_not);
  }

  // Of which way it could be if nothing else mattered, its GPUs would be others', too.
  bool look_at_latency(const PolicyWorkload& workload) {
    const PodSets& way = workload.shape.ways.front();
    const auto sharing = std::ranges::find_if(way, [](const PodSet& set) { return set.request.is_fraction(); });
    if (!workload.shape.terms.latency_critical || sharing == way.end()) return false;
    find(Severity::kError, "never-runs", workload,
         workload.name + " is latency-critical, and asks a part of a GPU on which others are, too" + pod_text(*sharing),
         "it waits for ever: such work has whole GPUs, or slices",
         "ask gpus=1 or a slice (gpus=mig:1g.10gb), or leave latency=critical out");
    return true;
  }

  std::string flavors_text(const PodRequest& request) const {
    std::string text;
    for (std::size_t i = 0; i < policy_.flavors.size(); ++i) {
      if (request.flavors.contains(FlavorId(i))) text += (text.empty() ? "" : ", ") + policy_.name_of(FlavorId(i));
    }
    return text;
  }

  static std::string pod_text(const PodSet& set) {
    if (set.request.gpus == 0) return "";
    const std::string gpus = format_amount(Resource::kGpu, set.request.gpu_milli_total());
    return " (" + gpus + (set.request.gpus == 1 ? " GPU" : " GPUs") + " each)";
  }

  // ---- what is hardly meant -------------------------------------------------------------------------------------

  bool has_floor_on_its_way(QueueId queue, FlavorId flavor) const {
    const std::size_t dim = Dim(flavor, Resource::kGpu).index();
    for (; !queue.is_none(); queue = tree_.parent(queue)) {
      if (tree_.guarantee(queue)[dim] > 0) return true;
    }
    return false;
  }

  // The first flavor in which all fits is taken: one without a floor, named before one with a floor, makes borrowed work
  // of what would be guaranteed.
  void look_at_flavors(const PolicyWorkload& workload, FlavorSet floors) {
    if (workload.shape.ways.size() < 2 || workload.shape.terms.best_effort) return;
    std::optional<FlavorId> without, with;
    bool as_declared = workload.shape.ways.size() == policy_.flavors.size();
    for (std::size_t i = 0; i < workload.shape.ways.size(); ++i) {
      const PodSets& way = workload.shape.ways[i];
      const auto gpus = std::ranges::find_if(way, [](const PodSet& set) { return set.request.gpus > 0; });
      const auto flavor = gpus == way.end() ? std::nullopt : only_flavor(*gpus);
      if (!flavor) return;
      as_declared = as_declared && flavor->index() == i;
      const bool floor = floors.contains(*flavor);
      if (!floor && !without) without = flavor;
      if (floor && without && !with) with = flavor;
    }
    if (!with) return;
    // Who names no flavor takes all in the order in which they are declared, and may not care.
    find(as_declared ? Severity::kNote : Severity::kWarning, "order-undoes-floor", workload,
         workload.name + " tries " + policy_.name_of(*without) + " before " + policy_.name_of(*with) + ", and " +
             policy_.name_of(workload.queue) + " has a floor in " + policy_.name_of(*with) + " alone of the two",
         "it runs on borrowed GPUs, to be taken back, where it would be guaranteed",
         "write flavor=" + policy_.name_of(*with) + "," + policy_.name_of(*without));
  }

  // `preempts=never` is often read as "is never preempted".
  void look_at_preempting(const PolicyWorkload& workload) {
    const Terms& terms = workload.shape.terms;
    if (terms.preempts) return;
    // A priority that takes from nobody and goes first is a use that it has; without one, little else can be meant.
    find(terms.priority > 0 ? Severity::kNote : Severity::kWarning, "preempts-never", workload,
         "preempts=never means that " + workload.name + " takes nothing from lower priorities",
         "it does not protect " + workload.name + ": it is taken like any other",
         "for protection submit it inside a guarantee, or with pdb=100%");
  }

  const Policy& policy_;
  std::vector<PolicyFinding>& findings_;
  NamedProfiles named_;
  std::size_t dims_;
  QuotaTree tree_;  // at the hours that are being looked at
};

}  // namespace

void lint_workloads(const Policy& policy, std::vector<PolicyFinding>& findings) {
  if (!policy.workloads.empty()) WorkloadLinter(policy, findings).look();
}

}  // namespace berth
