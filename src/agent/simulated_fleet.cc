// Where simulated machines come from: a short text, or Node objects in a file.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <expected>
#include <map>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "agent/simulated_nodes.h"
#include "base/wording.h"
#include "manifest/labels.h"
#include "manifest/node_gpus.h"
#include "manifest/node_host.h"
#include "manifest/overcommit_text.h"
#include "manifest/slice_resources.h"
#include "manifest/yaml.h"
#include "model/gpu.h"
#include "model/gpu_hardware.h"
#include "model/mig_layout.h"
#include "model/quantity.h"
#include "model/vgpu_profiles.h"

namespace berth {
namespace {

constexpr std::int64_t kSimulatedNodesMax = 20'000;
constexpr const char* kForm = "write COUNTxMODELxGPUS or COUNTxcpu, as in 4xH100x8,2xcpu";

struct MachineGroup {
  std::int64_t count = 0;
  std::string model = {};  // empty: no GPUs
  std::int64_t gpus = 0;
  Sharing sharing = Sharing::kExclusive;
  SharingSet other_modes = {};
  std::int64_t replicas = 1;
  std::vector<std::string> slices = {};           // into which each GPU is cut beforehand; empty: it is cut as pods ask
  std::string numa_zones = {}, numa_policy = {};  // as the labels say it
  std::string kept_per_gpu = {};                  // as the annotation does
  std::string overcommit = {};                    // the same
  bool says_of_gpus = false;                      // something else than that
  bool spare = false;
  std::string recut = {};  // how long it takes to cut its slices anew; empty: they stay

