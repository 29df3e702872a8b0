// Tenants that trust each other: their work may be on one device where the hardware does not keep it apart. And how far from
// strangers tenants have their work, where one device is not far enough for them.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "model/ids.h"
#include "model/node.h"

namespace berth {

// By the mode of the GPUs that somebody has: the level in whose domains no stranger has GPUs, a label or "node"; of nodes without
// the label each is by itself. Empty: as near as GPUs of that mode allow.
using Apart = std::array<std::string, std::size(kSharingNames)>;

// INVARIANT: queues ascend, each once. Those of a circle without queues are all tenants: they do not trust each other for it.
struct Circle {
  std::vector<QueueId> queues = {};
  Apart apart = {};  // from whom its tenants do not trust

  bool keeps_apart() const { return apart != Apart(); }
  friend bool operator==(const Circle&, const Circle&) = default;
};

inline constexpr std::size_t kCirclesMax = 64;      // a bit each in what is known of a tenant
inline constexpr std::size_t kApartLevelsMax = 32;  // the same, over all circles; the nodes themselves are one

}  // namespace berth
