// What devices of the catalogue's models are made of: processors, links, and the slices that they can be cut into. Not
// every model of the catalogue has a row: of some this was never published.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/flavor.h"
#include "model/gpu.h"
#include "model/mig_geometry.h"
#include "model/node.h"

namespace berth {

// A shape of slice as one model has it.
struct MigProfile {
  std::string_view name;        // as NVIDIA's tools print it ("1g.10gb+me")
  std::int32_t sm_count = 0;    // 0 = not known; it does not follow from the compute slices
  std::int64_t memory_mib = 0;  // as drivers report it; where none was published, the least that it can be
};

struct GpuHardware {
  std::string_view model;  // the short name in the catalogue
  std::int32_t sm_count = 0;
  std::int32_t nvlink_generation = 0;             // 0 = none
  std::int32_t nvlink_gb_per_s = 0;               // of one GPU, both directions, to all that it is joined with
  std::int32_t cpu_link_gb_per_s = 0;             // NVLink to the CPU on the same board, both directions; 0 = none
  std::int32_t pcie_generation = 0;               // 16 lanes
  const MigGeometry* mig = nullptr;               // none: the device cannot be cut
  std::span<const MigProfile> mig_profiles = {};  // by shape of `mig`
};

std::span<const GpuHardware> gpu_hardware();

// nullptr where it is not known.
const GpuHardware* find_gpu_hardware(const GpuModel& model);

// nullptr where it is not known.
const GpuHardware* hardware_of(const Flavor& flavor);

// How GPUs of a flavor can be cut; nullptr where they cannot, or where it is not known.
const MigGeometry* mig_of(const Flavor& flavor);

// The shape that this model calls by the name; nothing if it has none of it.
std::optional<std::size_t> find_mig_profile(const GpuHardware& hardware, std::string_view name);

// What a slice of that name asks of a device of the model, beside one GPU: its shape, and its share of the processors in
// thousandths, rounded down; where those are not known of all slices of the model, of the compute slices.
struct NamedSlice {
  std::uint8_t shape = 0;
  std::int32_t gpu_milli = 0;

  friend bool operator==(const NamedSlice&, const NamedSlice&) = default;
};
std::optional<NamedSlice> find_slice(const Flavor& flavor, std::string_view name);
// The same of a shape; nothing if GPUs of the flavor have none of that number.
std::optional<NamedSlice> find_slice(const Flavor& flavor, std::size_t shape);

// What GPUs of the flavor call it; nothing if they have none of that number.
std::string_view name_of_slice(const Flavor& flavor, std::size_t shape);

// Thousandths of each GPU of such a node that can be promised: of one that was cut beforehand what its slices are, of one that is cut into
// some layouts what the largest of these are, and of one on which work takes turns nothing. PRE: it has GPUs.
std::int32_t milli_to_promise(const Node& node, const Flavor& flavor);

// As many slices of a shape as each GPU of such a node could have, if nobody had any. PRE: it may be cut, and into that geometry.
int most_slices(const Node& node, const MigGeometry& mig, std::size_t shape);

// What somebody needs who does not care for names: "10 GB, 1/7".
struct SliceNeed {
  std::int64_t memory_mib = 0;
  // Compute slices of a device: at least `part` of `whole`. INVARIANT: 0 <= part <= whole, 0 < whole.
  std::int32_t part = 0;
  std::int32_t whole = 1;

  friend bool operator==(const SliceNeed&, const SliceNeed&) = default;
};

// The cheapest plain shape of a model that satisfies a need: the one with fewest compute slices, then fewest memory slices.
// Nothing if not even the largest does.
std::optional<std::size_t> cheapest_mig_profile(const GpuHardware& hardware, const SliceNeed& need);

}  // namespace berth
