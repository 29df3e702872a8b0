// How the GPUs of a node are cut anew that were cut beforehand, all of them at once: into which layouts, by whom, and what has become of it.
//
//   berth.dev/gpu-recut: 2m                      label: Berth may have them cut anew, which takes so long as a rule
//   berth.dev/mig-layouts: all-1g.10gb, serving=3g.40gb:1g.10gb   annotation: into which; those that whoever cuts them knows by these names
//   nvidia.com/mig.config: all-1g.10gb           label, written by Berth: into which they are to be cut; NVIDIA's mig-manager does it,
//   nvidia.com/mig.config.state: success         and says here whether it has: pending, success or failed
//   berth.dev/gpu-cut: {"layout":"all-1g.10gb","asked":"..."}     annotation, written by Berth: what it asked last, and what came of it
//
// What a node offers (status.allocatable) is what its GPUs are cut into, but for while a cut is asked for: then the amounts come and go.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "manifest/value.h"
#include "model/gpu_hardware.h"
#include "model/quantity.h"

namespace berth {

inline constexpr std::string_view kRecutLabel = "berth.dev/gpu-recut";
inline constexpr std::string_view kLayoutsAnnotation = "berth.dev/mig-layouts";
inline constexpr std::string_view kCutAnnotation = "berth.dev/gpu-cut";
inline constexpr std::string_view kMigConfigLabel = "nvidia.com/mig.config";
inline constexpr std::string_view kMigStateLabel = "nvidia.com/mig.config.state";
// "true", "silent": of simulated nodes, whose cuts fail, or are never answered.
inline constexpr std::string_view kRecutFailsAnnotation = "berth.dev/recut-fails";

// What the second label says.
inline constexpr std::string_view kCutPending = "pending";
inline constexpr std::string_view kCutSuccess = "success";
inline constexpr std::string_view kCutFailed = "failed";

struct NodeLayout {
  std::string name;
  MigPlaceSet slices;

  friend bool operator==(const NodeLayout&, const NodeLayout&) = default;
};

enum class CutStage : std::uint8_t { kNone, kAsked, kDone, kFailed };

// INVARIANT: without a layout it is kNone, and nothing else is said.
struct NodeCut {
  CutStage stage = CutStage::kNone;
  std::string layout = {};    // its name
  Time at = {};               // when it was asked for, or done, or known to have failed
  std::int64_t failures = 0;  // in a row
  std::string why = {};       // the last of them

  friend bool operator==(const NodeCut&, const NodeCut&) = default;
};

// What cannot be read is none: nobody but Berth writes it.
NodeCut read_node_cut(std::string_view text);
std::string to_text(const NodeCut& cut);

// "all-1g.10gb, serving=3g.40gb:1g.10gb"; empty: of each profile without further engines as many as fit. In this order; else what to
// write instead. PRE: such GPUs can be cut.
Parsed<std::vector<NodeLayout>> read_layouts(const GpuHardware& hardware, std::string_view text);

}  // namespace berth
