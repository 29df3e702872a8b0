// Which pod holds which device of a node, or how much of it, as a record beside the objects: {"3": {"default/p1": {"uid": ...,
// "milli": 1000}}}, with "mode": "mps" if it is a share by MPS, or of a slice {"3": {"default/p1": {"uid": ..., "slice":
// "1g.10gb@4"}}}. A holder counts only while its pod is
// there, on that node and has not ended; so a record that is behind does no harm.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/admission_rules.h"
#include "apiserver/object_records.h"
#include "apiserver/pod_facts.h"
#include "manifest/given_gpus.h"
#include "manifest/node_gpus.h"
#include "manifest/slice_resources.h"
#include "model/gpu.h"
#include "model/gpu_hardware.h"
#include "model/quantity.h"
#include "model/vgpu_profiles.h"

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

// Nothing where the model has no such slice, or none begins there.
std::optional<std::size_t> place_of(const GpuHardware& hardware, const GivenGpus& given) {
  const auto shape = find_mig_profile(hardware, given.profile);
  return shape ? hardware.mig->find_place(*shape, given.slice_start) : std::nullopt;
}

bool still_holds(const Transaction& transaction, const std::string& holder, const Value& held, std::string_view node) {
  const Value pod = find_object(transaction, "pods/" + holder);
  return !pod.is_null() && pod["metadata"]["uid"] == held["uid"] && pod["spec"]["nodeName"].text() == node &&
         !pod_has_ended(pod);
}

using Holders = std::vector<const Value::Member*>;

Holders others_than(const Value& pod, const Value& device) {
  Holders others;
  const std::string self = holder_of(pod);
  for (const Value::Member& each : device.members()) {
    if (each.key != self) others.push_back(&each);
  }
  return others;
}

// Whether what others hold of the device leaves enough, those forgotten who are there no more.
template <class LeavesEnough>
bool enough_is_left(const Transaction& transaction, Value& device, const Value& pod, LeavesEnough leaves_enough) {
  if (leaves_enough(others_than(pod, device))) return true;
  const std::string self = holder_of(pod);
  std::erase_if(device.edit_members(), [&](const Value::Member& each) {
    return each.key != self && !still_holds(transaction, each.key, each.value, pod["spec"]["nodeName"].text());
  });
  return leaves_enough(others_than(pod, device));
}

bool leave_milli(const Holders& others, std::int64_t milli) {
  std::int64_t left = kMilliPerGpu;
  for (const Value::Member* const each : others) {
    left -= each->value.find("slice") == nullptr ? each->value["milli"].integer() : kMilliPerGpu;
  }
  return left >= milli;
}

// Whether their slices, and nothing but slices, leave the place open.
bool leave_place(const Holders& others, const GpuHardware& hardware, MigPlaceSet fixed, std::size_t place) {
  MigPlaceSet layout;
  for (const Value::Member* const each : others) {
    const auto held = parse_given_gpus("0:" + std::string(each->value["slice"].text()));
    const auto at = held ? place_of(hardware, *held) : std::nullopt;
    if (!at) return false;
    layout = layout.with(*at);
  }
  return hardware.mig->open_beside(layout, fixed).contains(place);
}

// How many devices the node has; as many as any node can have if nobody has said yet.
std::int64_t devices_on(const Value& node) {
  const std::optional<Quantity> capacity = quantity_of(node["status"]["capacity"][kGpuResource]);
  if (node.is_null()) return kGpusPerNodeMax;
  return capacity ? parse_milli(capacity->to_string()).value_or(0) / 1000 : 0;
}

// -1: there is none.
int last_of(GpuSet gpus) { return 63 - std::countl_zero(gpus.bits()); }

std::string said_by(const Value& pod) {
  return "annotation berth.dev/gpus is \"" +
         std::string(pod["metadata"]["annotations"][kGpusAnnotation].text().substr(0, 100)) + "\"";
}

std::string node_named(const Value& pod) { return "node \"" + std::string(pod["spec"]["nodeName"].text()) + "\""; }

