// Who waits, in the order in which they may be tried. Identical workloads of a line stand together: when one does not
// fit, none of them does, and none is tried again before enough room for it may have come free.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/sorted_blocks.h"
#include "model/ids.h"
#include "model/plan.h"
#include "model/queue.h"
#include "model/reason.h"

namespace berth {

// A workload's place in its line: smaller goes first. Who came first decides where the line's order leaves the rest 0.
struct PendingKey {
  std::int64_t lower_first = 0;  // the priority turned round; best effort is below every priority
  std::int64_t first = 0;
  std::int64_t second = 0;
  std::int64_t third = 0;
  WorkloadId workload;

  friend auto operator<=>(const PendingKey&, const PendingKey&) = default;
};

// The workloads of one shape that wait in one line.
struct ShapeInLine {
  ShapeId shape;
  SortedBlocks<PendingKey> waiting;
  std::int64_t missing = 0;             // > 0: blocked until room for so many more pods may have come free
  ReasonCode gate = ReasonCode::kNone;  // which gate refused it, while it is blocked
  bool by_quota = false;                // and whether a quota refused one of its ways
  ReasonCode told = ReasonCode::kNone;  // which gate refused it when it was tried last
  bool lacked_room = false;             // some time since nodes, or what is promised to queues, changed last
  std::optional<PendingKey> listed;     // its head as it stands in the line's `heads`

  bool blocked() const { return missing > 0; }
  bool impossible() const { return missing == kMissingForever; }
  // Whatever quotas are.
  bool impossible_for_good() const { return impossible() && gate == ReasonCode::kNone; }
  // It stands in nobody's way: it can never run, or it alone may not borrow yet.
  bool in_nobodys_way() const { return impossible() || gate == ReasonCode::kCooldown; }
};

// The first of one shape's workloads.
struct Head {
  PendingKey key;
  std::uint32_t shape_index = 0;  // into the line's shapes

  friend auto operator<=>(const Head&, const Head&) = default;
};

// All who wait at one queue that has an order, or below it. INVARIANT: `heads` has the first of every waiting shape that
// is not blocked; in a strict line also of those that are, unless they stand in nobody's way.
class Line {
 public:
  explicit Line(Order order) : order_(order) {}

  Order order() const { return order_; }
  std::size_t size() const { return size_; }
  const std::vector<ShapeInLine>& shapes() const { return shapes_; }
  const SortedBlocks<Head>& heads() const { return heads_; }
  const ShapeInLine* find(ShapeId shape) const;
  // How many of its shapes are blocked by a gate, or by a quota in one of their ways.
  std::size_t gated() const { return gated_; }
  // Grows with every change of what is said above.
  std::uint64_t changes() const { return changes_; }

  void add(ShapeId shape, const PendingKey& key);
  void remove(ShapeId shape, const PendingKey& key);
  // Sets how many pods' room a shape lacks; 0 or less: it may be tried.
  void set_missing(std::size_t shape_index, std::int64_t missing, ReasonCode gate = ReasonCode::kNone,
                   bool by_quota = false);
  void forget_that_it_lacked_room(std::size_t shape_index) { shapes_[shape_index].lacked_room = false; }
  std::size_t index_of(ShapeId shape) const;

 private:
  bool is_listed(const ShapeInLine& entry) const {
    if (entry.waiting.empty() || entry.in_nobodys_way()) return false;
    return order_ == Order::kFifo || !entry.blocked();
  }
  // After each change of a shape.
  void relist(std::size_t shape_index);

  Order order_;
  std::size_t size_ = 0;
  std::size_t gated_ = 0;
  std::uint64_t changes_ = 0;
  std::vector<ShapeInLine> shapes_;
  std::vector<std::pair<ShapeId, std::uint32_t>> index_;  // by shape
  SortedBlocks<Head> heads_;
};

}  // namespace berth
