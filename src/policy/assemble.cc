#include "policy/assemble.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/wording.h"
#include "model/gpu.h"
#include "model/gpu_hardware.h"

namespace berth {
namespace {

// Whoever has more levels made a mistake; we go down them by recursion.
constexpr std::size_t kDepthMax = 100;

// "h100" as the short name of a model.
const GpuModel* model_named(std::string_view flavor) {
  for (const GpuModel& model : gpu_catalogue()) {
    const bool same = std::ranges::equal(
        model.short_name, flavor, [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
    if (same) return &model;
  }
  return nullptr;
}

class Assembly {
 public:
  Assembly(PolicyParts parts, Whole whole) : parts_(std::move(parts)), whole_(whole) {}

  Policy make() {
    policy_.not_followed = std::move(parts_.not_followed);
    policy_.findings = std::move(parts_.findings);
    policy_.priorities = std::move(parts_.priorities);
    add_topologies();
    add_flavors();
    add_queues();
    for (const QueuePart* const part : ordered_) add_amounts(*part);
    add_up_cohorts();
    bound_by_kueue();
    policy_.doors = std::move(parts_.doors);
    check_doors();
    return std::move(policy_);
  }

 private:
  // Kueue's cohorts have names of their own; so have queues of different origins.
  using Name = std::tuple<Origin, bool, std::string>;
  static Name name_of(const QueuePart& part) { return {part.origin, part.cohort, part.name}; }
  // What a part's parent is called: below a ClusterQueue stands nothing.
  static Name parent_of(const QueuePart& part) { return {part.origin, part.origin == Origin::kKueue, part.parent}; }

  void find(Severity severity, std::string rule, const PolicyPlace& place, std::string queue, std::string what,
            std::string why, std::string instead) {
    policy_.findings.push_back({.severity = severity,
                                .rule = std::move(rule),
                                .place = place,
                                .queues = {std::move(queue)},
                                .what = std::move(what),
                                .why = std::move(why),
                                .instead = std::move(instead)});
  }

  // ---- topologies -----------------------------------------------------------------------------------------------

  void add_topologies() {
    std::set<std::string> names;
    for (TopologyPart& each : parts_.topologies) {
      if (!names.insert(each.name).second) {
        find(Severity::kError, "name-twice", each.place, each.name, "there are two Topologies " + quote(each.name),
             "flavors could mean either", "give them different names");
        continue;
      }
      policy_.topologies.push_back(std::move(each));
    }
    if (whole_ == Whole::kNo) return;
    for (const FlavorPart& each : parts_.flavors) {
      if (each.topology.empty() || names.contains(each.topology)) continue;
      find(Severity::kError, "topology-missing", each.topology_place, each.name,
           "there is no Topology " + quote(each.topology) + " in what was read",
           "nothing starts of a ClusterQueue that lists the flavor", "add its file, or leave topologyName out");
    }
  }

  // ---- flavors --------------------------------------------------------------------------------------------------

  // Kueue's flavors of which no queue gives GPUs are kinds of nodes without any; they are counted together.
  void add_flavors() {
    std::set<std::string> with_gpus;
    for (const QueuePart& queue : parts_.queues) {
      for (const PartAmount& each : queue.amounts) {
        if (each.resource == Resource::kGpu && !each.flavor.empty()) with_gpus.insert(each.flavor);
        if (!each.flavor.empty() && queue.origin == Origin::kKueue) kueue_flavors_.insert(each.flavor);
      }
    }
    std::vector<std::string> without;
    for (const FlavorPart& part : parts_.flavors) {
      if (part.origin == Origin::kKueue && part.model.empty() && !with_gpus.contains(part.name)) {
        if (kueue_flavors_.contains(part.name)) without.push_back(part.name);
        bare_.insert(part.name);
        continue;
      }
      add_flavor({{.name = part.name,
                   .model = part.model.empty() ? "gpu" : part.model,
                   .memory_mib = part.memory_mib,
                   .weight = part.weight},
                  true,
                  part.node_labels,
                  part.place,
                  part.topology,
                  part.topology_place});
    }
    for (const QueuePart& queue : parts_.queues) {
      for (const PartAmount& each : queue.amounts) name_flavor(queue, each, with_gpus, without);
      for (const WindowPart& window : queue.windows) {
        for (const PartAmount& each : window.amounts) name_flavor(queue, each, with_gpus, without);
      }
    }
    if (without.size() > 1) {
      policy_.not_followed.push_back(
          {flavor_place(without[1]),
           "nodes without GPUs are of one kind: CPUs and memory of the flavors " + joined(without) + " are added up"});
    }
  }

  void name_flavor(const QueuePart& queue, const PartAmount& amount, const std::set<std::string>& with_gpus,
                   std::vector<std::string>& without) {
    if (amount.flavor.empty() || flavor_ids_.contains(amount.flavor) || bare_.contains(amount.flavor)) return;
    if (queue.origin == Origin::kKueue && !with_gpus.contains(amount.flavor)) {
      bare_.insert(amount.flavor);
      without.push_back(amount.flavor);
    } else if (const GpuModel* const model = model_named(amount.flavor);
               model != nullptr && queue.origin == Origin::kBerth) {
      // Without a ResourceFlavor each model of GPU is a flavor of its own.
      add_flavor({{.name = amount.flavor, .model = std::string(model->name), .memory_mib = model->memory_mib},
                  true,
                  {},
                  amount.place});
    } else {
      add_flavor({{.name = amount.flavor, .model = "gpu"}, false, {}, amount.place});
    }
  }

  void add_flavor(PolicyFlavor flavor) {
    const std::string name = flavor.flavor.name;
    if (flavor_ids_.contains(name)) {
      return find(Severity::kError, "name-twice", flavor.place, name, "there are two flavors " + quote(name),
                  "amounts could mean either", "give them different names");
    }
    if (policy_.flavors.size() == kFlavorsMax) {
      return find(Severity::kError, "invalid", flavor.place, name, "there are more than 64 flavors",
                  "amounts of this one are left out", "leave some out");
    }
    flavor_ids_.emplace(name, FlavorId(policy_.flavors.size()));
    policy_.flavors.push_back(std::move(flavor));
  }

  PolicyPlace flavor_place(const std::string& name) const {
    for (const FlavorPart& part : parts_.flavors) {
      if (part.name == name) return part.place;
    }
    for (const QueuePart& queue : parts_.queues) {
      for (const PartAmount& each : queue.amounts) {
        if (each.flavor == name) return each.place;
      }
    }
    return {};
  }

  static std::string joined(const std::vector<std::string>& names) {
    std::string out;
    for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
    return out;
  }

  // ---- the tree -------------------------------------------------------------------------------------------------

  void add_queues() {
    add_implied_cohorts();
    for (const QueuePart& part : parts_.queues) {
      if (!by_name_.emplace(name_of(part), &part).second) {
        find(Severity::kError, "name-twice", part.place, part.name, "there are two queues " + quote(part.name),
             "only the first is looked at", "give them different names");
      }
    }
    for (const QueuePart& part : parts_.queues) {
      std::set<Name> on_the_way;
      if (by_name_.at(name_of(part)) == &part) add_queue(part, on_the_way);
    }
  }

  // A cohort is there as soon as somebody names it.
  void add_implied_cohorts() {
    std::set<std::string> there;
    std::map<std::string, PolicyPlace> named;
    for (const QueuePart& part : parts_.queues) {
      if (part.origin != Origin::kKueue) continue;
      if (part.cohort) there.insert(part.name);
      if (!part.parent.empty()) named.emplace(part.parent, part.parent_place);
    }
    for (const auto& [name, place] : named) {
      if (there.contains(name)) continue;
      QueuePart cohort;
      cohort.origin = Origin::kKueue;
      cohort.cohort = true;
      cohort.name = name;
      cohort.order = Order::kFifoSkip;
      cohort.reclaims = false;
      cohort.place = place;
      implied_.insert(name);
      parts_.queues.push_back(std::move(cohort));
    }
  }

  // Its parents first. A parent that there is not, or that is below its own child, counts as none.
  QueueId add_queue(const QueuePart& part, std::set<Name>& on_the_way) {
    if (const auto known = queue_ids_.find(name_of(part)); known != queue_ids_.end()) return known->second;
    if (!on_the_way.insert(name_of(part)).second) return {};
    QueueId parent;
    if (on_the_way.size() > kDepthMax) {
      find(Severity::kError, "invalid", part.parent_place, part.name, "queues stand more than 100 levels deep",
           "the tree is cut here", "put them on fewer levels");
    } else if (!part.parent.empty()) {
      const auto above = by_name_.find(parent_of(part));
      if (above == by_name_.end()) {
        if (whole_ == Whole::kYes) {
          find(Severity::kError, "parent-missing", part.parent_place, part.name,
               "there is no queue " + quote(part.parent) + " in what was read", "the queue stands at the top",
               "add its file, or leave parent out");
        }
      } else {
        parent = add_queue(*above->second, on_the_way);
        if (parent.is_none()) {
          find(Severity::kError, "parent-cycle", part.parent_place, part.name,
               quote(part.name) + " stands below itself", "the tree is cut here", "name another parent");
        }
      }
    }
    return append(part, parent);
  }

  QueueId append(const QueuePart& part, QueueId parent) {
    PolicyQueue made;
    made.queue = {.name = part.name, .parent = parent, .order = part.order, .quota = part.quota};
    const bool governed = !part.amounts.empty() || !part.windows.empty() || part.quota.looks_at_users();
    if (!made.queue.order && (parent.is_none() || governed)) made.queue.order = order_above(parent);
    made.origin = part.origin;
    made.cohort = part.cohort;
    made.declared = !(part.cohort && implied_.contains(part.name));
    made.queue.held = part.held;
    made.queue.closed = part.closed;
    for (const WindowPart& each : part.windows) made.windows.push_back(each.spec);
    made.grants = part.grants;
    made.submitters = part.submitters;
    made.place = part.place;
    if (part.origin == Origin::kKueue) {
      made.queue.quota.fair_reclaim =
          part.reclaims ? parts_.kueue_fair_sharing.value_or(FairReclaim::kNever) : FairReclaim::kNever;
      if (part.cohort) made.queue.quota.preempt = Preempt::kNever;
    }
    const QueueId id(policy_.queues.size());
    queue_ids_.emplace(name_of(part), id);
    policy_.queues.push_back(std::move(made));
    ordered_.push_back(&part);
    return id;
  }

  // A queue with amounts has a line of its own, in the order of the line that it would else share.
  Order order_above(QueueId queue) const {
    for (; !queue.is_none(); queue = policy_.queues[queue.index()].queue.parent) {
      if (const auto order = policy_.queues[queue.index()].queue.order) return *order;
    }
    return Order::kFifoSkip;
  }

  // ---- amounts --------------------------------------------------------------------------------------------------

  void add_amounts(const QueuePart& part) {
    PolicyQueue& queue = policy_.queues[queue_ids_.at(name_of(part)).index()];
    for (const PartAmount& each : part.amounts) {
      const std::optional<Dim> dim = dim_of(part, each);
      if (dim) add_amount(queue, each.kind, *dim, each.amount, each.place);
    }
    for (const CellSpec& each : part.cells) {
      const auto known = flavor_ids_.find(each.flavor);
      if (known != flavor_ids_.end()) queue.queue.quota.cells.push_back({known->second, each.level, each.count});
    }
    std::ranges::sort(queue.queue.quota.cells);
    for (const WindowPart& each : part.windows) add_window(part, each);
    // What all the flavors that are counted together must say: one that says nothing has no bound.
    if (part.origin != Origin::kKueue) return;
    for (const AmountKind kind : {AmountKind::kBorrowingLimit, AmountKind::kLendingLimit}) {
      std::erase_if(amounts_of(queue.queue.quota, kind), [&](const Amount& amount) {
        if (!amount.dim.flavor().is_none()) return false;
        const auto said = [&](AmountKind of) {
          return std::ranges::count_if(part.amounts, [&](const PartAmount& each) {
            return each.kind == of && bare_.contains(each.flavor) && each.resource == amount.dim.resource();
          });
        };
        return said(kind) < said(AmountKind::kGuarantee);
      });
    }
  }

  void add_window(const QueuePart& part, const WindowPart& said) {
    if (policy_.windows.size() == kWindowsMax) {
      return find(Severity::kError, "invalid", said.place, part.name, "the queues together have more than 64 windows",
                  "amounts of this one are left out", "take fewer");
    }
    Quota amounts;
    for (const PartAmount& each : said.amounts) {
      const std::optional<Dim> dim = dim_of(part, each);
      if (dim) add_to(amounts_of(amounts, each.kind), *dim, each.amount);
    }
    const WindowSpec& spec = said.spec;
    const std::string zone = spec.zone == WindowTimes::kUtc ? "" : " " + spec.zone;
    policy_.windows.push_back({.window = {.queue = queue_ids_.at(name_of(part)),
                                          .guarantee = std::move(amounts.guarantee),
                                          .limit = std::move(amounts.limit),
                                          .borrowing_limit = std::move(amounts.borrowing_limit),
                                          .lending_limit = std::move(amounts.lending_limit),
                                          .weight_milli = spec.weight_milli},
                               .times = spec.times,
                               .hours = spec.days + " " + spec.from + "-" + spec.to + zone,
                               .place = said.place});
  }

  static void add_to(AmountList& amounts, Dim dim, std::int64_t amount) {
    const auto at = std::ranges::lower_bound(amounts, dim, {}, &Amount::dim);
    if (at != amounts.end() && at->dim == dim) {
      at->amount = std::min(kAmountMax, at->amount + amount);
    } else {
      amounts.insert(at, {dim, amount});
    }
  }

  static void add_amount(PolicyQueue& queue, AmountKind kind, Dim dim, std::int64_t amount, const PolicyPlace& place) {
    add_to(amounts_of(queue.queue.quota, kind), dim, amount);
    queue.amount_places.emplace(std::pair(kind, dim.index()), place);
  }

  std::optional<Dim> dim_of(const QueuePart& part, const PartAmount& amount) {
    if (bare_.contains(amount.flavor)) return Dim(FlavorId(), amount.resource);
    if (!amount.flavor.empty()) {
      const auto known = flavor_ids_.find(amount.flavor);
      if (known == flavor_ids_.end()) return std::nullopt;
      return amount.resource == Resource::kSlice ? dim_of_slices(part, amount, known->second)
                                                 : std::optional(Dim(known->second, amount.resource));
    }
    return dim_without_flavor(part, amount);
  }

  std::optional<Dim> dim_of_slices(const QueuePart& part, const PartAmount& amount, FlavorId of) {
    const Flavor& flavor = policy_.flavors[of.index()].flavor;
    if (const auto slice = find_slice(flavor, amount.profile)) return Dim::of_slices(of, slice->shape);
    const GpuHardware* const hardware = hardware_of(flavor);
    std::string known;
    for (const MigProfile& each : hardware == nullptr ? std::span<const MigProfile>() : hardware->mig_profiles) {
      known += (known.empty() ? "" : ", ") + std::string(each.name);
    }
    find(Severity::kError, "unknown-slices", amount.place, part.name,
         "GPUs of " + flavor.name + " cannot be cut into " + amount.profile, "the amount holds nobody",
         hardware == nullptr ? "say in its ResourceFlavor which model of GPU it is, such as H100-SXM5-80GB"
         : known.empty()     ? "leave it out: " + std::string(hardware->model) + " is not cut"
                             : "write one of " + known);
    return std::nullopt;
  }

  // Volcano's amounts name no flavor. They are of the one that there is; CPUs and memory, where nobody speaks of GPUs, are
  // of the nodes without any.
  std::optional<Dim> dim_without_flavor(const QueuePart& part, const PartAmount& amount) {
    const bool gpus = std::ranges::any_of(parts_.queues, [](const QueuePart& queue) {
      return std::ranges::any_of(queue.amounts, [](const PartAmount& each) { return each.resource == Resource::kGpu; });
    });
    if (!gpus && policy_.flavors.empty()) return Dim(FlavorId(), amount.resource);
    if (policy_.flavors.empty()) add_flavor({{.name = "gpu", .model = "gpu"}, false, {}, amount.place});
    if (policy_.flavors.size() == 1) {
      if (amount.resource != Resource::kGpu) {
        policy_.not_followed.push_back({amount.place, "it is counted on nodes with GPUs; what runs on others is not"});
      }
      return Dim(FlavorId(0), amount.resource);
    }
    find(Severity::kError, "invalid", amount.place, part.name,
         "it names no kind of GPU, and there are " + std::to_string(policy_.flavors.size()), "the amount holds nobody",
         "write a Queue of berth.dev/v1alpha1 with amounts such as " + policy_.flavors[0].flavor.name + ": 8");
    return std::nullopt;
  }

  // ---- what Kueue means -----------------------------------------------------------------------------------------

  // What a cohort is given itself comes on top of what its members have; a guarantee here contains theirs (rule 2).
  void add_up_cohorts() {
    const std::size_t dims = policy_.named_profiles().dims();
    std::vector<std::vector<std::int64_t>> below(policy_.queues.size(), std::vector<std::int64_t>(dims, 0));
    for (std::size_t i = policy_.queues.size(); i-- > 0;) {
      PolicyQueue& queue = policy_.queues[i];
      std::vector<std::int64_t> total = below[i];
      for (Amount& own : queue.queue.quota.guarantee) {
        if (queue.cohort) own.amount = std::min(kAmountMax, own.amount + below[i][own.dim.index()]);
        total[own.dim.index()] = own.amount;
      }
      if (queue.queue.parent.is_none()) continue;
      for (std::size_t dim = 0; dim < dims; ++dim) below[queue.queue.parent.index()][dim] += total[dim];
    }
    totals_below_ = std::move(below);
  }

  // In Kueue there is nothing beyond the quotas of a tree, and a queue has only what it lists.
  void bound_by_kueue() {
    for (std::size_t i = 0; i < policy_.queues.size(); ++i) {
      PolicyQueue& queue = policy_.queues[i];
      if (queue.origin != Origin::kKueue) continue;
      Quota& quota = queue.queue.quota;
      if (queue.queue.parent.is_none()) limit_to_quotas(i);
      if (queue.cohort) continue;
      for (std::size_t flavor = 0; flavor < policy_.flavors.size(); ++flavor) {
        const Dim dim(FlavorId(flavor), Resource::kGpu);
        const auto at = std::ranges::lower_bound(quota.limit, dim, {}, &Amount::dim);
        if (std::ranges::any_of(quota.guarantee, [&](const Amount& each) { return each.dim == dim; })) continue;
        if (at == quota.limit.end() || at->dim != dim) quota.limit.insert(at, {dim, 0});
        queue.closed_flavors.emplace_back(flavor);
      }
    }
  }

  void limit_to_quotas(std::size_t index) {
    Quota& quota = policy_.queues[index].queue.quota;
    std::vector<std::int64_t> total = totals_below_[index];
    std::vector<bool> named(total.size(), false);
    for (const Amount& own : quota.guarantee) {
      total[own.dim.index()] = own.amount;
      named[own.dim.index()] = true;
    }
    for (std::size_t dim = 0; dim < total.size(); ++dim) {
      if (total[dim] > 0 || named[dim]) quota.limit.push_back({Dim::at(dim), std::min(kAmountMax, total[dim])});
    }
  }

  void check_doors() {
    for (const QueueDoor& door : policy_.doors) {
      if (door.queue.empty()) continue;
      const auto known = queue_ids_.find({Origin::kKueue, false, door.queue});
      const std::string name = door.name_space + "/" + door.name;
      if (known == queue_ids_.end()) {
        if (whole_ == Whole::kNo) continue;
        find(Severity::kError, "parent-missing", door.place, door.queue,
             "there is no ClusterQueue " + quote(door.queue) + " in what was read",
             "what is submitted to " + name + " leads nowhere", "add its file, or name another");
        continue;
      }
      const Submitters& submitters = policy_.queues[known->second.index()].submitters;
      const bool allowed = submitters.who == Submitters::Who::kEverybody ||
                           std::ranges::find(submitters.namespaces, door.name_space) != submitters.namespaces.end();
      if (allowed || submitters.who == Submitters::Who::kNobody) continue;
      find(Severity::kWarning, "door-closed", door.place, door.queue,
           "ClusterQueue " + quote(door.queue) + " does not select the namespace " + quote(door.name_space),
           "what is submitted to " + name + " is never admitted", "add the namespace to its namespaceSelector");
    }
  }

  PolicyParts parts_;
  Whole whole_;
  Policy policy_;
  std::map<std::string, FlavorId> flavor_ids_;
  std::set<std::string> bare_;  // flavors of Kueue without GPUs
  std::set<std::string> kueue_flavors_;
  std::set<std::string> implied_;
  std::map<Name, const QueuePart*> by_name_;
  std::map<Name, QueueId> queue_ids_;
  std::vector<const QueuePart*> ordered_;  // as in the policy
  std::vector<std::vector<std::int64_t>> totals_below_;
};

}  // namespace

Policy assemble(PolicyParts parts, Whole whole) { return Assembly(std::move(parts), whole).make(); }

}  // namespace berth
