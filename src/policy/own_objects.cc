#include "policy/own_objects.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "manifest/labels.h"
#include "manifest/queue_spec.h"
#include "manifest/timestamp.h"
#include "model/gpu.h"
#include "model/quantity.h"

namespace berth {
namespace {

Value object_of_kind(const char* kind, const std::string& name, Value spec) {
  return Value::map_of({{"apiVersion", "berth.dev/v1alpha1"},
                        {"kind", kind},
                        {"metadata", Value::map_of({{"name", name}})},
                        {"spec", std::move(spec)}});
}

std::string text_of(Duration duration) {
  return duration.ms % 1000 == 0 ? std::to_string(duration.ms / 1000) + "s" : std::to_string(duration.ms) + "ms";
}

Value list_of(const std::vector<std::string>& names) {
  Value list = Value::list();
  for (const std::string& name : names) list.push_back(name);
  return list;
}

std::array<std::pair<const char*, const std::vector<FlavorAmount>*>, 4> amounts_named(const WindowSpec& window) {
  return {{{"guarantee", &window.guarantee},
           {"limit", &window.limit},
           {"borrowingLimit", &window.borrowing_limit},
           {"lendingLimit", &window.lending_limit}}};
}

Value windows_value(const std::vector<WindowSpec>& windows) {
  Value list = Value::list();
  for (const WindowSpec& each : windows) {
    Value made = Value::map_of({{"days", each.days}, {"from", each.from}, {"to", each.to}, {"zone", each.zone}});
    for (const auto& [field, amounts] : amounts_named(each)) {
      for (const FlavorAmount& amount : *amounts) {
        made.at(field).set(name_of(amount), format_amount(amount.resource, amount.amount));
      }
    }
    if (each.weight_milli) made.set("weight", format_milli(*each.weight_milli));
    list.push_back(std::move(made));
  }
  return list;
}

Value budget_value(const Quota& quota, const std::vector<GrantSpec>& grants) {
  Value made = Value::map_of({{"gpuHours", format_gpu_hours(*quota.budget_gpu_us)},
                              {"end", kBudgetEndNames[static_cast<std::size_t>(quota.budget_end)]}});
  for (const GrantSpec& each : grants) {
    made.at("grants").push_back(
        Value::map_of({{"gpuHours", format_gpu_hours(each.gpu_us)}, {"until", format_timestamp(each.until)}}));
  }
  return made;
}

class Writer {
 public:
  explicit Writer(const Policy& policy) : policy_(policy) {}

  OwnObjects write() {
    for (const PolicyFlavor& each : policy_.flavors) add_flavor(each);
    for (const TopologyPart& each : policy_.topologies) {
      made_.left_out.push_back({each.place, "Berth has no such kind of its own; apply it as it is"});
    }
    for (const PolicyQueue& each : policy_.queues) {
      if (!each.cohort) taken_.insert(each.queue.name);
    }
    for (const PolicyQueue& each : policy_.queues) {
      names_.push_back(each.cohort && taken_.contains(each.queue.name) ? each.queue.name + "-cohort" : each.queue.name);
      add_queue(each);
    }
    return std::move(made_);
  }

 private:
  void add_flavor(const PolicyFlavor& flavor) {
    if (!flavor.topology.empty()) {
      made_.left_out.push_back(
          {flavor.topology_place, "Berth's flavors name no Topology: pods may ask any label of nodes as a level"});
    }
    const GpuModel* const model = find_gpu_model(flavor.flavor.model);
    if (model == nullptr || model->name == "gpu") {
      made_.left_out.push_back({flavor.place, "which GPUs the flavor " + flavor.flavor.name +
                                                  " means is not said: label its nodes by " +
                                                  "nvidia.com/gpu.product and name a model"});
      return;
    }
    Value spec = Value::map_of({{"gpuModel", model->short_name}});
    if (flavor.flavor.weight != 1) spec.set("weight", flavor.flavor.weight);
    for (const auto& [key, value] : flavor.node_labels) {
      if (key != kGpuProductLabel) spec.at("nodeLabels").set(key, value);
    }
    made_.objects.push_back(object_of_kind("ResourceFlavor", flavor.flavor.name, std::move(spec)));
  }

