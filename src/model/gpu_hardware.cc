#include "model/gpu_hardware.h"

#include <algorithm>
#include <tuple>

#include "base/assert.h"

namespace berth {

namespace {

// Memory in MiB as `nvidia-smi mig -lgip` prints it in GiB. "At least": what smaller slices of the device that were published add up to;
// no published slice has less than that. Where drivers differ, the least: 580.159 gives the slices of an H200 from 3g on 256 MiB more, and the
// whole H100 128 MiB; processors and placements are as they stand here.
constexpr MigProfile kA100With40[] = {{"1g.5gb", 14, 4864},  {"1g.5gb+me", 14, 4864}, {"1g.10gb", 14, 9856},
                                      {"2g.10gb", 28, 9856}, {"3g.20gb", 42, 19968},  {"4g.20gb", 56, 19968},
                                      {"7g.40gb", 98, 40192}};
constexpr MigProfile kA100With80[] = {{"1g.10gb", 14, 9856},  {"1g.10gb+me", 14, 9856}, {"1g.20gb", 14, 19968},
                                      {"2g.20gb", 28, 19968}, {"3g.40gb", 42, 40192},   {"4g.40gb", 56, 40192},
                                      {"7g.80gb", 98, 80384}};
constexpr MigProfile kA30[] = {{"1g.6gb", 14, 5952},
                               {"1g.6gb+me", 14, 5952},
                               {"2g.12gb", 28, 11968},
                               {"2g.12gb+me", 28, 11968},
                               {"4g.24gb", 56, 24064}};
constexpr MigProfile kH100With80[] = {{"1g.10gb", 16, 9984},  {"1g.10gb+me", 16, 9984}, {"1g.20gb", 26, 20096},
                                      {"2g.20gb", 32, 20096}, {"3g.40gb", 60, 40448},   {"4g.40gb", 64, 40448},
                                      {"7g.80gb", 132, 81024}};
// With fewer processors than the others; only those of the whole device were published.
constexpr MigProfile kH100Pcie[] = {{"1g.10gb", 0, 9984},   {"1g.10gb+me", 0, 9984}, {"1g.20gb", 0, 20096},
                                    {"2g.20gb", 0, 20096},  {"3g.40gb", 0, 40448},   {"4g.40gb", 0, 40448},
                                    {"7g.80gb", 114, 81024}};
constexpr MigProfile kH100With94[] = {{"1g.12gb", 16, 11264}, {"1g.12gb+me", 16, 11264}, {"1g.24gb", 26, 23552},
                                      {"2g.24gb", 32, 23552}, {"3g.47gb", 60, 47488},    {"4g.47gb", 64, 47488},
                                      {"7g.94gb", 132, 95360}};
// At least what the device with 94 GB has, slice by slice.
constexpr MigProfile kH100With96[] = {{"1g.12gb", 16, 11264}, {"1g.12gb+me", 16, 11264}, {"1g.24gb", 26, 23552},
                                      {"2g.24gb", 32, 23552}, {"3g.48gb", 60, 47488},    {"4g.48gb", 64, 47488},
                                      {"7g.96gb", 132, 95360}};
constexpr MigProfile kH20[] = {{"1g.12gb", 0, 11264}, {"1g.12gb+me", 0, 11264}, {"1g.24gb", 0, 23552},
                               {"2g.24gb", 0, 23552}, {"3g.48gb", 0, 47488},    {"4g.48gb", 0, 47488},
                               {"7g.96gb", 78, 95360}};
// From 3g on at least.
constexpr MigProfile kGh200With144[] = {{"1g.18gb", 16, 17920},   {"1g.18gb+me", 16, 17920}, {"1g.36gb", 26, 36096},
                                        {"2g.36gb", 32, 36096},   {"3g.72gb", 60, 72192},    {"4g.72gb", 64, 72192},
                                        {"7g.144gb", 132, 144384}};
constexpr MigProfile kH200[] = {{"1g.18gb", 16, 16384},   {"1g.18gb+me", 16, 16384}, {"1g.35gb", 26, 33024},
                                {"2g.35gb", 32, 33024},   {"3g.71gb", 60, 71168},    {"4g.71gb", 64, 71168},
                                {"7g.141gb", 132, 143104}};
// From 3g on at least. Later drivers leave the smallest slices 1.5 GiB less.
constexpr MigProfile kB200[] = {{"1g.23gb", 18, 22528},   {"1g.23gb+me", 18, 22528}, {"1g.45gb", 30, 45312},
                                {"2g.45gb", 36, 45312},   {"3g.90gb", 70, 90624},    {"4g.90gb", 72, 90624},
                                {"7g.180gb", 148, 181248}};
constexpr MigProfile kGb200[] = {{"1g.23gb", 18, 22528},   {"1g.23gb+me", 18, 22528}, {"1g.47gb", 32, 46592},
                                 {"2g.47gb", 38, 46592},   {"3g.93gb", 0, 93184},     {"4g.93gb", 0, 93184},
                                 {"7g.186gb", 152, 186368}};
constexpr MigProfile kRtxPro6000[] = {
    {"1g.24gb", 46, 24192},    {"1g.24gb+me", 46, 24192}, {"1g.24gb+gfx", 46, 24192}, {"1g.24gb+me.all", 46, 24192},
    {"1g.24gb-me", 46, 24192}, {"2g.48gb", 94, 48512},    {"2g.48gb+gfx", 94, 48512}, {"2g.48gb+me.all", 94, 48512},
    {"2g.48gb-me", 94, 48512}, {"4g.96gb", 188, 97280},   {"4g.96gb+gfx", 188, 97280}};

// GPUs on PCIe cards have NVLink only where a bridge joins them with the next card or two.
constexpr GpuHardware kHardware[] = {
    {"GB200", 152, 5, 1800, 900, 6, &kMigOfA100, kGb200},
    {"B200", 148, 5, 1800, 0, 6, &kMigOfA100, kB200},
    {"H200", 132, 4, 900, 0, 5, &kMigOfA100, kH200},
    {"H200-NVL", 132, 4, 900, 0, 5, &kMigOfA100, kH200},
    {"H100", 132, 4, 900, 0, 5, &kMigOfA100, kH100With80},
    {"H100-PCIe", 114, 4, 600, 0, 5, &kMigOfA100, kH100Pcie},
    {"H100-NVL", 132, 4, 600, 0, 5, &kMigOfA100, kH100With94},
    {"H100-96GB", 132, 4, 900, 0, 5, &kMigOfA100, kH100With96},
    {"GH200", 132, 4, 900, 900, 5, &kMigOfA100, kH100With96},
    {"GH200-144GB", 132, 4, 900, 900, 5, &kMigOfA100, kGh200With144},
    {"H800", 132, 4, 400, 0, 5, &kMigOfA100, kH100With80},
    {"H20", 78, 4, 900, 0, 5, &kMigOfA100, kH20},
    {"A100-80GB", 108, 3, 600, 0, 4, &kMigOfA100, kA100With80},
    {"A100-PCIe-80GB", 108, 3, 600, 0, 4, &kMigOfA100, kA100With80},
    {"A100-40GB", 108, 3, 600, 0, 4, &kMigOfA100, kA100With40},
    {"A100-PCIe-40GB", 108, 3, 600, 0, 4, &kMigOfA100, kA100With40},
    {"A800-80GB", 108, 3, 400, 0, 4, &kMigOfA100, kA100With80},
    {"A800-40GB", 108, 3, 400, 0, 4, &kMigOfA100, kA100With40},
    {"A30", 56, 3, 200, 0, 4, &kMigOfA30, kA30},
    {"RTX-PRO-6000", 188, 0, 0, 0, 5, &kMigOfRtxPro6000, kRtxPro6000},
    {"L40S", 142, 0, 0, 0, 4},
    {"L4", 58, 0, 0, 0, 4},
    {"T4", 40, 0, 0, 0, 3},
    {"V100M32", 80, 2, 300, 0, 3},
    {"V100M16", 80, 2, 300, 0, 3},
    {"V100-PCIe", 80, 0, 0, 0, 3},
};

}  // namespace

std::span<const GpuHardware> gpu_hardware() { return kHardware; }

const GpuHardware* find_gpu_hardware(const GpuModel& model) {
  const auto* const found = std::ranges::find(kHardware, model.short_name, &GpuHardware::model);
  return found == std::end(kHardware) ? nullptr : found;
}

const GpuHardware* hardware_of(const Flavor& flavor) {
  const GpuModel* const model = find_gpu_model(flavor.model);
  return model == nullptr ? nullptr : find_gpu_hardware(*model);
}

const MigGeometry* mig_of(const Flavor& flavor) {
  const GpuHardware* const hardware = hardware_of(flavor);
  return hardware == nullptr ? nullptr : hardware->mig;
}

std::optional<NamedSlice> find_slice(const Flavor& flavor, std::string_view name) {
  const GpuHardware* const hardware = hardware_of(flavor);
  const auto shape = hardware == nullptr ? std::nullopt : find_mig_profile(*hardware, name);
  return shape ? find_slice(flavor, *shape) : std::nullopt;
}

std::optional<NamedSlice> find_slice(const Flavor& flavor, std::size_t shape) {
  const GpuHardware* const hardware = hardware_of(flavor);
  if (hardware == nullptr || hardware->mig == nullptr || shape >= hardware->mig->shapes().size()) return std::nullopt;
  // Numbers of two kinds might add up to more than the whole.
  const bool known = hardware->sm_count > 0 && std::ranges::all_of(hardware->mig_profiles, [](const MigProfile& each) {
                       return each.sm_count > 0;
                     });
  const std::int64_t part =
      known ? hardware->mig_profiles[shape].sm_count : hardware->mig->shapes()[shape].compute_slices;
  const std::int64_t whole = known ? hardware->sm_count : hardware->mig->compute_slices();
  return NamedSlice{static_cast<std::uint8_t>(shape), static_cast<std::int32_t>(part * kMilliPerGpu / whole)};
}

std::string_view name_of_slice(const Flavor& flavor, std::size_t shape) {
  const GpuHardware* const hardware = hardware_of(flavor);
  return hardware == nullptr || shape >= hardware->mig_profiles.size() ? "" : hardware->mig_profiles[shape].name;
}

std::int32_t milli_to_promise(const Node& node, const Flavor& flavor) {
  if (node.sharing == Sharing::kTimeslice) return 0;
  const MigGeometry* const mig = mig_of(flavor);
  const MigPlaceSet lasting = node.lasting_slices();
  if ((lasting.empty() && node.layouts.empty()) || mig == nullptr) return kMilliPerGpu;
  const auto milli_of = [&](MigPlaceSet layout) {
    std::int32_t milli = 0;
    layout.for_each(
        [&](std::size_t place) { milli += find_slice(flavor, std::size_t{mig->places()[place].shape})->gpu_milli; });
    return milli;
  };
  if (!lasting.empty()) return milli_of(lasting);
  std::int32_t most = milli_of(node.fixed_slices);
  for (const MigPlaceSet layout : node.layouts) most = std::max(most, milli_of(layout));
  return most;
}

int most_slices(const Node& node, const MigGeometry& mig, std::size_t shape) {
  if (node.layouts.empty()) return mig.room_for(shape, {}, node.lasting_slices());
  int most = mig.room_for(shape, {}, node.fixed_slices);
  for (const MigPlaceSet layout : node.layouts) most = std::max(most, mig.room_for(shape, {}, layout));
  return most;
}

std::optional<std::size_t> find_mig_profile(const GpuHardware& hardware, std::string_view name) {
  const auto found = std::ranges::find(hardware.mig_profiles, name, &MigProfile::name);
  if (found == hardware.mig_profiles.end()) return std::nullopt;
  return static_cast<std::size_t>(found - hardware.mig_profiles.begin());
}

std::optional<std::size_t> cheapest_mig_profile(const GpuHardware& hardware, const SliceNeed& need) {
  BERTH_ASSERT(0 <= need.part && need.part <= need.whole && need.whole > 0);
  if (hardware.mig == nullptr) return std::nullopt;
  const std::span<const SliceShape> shapes = hardware.mig->shapes();
  const auto cost = [&](std::size_t shape) {
    return std::tuple(shapes[shape].compute_slices, shapes[shape].memory_slices);
  };
  std::optional<std::size_t> cheapest;
  // Of equals the first, which is the plain one: those with other engines come behind it.
  for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
    if (hardware.mig_profiles[shape].memory_mib < need.memory_mib) continue;
    // As a product: a seventh is no decimal number.
    const bool computes = std::int64_t{shapes[shape].compute_slices} * need.whole >=
                          std::int64_t{hardware.mig->compute_slices()} * need.part;
    if (computes && (!cheapest || cost(shape) < cost(*cheapest))) cheapest = shape;
  }
  return cheapest;
}

}  // namespace berth
