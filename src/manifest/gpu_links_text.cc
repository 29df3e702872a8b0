#include "manifest/gpu_links_text.h"

#include <expected>
#include <string>

#include "base/wording.h"
#include "model/node.h"

namespace berth {

Parsed<GpuLinks> parse_gpu_links(std::string_view text, char is) {
  const auto mistake = [&] {
    return std::unexpected(
        quote(text) + " says of no GPUs that they are near each other; write how many are below one " +
        "PCIe switch, how many are joined by NVLink, or both, such as pcie" + is + "4,nvlink" + is + "2");
  };
  GpuLinks links;
  for (std::size_t from = 0, end = 0; end < text.size() || from == 0; from = end + 1) {
    end = std::min(text.find(',', from), text.size());
    const std::string_view part = text.substr(from, end - from);
    const std::size_t at = std::min(part.find(is), part.size());
    const std::string_view kind = part.substr(0, at);
    std::int32_t* const known = kind == "pcie" ? &links.pcie : kind == "nvlink" ? &links.nvlink : nullptr;
    if (known == nullptr || *known != 0 || at == part.size()) return mistake();
    const auto size = parse_integer(part.substr(at + 1), 2, kGpusPerNodeMax);
    if (!size) return mistake();
    *known = static_cast<std::int32_t>(*size);
  }
  return links;
}

std::string problem_of(const GpuLinks& links, std::int32_t gpus, std::int32_t zones) {
  if (links.divide(gpus, zones)) return "";
  if (gpus == 0) return "it has no GPUs; leave it out";
  const std::string has = std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs");
  const auto [wide, narrow] = links.group_sizes();
  if (narrow > 0 && wide % narrow != 0) {
    return "groups of " + std::to_string(wide) + " are not whole groups of " + std::to_string(narrow) +
           "; write sizes of which one divides the other";
  }
  const std::string in_zones = zones > 1 ? " in " + std::to_string(zones) + " NUMA zones" : "";
  return has + in_zones + " are not whole groups of " + std::to_string(wide) + "; write a size that divides " +
         (zones > 1 ? "those of each zone" : "them");
}

}  // namespace berth