Refusal check_devices(const Value& pod, const std::optional<GivenGpus>& given, std::int64_t on_node) {
  const std::int64_t wanted = gpus_of(pod["spec"]);
  if (!given || !given->profile.empty() || given->milli > 0) {
    return refused(pod, said_by(pod) + ", which is no list of device indexes such as \"0,3\"");
  }
  if (given->gpus.size() != wanted) {
    return refused(pod, "the pod asks for " + std::to_string(wanted) + " GPU(s), and annotation berth.dev/gpus names " +
                            std::to_string(given->gpus.size()) +
                            "; bind it with as many device indexes, as in \"0,3\"");
  }
  const int last = last_of(given->gpus);
  if (last >= on_node) {
    return refused(pod, "annotation berth.dev/gpus names device " + std::to_string(last) + ", but " + node_named(pod) +
                            " has " + std::to_string(on_node) + " GPU(s)");
  }
  return {};
}

Sharing held_as(const Value& held) {
  if (held.find("slice") != nullptr) return Sharing::kMig;
  for (const Sharing mode : {Sharing::kMps, Sharing::kVgpu}) {
    if (held["mode"].text() == name_of(mode)) return mode;
  }
  return Sharing::kExclusive;
}

// A node that may be several things is one at a time: what the first has asked, until the last has left.
Refusal hold_mode(const Value& pod, const NodeGpus& gpus, Sharing asked, const Transaction& transaction,
                  const Value& holders) {
  if (gpus.other_modes.empty()) return {};
  for (const Value::Member& device : holders.members()) {
    for (const Value::Member* const each : others_than(pod, device.value)) {
      const Sharing held = held_as(each->value);
      if (held == asked || !still_holds(transaction, each->key, each->value, pod["spec"]["nodeName"].text())) continue;
      return refused(pod, "the GPUs of " + node_named(pod) + " are " + std::string(words_of(held).is) +
                              " as long as pod \"" + each->key + "\" and others have some of them");
    }
  }
  return {};
}

// So much of each.
Refusal take_milli(const Value& pod, GpuSet gpus, std::int64_t milli, Sharing as, const Transaction& transaction,
                   Value& holders) {
  Refusal refusal;
  gpus.for_each([&](int index) {
    if (refusal) return;
    Value& device = holders.at(std::to_string(index));
    if (!device.is_map()) device = Value::map();
    if (enough_is_left(transaction, device, pod, [&](const Holders& others) { return leave_milli(others, milli); })) {
      Value held = Value::map_of({{"uid", pod["metadata"]["uid"]}, {"milli", milli}});
      if (as == Sharing::kMps || as == Sharing::kVgpu) held.set("mode", name_of(as));
      device.set(holder_of(pod), std::move(held));
      return;
    }
    refusal = refused(pod, "GPU " + std::to_string(index) + " of " + node_named(pod) + " is held by pod \"" +
                               others_than(pod, device).front()->key + "\"" +
                               (milli < kMilliPerGpu ? ", and less than the part asked for is left" : ""));
  });
  return refusal;
}

Refusal take_devices(const Value& pod, const Value& node, const std::optional<GivenGpus>& given,
                     const Transaction& transaction, Value& holders) {
  if (Refusal refusal = check_devices(pod, given, devices_on(node))) return refusal;
  if (Refusal refusal = hold_mode(pod, read_node_gpus(node), Sharing::kExclusive, transaction, holders)) return refusal;
  return take_milli(pod, given->gpus, kMilliPerGpu, Sharing::kExclusive, transaction, holders);
}

// What is wrong with the part that was named on that node; nothing: all is well.
std::optional<std::string> wrong_part(const Value& pod, const NodeGpus& gpus, std::int64_t on_node, const GpuPart& part,
                                      const std::optional<GivenGpus>& given) {
  if (!given || !given->profile.empty() || given->gpus.size() != 1) {
    return "the pod asks for a part of one GPU, and " + said_by(pod) +
           "; bind it with the index of a device and the part, as in \"0:0.5\"";
  }
  if (!gpus.problem.empty()) return node_named(pod) + " is not used: " + gpus.problem;
  if (!gpus.may_be(part.sharing)) {
    const auto& words = words_of(part.sharing == Sharing::kExclusive ? gpus.sharing : part.sharing);
    return "the GPUs of " + node_named(pod) + " are " +
           std::string(part.sharing == Sharing::kExclusive ? words.is : words.is_not);
  }
  if (!part.vgpu.empty() && !find_vgpu({.name = {}, .model = gpus.model}, part.vgpu)) {
    return "the GPUs of " + node_named(pod) + " have no vGPUs " + part.vgpu;
  }
  const int device = last_of(given->gpus);
  if (device >= on_node) {
    return "annotation berth.dev/gpus names device " + std::to_string(device) + ", but " + node_named(pod) + " has " +
           std::to_string(on_node) + " GPU(s)";
  }
  // Where nobody says how much memory a GPU has, who binds has to know.
  if (part.memory_mib > 0 && gpus.memory_mib == 0) return std::nullopt;
  const auto needed = part.milli_of(gpus.memory_mib, gpus.replicas);
  if (!needed) {
    return "the pod asks for " + std::to_string(part.memory_mib) + " MiB of a GPU, and those of " + node_named(pod) +
           " have " + std::to_string(gpus.memory_mib);
  }
  const bool enough = part.memory_mib > 0 ? given->milli >= *needed : given->milli == *needed;
  if (given->milli > 0 && !enough) {
    return said_by(pod) + ", and the pod asks for " + decimal_of_milli(*needed) + " of a GPU there";
  }
  return std::nullopt;
}

