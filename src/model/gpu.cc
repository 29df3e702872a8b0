#include "model/gpu.h"

#include <algorithm>
#include <array>

#include "base/wording.h"

namespace berth {

namespace {

// Memory is what the driver reports where such a report is published (ECC takes its part: T4, L4, H100 and newer),
// otherwise the data sheet's size. 0: not published. On a real node what the agent measures wins.
constexpr GpuModel kCatalogue[] = {
    {"GB200-186GB", "GB200", 189471},
    {"B200-180GB", "B200", 183359},
    {"H200-SXM5-141GB", "H200", 143771},
    {"H100-SXM5-80GB", "H100", 81559},
    {"H100-PCIE-80GB", "H100-PCIe", 81559},
    {"H100-NVL-94GB", "H100-NVL", 95830},
    {"A100-SXM4-80GB", "A100-80GB", 81920},
    {"A100-PCIE-80GB", "A100-PCIe-80GB", 81920},
    {"A100-SXM4-40GB", "A100-40GB", 40960},
    {"A100-PCIE-40GB", "A100-PCIe-40GB", 40960},
    {"A30-24GB", "A30", 24576},
    {"A10-24GB", "A10", 24576},
    {"A10G-24GB", "A10G", 24576},
    {"A16-16GB", "A16", 16384},  // one of the board's four
    {"A2-16GB", "A2", 16384},
    {"L40S-48GB", "L40S", 46068},
    {"L40-48GB", "L40", 46068},
    {"L4-24GB", "L4", 23034},
    {"RTX-6000-Ada-Generation", "RTX-6000-Ada", 49152},
    {"RTX-A6000", "RTX-A6000", 49152},
    {"Tesla-V100-SXM2-32GB", "V100M32", 32768},
    {"Tesla-V100-SXM2-16GB", "V100M16", 16384},
    {"Tesla-P100-16GB", "P100", 16384},
    {"Tesla-T4", "T4", 15360},
    {"Tesla-P4", "P4", 8192},
    {"Tesla-K80", "K80", 12288},  // one of the board's two
    // Published traces hide some models behind such names, and their memory with it.
    {"G1", "G1", 0},
    {"G2", "G2", 0},
    {"G3", "G3", 0},
    // Where the kind does not matter or was not recorded.
    {"gpu", "gpu", 0},
};

// What people call them first: traces and users write these.
constexpr auto kNames = [] {
  std::array<std::string_view, 2 * std::size(kCatalogue)> names{};
  for (std::size_t i = 0; i < std::size(kCatalogue); ++i) {
    names[i] = kCatalogue[i].short_name;
    names[std::size(kCatalogue) + i] = kCatalogue[i].name;
  }
  return names;
}();

}  // namespace

std::span<const GpuModel> gpu_catalogue() { return kCatalogue; }

const GpuModel* find_gpu_model(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kCatalogue, [name](const GpuModel& model) { return model.short_name == name || model.name == name; });
  return found == std::end(kCatalogue) ? nullptr : found;
}

std::string_view nearest_gpu_model(std::string_view name) { return nearest_word(name, kNames); }

}  // namespace berth
