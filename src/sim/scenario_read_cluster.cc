#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/wording.h"
#include "manifest/gpu_links_text.h"
#include "manifest/overcommit_text.h"
#include "model/gpu.h"
#include "model/gpu_hardware.h"
#include "model/mig_layout.h"
#include "model/vgpu_profiles.h"
#include "sim/scenario_labels.h"
#include "sim/scenario_later.h"
#include "sim/scenario_statements.h"
#include "sim/scenario_values.h"

namespace berth::scenario {
namespace {

constexpr std::string_view kFlavorKeys[] = {"model", "weight"};
constexpr std::string_view kNodesKeys[] = {
    "gpus", "flavor", "cpu",     "memory", "pods", "labels",      "taints", "nvlink_domain", "mode",   "replicas",
    "mig",  "recut",  "layouts", "kept",   "numa", "numa_policy", "links",  "spare",         "images", "overcommit"};
constexpr std::string_view kSetNodeKeys[] = {"labels", "taints", "spare", "images"};

std::optional<FlavorId> take_node_flavor(ScenarioReading& reading, ScenarioLine& line, std::int32_t gpus) {
  const ScenarioWord* const word = line.take("flavor");
  if (gpus == 0) {
    if (word != nullptr) line.complain(*word, "flavor= says of which kind the GPUs are; write gpus=, too");
    return std::nullopt;
  }
  if (word != nullptr) return reading.names.flavor(line, *word, word->value);
  if (reading.names.flavors.size() == 1) return FlavorId(0);
  line.complain(reading.names.flavors.size() == 0
                    ? "no flavor is declared yet; write flavor lines above"
                    : "there are several flavors; write flavor=" + reading.names.flavors[0]);
  return std::nullopt;
}

// "trainer:20Gi,base:5Gi"
std::vector<NodeImage> take_images(ScenarioLine& line) {
  std::vector<NodeImage> images;
  const ScenarioWord* const word = line.take("images");
  if (word == nullptr || word->value == "none") return images;
  for (const std::string& each : line.list(*word)) {
    const std::size_t colon = each.find(':');
    const auto bytes = colon == std::string::npos ? Parsed<std::int64_t>(std::int64_t{0})
                                                  : parse_bytes(std::string_view(each).substr(colon + 1));
    if (colon == 0 || colon == std::string::npos || !bytes || *bytes > kImageBytesMax) {
      line.complain(*word,
                    "images: " + quote(each) + " is no image and its size, up to 1Ti; write such as trainer:20Gi");
      continue;
    }
    const std::string name = each.substr(0, colon);
    if (std::ranges::find(images, name, &NodeImage::name) != images.end()) {
      line.complain(*word, "images: " + quote(name) + " stands there twice");
    } else {
      images.push_back({name, *bytes});
    }
  }
  return images;
}

// In their order; empty after a complaint.
std::vector<Sharing> modes_of(const ScenarioLine& line, const ScenarioWord& word) {
  std::vector<Sharing> modes;
  for (const std::string& name : line.list(word)) {
    const auto known = std::ranges::find(kSharingNames, name);
    if (known == std::end(kSharingNames)) {
      line.complain_unknown(word, name, kSharingNames, "is no way to share GPUs");
      return {};
    }
    const auto mode = static_cast<Sharing>(known - std::begin(kSharingNames));
    if (std::ranges::find(modes, mode) != modes.end()) {
      line.complain(word, "mode: " + quote(name) + " is there twice; name each once");
      return {};
    }
    modes.push_back(mode);
  }
  return modes;
}

// The first is what the node is by itself, the others what it may be instead.
void take_modes(const ScenarioReading& reading, ScenarioLine& line, Node& node) {
  const ScenarioWord* const word = line.take("mode");
  if (word == nullptr) return;
  const std::vector<Sharing> modes = modes_of(line, *word);
  const auto has = [&](Sharing mode) { return std::ranges::find(modes, mode) != modes.end(); };
  if (modes.empty() || word->value == name_of(Sharing::kExclusive)) return;
  const bool can_be_cut = node.flavor.is_none() || mig_of(reading.flavors[node.flavor.index()]) != nullptr;
  if (node.gpus == 0) {
    line.complain(*word, "mode=" + word->value + " says how the GPUs are shared; write gpus=, too");
  } else if (has(Sharing::kMig) && !can_be_cut) {
    line.complain(*word,
                  "mode: GPUs of " + quote(reading.flavors[node.flavor.index()].name) +
                      " are not known to be cut into slices; write a flavor with model=H100 or another that can be");
  } else if (has(Sharing::kVgpu) && !node.flavor.is_none() &&
             vgpu_profiles(reading.flavors[node.flavor.index()]).empty()) {
    line.complain(*word, "mode: GPUs of " + quote(reading.flavors[node.flavor.index()].name) +
                             " are not known to have vGPUs; write a flavor with model=H100 or another that has");
  } else if (has(Sharing::kTimeslice) && modes.size() > 1) {
    line.complain(*word,
                  "mode: time-sliced GPUs count for nothing, so their nodes are nothing else besides; write "
                  "mode=timeslice, and other nodes for the rest");
  } else {
    node.sharing = modes.front();
    for (std::size_t i = 1; i < modes.size(); ++i) node.other_modes.add(modes[i]);
  }
}

// As how many each of its GPUs counts.
std::int32_t take_replicas(ScenarioLine& line, Sharing sharing) {
  constexpr std::int32_t kIfNotSaid = 4;
  const ScenarioWord* const word = line.take("replicas");
  if (sharing == Sharing::kTimeslice) return static_cast<std::int32_t>(line.integer(word, 2, kReplicasMax, kIfNotSaid));
  if (word != nullptr)
    line.complain(*word, "replicas= is of GPUs on which work takes turns; write mode=timeslice, too");
  return 1;
}

// Into which slices each of its GPUs is cut beforehand.
MigPlaceSet take_fixed_slices(const ScenarioReading& reading, ScenarioLine& line, const Node& node) {
  const ScenarioWord* const word = line.take("mig");
  if (word == nullptr) return {};
  if (node.sharing != Sharing::kMig) {
    const ScenarioWord* const mode = line.find("mode");
    const bool is_refused = mode != nullptr && mode->value == name_of(Sharing::kMig);  // it says why
    if (!is_refused) line.complain(*word, "mig= says into which slices GPUs are cut beforehand; write mode=mig, too");
    return {};
  }
  if (node.flavor.is_none()) return {};
  if (!node.other_modes.empty()) {
    line.complain(*word, "mig: what is cut beforehand stays so; write mode=mig alone");
    return {};
  }
  const auto fixed = lay_out(*hardware_of(reading.flavors[node.flavor.index()]), line.list(*word));
  if (!fixed) line.complain(*word, "mig: " + fixed.error());
  return fixed.value_or(MigPlaceSet());
}

// How long it takes to cut those anew that nobody has.
Duration take_recut(ScenarioLine& line, const Node& node) {
  const ScenarioWord* const word = line.take("recut");
  if (word == nullptr) return Duration{0};
  if (node.fixed_slices.empty()) {
    const bool is_refused = line.find("mig") != nullptr;  // it says why
    if (!is_refused)
      line.complain(*word, "recut= is of slices that were cut beforehand; write mode=mig mig=3g.40gb, too");
    return Duration{0};
  }
  const auto takes = parse_duration_ms(word->value);
  if (!takes) {
    line.complain(*word, "recut: " + takes.error());
  } else if (*takes <= 0 || *takes > kRecutMax.ms) {
    line.complain(*word, "recut: cutting a GPU anew takes more than nothing and an hour at most, as in recut=60s");
  } else {
    return Duration{*takes};
  }
  return Duration{0};
}

constexpr std::string_view kKeptForm = "kept=cpu:12,memory:100Gi, for each GPU";

// How much of what is kept for each GPU; nothing and a complaint if all GPUs together keep more than the node has.
std::int64_t kept_of(ScenarioLine& line, const ScenarioWord& word, std::string_view what,
                     const Parsed<std::int64_t>& amount, std::int64_t of_node, std::int32_t gpus) {
  const std::string asked = "kept: " + std::string(what);
  if (!amount) {
    line.complain(word, asked + ": " + amount.error());
    return 0;
  }
  if (*amount <= of_node / gpus) return *amount;
  const bool is_cpu = what == "cpu";
  const std::int64_t most = is_cpu ? of_node / gpus / 1000 * 1000 : of_node / gpus;
  line.complain(word, asked + " of " + std::to_string(gpus) + " GPUs is more than the node has; write " +
                          std::string(what) + ":" + (is_cpu ? decimal_of_milli(most) : format_bytes(most)) +
                          " or less");
  return 0;
}

// What is for pods that ask GPUs, for each GPU.
HostAmounts take_kept(ScenarioLine& line, const Node& node) {
  const ScenarioWord* const word = line.take("kept");
  if (word == nullptr) return {};
  if (node.gpus == 0) {
    line.complain(*word, "kept= is kept for each GPU; write gpus=, too");
    return {};
  }
  HostAmounts kept;
  for (const std::string_view each : line.list(*word)) {
    const std::size_t colon = each.find(':');
    const std::string_view what = each.substr(0, colon);
    const std::string_view amount = colon == std::string_view::npos ? "" : each.substr(colon + 1);
    if (what == "cpu" && !amount.empty()) {
      kept.cpu_milli = kept_of(line, *word, what, parse_milli(amount), node.cpu_milli, node.gpus);
    } else if (what == "memory" && !amount.empty()) {
      kept.memory_bytes = kept_of(line, *word, what, parse_bytes(amount), node.memory_bytes, node.gpus);
    } else {
      line.complain(*word, "kept: " + quote(each) + " is no amount to keep; write " + std::string(kKeptForm));
    }
  }
  return kept;
}

// What best effort may have beyond what there is. PRE: its CPUs and memory are known.
HostAmounts take_extra(ScenarioLine& line, const Node& node) {
  const ScenarioWord* const word = line.take("overcommit");
  if (word == nullptr) return {};
  const auto factors = parse_overcommit(word->value, ':');
  if (factors) return factors->extra({node.cpu_milli, node.memory_bytes});
  line.complain(*word, "overcommit: " + factors.error());
  return {};
}

void take_zones(ScenarioLine& line, Node& node) {
  const ScenarioWord* const zones = line.take("numa");
  const ScenarioWord* const policy = line.take("numa_policy");
  if (zones != nullptr && policy == nullptr) {
    line.complain(*zones, "numa= matters where a kubelet has a policy; write numa_policy=single-numa-node, too");
  }
  node.numa_zones = static_cast<std::int32_t>(line.integer(zones, 1, kNumaZonesMax, 1));
  if (policy == nullptr) return;
  const auto chosen = line.choice(*policy, kNumaPolicyNames, "is no policy of a kubelet");
  if (!chosen) return;
  if (zones == nullptr) return line.complain(*policy, "a policy is about NUMA zones; write how many, as in numa=2");
  if (node.gpus == 0 || node.sharing != Sharing::kExclusive || !node.other_modes.empty()) {
    return line.complain(*policy, "NUMA zones are counted of whole GPUs; write gpus= and no other mode=");
  }
  node.numa_policy = static_cast<NumaPolicy>(*chosen);
}

// PRE: its GPUs and its zones are known.
void take_links(ScenarioLine& line, Node& node) {
  const ScenarioWord* const word = line.take("links");
  if (word == nullptr) return;
  const auto links = parse_gpu_links(word->value, ':');
  if (!links) return line.complain(*word, "links: " + links.error());
  const std::int32_t zones = node.numa_policy == NumaPolicy::kNone ? 1 : node.numa_zones;
  const std::string problem = problem_of(*links, node.gpus, zones);
  if (!problem.empty()) return line.complain(*word, "links: " + problem);
  node.links = *links;
}

}  // namespace

void read_flavor(ScenarioReading& reading, ScenarioLine& line) {
  const ScenarioWord* const name = line.take_plain("flavor h100 model=H100");
  const ScenarioWord* const model_name = line.take("model");
  const GpuModel* const model = find_gpu_model(model_name == nullptr ? "gpu" : std::string_view(model_name->value));
  if (model == nullptr) {
    const std::string_view nearest = nearest_gpu_model(model_name->value);
    line.complain(*model_name, "model: unknown GPU model " + quote(model_name->value) +
                                   (nearest.empty() ? "; write one such as H100, or leave model= out"
                                                    : "; did you mean " + quote(nearest) + "?"));
  }
  const std::int64_t weight = line.integer(line.take("weight"), 1, kFlavorWeightMax, 1);
  line.finish(kFlavorKeys);
  if (name == nullptr || !line.is_name(*name) || !reading.names.flavors.is_new(line, *name, name->value)) return;
  if (reading.names.flavors.size() == kFlavorsMax) return line.complain("more than 64 flavors; leave some out");
  reading.add_flavor(line.number(), {.name = name->value,
                                     .model = std::string(model == nullptr ? "gpu" : model->name),
                                     .memory_mib = model == nullptr ? 0 : model->memory_mib,
                                     .weight = weight});
}

// Into one of which all its GPUs are cut at once.
std::vector<MigPlaceSet> take_layouts(const ScenarioReading& reading, ScenarioLine& line, const Node& node) {
  const ScenarioWord* const word = line.take("layouts");
  if (word == nullptr) return {};
  if (node.recut == Duration{0}) {
    if (line.find("recut") == nullptr)
      line.complain(*word,
                    "layouts= says into what slices are cut anew; write how long that takes, too, as in recut=60s");
    return {};
  }
  std::vector<MigPlaceSet> layouts;
  for (const std::string& text : line.list(*word)) {
    const auto layout = parse_layout(*hardware_of(reading.flavors[node.flavor.index()]), text);
    if (!layout) {
      line.complain(*word, "layouts: " + layout.error());
    } else if (std::ranges::find(layouts, *layout) == layouts.end()) {
      layouts.push_back(*layout);
    }
  }
  if (layouts.size() > kNodeLayoutsMax) line.complain(*word, "layouts: 16 of a node at most");
  return layouts;
}

void read_add(ScenarioReading& reading, ScenarioLine& line) {
  const ScenarioWord* const what = line.take_plain("add nodes n 4 gpus=8");
  if (what == nullptr) return;
  if (what->value == "nodes") return read_nodes(reading, line);
  line.complain(*what, "only nodes can be added; write add nodes n 4 gpus=8");
}

void read_nodes(ScenarioReading& reading, ScenarioLine& line) {
  const ScenarioWord* const prefix = line.take_plain("nodes n 4 gpus=8");
  const ScenarioWord* const count_word = prefix == nullptr ? nullptr : line.take_plain("how many nodes");
  const std::int64_t count = line.integer(count_word, 1, kScenarioNodesMax, 0);
  Node node;
  node.gpus = static_cast<std::int32_t>(line.integer(line.take("gpus"), 0, kGpusPerNodeMax, 0));
  if (const auto flavor = take_node_flavor(reading, line, node.gpus)) {
    node.flavor = *flavor;
    node.gpu_memory_mib = reading.flavors[flavor->index()].memory_mib;
  }
  node.cpu_milli = line.milli(line.take("cpu"), kNodeCpuMilliMax, kNodeCpuMilliMax);
  node.memory_bytes = line.bytes(line.take("memory"), kScenarioMemoryBytesMax, kScenarioMemoryBytesMax);
  node.pods_max = static_cast<std::int32_t>(line.integer(line.take("pods"), 0, kPodsUnbounded, kPodsUnbounded));
  node.labels = take_labels(line);
  node.taints = take_taints(line);
  take_modes(reading, line, node);
  node.replicas = take_replicas(line, node.sharing);
  node.fixed_slices = take_fixed_slices(reading, line, node);
  node.recut = take_recut(line, node);
  node.layouts = take_layouts(reading, line, node);
  node.kept_per_gpu = take_kept(line, node);
  node.extra = take_extra(line, node);
  take_zones(line, node);
  take_links(line, node);
  node.spare = takes_yes(line, "spare");
  if (line.find("images") != nullptr) node.images = take_images(line);
  line.finish(kNodesKeys);
  if (prefix == nullptr || !line.is_name(*prefix)) return;
  if (static_cast<std::int64_t>(reading.names.nodes.size()) + count > kScenarioNodesMax) {
    return line.complain("more than 100,000 nodes in one scenario; take fewer");
  }
  NodesAdded added;
  for (std::int64_t i = 1; i <= count; ++i) {
    node.name = prefix->value + std::to_string(i);
    if (!reading.names.nodes.is_new(line, *prefix, node.name)) return;
    reading.names.nodes.add(node.name);
    added.nodes.push_back(node);
  }
  if (node.gpus > 0 && node.sharing == Sharing::kExclusive && node.other_modes.empty())
    reading.whole_gpus[node.flavor] += count * node.gpus;
  reading.add(line, Event(std::move(added)));
}

// What is not named stays as it was.
void set_node(ScenarioReading& reading, ScenarioLine& line) {
  const ScenarioWord* const name = line.take_plain("set node n1 labels=rack:r1");
  RelabelNode change;
  if (line.find("labels") != nullptr) change.labels = take_labels(line);
  if (line.find("taints") != nullptr) change.taints = take_taints(line);
  if (line.find("spare") != nullptr) change.spare = takes_yes(line, "spare");
  if (line.find("images") != nullptr) change.images = take_images(line);
  if (!change.labels && !change.taints && !change.spare && !change.images)
    line.complain("nothing is set; write what, as in labels=rack:r1, taints=none, images=trainer:20Gi or spare=yes");
  line.finish(kSetNodeKeys);
  if (name == nullptr || !reading.names.is_node(line, *name, name->value)) return;
  change.node = name->value;
  reading.add(line, std::move(change));
}

void read_scrub(ScenarioReading& reading, ScenarioLine& line) {
  const ScenarioWord* const word = line.take_plain("scrub 2m");
  line.finish({});
  if (word == nullptr) return;
  const auto takes = parse_duration_ms(word->value);
  if (!takes) return line.complain(*word, "scrub: " + takes.error());
  if (reading.names.workloads.size() > 0) {
    return line.complain("how long a scrub takes holds for the whole scenario; write it above the first submit");
  }
  reading.add(line, Event(ScrubChosen{Duration{*takes}}));
}
void read_scrub_fails(ScenarioReading& reading, ScenarioLine& line) {
  const ScenarioWord* const word = line.take_plain("scrub_fails n1/0");
  line.finish({});
  if (word == nullptr) return;
  if (const auto device = read_device(line, *word, reading.names, "scrub_fails n1/0")) {
    reading.add(line, FailNextScrub{*device});
  }
}

void read_recut_fails(ScenarioReading& reading, ScenarioLine& line) {
  const ScenarioWord* const name = line.take_plain("recut_fails n1 for=20m");
  const ScenarioWord* const rest = line.take("for");
  constexpr std::array<std::string_view, 1> kKeys = {"for"};
  line.finish(kKeys);
  if (name == nullptr || !reading.names.is_node(line, *name, name->value)) return;
  const auto rests = rest == nullptr ? Parsed<std::int64_t>(0) : parse_duration_ms(rest->value);
  if (!rests) return line.complain(*rest, "for: " + rests.error());
  reading.add(line, FailRecut{name->value, Duration{*rests}});
}

void read_repair(ScenarioReading& reading, ScenarioLine& line) {
  const ScenarioWord* const word = line.take_plain("repair 10m");
  line.finish({});
  if (word == nullptr) return;
  const auto within = parse_duration_ms(word->value);
  if (!within) return line.complain(*word, "repair: " + within.error());
  reading.add(line, Event(RepairChosen{Duration{*within}}));
}

namespace {

void fail_pod(ScenarioReading& reading, ScenarioLine& line) {
  const char* const kForm = "fail pod w/3";
  const ScenarioWord* const word = line.take_plain(kForm);
  const auto pod = word == nullptr ? std::nullopt : read_pod(reading, line, *word, kForm);
  const auto code = static_cast<std::int32_t>(line.integer(line.take("exit"), 1, kExitCodeMax, 0));
  constexpr std::string_view kKeys[] = {"exit"};
  line.finish(kKeys);
  reading.close_drafts();
  if (pod) reading.add(line, FailPod{pod->workload, pod->number, code});
}

}  // namespace

void read_fail(ScenarioReading& reading, ScenarioLine& line) {
  const ScenarioWord* const kind = line.take_plain("fail node n1 or fail pod w/3");
  if (kind != nullptr && kind->value == "pod") return fail_pod(reading, line);
  change_node(reading, line, kind, "fail", NodeChange::kFail);
}
void read_restore(ScenarioReading& reading, ScenarioLine& line) {
  change_node(reading, line, line.take_plain("restore node n1"), "restore", NodeChange::kRestore);
}

void change_node(ScenarioReading& reading, ScenarioLine& line, const ScenarioWord* kind, const std::string& verb,
                 NodeChange change) {
  const ScenarioWord* const name = kind == nullptr ? nullptr : line.take_plain(verb + " node n1");
  if (kind != nullptr && kind->value != "node") {
    const std::string also = change == NodeChange::kFail ? " or fail pod w/3" : "";
    line.complain(*kind, quote(kind->value) + " is not known here; write " + verb + " node n1" + also);
  } else if (name != nullptr && reading.names.is_node(line, *name, name->value)) {
    reading.add(line, ChangeNode{change, name->value});
  }
  line.finish({});
}

}  // namespace berth::scenario