  void add_queue(const PolicyQueue& queue) {
    const Quota& quota = queue.queue.quota;
    const Quota usual;
    Value spec = Value::map();
    if (!queue.queue.parent.is_none()) spec.set("parent", names_[queue.queue.parent.index()]);
    if (queue.queue.order) spec.set("order", name_of(*queue.queue.order));
    if (queue.queue.held || queue.queue.closed) spec.set("stop", queue.queue.held ? "hold" : "drain");
    add_amounts(queue, AmountKind::kGuarantee, "guarantee", spec);
    add_amounts(queue, AmountKind::kLimit, "limit", spec);
    add_amounts(queue, AmountKind::kBorrowingLimit, "borrowingLimit", spec);
    add_amounts(queue, AmountKind::kLendingLimit, "lendingLimit", spec);
    add_amounts(queue, AmountKind::kUserLimit, "userLimit", spec);
    if (quota.users != usual.users) spec.set("users", kUserOrderNames[static_cast<std::size_t>(quota.users)]);
    if (quota.backfill != usual.backfill && queue.queue.order == Order::kFifo) {
      spec.set("backfill", kBackfillNames[static_cast<std::size_t>(quota.backfill)]);
    }
    if (quota.loans_percent != 0) spec.set("loans", loans_text(quota.loans_percent));
    if (!quota.foresight && queue.queue.order == Order::kFifo) spec.set("foresight", false);
    if (quota.over_run == OverRun::kExtend) {
      spec.set("overRun", "extend");
      if (quota.extend != usual.extend) spec.set("extend", format_duration_ms(quota.extend.ms));
      if (quota.extensions != usual.extensions) spec.set("extensions", std::int64_t{quota.extensions});
    }
    if (quota.weight_milli != usual.weight_milli) spec.set("weight", format_milli(quota.weight_milli));
    if (quota.fair_reclaim != usual.fair_reclaim) {
      spec.set("reclaim", kFairReclaimNames[static_cast<std::size_t>(quota.fair_reclaim)]);
    }
    if (quota.preempt != usual.preempt) spec.set("preempt", kPreemptNames[static_cast<std::size_t>(quota.preempt)]);
    if (quota.reclaim_within != usual.reclaim_within) spec.set("reclaimWithin", text_of(quota.reclaim_within));
    if (quota.patience != usual.patience) spec.set("patience", text_of(quota.patience));
    if (quota.min_runtime != usual.min_runtime) spec.set("minRuntime", text_of(quota.min_runtime));
    if (quota.cooldown != usual.cooldown) spec.set("cooldown", text_of(quota.cooldown));
    if (quota.idle_after != usual.idle_after) spec.set("idleAfter", text_of(quota.idle_after));
    if (quota.half_life != usual.half_life) spec.set("halfLife", text_of(quota.half_life));
    for (const Label& each : quota.dedicated) {
      Value& nodes = spec.at("dedicated");
      if (!nodes.is_list()) nodes = Value::list();
      nodes.push_back(Value::map_of({{"key", each.key}, {"value", each.value}}));
    }
    for (const FloorCells& each : quota.cells) {
      Value& cells = spec.at("cells");
      if (!cells.is_list()) cells = Value::list();
      cells.push_back(
          Value::map_of({{"flavor", policy_.name_of(each.flavor)}, {"level", each.level}, {"count", each.count}}));
    }
    if (!queue.windows.empty()) spec.set("windows", windows_value(queue.windows));
    if (quota.budget_gpu_us) spec.set("budget", budget_value(quota, queue.grants));
    add_submitters(queue, spec);
    made_.objects.push_back(object_of_kind("Queue", names_.back(), std::move(spec)));
  }

  void add_amounts(const PolicyQueue& queue, AmountKind kind, const char* field, Value& spec) {
    for (const Amount& each : amounts_of(queue.queue.quota, kind)) {
      if (each.dim.flavor().is_none()) {
        made_.left_out.push_back(
            {queue.place_of(kind, each.dim), "amounts of nodes without GPUs have no name in a Queue"});
        continue;
      }
      const FlavorAmount named = policy_.named(each.dim, each.amount);
      spec.at(field).set(name_of(named), format_amount(each.dim.resource(), each.amount));
    }
  }

  // A list without anybody in it would mean everybody.
  void add_submitters(const PolicyQueue& queue, Value& spec) {
    const Submitters& submitters = queue.submitters;
    if (submitters.who == Submitters::Who::kEverybody) return;
    if (submitters.who == Submitters::Who::kNobody) {
      spec.set("stop", "hold");
      made_.left_out.push_back({queue.place, "nobody may submit to it: it is held instead"});
      return;
    }
    Value& into = spec.at("submitters");
    if (!submitters.namespaces.empty()) into.set("namespaces", list_of(submitters.namespaces));
    if (!submitters.users.empty()) into.set("users", list_of(submitters.users));
    if (!submitters.groups.empty()) into.set("groups", list_of(submitters.groups));
  }

  const Policy& policy_;
  OwnObjects made_;
  std::set<std::string> taken_;
  std::vector<std::string> names_;
};

}  // namespace

std::string text_of(const WindowSpec& window) {
  std::string text = window.days + "," + window.from + "-" + window.to + "," + window.zone;
  for (const auto& [field, amounts] : amounts_named(window)) {
    for (const FlavorAmount& amount : *amounts) {
      text += std::string(",") + field + "=" + name_of(amount) + ":" + format_amount(amount.resource, amount.amount);
    }
  }
  if (window.weight_milli) text += ",weight=" + format_milli(*window.weight_milli);
  return text;
}

OwnObjects own_objects_of(const Policy& policy) { return Writer(policy).write(); }

}  // namespace berth
