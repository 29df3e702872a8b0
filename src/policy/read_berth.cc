// Berth's own kinds, and Kubernetes' PriorityClass.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/wording.h"
#include "manifest/queue_spec.h"
#include "model/flavor.h"
#include "model/gpu.h"
#include "policy/object_reader.h"
#include "policy/read_objects.h"

namespace berth {
namespace {

void add_amounts(ObjectReader& reader, const char* field, AmountKind kind, const std::vector<FlavorAmount>& amounts,
                 QueuePart& queue) {
  for (const FlavorAmount& each : amounts) {
    queue.amounts.push_back({kind, each.flavor, each.resource, each.amount,
                             reader.place(std::string("spec.") + field + "." + name_of(each)), each.profile});
  }
}

void add_windows(ObjectReader& reader, const std::vector<WindowSpec>& windows, QueuePart& queue) {
  for (std::size_t i = 0; i < windows.size(); ++i) {
    WindowPart made{.spec = windows[i], .place = reader.place("spec.windows[" + std::to_string(i) + "]")};
    for (const auto& [kind, amounts] : {std::pair{AmountKind::kGuarantee, &made.spec.guarantee},
                                        {AmountKind::kLimit, &made.spec.limit},
                                        {AmountKind::kBorrowingLimit, &made.spec.borrowing_limit},
                                        {AmountKind::kLendingLimit, &made.spec.lending_limit}}) {
      for (const FlavorAmount& each : *amounts) {
        made.amounts.push_back({kind, each.flavor, each.resource, each.amount, made.place, each.profile});
      }
    }
    queue.windows.push_back(std::move(made));
  }
}

std::vector<std::string> texts(const Value& list) {
  std::vector<std::string> found;
  for (const Value& item : list.items()) found.emplace_back(item.text());
  return found;
}

void read_submitters(const Value& submitters, QueuePart& queue) {
  if (submitters.is_null()) return;
  queue.submitters = {Submitters::Who::kNamed, texts(submitters["namespaces"]), texts(submitters["users"]),
                      texts(submitters["groups"])};
}

}  // namespace

void read_berth_queue(ObjectReader& reader) {
  const Value& spec = reader.spec();
  QueuePart queue;
  queue.name = reader.name();
  queue.place = reader.place();
  QueueSpecReading read = read_queue_spec(spec);
  for (const SpecMistake& mistake : read.mistakes) {
    reader.refuse(mistake.field, quote(quantity_text(mistake.value)) + ": " + mistake.text, "", "");
  }
  queue.parent = read.spec.parent;
  queue.parent_place = reader.place("spec.parent");
  queue.order = read.spec.order;
  queue.held = read.spec.stop == QueueStop::kHold;
  queue.closed = read.spec.stop == QueueStop::kDrain;
  add_windows(reader, read.spec.windows, queue);
  queue.grants = read.spec.grants;
  queue.quota = read.spec.policies;
  add_amounts(reader, "guarantee", AmountKind::kGuarantee, read.spec.guarantee, queue);
  add_amounts(reader, "limit", AmountKind::kLimit, read.spec.limit, queue);
  add_amounts(reader, "borrowingLimit", AmountKind::kBorrowingLimit, read.spec.borrowing_limit, queue);
  add_amounts(reader, "lendingLimit", AmountKind::kLendingLimit, read.spec.lending_limit, queue);
  add_amounts(reader, "userLimit", AmountKind::kUserLimit, read.spec.user_limit, queue);
  queue.cells = read.spec.cells;
  read_submitters(spec["submitters"], queue);
  reader.finish(
      spec, "spec",
      {"order",        "parent",     "hold",      "stop",      "submitters", "guarantee", "limit",     "borrowingLimit",
       "lendingLimit", "userLimit",  "users",     "halfLife",  "weight",     "reclaim",   "preempt",   "reclaimWithin",
       "patience",     "minRuntime", "cooldown",  "idleAfter", "windows",    "budget",    "dedicated", "backfill",
       "cells",        "loans",      "foresight", "overRun",   "extend",     "extensions"});
  for (std::size_t i = 0; i < spec["windows"].items().size(); ++i) {
    reader.finish(spec["windows"].items()[i], "spec.windows[" + std::to_string(i) + "]",
                  {"days", "from", "to", "zone", "guarantee", "limit", "borrowingLimit", "lendingLimit", "weight"});
  }
  for (std::size_t i = 0; i < spec["dedicated"].items().size(); ++i) {
    reader.finish(spec["dedicated"].items()[i], "spec.dedicated[" + std::to_string(i) + "]", {"key", "value"});
  }
  for (std::size_t i = 0; i < spec["cells"].items().size(); ++i) {
    reader.finish(spec["cells"].items()[i], "spec.cells[" + std::to_string(i) + "]", {"flavor", "level", "count"});
  }
  reader.finish(spec["budget"], "spec.budget", {"gpuHours", "end", "grants"});
  for (std::size_t i = 0; i < spec["budget"]["grants"].items().size(); ++i) {
    reader.finish(spec["budget"]["grants"].items()[i], "spec.budget.grants[" + std::to_string(i) + "]",
                  {"gpuHours", "until"});
  }
  reader.parts().queues.push_back(std::move(queue));
}

void read_berth_flavor(ObjectReader& reader) {
  const Value& spec = reader.spec();
  FlavorPart flavor;
  flavor.name = reader.name();
  flavor.place = reader.place();
  const std::string model_name = reader.text("spec.gpuModel");
  const GpuModel* const model = find_gpu_model(model_name);
  if (model == nullptr) {
    const std::string_view near = nearest_gpu_model(model_name);
    reader.refuse(
        "spec.gpuModel", quote(model_name) + " is no GPU model that is known", "",
        near.empty() ? "write one such as H100-SXM5-80GB or H100" : "did you mean " + std::string(near) + "?");
  } else {
    flavor.model = model->name;
    flavor.memory_mib = spec["memoryMiB"].integer(model->memory_mib);
  }
  const std::int64_t weight = spec["weight"].integer(1);
  if (weight < 1 || weight > kFlavorWeightMax || !(spec["weight"].is_null() || spec["weight"].is_integer())) {
    reader.refuse("spec.weight", "it is no whole number from 1 to 1,000", "", "write one such as 10");
  } else {
    flavor.weight = weight;
  }
  for (const Value::Member& label : spec["nodeLabels"].members()) {
    reader.check_label("spec.nodeLabels", label);
    flavor.node_labels.emplace_back(label.key, label.value.text());
  }
  reader.finish(spec, "spec", {"gpuModel", "memoryMiB", "nodeLabels", "weight"});
  reader.parts().flavors.push_back(std::move(flavor));
}

void read_priority_class(ObjectReader& reader) {
  const Value& object = reader.object();
  const bool never = object["preemptionPolicy"].text() == "Never";
  reader.parts().priorities.push_back({.name = reader.name(),
                                       .value = object["value"].integer(),
                                       .preempts = !never,
                                       .description = std::string(object["description"].text()),
                                       .place = reader.place(never ? "preemptionPolicy" : "")});
}

}  // namespace berth
