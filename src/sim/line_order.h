// How a line of a simulation goes: its order, and in a strict one who may pass.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/queue.h"

namespace berth {

// A strict line is strict where nothing else is said: a simulation compares orders by their plain names.
struct LineOrder {
  LineOrder(Order line_order, Backfill who_passes = Backfill::kNone, bool with_foresight = true)
      : order(line_order), backfill(who_passes), foresight(with_foresight) {}

  Order order;
  Backfill backfill;
  bool foresight;  // as a queue's; of EASY backfill alone

  friend bool operator==(const LineOrder&, const LineOrder&) = default;
};

inline constexpr std::string_view kLineOrderNames[] = {"fifo", "fifo-skip",    "sjf",
                                                       "easy", "conservative", "easy-limits"};

constexpr std::string_view name_of(const LineOrder& line) {
  if (line.backfill == Backfill::kNone || line.order != Order::kFifo) return name_of(line.order);
  return kLineOrderNames[line.backfill == Backfill::kConservative ? 4 : line.foresight ? 3 : 5];
}

inline std::optional<LineOrder> find_line_order(std::string_view name) {
  if (name == kLineOrderNames[3]) return LineOrder(Order::kFifo, Backfill::kEasy);
  if (name == kLineOrderNames[4]) return LineOrder(Order::kFifo, Backfill::kConservative);
  if (name == kLineOrderNames[5]) return LineOrder(Order::kFifo, Backfill::kEasy, false);
  if (const auto order = find_order(name)) return LineOrder(*order);
  return std::nullopt;
}

}  // namespace berth
