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
    {"H100-SXM5-80GB", "H100", 81559, "H100-80GB-HBM3"},
    {"H200-NVL-141GB", "H200-NVL", 143771},
    {"H100-PCIE-80GB", "H100-PCIe", 81559},
    {"H100-NVL-94GB", "H100-NVL", 95830},
    {"H100-96GB", "H100-96GB", 97871},
    {"A100-SXM4-80GB", "A100-80GB", 81920},
    {"A100-PCIE-80GB", "A100-PCIe-80GB", 81920, "A100-80GB-PCIe"},
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
    {"RTX-PRO-6000-Blackwell-Server-Edition", "RTX-PRO-6000", 97887, "RTX-PRO-6000-BLACKWELL-96GB"},
    {"RTX-6000-Ada-Generation", "RTX-6000-Ada", 49152},
    {"RTX-A6000", "RTX-A6000", 49152},
    {"Tesla-V100-SXM2-32GB", "V100M32", 32768, "V100-SXM2-32GB"},
    {"Tesla-V100-SXM2-16GB", "V100M16", 16384, "V100-SXM2-16GB"},
    {"Tesla-V100-PCIE-16GB", "V100-PCIe", 16384, "V100-PCIE-16GB"},
    {"Tesla-P100-16GB", "P100", 16384, "Tesla-P100-PCIE-16GB"},
    {"Tesla-T4", "T4", 15360, "T4-16GB"},
    {"Tesla-P4", "P4", 8192},
    {"Tesla-K80", "K80", 12288},  // one of the board's two
    // Joined with a CPU, whose memory the first name counts; the GPU's own is given here.
    {"GH200-480GB", "GH200", 97871, "H100-on-GH200-96GB"},
    {"GH200-144GB", "GH200-144GB", 147456, "GH200-144G-HBM3e"},
    // Made for some markets, with slower links or fewer cores than the ones they are called after: whoever asks for those
    // does not want these.
    {"H800-SXM5-80GB", "H800", 81559},
    {"H20-96GB", "H20", 97871},
    {"A800-SXM4-80GB", "A800-80GB", 81920},
    {"A800-SXM4-40GB", "A800-40GB", 40960},
    // Published traces hide some models behind such names, and their memory with it.
    {"G1", "G1", 0},
    {"G2", "G2", 0},
    {"G3", "G3", 0},
    // Where the kind does not matter or was not recorded.
    {"gpu", "gpu", 0},
};

// What people call them first: traces and users write these.
constexpr auto kNames = [] {
  constexpr std::size_t kModels = std::size(kCatalogue);
  std::array<std::string_view, 3 * kModels> names{};
  for (std::size_t i = 0; i < kModels; ++i) {
    names[i] = kCatalogue[i].short_name;
    names[kModels + i] = kCatalogue[i].name;
    names[2 * kModels + i] = kCatalogue[i].also;  // nobody is near to none
  }
  return names;
}();

// NVIDIA's tools print blanks, Kubernetes labels cannot have them.
bool same_name(std::string_view known, std::string_view name) {
  return std::ranges::equal(known, name, [](char a, char b) { return a == b || (a == '-' && b == ' '); });
}

// Before the name on nodes' labels and in most tools' output.
constexpr std::string_view kMaker = "NVIDIA-";

}  // namespace

std::span<const GpuModel> gpu_catalogue() { return kCatalogue; }

const GpuModel* find_gpu_model(std::string_view name) {
  if (same_name(kMaker, name.substr(0, kMaker.size()))) name.remove_prefix(kMaker.size());
  if (name.empty()) return nullptr;
  const auto* const found = std::ranges::find_if(kCatalogue, [name](const GpuModel& model) {
    return same_name(model.short_name, name) || same_name(model.name, name) || same_name(model.also, name);
  });
  return found == std::end(kCatalogue) ? nullptr : found;
}

std::string_view nearest_gpu_model(std::string_view name) { return nearest_word(name, kNames); }

}  // namespace berth
