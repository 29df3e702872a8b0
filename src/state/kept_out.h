// Those of a line whom others' floors refused, or keep out for good (docs/semantics.md, rule 28).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/reason.h"
#include "state/pending.h"

namespace berth {

// It would be in the way of others' floors even if nobody else ran: nobody waits behind it. It is tried again all the same as anybody
// whom a gate refused, for an owner who uses his floor leaves nothing of that to be kept.
inline bool is_kept_out(const ShapeInLine& entry) {
  return entry.impossible() && entry.gate == ReasonCode::kKeepsFloorDeliverable;
}

// What nodes there are, or what is promised to queues, is another: whether they are kept out for good is asked anew.
inline void ask_anew_of_floors(std::vector<std::optional<Line>>& lines) {
  for (auto& line : lines) {
    for (std::size_t at = 0; line && at < line->shapes().size(); ++at) {
      const ShapeInLine& entry = line->shapes()[at];
      if (entry.blocked() && entry.gate == ReasonCode::kKeepsFloorDeliverable) line->set_missing(at, 0);
    }
  }
}

}  // namespace berth
