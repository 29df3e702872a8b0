// Those of a line whom others' floors refused, or keep out for good (docs/semantics.md, rule 28), and those who found no place on the
// empty cluster.
#pragma once

#include <algorithm>
#include <array>
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

// No place was found for it even if nobody else ran, by this reason: nobody waits behind it. That no search would find one is not
// proven, so it is tried again all the same, as above.
inline bool is_nowhere(const ShapeInLine& entry) {
  constexpr std::array kReasons = {ReasonCode::kTopology, ReasonCode::kFragmented, ReasonCode::kSpread,
                                   ReasonCode::kPorts};
  return entry.impossible() && std::ranges::find(kReasons, entry.gate) != kReasons.end();
}

// What nodes there are, or what is promised to queues, is another: whether they are kept out for good is asked anew.
inline void ask_anew_who_is_kept_out(std::vector<std::optional<Line>>& lines) {
  for (auto& line : lines) {
    for (std::size_t at = 0; line && at < line->shapes().size(); ++at) {
      const ShapeInLine& entry = line->shapes()[at];
      line->forget_that_it_lacked_room(at);
      const bool by_floors = entry.blocked() && entry.gate == ReasonCode::kKeepsFloorDeliverable;
      if (by_floors || is_nowhere(entry)) line->set_missing(at, 0);
    }
  }
}

}  // namespace berth