// All vGPUs of a GPU are of one profile.
Refusal hold_profile(const Value& pod, const GpuPart& part, const GivenGpus& given, const Transaction& transaction,
                     const Value& holders) {
  if (part.vgpu.empty()) return {};
  const Value* const device = holders.find(std::to_string(last_of(given.gpus)));
  if (device == nullptr) return {};
  for (const Value::Member* const each : others_than(pod, *device)) {
    const bool alike = each->value["milli"].integer() == part.milli;
    if (alike || !still_holds(transaction, each->key, each->value, pod["spec"]["nodeName"].text())) continue;
    return refused(pod, "GPU " + std::to_string(last_of(given.gpus)) + " of " + node_named(pod) +
                            " has vGPUs of another profile than " + part.vgpu + " as long as pod \"" + each->key +
                            "\" and others have some of them");
  }
  return {};
}

Refusal take_part(const Value& pod, const Value& node, const GpuPart& part, const std::optional<GivenGpus>& given,
                  const Transaction& transaction, Value& holders) {
  const NodeGpus gpus = read_node_gpus(node);
  const bool are_whole = gpus.sharing == Sharing::kExclusive && gpus.other_modes.empty();
  const std::int64_t on_node = are_whole ? devices_on(node) : gpus.count;
  if (const auto wrong = wrong_part(pod, gpus, on_node, part, given)) return refused(pod, *wrong);
  if (Refusal refusal = hold_mode(pod, gpus, part.sharing, transaction, holders)) return refusal;
  if (Refusal refusal = hold_profile(pod, part, *given, transaction, holders)) return refusal;
  const std::int64_t asked = part.milli_of(gpus.memory_mib, gpus.replicas).value_or(kMilliPerGpu);
  return take_milli(pod, given->gpus, given->milli > 0 ? given->milli : asked, part.sharing, transaction, holders);
}

// What is wrong with the slice that was named for what the pod needs; nothing: it has all that.
std::optional<std::string> wrong_slice(const Value& pod, const NodeGpus& gpus, const SliceNeed& need,
                                       const std::optional<GivenGpus>& given) {
  const GpuHardware* const hardware = hardware_of({.name = {}, .model = gpus.model});
  const auto shape = hardware == nullptr || !given ? std::nullopt : find_mig_profile(*hardware, given->profile);
  if (!shape) {
    return "the pod asks a slice by what it needs, and " + said_by(pod) +
           "; bind it with a device, a profile of its model and the first memory slice, as in \"0:1g.10gb@0\"";
  }
  const std::int64_t compute = hardware->mig->shapes()[*shape].compute_slices;
  const bool suffices = hardware->mig_profiles[*shape].memory_mib >= need.memory_mib &&
                        compute * need.whole >= std::int64_t{hardware->mig->compute_slices()} * need.part;
  if (suffices) return std::nullopt;
  return "a " + given->profile + " of a " + gpus.model + " has less than the pod needs";
}

// What is wrong with the place that was named for the slice; nothing: all is well.
std::optional<std::string> wrong_place(const Value& pod, const NodeGpus& gpus, const std::string& profile,
                                       const std::optional<GivenGpus>& given) {
  if (!given || given->profile != profile) {
    return "the pod asks for a " + profile + ", and " + said_by(pod) +
           "; bind it with a device, the profile and the first memory slice, as in \"0:" + profile + "@0\"";
  }
  if (!gpus.may_be(Sharing::kMig) || !gpus.problem.empty()) {
    return "the GPUs of " + node_named(pod) + " are not cut into slices";
  }
  const int device = last_of(given->gpus);
  if (device >= gpus.count) {
    return "annotation berth.dev/gpus names device " + std::to_string(device) + ", but " + node_named(pod) + " has " +
           std::to_string(gpus.count) + " GPU(s)";
  }
  const auto place = place_of(*hardware_of({.name = {}, .model = gpus.model}), *given);
  if (!place) {
    return "no " + profile + " of a " + gpus.model + " begins at memory slice " + std::to_string(given->slice_start);
  }
  if (!gpus.fixed_slices.empty() && !gpus.fixed_slices.contains(*place)) {
    return "the GPUs of " + node_named(pod) + " were cut beforehand, and none has a " + profile +
           " that begins at memory slice " + std::to_string(given->slice_start);
  }
  return std::nullopt;
}

