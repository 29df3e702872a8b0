// Why a workload does not run: a closed list of codes. The numbers that go with a code are counted when somebody asks
// (cycle/explain.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace berth {

enum class ReasonCode : std::uint8_t {
  kNone,        // it runs, or has not been tried
  kGpuType,     // no node has a GPU of a flavor it accepts
  kInvalid,     // never: more than any node has, or more pods than the whole fleet holds
  kCapacity,    // enough of the right thing exists, in use
  kFragmented,  // free in sum, not in shape
  kBehind,      // strict order behind a blocked head
};

inline constexpr std::string_view kReasonNames[] = {"None", "GpuType", "Invalid", "Capacity", "Fragmented", "Behind"};

constexpr std::string_view name_of(ReasonCode code) { return kReasonNames[static_cast<std::size_t>(code)]; }

// It can never run on the nodes that exist, whatever ends.
constexpr bool is_impossible(ReasonCode code) { return code == ReasonCode::kGpuType || code == ReasonCode::kInvalid; }

}  // namespace berth
