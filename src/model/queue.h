// A place in the quota tree, and in which order the workloads that wait there are tried.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/ids.h"
#include "model/quota.h"

namespace berth {

enum class Order : std::uint8_t {
  kFifo,      // who came first; nobody passes a blocked head that could use the same flavors
  kFifoSkip,  // who came first among those that fit
  kSjf,       // shortest declared run among those that fit, then fewer GPUs, then the smaller rank
};

inline constexpr std::string_view kOrderNames[] = {"fifo", "fifo-skip", "sjf"};

constexpr std::string_view name_of(Order order) { return kOrderNames[static_cast<std::size_t>(order)]; }
std::optional<Order> find_order(std::string_view name);

// A queue without an order of its own shares the line of its parent. INVARIANT: a queue without a parent has one, and so
// has a queue with amounts; a parent stands before its children.
struct Queue {
  std::string name;  // the whole path: "research/nlp"
  QueueId parent;    // none at the top
  std::optional<Order> order;
  Quota quota = {};
  bool held = false;    // nothing of it or below it starts
  bool closed = false;  // what is submitted to it or below it from now on does not start

  // Of a line of its own: whether it looks at when the one who is promised room is foretold to start.
  bool foresees() const { return order == Order::kFifo && quota.backfill == Backfill::kEasy && quota.foresight; }

  friend bool operator==(const Queue&, const Queue&) = default;
};

}  // namespace berth
