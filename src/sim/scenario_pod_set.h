// The pods that one `submit` or `group` line speaks of, and how those of one workload become its shape.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/flavor.h"
#include "model/gpu_hardware.h"
#include "model/request.h"
#include "model/workload.h"
#include "sim/scenario_failures.h"
#include "sim/scenario_labels.h"
#include "sim/scenario_line.h"

namespace berth::scenario {

struct ScenarioReading;

// Pods of one workload above its minimum.
inline constexpr std::int64_t kScenarioStepsMax = 1000;

// A pod set before its flavors are made into ways.
struct SetDraft {
  PodRequest request;
  std::int64_t count = 1;         // that start together
  std::int64_t pods = 1;          // by which its run time is meant
  std::int64_t steps = 0;         // how many more there may be
  std::vector<FlavorId> flavors;  // the preferred first; empty without GPUs, and if no flavor here has its slice
  bool mixed = false;
  std::string slice = {};  // the name of its MIG profile, or of its vGPU; empty: none, or it is asked by need
  std::optional<SliceNeed> slice_need = {};
  bool is_vgpu = false;  // it is a vGPU that is named, or needed
  NodeConstraints constraints = {};
  TolerationLengths toleration_lengths = {};
  Topology topology = {};
  Neighbours neighbours = {};
  Parallelism parallel = {};
  std::string exclusive_level = {};  // empty: they mind nobody
  bool exclusive_each = false;       // nor has another set of the workload, or another slice
  MemberWords members = {};

  bool asks_slice() const { return !slice.empty() || slice_need.has_value(); }
  FlavorSet all_flavors() const {
    if (flavors.empty()) return asks_slice() ? FlavorSet() : FlavorSet::all();
    FlavorSet set;
    for (const FlavorId flavor : flavors) set.add(flavor);
    return set;
  }
  bool allows(FlavorId flavor) const { return std::find(flavors.begin(), flavors.end(), flavor) != flavors.end(); }
};

// What a line says of its pods.
SetDraft take_set(ScenarioReading& reading, ScenarioLine& line);

// The set, or, where each of its slices is to have a domain for itself, one for each.
std::vector<SetDraft> sets_of(SetDraft set);

// A set that would have to choose its own flavor, because the first set with GPUs may take one that it may not; nullptr
// if there is none.
const SetDraft* set_with_a_choice_of_its_own(const std::vector<SetDraft>& sets);

// One way for each flavor that the first set with GPUs prefers: in it every set keeps to that flavor if it may.
// PRE: no set has a choice of its own.
WorkloadShape shape_of(const ScenarioReading& reading, const std::vector<SetDraft>& sets);

}  // namespace berth::scenario
