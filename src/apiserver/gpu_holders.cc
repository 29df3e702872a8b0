// Which pod holds which device of a node, as a record beside the objects: {"3": {"default/p1": {"uid": ..., "milli":
// 1000}}}. A holder counts only while its pod is there, on that node and has not ended; so a record that is behind does
// no harm.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/admission_rules.h"
#include "apiserver/object_records.h"
#include "apiserver/pod_facts.h"
#include "model/gpu.h"
#include "model/quantity.h"

namespace berth {

namespace {

std::string record_key(std::string_view node) { return object_key("_gpus", "", node); }

std::string holder_of(const Value& pod) {
  return std::string(pod["metadata"]["namespace"].text()) + "/" + std::string(pod["metadata"]["name"].text());
}

ApiError refused(const Value& pod, const std::string& why) {
  const KindInfo& pods = *find_served("", "v1", "pods");
  const std::string_view name = pod["metadata"]["name"].text();
  ApiError error = conflict(pods, name, why);
  error.kind = "pods/binding";
  error.message = "Operation cannot be fulfilled on pods/binding \"" + std::string(name) + "\": " + why;
  return error;
}

// "0,3" -> {0, 3}; none if it is no such list.
std::optional<std::set<std::int64_t>> devices_of(std::string_view text) {
  std::set<std::int64_t> devices;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const Parsed<std::int64_t> device = parse_integer(text.substr(0, comma), 0, kGpusPerNodeMax - 1);
    if (!device || !devices.insert(*device).second || comma + 1 == text.size()) return std::nullopt;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return devices;
}

bool still_holds(const Transaction& transaction, const std::string& holder, const Value& held, std::string_view node) {
  const Value pod = find_object(transaction, "pods/" + holder);
  return !pod.is_null() && pod["metadata"]["uid"] == held["uid"] && pod["spec"]["nodeName"].text() == node &&
         !pod_has_ended(pod);
}

// Takes `milli` of the device for the pod; if there is not so much, whoever holds it.
std::optional<std::string> take(const Transaction& transaction, Value& device, const Value& pod, std::string_view node,
                                std::int64_t milli) {
  const std::string self = holder_of(pod);
  const auto free_milli = [&] {
    std::int64_t left = kMilliPerGpu;
    for (const Value::Member& each : device.members()) left -= each.key == self ? 0 : each.value["milli"].integer();
    return left;
  };
  if (free_milli() < milli) {
    std::erase_if(device.edit_members(), [&](const Value::Member& each) {
      return each.key != self && !still_holds(transaction, each.key, each.value, node);
    });
  }
  if (free_milli() < milli) {
    const auto other = std::ranges::find_if(device.members(), [&](const auto& each) { return each.key != self; });
    return other->key;
  }
  device.set(self, Value::map_of({{"uid", pod["metadata"]["uid"]}, {"milli", milli}}));
  return std::nullopt;
}

// How many devices the node has; as many as any node can have if nobody has said yet.
std::int64_t devices_on(const Transaction& transaction, std::string_view node) {
  const Value object = find_object(transaction, object_key("nodes", "", node));
  const std::optional<Quantity> capacity = quantity_of(object["status"]["capacity"][kGpuResource]);
  if (object.is_null()) return kGpusPerNodeMax;
  return capacity ? parse_milli(capacity->to_string()).value_or(0) / 1000 : 0;
}

Refusal check_devices(const Value& pod, const std::optional<std::set<std::int64_t>>& devices, std::int64_t on_node) {
  const std::int64_t wanted = gpus_of(pod["spec"]);
  const std::string_view text = pod["metadata"]["annotations"][kGpusAnnotation].text();
  if (!devices) {
    return refused(pod, "annotation berth.dev/gpus is \"" + std::string(text.substr(0, 100)) +
                            "\", which is no list of device indexes such as \"0,3\"");
  }
  if (static_cast<std::int64_t>(devices->size()) != wanted) {
    return refused(pod, "the pod asks for " + std::to_string(wanted) + " GPU(s), and annotation berth.dev/gpus names " +
                            std::to_string(devices->size()) + "; bind it with as many device indexes, as in \"0,3\"");
  }
  if (!devices->empty() && *devices->rbegin() >= on_node) {
    return refused(pod, "annotation berth.dev/gpus names device " + std::to_string(*devices->rbegin()) +
                            ", but node \"" + std::string(pod["spec"]["nodeName"].text()) + "\" has " +
                            std::to_string(on_node) + " GPU(s)");
  }
  return {};
}

Refusal take_devices(const Value& pod, Transaction& transaction) {
  const Value& annotations = pod["metadata"]["annotations"];
  const std::string_view node = pod["spec"]["nodeName"].text();
  const std::string_view text = annotations[kGpusAnnotation].text();
  if (text.empty() && gpus_of(pod["spec"]) == 0) return {};
  const std::optional<std::set<std::int64_t>> devices = devices_of(text);
  if (Refusal refusal = check_devices(pod, devices, devices_on(transaction, node))) return refusal;
  const std::int64_t milli =
      parse_integer(annotations[kGpuMilliAnnotation].text(), 1, kMilliPerGpu).value_or(kMilliPerGpu);
  Value holders = find_object(transaction, record_key(node));
  if (!holders.is_map()) holders = Value::map();
  for (const std::int64_t device : *devices) {
    Value& held = holders.at(std::to_string(device));
    if (!held.is_map()) held = Value::map();
    if (const auto other = take(transaction, held, pod, node, milli)) {
      return refused(pod, "GPU " + std::to_string(device) + " of node \"" + std::string(node) + "\" is held by pod \"" +
                              *other + "\"" +
                              (milli < kMilliPerGpu ? ", and less than the part asked for is left" : ""));
    }
  }
  put_object(transaction, record_key(node), std::move(holders));
  return {};
}

}  // namespace

Refusal hold_gpus(AdmissionRequest& request, Transaction& transaction, const Authorizer&) {
  if (!is_pod_kind(*request.kind)) return {};
  const Value& pod = *request.object;
  const bool was_bound = request.before != nullptr && !(*request.before)["spec"]["nodeName"].is_empty();
  if (!was_bound && !pod["spec"]["nodeName"].is_empty()) return take_devices(pod, transaction);
  if (was_bound && pod_has_ended(pod) && !pod_has_ended(*request.before)) release_gpus(transaction, pod);
  return {};
}

void release_gpus(Transaction& transaction, const Value& pod) {
  const std::string_view node = pod["spec"]["nodeName"].text();
  if (node.empty() || gpus_of(pod["spec"]) == 0) return;
  const std::string key = record_key(node);
  Value holders = find_object(transaction, key);
  const std::string self = holder_of(pod);
  bool held_any = false;
  if (!holders.is_map()) return;
  for (Value::Member& device : holders.edit_members()) {
    const Value* const held = device.value.find(self);
    if (held != nullptr && (*held)["uid"] == pod["metadata"]["uid"]) held_any = device.value.erase(self) || held_any;
  }
  if (!held_any) return;
  std::erase_if(holders.edit_members(), [](const Value::Member& device) { return device.value.is_empty(); });
  if (holders.is_empty()) {
    transaction.erase(key, "{}");
  } else {
    put_object(transaction, key, std::move(holders));
  }
}

}  // namespace berth
