#include "model/vgpu_profiles.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>

namespace berth {

namespace {

// One size of vGPU.
struct Size {
  std::int32_t gib = 0;
  std::int32_t on_each = 0;
};

constexpr Size kOf141[] = {{141, 1}, {70, 2}, {35, 4}, {28, 5}, {17, 8}, {14, 10}, {8, 16}, {7, 20}, {4, 32}};
constexpr Size kOf96[] = {{96, 1}, {48, 2}, {24, 4}, {16, 6}, {12, 8}, {6, 16}, {4, 24}};
constexpr Size kOf94[] = {{94, 1}, {47, 2}, {23, 4}, {15, 6}, {11, 8}, {6, 15}, {4, 23}};
constexpr Size kOfHopper80[] = {{80, 1}, {40, 2}, {20, 4}, {16, 5}, {10, 8}, {8, 10}, {5, 16}, {4, 20}};
constexpr Size kOfAmpere80[] = {{80, 1}, {40, 2}, {20, 4}, {16, 5}, {10, 8}, {8, 10}, {4, 20}};
constexpr Size kOf48[] = {{48, 1}, {24, 2}, {16, 3}, {12, 4}, {8, 6}, {6, 8}, {4, 12}};
constexpr Size kOf40[] = {{40, 1}, {20, 2}, {10, 4}, {8, 5}, {5, 8}, {4, 10}};
constexpr Size kOf32[] = {{32, 1}, {16, 2}, {8, 4}, {4, 8}};
constexpr Size kOf24[] = {{24, 1}, {12, 2}, {8, 3}, {6, 4}, {4, 6}};
constexpr Size kOf16[] = {{16, 1}, {8, 2}, {4, 4}};

struct ModelVgpus {
  std::string_view model;  // the short name in the catalogue
  std::string_view board;  // as the names of its vGPUs begin
  std::span<const Size> sizes;
};

constexpr ModelVgpus kModels[] = {
    {"H200", "H200X", kOf141},
    {"H200-NVL", "H200", kOf141},
    {"H100", "H100XM", kOfHopper80},
    {"H100-PCIe", "H100", kOfHopper80},
    {"H100-NVL", "H100L", kOf94},
    {"H800", "H800XM", kOfHopper80},
    {"H20", "H20", kOf96},
    {"A100-80GB", "A100DX", kOfAmpere80},
    {"A100-PCIe-80GB", "A100D", kOfAmpere80},
    {"A100-40GB", "A100X", kOf40},
    {"A100-PCIe-40GB", "A100", kOf40},
    {"A800-80GB", "A800DX", kOfAmpere80},
    {"A30", "A30", kOf24},
    {"A10", "A10", kOf24},
    {"A16", "A16", kOf16},
    {"L40S", "L40S", kOf48},
    {"L40", "L40", kOf48},
    {"L4", "L4", kOf24},
    {"RTX-6000-Ada", "RTX-6000-Ada", kOf48},
    {"RTX-A6000", "RTXA6000", kOf48},
    {"V100M32", "V100DX", kOf32},
    {"V100M16", "V100X", kOf16},
    {"T4", "T4", kOf16},
};

// As many as there are fit a GPU by their thousandths, and no two profiles of a model have as many of them.
constexpr bool are_told_apart(const ModelVgpus& of) {
  std::int32_t before = kMilliPerGpu + 1;
  return std::ranges::all_of(of.sizes, [&](const Size& size) {
    const std::int32_t milli = kMilliPerGpu / size.on_each;
    const bool apart = milli < before && kMilliPerGpu / milli == size.on_each;
    before = milli;
    return apart;
  });
}
static_assert(std::ranges::all_of(kModels, are_told_apart));

VgpuProfile profile_of(const ModelVgpus& of, const Size& size) {
  constexpr std::int64_t kMibPerGib = 1024;
  return {.name = std::string(of.board) + "-" + std::to_string(size.gib) + "C",
          .on_each = size.on_each,
          .memory_mib = size.gib * kMibPerGib};
}

const ModelVgpus* vgpus_of(const Flavor& flavor) {
  const GpuModel* const model = find_gpu_model(flavor.model);
  if (model == nullptr) return nullptr;
  const auto* const found = std::ranges::find(kModels, model->short_name, &ModelVgpus::model);
  return found == std::end(kModels) ? nullptr : found;
}

// Resources have no blanks in their names, and what NVIDIA's tools print has some.
bool same_resource_name(std::string_view known, std::string_view name) {
  return std::ranges::equal(known, name, [](char a, char b) { return a == b || (a == '-' && (b == ' ' || b == '_')); });
}

template <class Which>
std::optional<VgpuProfile> first_of(const Flavor& flavor, Which which) {
  const std::vector<VgpuProfile> profiles = vgpu_profiles(flavor);
  const auto found = std::ranges::find_if(profiles, which);
  return found == profiles.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

std::vector<VgpuProfile> vgpu_profiles(const Flavor& flavor) {
  std::vector<VgpuProfile> profiles;
  const ModelVgpus* const of = vgpus_of(flavor);
  if (of == nullptr) return profiles;
  for (const Size& size : of->sizes) profiles.push_back(profile_of(*of, size));
  return profiles;
}

std::optional<VgpuProfile> find_vgpu(const Flavor& flavor, std::string_view name) {
  return first_of(flavor, [&](const VgpuProfile& each) { return same_resource_name(each.name, name); });
}

std::optional<VgpuProfile> find_vgpu(const Flavor& flavor, std::int32_t gpu_milli) {
  return first_of(flavor, [&](const VgpuProfile& each) { return each.gpu_milli() == gpu_milli; });
}

std::optional<VgpuProfile> smallest_vgpu(const Flavor& flavor, std::int64_t memory_mib) {
  std::optional<VgpuProfile> smallest;
  for (const VgpuProfile& each : vgpu_profiles(flavor)) {
    if (each.memory_mib >= memory_mib) smallest = each;
  }
  return smallest;
}

std::optional<VgpuProfile> find_vgpu(std::string_view name) {
  for (const ModelVgpus& of : kModels) {
    for (const Size& size : of.sizes) {
      VgpuProfile profile = profile_of(of, size);
      if (same_resource_name(profile.name, name)) return profile;
    }
  }
  return std::nullopt;
}

std::vector<std::string> all_vgpu_names() {
  std::vector<std::string> names;
  for (const ModelVgpus& of : kModels) {
    for (const Size& size : of.sizes) names.push_back(profile_of(of, size).name);
  }
  return names;
}

}  // namespace berth
