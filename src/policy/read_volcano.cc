// Volcano's Queue: `deserved` is the floor; `guarantee` is the part of it that is never lent.
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/wording.h"
#include "policy/object_reader.h"
#include "policy/read_objects.h"

namespace berth {
namespace {

using Amounts = std::map<Resource, std::pair<std::int64_t, std::string>>;  // with the field

Amounts read_resources(ObjectReader& reader, const Value& list, const std::string& path) {
  Amounts amounts;
  for (const Value::Member& member : list.members()) {
    const std::string field = path + "." + member.key;
    const std::optional<Resource> resource = reader.counted_resource(member.key, field);
    if (!resource) continue;
    const std::optional<std::int64_t> amount = reader.amount(member.value, *resource, field);
    if (amount) amounts[*resource] = {*amount, field};
  }
  return amounts;
}

void add(ObjectReader& reader, QueuePart& queue, AmountKind kind, Resource resource, std::int64_t amount,
         const std::string& field) {
  queue.amounts.push_back({kind, "", resource, amount, reader.place(field)});
}

void read_floor(ObjectReader& reader, QueuePart& queue) {
  const Value& spec = reader.spec();
  const Amounts deserved = read_resources(reader, spec["deserved"], "spec.deserved");
  const Amounts kept = read_resources(reader, spec["guarantee"]["resource"], "spec.guarantee.resource");
  for (const auto& [resource, given] : deserved) {
    const auto& [amount, field] = given;
    add(reader, queue, AmountKind::kGuarantee, resource, amount, field);
    const auto own = kept.find(resource);
    if (own == kept.end()) continue;
    const auto& [kept_amount, kept_field] = own->second;
    if (kept_amount > amount) {
      reader.refuse(kept_field, "guarantee is more than deserved", "it is the part of it that nobody else may use",
                    "write at most what stands in " + field);
      continue;
    }
    add(reader, queue, AmountKind::kLendingLimit, resource, amount - kept_amount, kept_field);
  }
  for (const auto& [resource, given] : kept) {
    const auto& [amount, field] = given;
    if (deserved.contains(resource)) continue;
    add(reader, queue, AmountKind::kGuarantee, resource, amount, field);
    add(reader, queue, AmountKind::kLendingLimit, resource, 0, field);
  }
}

}  // namespace

void read_volcano_queue(ObjectReader& reader) {
  const Value& spec = reader.spec();
  if (reader.name() == "root") {
    return reader.leave_out("", "the root is the whole cluster: what it says bounds nothing");
  }
  QueuePart queue;
  queue.origin = Origin::kVolcano;
  queue.name = reader.name();
  queue.place = reader.place();
  queue.parent = reader.text("spec.parent");
  queue.parent_place = reader.place("spec.parent");
  if (queue.parent == "root") queue.parent.clear();
  queue.order = reader.one_of("spec.dequeueStrategy", {"traverse", "fifo"}) == 0 ? Order::kFifoSkip : Order::kFifo;
  queue.quota.backfill = Backfill::kNone;  // its fifo lets nobody pass
  read_floor(reader, queue);
  for (const auto& [resource, given] : read_resources(reader, spec["capability"], "spec.capability")) {
    add(reader, queue, AmountKind::kLimit, resource, given.first, given.second);
  }
  queue.quota.weight_milli = reader.weight_milli("spec.weight", true).value_or(queue.quota.weight_milli);
  if (spec["reclaimable"].is_bool() && !spec["reclaimable"].truth()) {
    reader.leave_out("spec.reclaimable",
                     "what a queue borrows is taken back all the same when its owner has work: give it what it "
                     "shall keep as `deserved`");
  }
  if (!reader.object()["metadata"]["annotations"]["volcano.sh/hierarchy"].is_empty()) {
    reader.leave_out("metadata.annotations",
                     "the annotation volcano.sh/hierarchy makes no tree: name the queue above by "
                     "spec.parent");
  }
  for (const char* const field : {"priority", "affinity", "extendClusters", "type"}) {
    if (spec.find(field) == nullptr) continue;
    reader.leave_out(std::string("spec.") + field,
                     field == std::string_view("priority")
                         ? "queues have no priority: who is next goes by floors and shares"
                     : field == std::string_view("affinity") ? "the queue's work may go to any node"
                                                             : "it decides nothing here");
  }
  reader.finish(spec, "spec",
                {"weight", "capability", "deserved", "guarantee", "reclaimable", "parent", "dequeueStrategy",
                 "priority", "affinity", "extendClusters", "type"});
  reader.parts().queues.push_back(std::move(queue));
}

}  // namespace berth
