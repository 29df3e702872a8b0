#include "sim/scenario_pod_set.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/wording.h"
#include "model/gpu.h"
#include "sim/scenario_labels.h"
#include "sim/scenario_reading.h"

namespace berth::scenario {
namespace {

bool leads(const SetDraft& set) { return !set.flavors.empty() && !set.mixed; }

void take_gpus(ScenarioLine& line, PodRequest& request) {
  const ScenarioWord* const word = line.take("gpus");
  if (word == nullptr) return;
  if (word->value.starts_with("mig:") || word->value.starts_with("mps:")) {
    return line.complain(*word, quote("gpus=" + word->value.substr(0, 4)) + " is not supported yet (" +
                                    (word->value.starts_with("mig:") ? "MIG slices" : "MPS shares") +
                                    "); this version knows gpus=8 and gpus=500m");
  }
  const std::int64_t milli = line.milli(word, std::int64_t{kGpusPerNodeMax} * kMilliPerGpu, 0);
  if (milli > kMilliPerGpu && milli % kMilliPerGpu != 0) {
    return line.complain(*word, "gpus: " + quote(word->value) + " is neither whole GPUs (2) nor a part of one (500m)");
  }
  request.gpus = static_cast<std::int32_t>((milli + kMilliPerGpu - 1) / kMilliPerGpu);
  request.gpu_milli = static_cast<std::int32_t>(std::min<std::int64_t>(milli, kMilliPerGpu));
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

}  // namespace

SetDraft take_set(ScenarioReading& reading, ScenarioLine& line) {
  SetDraft set;
  set.count = line.integer(line.take("pods"), 1, kScenarioPodsMax, 1);
  reading.pods += set.count;
  if (reading.pods > kScenarioPodsMax && reading.pods - set.count <= kScenarioPodsMax) {
    line.complain("more than 100,000 pods in one scenario; take fewer");
  }
  if (const ScenarioWord* const min = line.take("min");
      min != nullptr && line.integer(min, 1, kScenarioPodsMax, set.count) != set.count) {
    line.complain(*min,
                  "'min=' other than pods= is not supported yet (elastic workloads); this version starts all "
                  "pods or none, write min=" +
                      std::to_string(set.count));
  }
  take_gpus(line, set.request);
  if (const ScenarioWord* const memory = line.take("gpu_memory")) {
    constexpr std::int64_t kMib = 1 << 20;
    set.request.gpu_memory_mib = (line.bytes(memory, kGpuMemoryMibMax * kMib, 0) + kMib - 1) / kMib;
    if (set.request.gpus == 0) line.complain(*memory, "gpu_memory= is of each GPU; write gpus=, too");
  }
  set.request.cpu_milli = line.milli(line.take("cpu"), kNodeCpuMilliMax, 0);
  set.request.memory_bytes = line.bytes(line.take("memory"), kScenarioMemoryBytesMax, 0);
  take_flavors(reading, line, set);
  set.constraints = take_constraints(line);
  set.topology = take_topology(line, set.count);
  return set;
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

WorkloadShape shape_of(const std::vector<SetDraft>& sets) {
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
      PodSet& made = way.emplace_back(PodSet{set.request, set.count, set.constraints, set.topology});
      const bool in_one = !flavor.is_none() && set.allows(flavor) && (leads(set) || leader == sets.end());
      made.request.flavors = in_one ? FlavorSet::of(flavor) : set.all_flavors();
    }
  }
  return shape;
}

}  // namespace berth::scenario
