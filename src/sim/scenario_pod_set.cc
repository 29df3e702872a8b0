#include "sim/scenario_pod_set.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/wording.h"
#include "manifest/gpu_need.h"
#include "manifest/parallelism.h"
#include "model/gpu.h"
#include "model/gpu_hardware.h"
#include "model/quantity.h"
#include "model/vgpu_profiles.h"
#include "sim/scenario_labels.h"
#include "sim/scenario_neighbours.h"
#include "sim/scenario_reading.h"
#include "sim/scenario_topology.h"

namespace berth::scenario {
namespace {

bool leads(const SetDraft& set) { return !set.flavors.empty() && !set.mixed; }

void take_amount_of_gpus(ScenarioLine& line, const ScenarioWord& word, PodRequest& request) {
  const std::int64_t milli = line.milli(&word, std::int64_t{kGpusPerNodeMax} * kMilliPerGpu, 0);
  if (milli > kMilliPerGpu && milli % kMilliPerGpu != 0) {
    return line.complain(word, "gpus: " + quote(word.value) + " is neither whole GPUs (2) nor a part of one (500m)");
  }
  request.gpus = static_cast<std::int32_t>((milli + kMilliPerGpu - 1) / kMilliPerGpu);
  request.gpu_milli = static_cast<std::int32_t>(std::min<std::int64_t>(milli, kMilliPerGpu));
}

void take_share_of_mps(ScenarioLine& line, const ScenarioWord& word, PodRequest& request) {
  std::string_view percent = std::string_view(word.value).substr(4);
  const bool well_formed = percent.ends_with('%');
  if (well_formed) percent.remove_suffix(1);
  const auto value = parse_integer(percent, 0, 100);
  if (!well_formed || !value) {
    return line.complain(word, "gpus: " + quote(word.value) + " is no part of a GPU; write one such as mps:25%");
  }
  if (*value * kMilliPerGpu / 100 < kMpsMilliMin) {
    return line.complain(
        word, "gpus: " + quote(word.value) + " would let more share a GPU than MPS serves; write mps:3% or more");
  }
  request.gpus = 1;
  request.gpu_milli = static_cast<std::int32_t>(*value * kMilliPerGpu / 100);
  request.sharing = Sharing::kMps;
}

// "vgpu:A100X-10C", or "vgpu:smallest" beside gpu_memory=.
void take_vgpu(const ScenarioWord& word, SetDraft& set) {
  set.request.gpus = 1;
  set.request.gpu_milli = kMilliPerGpu;  // until its part is known
  set.is_vgpu = true;
  set.slice = word.value.substr(5);
  if (set.slice == kSmallestSlice) {
    set.slice.clear();
    set.slice_need = SliceNeed();
  }
}

// Its word, if it is of a slice or a vGPU.
const ScenarioWord* take_gpus(ScenarioLine& line, SetDraft& set) {
  const ScenarioWord* const word = line.take("gpus");
  if (word == nullptr) return nullptr;
  if (word->value.starts_with("mig:")) {
    set.request.gpus = 1;
    set.request.gpu_milli = kMilliPerGpu;  // until its part is known; of no flavor that is there it stays one
    set.slice = word->value.substr(4);
    if (set.slice == kSmallestSlice || set.slice.find('/') != std::string::npos) {
      const auto need = parse_slice_need(std::exchange(set.slice, {}));
      if (!need) {
        line.complain(*word, "gpus: " + need.error());
        return nullptr;
      }
      set.slice_need = *need;
    }
    return word;
  }
  if (word->value.starts_with("vgpu:")) {
    take_vgpu(*word, set);
    return word;
  }
  if (word->value.starts_with("mps:")) {
    take_share_of_mps(line, *word, set.request);
  } else {
    take_amount_of_gpus(line, *word, set.request);
  }
  return nullptr;
}

void take_flavors(ScenarioReading& reading, ScenarioLine& line, SetDraft& set) {
  const ScenarioWord* const word = line.take("flavor");
  const ScenarioWord* const mixed = line.take("mixed");
  if (set.request.gpus == 0) {
    for (const ScenarioWord* const idle : {word, mixed}) {
      if (idle != nullptr) line.complain(*idle, idle->key + "= says something about GPUs; write gpus=, too");
    }
    return;
  }
  if (word != nullptr) {
    for (const std::string& name : line.list(*word)) {
      const auto flavor = reading.names.flavor(line, *word, name);
      if (!flavor) continue;
      if (set.allows(*flavor)) line.complain(*word, "flavor " + quote(name) + " stands here twice; write it once");
      set.flavors.push_back(*flavor);
    }
  } else {
    for (std::size_t i = 0; i < reading.names.flavors.size(); ++i) set.flavors.emplace_back(i);
    if (reading.names.flavors.size() == 0) line.complain("no flavor is declared yet; write flavor lines above");
  }
  set.mixed = mixed != nullptr && mixed->value == "yes";
  if (mixed != nullptr && mixed->value != "yes" && mixed->value != "no") {
    line.complain(*mixed, "mixed: " + quote(mixed->value) + " is neither yes nor no");
  }
}

// What GPUs of a flavor can be cut into, or what vGPUs they have.
std::vector<std::string> profiles_of(const Flavor& flavor, bool vgpus) {
  std::vector<std::string> names;
  if (vgpus) {
    for (VgpuProfile& profile : vgpu_profiles(flavor)) names.push_back(std::move(profile.name));
  } else if (const GpuHardware* const hardware = hardware_of(flavor)) {
    for (const MigProfile& profile : hardware->mig_profiles) names.emplace_back(profile.name);
  }
  return names;
}

// Of the models that are there: "1g.10gb, 1g.20gb, ..."
std::string profiles_of(const ScenarioReading& reading, const std::vector<FlavorId>& flavors, bool vgpus) {
  std::vector<std::string> names;
  for (const FlavorId flavor : flavors) {
    for (std::string& name : profiles_of(reading.flavors[flavor.index()], vgpus)) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Which slice or vGPU it asks of such GPUs, and what part of one that is.
std::optional<NamedSlice> slice_in(const Flavor& flavor, const SetDraft& set) {
  if (set.is_vgpu) {
    const auto profile =
        set.slice_need ? smallest_vgpu(flavor, set.slice_need->memory_mib) : find_vgpu(flavor, set.slice);
    return profile ? std::optional(NamedSlice{kNoSlice, profile->gpu_milli()}) : std::nullopt;
  }
  if (!set.slice_need) return find_slice(flavor, set.slice);
  const GpuHardware* const hardware = hardware_of(flavor);
  const auto shape = hardware == nullptr ? std::nullopt : cheapest_mig_profile(*hardware, *set.slice_need);
  return shape ? find_slice(flavor, *shape) : std::nullopt;
}

bool is_known_somewhere(std::string_view name, bool is_vgpu) {
  if (is_vgpu) return find_vgpu(name).has_value();
  return std::ranges::any_of(gpu_hardware(),
                             [&](const GpuHardware& each) { return find_mig_profile(each, name).has_value(); });
}

bool are_of_known_models(const ScenarioReading& reading, const std::vector<FlavorId>& flavors) {
  return std::ranges::all_of(flavors, [&](FlavorId flavor) {
    const Flavor& of = reading.flavors[flavor.index()];
    return hardware_of(of) != nullptr || !vgpu_profiles(of).empty();
  });
}

// Of the flavors those whose GPUs can be cut into it. Where the fleet is known to have none, it waits for ever (GpuType); what
// no GPU has anywhere, or of models that are not told, is a mistake of who wrote it.
void keep_those_cut_so(const ScenarioReading& reading, ScenarioLine& line, const ScenarioWord& word, SetDraft& set) {
  const std::vector<FlavorId> wanted = set.flavors;
  std::erase_if(set.flavors, [&](FlavorId flavor) { return !slice_in(reading.flavors[flavor.index()], set); });
  if (set.mixed) {
    line.complain(word, std::string("mixed=yes is for whole GPUs: ") + (set.is_vgpu ? "vGPUs" : "slices") +
                            " of one name are not the same on two models");
  }
  if (!set.flavors.empty() || wanted.empty()) return;
  if (are_of_known_models(reading, wanted) && (set.slice_need || is_known_somewhere(set.slice, set.is_vgpu))) return;
  if (set.slice_need) return line.complain(word, "gpus: declare flavors with a model, as in model=H100");
  const std::string known = profiles_of(reading, wanted, set.is_vgpu);
  line.complain(
      word,
      (set.is_vgpu ? "gpus: no GPU that it accepts has a vGPU " : "gpus: no GPU that it accepts can be cut into ") +
          quote(set.slice) +
          (known.empty() ? "; declare flavors with a model, as in model=H100" : "; write one of " + known));
}

// PRE: its GPUs, its topology and its neighbours are known.
void take_parallelism(ScenarioLine& line, SetDraft& set) {
  const ScenarioWord* const word = line.take("parallel");
  if (word == nullptr) return;
  const auto parallel = parse_parallelism(word->value, ':');
  if (!parallel) return line.complain(*word, "parallel: " + parallel.error());
  const PodRequest& request = set.request;
  const bool whole = request.gpus > 0 && request.gpu_milli == kMilliPerGpu && request.sharing == Sharing::kExclusive &&
                     !set.asks_slice();
  if (!whole) return line.complain(*word, "parallel= is of whole GPUs; write gpus=, too, such as gpus=8");
  if (set.topology.has_slices() || set.topology.is_spread() || !set.neighbours.asks_nothing()) {
    return line.complain(
        *word,
        "parallel= says where its pods go beside each other, and so do slice=, spread=, strategy=SPREAD, "
        "STRICT_SPREAD, near=, apart=, even= and ports=; write words of one kind");
  }
  const std::string problem = problem_of(*parallel, set.count, request.gpus);
  if (!problem.empty()) return line.complain(*word, "parallel: " + problem);
  set.parallel = *parallel;
}

void count_pods(ScenarioReading& reading, const ScenarioLine& line, std::int64_t more) {
  const bool were_few = reading.pods <= kScenarioPodsMax;
  reading.pods += more;
  if (were_few && reading.pods > kScenarioPodsMax) line.complain("more than 100,000 pods in one scenario; take fewer");
}

// How many start together, and how many more there may be. PRE: `count` is that of pods=.
void take_sizes(ScenarioReading& reading, ScenarioLine& line, SetDraft& set) {
  set.pods = set.count;
  const ScenarioWord* const min = line.take("min");
  const ScenarioWord* const max = line.take("max");
  const std::int64_t least = line.integer(min, 1, kScenarioPodsMax, set.pods);
  const std::int64_t most = line.integer(max, 1, kScenarioPodsMax, set.pods);
  if (least > set.pods) {
    line.complain(*min, "min: it starts with " + std::to_string(least) + " pods at least, and pods=" +
                            std::to_string(set.pods) + " are fewer; write pods=" + std::to_string(least) + " or more");
  } else if (most < set.pods) {
    line.complain(*max, "max: it has " + std::to_string(most) + " pods at most, and pods=" + std::to_string(set.pods) +
                            " are more; write max=" + std::to_string(set.pods) + " or more");
  } else {
    set.count = least;
    set.steps = most - least;
    if (set.steps > kScenarioStepsMax) {
      line.complain("max: " + std::to_string(set.steps) + " pods above its minimum are more than " +
                    std::to_string(kScenarioStepsMax) + "; take fewer");
      set.steps = 0;
    }
    count_pods(reading, line, set.count + set.steps - set.pods);
  }
}

}  // namespace

// "rack", or "rack:each".
void take_exclusive(ScenarioLine& line, SetDraft& set) {
  constexpr std::string_view kEach = ":each";
  constexpr std::int64_t kSlicesMax = 1'000;
  const ScenarioWord* const word = line.take("exclusive");
  if (word == nullptr) return;
  set.exclusive_level = word->value;
  if (set.request.gpus == 0) {
    line.complain(*word, "exclusive= is of pods that ask GPUs, and keeps others with GPUs away; write gpus=, too");
  }
  set.exclusive_each = set.exclusive_level.ends_with(kEach);
  if (set.exclusive_each) set.exclusive_level.resize(set.exclusive_level.size() - kEach.size());
  if (!is_level(set.exclusive_level)) {
    return line.complain(*word, "exclusive: " + quote(word->value) +
                                    " is no level; write one label of nodes, such as rack, or rack:each");
  }
  if (!set.exclusive_each) return;
  if (!set.topology.has_slices()) return;
  if (set.topology.slice_level != set.exclusive_level || set.topology.together != Togetherness::kAnywhere) {
    line.complain(
        *word,
        "exclusive: each slice has a domain for itself where all of it is in one, and nothing joins them; write " +
            std::string("slice= of the same level, and no topology="));
  } else if (set.topology.slice_pods > 0 && set.count / set.topology.slice_pods > kSlicesMax) {
    line.complain(*word, "exclusive: more than 1,000 slices, each with a domain for itself; take fewer");
  }
}

SetDraft take_set(ScenarioReading& reading, ScenarioLine& line) {
  SetDraft set;
  set.count = line.integer(line.take("pods"), 1, kScenarioPodsMax, 1);
  count_pods(reading, line, set.count);
  take_sizes(reading, line, set);
  const ScenarioWord* const slice = take_gpus(line, set);
  if (const ScenarioWord* const memory = line.take("gpu_memory")) {
    if (slice != nullptr && !set.slice_need) {
      line.complain(*memory, set.is_vgpu ? "gpu_memory= is of GPUs that are not shared; a vGPU has its own. Write "
                                           "gpus=vgpu:smallest for the smallest that has so much"
                                         : "gpu_memory= is of GPUs that are not cut; a slice has its own. Write "
                                           "gpus=mig:smallest for the smallest slice that has so much");
    }
    constexpr std::int64_t kMib = 1 << 20;
    constexpr std::int64_t kLeast = 1'000'000;
    const std::int64_t bytes = line.bytes(memory, kGpuMemoryMibMax * kMib, 0);
    if (0 < bytes && bytes < kLeast) {
      line.complain(*memory, "gpu_memory: " + quote(memory->value) + " are that many bytes; write " + memory->value +
                                 "Gi, or another unit");
    }
    set.request.gpu_memory_mib = (bytes + kMib - 1) / kMib;
    if (set.request.gpus == 0) line.complain(*memory, "gpu_memory= is of each GPU; write gpus=, too");
  }
  if (set.slice_need) set.slice_need->memory_mib = std::exchange(set.request.gpu_memory_mib, 0);
  set.request.cpu_milli = line.milli(line.take("cpu"), kNodeCpuMilliMax, 0);
  set.request.memory_bytes = line.bytes(line.take("memory"), kScenarioMemoryBytesMax, 0);
  take_flavors(reading, line, set);
  if (slice != nullptr) keep_those_cut_so(reading, line, *slice, set);
  set.constraints = take_constraints(line, set.toleration_lengths);
  if (const ScenarioWord* const word = line.take("image")) set.constraints.images = line.list(*word);
  set.topology = take_topology(line, set.count);
  set.neighbours = take_neighbours(line);
  take_exclusive(line, set);
  take_parallelism(line, set);
  set.members = take_member_words(line);
  if (set.steps > 0 && (set.topology.has_slices() || set.parallel.is_declared())) {
    line.complain(
        "slice= and parallel= are of a size that stays, and min= and max= of one that changes pod by pod; write words "
        "of one kind");
  }
  if (!set.topology.asks_nothing() && !set.neighbours.asks_nothing()) {
    line.complain(
        "topology=, slice=, spread= and strategy= find places for all pods together, and near=, apart=, even= and "
        "ports= for "
        "one after the other; write words of one kind");
  }
  return set;
}

std::vector<SetDraft> sets_of(SetDraft set) {
  if (!set.exclusive_each || !set.topology.has_slices()) return {std::move(set)};
  const auto slices = static_cast<std::size_t>(set.count / set.topology.slice_pods);
  set.count = set.pods = set.topology.slice_pods;
  set.topology = {.together = Togetherness::kRequired, .level = set.exclusive_level};
  return std::vector(slices, set);
}

const SetDraft* set_with_a_choice_of_its_own(const std::vector<SetDraft>& sets) {
  const auto leader = std::find_if(sets.begin(), sets.end(), leads);
  if (leader == sets.end()) return nullptr;
  for (const SetDraft& set : sets) {
    if (!leads(set) || set.flavors.size() == 1) continue;
    if (!std::ranges::all_of(leader->flavors, [&](FlavorId flavor) { return set.allows(flavor); })) return &set;
  }
  return nullptr;
}

WorkloadShape shape_of(const ScenarioReading& reading, const std::vector<SetDraft>& sets) {
  const auto leader = std::find_if(sets.begin(), sets.end(), leads);
  std::vector<FlavorId> choices;
  if (leader != sets.end()) {
    choices = leader->flavors;
  } else {
    // Mixed as they come; where quotas refuse that, all in one of them.
    choices.emplace_back();
    const auto mixed = std::ranges::find(sets, true, &SetDraft::mixed);
    if (mixed != sets.end() && mixed->flavors.size() > 1)
      std::ranges::copy(mixed->flavors, std::back_inserter(choices));
  }
  WorkloadShape shape;
  for (const FlavorId flavor : choices) {
    PodSets& way = shape.ways.emplace_back();
    for (const SetDraft& set : sets) {
      PodSet& made = way.emplace_back(PodSet{set.request, set.count, set.constraints, set.topology, set.neighbours,
                                             set.parallel, set.exclusive_level});
      if (set.exclusive_each) made.exclusive_part = std::to_string(way.size() - 1);
      const bool in_one = !flavor.is_none() && set.allows(flavor) && (leads(set) || leader == sets.end());
      made.request.flavors = in_one ? FlavorSet::of(flavor) : set.all_flavors();
      if (!set.asks_slice() || set.flavors.empty()) continue;
      const FlavorId of = in_one ? flavor : set.flavors.front();
      const NamedSlice slice = *slice_in(reading.flavors[of.index()], set);
      made.request.sharing = set.is_vgpu ? Sharing::kVgpu : Sharing::kMig;
      made.request.slice = slice.shape;
      made.request.gpu_milli = slice.gpu_milli;
      made.request.flavors = FlavorSet::of(of);
    }
  }
  return shape;
}

}  // namespace berth::scenario
