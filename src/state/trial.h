// Moves made for "what if", kept or taken back. Gangs, preemption, migration and sizing are all tried this way.
#pragma once

#include <cstddef>
#include <vector>

#include "base/assert.h"
#include "state/ledger.h"

namespace berth {

// INVARIANT: when it ends without keep(), the ledger is exactly as it was when it began.
class Trial {
 public:
  explicit Trial(Ledger& ledger) : ledger_(ledger) {}
  ~Trial() { rollback_to(0); }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  const Ledger& ledger() const { return ledger_; }

  void apply(const Move& move) {
    ledger_.apply(move);
    moves_.push_back(move);
  }

  std::size_t mark() const { return moves_.size(); }

  // Takes back all moves made since `mark`, the last first.
  void rollback_to(std::size_t mark) {
    BERTH_ASSERT(mark <= moves_.size());
    while (moves_.size() > mark) {
      ledger_.apply(inverse(moves_.back()));
      moves_.pop_back();
    }
  }

  // The moves stay made.
  void keep() { moves_.clear(); }

 private:
  Ledger& ledger_;
  std::vector<Move> moves_;
};

}  // namespace berth