Refusal take_slice(const Value& pod, const Value& node, const std::string& profile,
                   const std::optional<GivenGpus>& given, const Transaction& transaction, Value& holders) {
  const NodeGpus gpus = read_node_gpus(node);
  if (const auto wrong = wrong_place(pod, gpus, profile, given)) return refused(pod, *wrong);
  if (Refusal refusal = hold_mode(pod, gpus, Sharing::kMig, transaction, holders)) return refusal;
  const GpuHardware& hardware = *hardware_of({.name = {}, .model = gpus.model});
  const std::size_t place = *place_of(hardware, *given);
  const std::string index = std::to_string(last_of(given->gpus));
  const std::string slice = profile + "@" + std::to_string(given->slice_start);
  Value& device = holders.at(index);
  if (!device.is_map()) device = Value::map();
  const auto is_open = [&](const Holders& others) { return leave_place(others, hardware, gpus.fixed_slices, place); };
  if (!enough_is_left(transaction, device, pod, is_open)) {
    return refused(pod, "GPU " + index + " of " + node_named(pod) + " has no room for a " + slice +
                            " beside what pod \"" + others_than(pod, device).front()->key + "\" and others hold of it");
  }
  device.set(holder_of(pod), Value::map_of({{"uid", pod["metadata"]["uid"]}, {"slice", slice}}));
  return {};
}

Refusal take_gpus(const Value& pod, Transaction& transaction) {
  const std::string_view text = pod["metadata"]["annotations"][kGpusAnnotation].text();
  const std::map<std::string, std::int64_t> slices = slices_of(pod["spec"]);
  const GpuPart part = gpu_part_of(pod["metadata"], pod["spec"]).part;
  const std::optional<SliceNeed> need = gpu_need_of(pod["metadata"], pod["spec"]).need.slice;
  if (text.empty() && gpus_of(pod["spec"]) == 0 && slices.empty() && part.is_none() && !need) return {};
  const std::string_view name = pod["spec"]["nodeName"].text();
  const Value node = find_object(transaction, object_key("nodes", "", name));
  const std::optional<GivenGpus> given = parse_given_gpus(text);
  Value holders = find_object(transaction, record_key(name));
  if (!holders.is_map()) holders = Value::map();
  if (need) {
    if (const auto wrong = wrong_slice(pod, read_node_gpus(node), *need, given)) return refused(pod, *wrong);
  }
  const auto profile = slices.size() == 1 ? profile_of(slices.begin()->first) : Parsed<std::string>("");
  Refusal refusal = !part.is_none()  ? take_part(pod, node, part, given, transaction, holders)
                    : need           ? take_slice(pod, node, given->profile, given, transaction, holders)
                    : slices.empty() ? take_devices(pod, node, given, transaction, holders)
                                     : take_slice(pod, node, profile.value_or(""), given, transaction, holders);
  if (!refusal) put_object(transaction, record_key(name), std::move(holders));
  return refusal;
}

}  // namespace

Refusal hold_gpus(AdmissionRequest& request, Transaction& transaction, const Authorizer&) {
  if (!is_pod_kind(*request.kind)) return {};
  const Value& pod = *request.object;
  const bool was_bound = request.before != nullptr && !(*request.before)["spec"]["nodeName"].is_empty();
  if (!was_bound && !pod["spec"]["nodeName"].is_empty()) return take_gpus(pod, transaction);
  if (was_bound && pod_has_ended(pod) && !pod_has_ended(*request.before)) release_gpus(transaction, pod);
  return {};
}

void release_gpus(Transaction& transaction, const Value& pod) {
  const std::string_view node = pod["spec"]["nodeName"].text();
  if (node.empty() || pod["metadata"]["annotations"][kGpusAnnotation].is_empty()) return;
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
