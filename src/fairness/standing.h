// Where a waiting workload stands in its line as things are held now.
#pragma once

#include <compare>
#include <cstdint>

#include "fairness/share.h"
#include "state/pending.h"
#include "state/state.h"

namespace berth {

// The smaller goes first: the higher priority; then, in a queue that is fair to its users, whose user holds less; then as
// the line's order says.
struct Standing {
  std::int64_t lower_first = 0;
  Fraction held;  // by its user, at the queue and below it; 0 where users take no turns
  PendingKey key;

  friend std::strong_ordering operator<=>(const Standing&, const Standing&) = default;
  friend bool operator==(const Standing&, const Standing&) = default;
};

// Whether the users of those who wait in this queue's line take turns.
inline bool is_fair_to_users(const State& state, QueueId line) {
  return state.queues()[line.index()].quota.users == UserOrder::kFair;
}

// `user` is that of the workload's shape.
Standing standing_of(const State& state, QueueId line, UserId user, const PendingKey& key);

}  // namespace berth
