// How a line of a simulation goes: its order, and in a strict one who may pass.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/queue.h"

namespace berth {

// A strict line is strict where nothing else is said: a simulation compares orders by their plain names.
struct LineOrder {
  LineOrder(Order line_order, Backfill who_passes = Backfill::kNone) : order(line_order), backfill(who_passes) {}

  Order order;
  Backfill backfill;

  friend bool operator==(const LineOrder&, const LineOrder&) = default;
};

inline constexpr std::string_view kLineOrderNames[] = {"fifo", "fifo-skip", "sjf", "easy", "conservative"};

constexpr std::string_view name_of(const LineOrder& line) {
  if (line.backfill == Backfill::kNone || line.order != Order::kFifo) return name_of(line.order);
  return kLineOrderNames[line.backfill == Backfill::kEasy ? 3 : 4];
}

inline std::optional<LineOrder> find_line_order(std::string_view name) {
  if (name == kLineOrderNames[3]) return LineOrder(Order::kFifo, Backfill::kEasy);
  if (name == kLineOrderNames[4]) return LineOrder(Order::kFifo, Backfill::kConservative);
  if (const auto order = find_order(name)) return LineOrder(*order);
  return std::nullopt;
}

}  // namespace berth