  // "h100", "h100-mig", "cpu"
  std::string name() const;
  bool is_whole() const { return sharing == Sharing::kExclusive && other_modes.empty(); }
};

std::string lower_case(std::string_view text) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

std::string unknown_model(std::string_view model) {
  const std::string_view near = nearest_gpu_model(model);
  return "unknown GPU type " + quote(model) + (near.empty() ? "" : "; did you mean " + std::string(near) + "?");
}

std::string MachineGroup::name() const {
  if (model.empty()) return "cpu";
  const std::string kind = lower_case(model) + (spare ? "-spare" : "");
  if (!slices.empty()) return kind + "-slices";
  return kind + (is_whole() ? "" : "-" + modes_text(sharing, other_modes));
}

// "3g.40gb:1g.10gb"
std::vector<std::string> split_slices(std::string_view text) {
  std::vector<std::string> slices;
  for (std::size_t colon = 0; colon != std::string_view::npos; text.remove_prefix(std::min(colon + 1, text.size()))) {
    colon = text.find(':');
    slices.emplace_back(text.substr(0, colon));
  }
  return slices;
}

// What is refused of the text, and what to write instead; empty: nothing.
using Refusal = std::string;

// "mig", "mig:3g.40gb:1g.10gb", "mps", "vgpu", "timeslice:4", "exclusive.mig".
Refusal read_mode(MachineGroup& group, std::string_view text, std::string_view more) {
  const auto modes = parse_modes(text);
  const bool has_more = text == name_of(Sharing::kMig) || text == name_of(Sharing::kTimeslice);
  if (!modes || text == name_of(Sharing::kExclusive) || (!more.empty() && !has_more)) {
    return quote(std::string(text) + std::string(more)) +
           " is no way to share GPUs; write /mig, /mig:3g.40gb:1g.10gb, /mps, /vgpu or /timeslice:4, or several that "
           "take turns, as in /exclusive.mig, or how they are beside CPUs: /numa:2:single-numa-node, /kept:12:100Gi, "
           "/overcommit:1.5:1.2; or "
           "/spare, or /recut:10s behind the slices";
  }
  group.sharing = modes->front();
  for (const Sharing other : *modes | std::views::drop(1)) group.other_modes.add(other);
  if (group.sharing == Sharing::kMig && !more.empty()) group.slices = split_slices(more.substr(1));
  more.remove_prefix(std::min<std::size_t>(1, more.size()));
  if (group.sharing != Sharing::kTimeslice) return "";
  const auto replicas = parse_integer(more, 2, kReplicasMax);
  if (!replicas) return "as how many each GPU counts (/timeslice:4): " + replicas.error();
  group.replicas = *replicas;
  return "";
}

// ":2:single-numa-node"
Refusal read_zones(MachineGroup& group, std::string_view more) {
  more.remove_prefix(std::min<std::size_t>(1, more.size()));
  const std::size_t colon = std::min(more.find(':'), more.size());
  const auto zones = parse_integer(more.substr(0, colon), 1, kNumaZonesMax);
  if (!zones) return "how many NUMA zones (/numa:2:single-numa-node): " + zones.error();
  const std::string_view policy = more.substr(std::min(colon + 1, more.size()));
  if (std::ranges::find(kNumaPolicyNames, policy) == std::end(kNumaPolicyNames)) {
    return quote(policy) +
           " is no policy of a kubelet; write /numa:2: and none, best-effort, restricted or "
           "single-numa-node";
  }
  group.numa_zones = std::to_string(*zones);
  group.numa_policy = policy;
  return "";
}

// ":12:100Gi", ":12"
Refusal read_kept(MachineGroup& group, std::string_view more) {
  more.remove_prefix(std::min<std::size_t>(1, more.size()));
  const std::size_t colon = std::min(more.find(':'), more.size());
  const std::string_view cpu = more.substr(0, colon);
  const std::string_view memory = more.substr(std::min(colon + 1, more.size()));
  const std::string form = "what is kept for each GPU (/kept:12:100Gi): ";
  if (const auto amount = parse_milli(cpu); !amount) return form + amount.error();
  if (const auto amount = parse_bytes(memory.empty() ? "0" : memory); !amount) return form + amount.error();
  group.kept_per_gpu = "cpu=" + std::string(cpu) + (memory.empty() ? "" : ",memory=" + std::string(memory));
  return "";
}

// ":1.5:1.2", ":1.5"
Refusal read_overcommit(MachineGroup& group, std::string_view more) {
  more.remove_prefix(std::min<std::size_t>(1, more.size()));
  const std::size_t colon = std::min(more.find(':'), more.size());
  const std::string memory(more.substr(std::min(colon + 1, more.size())));
  group.overcommit = "cpu=" + std::string(more.substr(0, colon)) + (memory.empty() ? "" : ",memory=" + memory);
  if (parse_overcommit(group.overcommit, '=')) return "";
  return "how many times its CPUs and its memory a machine promises (/overcommit:1.5:1.2): write 1 to " +
         std::to_string(kOvercommitMax) + " of each";
}

// One of what stands behind the GPUs, each behind a slash.
Refusal read_option(MachineGroup& group, std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view word = text.substr(0, colon);
  const std::string_view more = text.substr(colon);
  if (word == "overcommit") return read_overcommit(group, more);
  group.says_of_gpus = true;
  if (word == "numa") return read_zones(group, more);
  if (word == "kept") return read_kept(group, more);
  if (word == "recut") {
    const auto takes = parse_duration_ms(more.empty() ? more : more.substr(1));
    if (!takes || *takes < 1 || *takes > kRecutMax.ms)
      return "how long it takes to cut its slices anew, an hour at most (/recut:10s)" +
             (takes ? "" : ": " + takes.error());
    group.recut = more.substr(1);
    return "";
  }
  if (word == "spare" && more.empty()) {
    group.spare = true;
    return "";
  }
  return read_mode(group, word, more);
}

// "4xH100x8", "4xH100x8/mig": the first x ends the count, the last one begins the GPUs.
Parsed<MachineGroup> parse_group(std::string_view text) {
  const auto refused = [whole = text](const std::string& why) { return std::unexpected(quote(whole) + ": " + why); };
  MachineGroup group;
  const std::size_t end = std::min(text.find('/'), text.size());
  for (std::size_t slash = end; slash < text.size();) {
    const std::size_t next = std::min(text.find('/', slash + 1), text.size());
    const Refusal refusal = read_option(group, text.substr(slash + 1, next - slash - 1));
    if (!refusal.empty()) return refused(refusal);
    slash = next;
  }
  text = text.substr(0, end);
  const std::size_t first = text.find('x');
  if (first == std::string_view::npos) return refused(kForm);
  const auto count = parse_integer(text.substr(0, first), 1, kSimulatedNodesMax);
  if (!count) return refused("the number of machines: " + count.error());
  group.count = *count;
  const std::string_view rest = text.substr(first + 1);
  if (rest == "cpu" && group.says_of_gpus) return refused("what stands behind the slash is of GPUs; leave it out");
  if (rest == "cpu") return group;
  const std::size_t last = rest.rfind('x');
  if (last == std::string_view::npos) return refused(kForm);
  const auto gpus = parse_integer(rest.substr(last + 1), 1, kGpusPerNodeMax);
  if (!gpus) return refused("the number of GPUs: " + gpus.error());
  group.gpus = *gpus;
  const GpuModel* const model = find_gpu_model(rest.substr(0, last));
  if (model == nullptr) return refused(unknown_model(rest.substr(0, last)));
  group.model = model->short_name;
  const bool may_be_cut = group.sharing == Sharing::kMig || group.other_modes.contains(Sharing::kMig);
  if (may_be_cut && mig_of({.name = {}, .model = std::string(model->name)}) == nullptr) {
    return refused("GPUs of this type are not known to be cut into slices; leave mig out");
  }
  if (!group.recut.empty() && group.slices.empty()) {
    return refused("what is cut anew was cut beforehand; write into what, as in /mig:3g.40gb:3g.40gb/recut:10s");
  }
  const bool may_have_vgpus = group.sharing == Sharing::kVgpu || group.other_modes.contains(Sharing::kVgpu);
  if (may_have_vgpus && vgpu_profiles({.name = {}, .model = std::string(model->name)}).empty()) {
    return refused("GPUs of this type are not known to have vGPUs; leave vgpu out");
  }
  if (!group.slices.empty()) {
    const auto fixed = lay_out(*find_gpu_hardware(*model), group.slices);
    if (!fixed) return refused(fixed.error());
  }
  return group;
}

Value machine(const MachineGroup& group, std::int64_t number) {
  const std::string name = fmt::format("{}-{:04}", group.name(), number);
  Value node = Value::map_of({{"apiVersion", "v1"}, {"kind", "Node"}});
  node.at("metadata").set("name", name);
  Value& capacity = node.at("status").at("capacity");
  const std::int64_t gpus = group.gpus;
  capacity.set("cpu", std::to_string(gpus > 0 ? 16 * gpus : 64));
  capacity.set("memory", std::to_string(gpus > 0 ? 128 * gpus : 256) + "Gi");
  capacity.set("pods", "110");
  if (!group.overcommit.empty()) {
    node.at("metadata").at("annotations").set(kOvercommitAnnotation, group.overcommit);
    const HostAmounts has{1000 * (gpus > 0 ? 16 * gpus : 64), (gpus > 0 ? 128 * gpus : 256) << 30};
    const HostAmounts promised = has + parse_overcommit(group.overcommit, '=')->extra(has);
    capacity.set(kBatchCpuResource, std::to_string(promised.cpu_milli));
    capacity.set(kBatchMemoryResource, format_bytes(promised.memory_bytes));
  }
  if (gpus == 0) return node;
  Value labels = Value::map();
  if (group.is_whole()) {
    capacity.set(kGpuResource, std::to_string(gpus));
  } else {
    // Of slices that were cut beforehand the amounts speak, as on nodes of the device plugin.
    if (group.slices.empty()) labels.set(kGpuModeLabel, modes_text(group.sharing, group.other_modes));
    labels.set(kGpuCountLabel, std::to_string(gpus));
  }
  for (const std::string& profile : group.slices) {
    const auto alike = std::ranges::count(group.slices, profile);
    capacity.set(slice_resource(profile), std::to_string(gpus * alike));
  }
  if (!group.numa_policy.empty()) {
    labels.set(kNumaZonesLabel, group.numa_zones);
    labels.set(kNumaPolicyLabel, group.numa_policy);
  }
  if (group.spare) labels.set(kSpareLabel, "true");
  if (!group.recut.empty()) labels.set(kRecutLabel, group.recut);
  if (!group.kept_per_gpu.empty()) {
    node.at("metadata").at("annotations").set(kKeptPerGpuAnnotation, group.kept_per_gpu);
  }
  if (group.sharing == Sharing::kTimeslice) labels.set(kGpuReplicasLabel, std::to_string(group.replicas));
  labels.set(kGpuProductLabel, group.model);
  labels.set(kGpuMemoryLabel, std::to_string(find_gpu_model(group.model)->memory_mib));
  node.at("metadata").set("labels", std::move(labels));
  return node;
}

// Where nothing else is said, whatever there is is allocatable.
NodeGpus gpus_of(Value node) {
  Value& status = node.at("status");
  if (status["allocatable"].is_empty()) status.set("allocatable", Value(status["capacity"]));
  return read_node_gpus(node);
}

// What it says of its CPUs and memory that the scheduler would refuse.
std::string host_problem_of(const Value& node, const NodeGpus& gpus) {
  const Value& capacity = node["status"]["capacity"];
  const auto text = [&](const char* resource) {
    const Value& amount = capacity[resource];
    return amount.is_integer() ? std::to_string(amount.integer()) : std::string(amount.text("0"));
  };
  const HostAmounts has{parse_milli(text("cpu")).value_or(0), parse_bytes(text("memory")).value_or(0)};
  return read_node_host(node, gpus.count, gpus.shared_as(), has).problem;
}

// What every node has, however it was described.
void complete(Value& node) {
  const std::string name(node["metadata"]["name"].text());
  Value& labels = node.at("metadata").at("labels");
  labels.set("kubernetes.io/hostname", name);
  if (labels["kubernetes.io/os"].is_null()) labels.set("kubernetes.io/os", "linux");
  if (labels["kubernetes.io/arch"].is_null()) labels.set("kubernetes.io/arch", "amd64");
  labels.set("berth.dev/simulated", "true");
  const NodeGpus gpus = gpus_of(node);
  if (gpus.shared_as() == Sharing::kExclusive) return;
  if (gpus.may_be(Sharing::kMig)) labels.set(kMigStrategyLabel, "mixed");
  if (gpus.other_modes.empty() && gpus.sharing != Sharing::kMig) {
    labels.set(kSharingStrategyLabel, sharing_strategy_of(gpus.sharing));
  }
  Value& status = node.at("status");
  set_shared_amounts(gpus, status.at("capacity"));
  if (!status["allocatable"].is_empty()) set_shared_amounts(gpus, status.at("allocatable"));
}

void check_node(const Value& node, const Place& place, std::set<std::string>& names, Complaints& complaints) {
  const auto complain = [&](const std::string& text) { complaints.add(place, text); };
  if (node["apiVersion"].text() != "v1" || node["kind"].text() != "Node") {
    return complain("not a Node: write apiVersion: v1 and kind: Node");
  }
  const std::string name(node["metadata"]["name"].text());
  if (name.empty()) return complain("a Node without metadata.name; give it one");
  if (!names.insert(name).second) complain("node " + quote(name) + " stands there twice; names are unique");
  const Value& capacity = node["status"]["capacity"];
  if (capacity.is_empty())
    complain("node " + quote(name) + " has no status.capacity; write cpu, memory and pods at least");
  for (const Value::Member& each : capacity.members()) {
    const std::string text =
        each.value.is_integer() ? std::to_string(each.value.integer()) : std::string(each.value.text());
    if (const auto amount = parse_milli(text); !amount) {
      complain("node " + quote(name) + ": status.capacity." + each.key + ": " + amount.error());
    }
  }
  if (const std::string_view model = node["metadata"]["labels"][kGpuProductLabel].text();
      !capacity[kGpuResource].is_null() && !model.empty() && find_gpu_model(gpu_model_of(model)) == nullptr) {
    complain("node " + quote(name) + ": label " + std::string(kGpuProductLabel) + ": " + unknown_model(model));
  }
  const NodeGpus gpus = gpus_of(node);
  if (!gpus.problem.empty()) complain("node " + quote(name) + ": " + gpus.problem);
  if (const std::string problem = host_problem_of(node, gpus); !problem.empty()) {
    complain("node " + quote(name) + ": " + problem);
  }
}

}  // namespace

Result<std::vector<Value>> nodes_from_text(const std::string& text) {
  Complaints complaints;
  std::vector<Value> nodes;
  std::map<std::string, std::int64_t> numbers;  // groups of one kind go on counting
  std::string_view left = text;
  while (true) {
    const std::size_t comma = std::min(left.find(','), left.size());
    if (const auto group = parse_group(left.substr(0, comma)); !group) {
      complaints.add({}, group.error());
    } else if (static_cast<std::int64_t>(nodes.size()) + group->count > kSimulatedNodesMax) {
      complaints.add({}, quote(left.substr(0, comma)) + ": more than 20,000 machines in all; simulate fewer");
      break;
    } else {
      for (std::int64_t i = 0; i < group->count; ++i) {
        nodes.push_back(machine(*group, ++numbers[group->name()]));
        complete(nodes.back());
        if (i > 0) continue;
        const std::string problem = host_problem_of(nodes.back(), gpus_of(nodes.back()));
        if (!problem.empty()) complaints.add({}, quote(left.substr(0, comma)) + ": " + problem);
      }
    }
    if (comma == left.size()) break;
    left.remove_prefix(comma + 1);
  }
  if (!complaints.empty()) return complaints;
  return nodes;
}

Result<std::vector<Value>> nodes_from_manifest(const std::string& text, const std::string& file) {
  auto documents = parse_yaml(text, file);
  if (!documents) return documents.error();
  std::vector<Value> nodes;
  for (Value& document : *documents) {
    if (document["kind"].text() == "List" || document["kind"].text() == "NodeList") {
      for (const Value& item : document["items"].items()) nodes.push_back(item);
    } else {
      nodes.push_back(std::move(document));
    }
  }
  Complaints complaints;
  std::set<std::string> names;
  for (const Value& node : nodes) check_node(node, {.file = file}, names, complaints);
  if (nodes.empty()) complaints.add({.file = file}, "no Node in it; write at least one");
  if (static_cast<std::int64_t>(nodes.size()) > kSimulatedNodesMax) {
    complaints.add({.file = file}, "more than 20,000 machines; simulate fewer");
  }
  if (!complaints.empty()) return complaints;
  for (Value& node : nodes) complete(node);
  return nodes;
}

}  // namespace berth
