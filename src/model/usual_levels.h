// The levels of a network that are known by what their labels are called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace berth {

// What is beyond the ports of a node, as widely known designs have it (docs/semantics.md).
enum class Reach : std::uint8_t {
  kNvlink,  // NVLink across nodes
  kLeaf,    // nodes below one switch
  kPod,     // leaves below one another that do not block
  kZone,    // what is beyond them
  kRegion,
};

struct UsualLevel {
  std::string_view name;  // behind the last '/' of the label, or there behind `topology-`
  Reach reach;
};

// The widest first, which decides where two have as many domains.
inline constexpr UsualLevel kUsualLevels[] = {
    {"region", Reach::kRegion},
    {"zone", Reach::kZone},
    {"network-node-layer-1", Reach::kZone},
    {"block", Reach::kPod},
    {"spine", Reach::kPod},
    {"network-node-layer-2", Reach::kPod},
    {"rack", Reach::kLeaf},
    {"leaf", Reach::kLeaf},
    {"subblock", Reach::kLeaf},
    {"network-node-layer-3", Reach::kLeaf},
    {"nvlink_domain", Reach::kNvlink},
    {"gpu.clique", Reach::kNvlink},
};

// Which of them a label is.
inline std::optional<std::size_t> usual_level(std::string_view label) {
  const std::string_view name = label.substr(label.rfind('/') + 1);
  for (std::size_t level = 0; level < std::size(kUsualLevels); ++level) {
    if (!name.ends_with(kUsualLevels[level].name)) continue;
    const std::string_view before = name.substr(0, name.size() - kUsualLevels[level].name.size());
    if (before.empty() || before.ends_with("topology-")) return level;
  }
  return std::nullopt;
}

}  // namespace berth
