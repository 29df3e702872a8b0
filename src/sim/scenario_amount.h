// AmountList as scenarios write them: "24", "h100:24", "h100.cpu:64", "h100.memory:1Ti", "h100.mig-3g.40gb:4".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/amount.h"
#include "model/quota.h"
#include "sim/scenario_line.h"
#include "sim/scenario_names.h"

namespace berth {

struct ScenarioAmount {
  std::optional<FlavorId> flavor;  // none: none is named
  Resource resource = Resource::kGpu;
  std::size_t shape = 0;    // of slices, which have a flavor
  std::int64_t amount = 0;  // as model/amount.h counts it; memory is rounded up to MiB

  // Without a flavor: of the nodes that have none.
  Dim dim() const {
    const FlavorId of = flavor.value_or(FlavorId());
    return resource == Resource::kSlice ? Dim::of_slices(of, shape) : Dim(of, resource);
  }
};

// One part of a list; nothing, and a complaint, if it is none.
std::optional<ScenarioAmount> read_scenario_amount(const ScenarioLine& line, const ScenarioWord& word,
                                                   const ScenarioNames& names, std::string_view part);

// The list of amounts that a quota gives. Without a flavor it is the only one's; where there are several it is of the GPUs of
// all together, if that may be.
AmountList read_quota_amounts(const ScenarioLine& line, const ScenarioWord& word, const ScenarioNames& names,
                              bool may_be_a_sum);

// The whole domains that a floor comes in, each as `h100:rack:2`, or `rack:2` where there is one flavor.
std::vector<FloorCells> read_cells(const ScenarioLine& line, const ScenarioWord& word, const ScenarioNames& names);

// GPU time as scenarios write it, "100h" for a hundred GPU-hours, in GPU-microseconds; nothing, and a complaint, if it is
// none.
std::optional<std::int64_t> gpu_time(const ScenarioLine& line, const ScenarioWord& word, std::string_view text);
// The same as people write it: "100h", "1h30m".
std::string format_gpu_time(std::int64_t gpu_us);

}  // namespace berth
