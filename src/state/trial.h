// Moves made for "what if", kept or taken back: pods on and off nodes, and with them what queues hold. Gangs, preemption,
// migration and sizing are all tried this way.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "state/ledger.h"
#include "state/quota_ledger.h"

namespace berth {

// INVARIANT: when it ends without keep(), both ledgers are exactly as they were when it began.
class Trial {
 public:
  struct Mark {
    std::size_t moves = 0;
    std::size_t residues = 0;
    std::size_t quotas = 0;
  };

  Trial(Ledger& ledger, QuotaLedger& quotas) : ledger_(ledger), quotas_(quotas), begin_(mark()) {}
  ~Trial() { rollback_to(begin_); }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  const Ledger& ledger() const { return ledger_; }
  const QuotaLedger& quotas() const { return quotas_; }

  void apply(const Move& move) {
    ledger_.apply(move);
    moves_.push_back(move);
  }
  // Of a pod that is there: what it leaves on devices, too.
  void depart(const Move& give, Emptied emptied) {
    for (Residue& before : ledger_.depart(give, emptied)) residues_.push_back(std::move(before));
    moves_.push_back(give);
  }
  // What is left there stays: nobody scrubs it before somebody else is there.
  void add_residue(Device device, QueueId tenant) { residues_.push_back(ledger_.add_residue(device, tenant)); }
  UnitId add(const QuotaUnit& unit, const AmountList& held) { return quotas_.add(unit, held); }
  void remove(UnitId unit) { quotas_.remove(unit); }
  void set_end(UnitId unit, Time end) { quotas_.set_end(unit, end); }
  void set_held(UnitId unit, const AmountList& held) { quotas_.set_held(unit, held); }

  Mark mark() const { return {moves_.size(), residues_.size(), quotas_.mark()}; }

  // Takes back everything since `mark`, the last first.
  void rollback_to(Mark mark) {
    BERTH_ASSERT(mark.moves <= moves_.size());
    quotas_.rollback_to(mark.quotas);
    while (residues_.size() > mark.residues) {
      ledger_.restore(residues_.back());
      residues_.pop_back();
    }
    while (moves_.size() > mark.moves) {
      ledger_.apply(inverse(moves_.back()));
      moves_.pop_back();
    }
  }

  // Everything stays as it is now.
  void keep() {
    moves_.clear();
    residues_.clear();
    quotas_.keep();
    begin_ = {};
  }

 private:
  Ledger& ledger_;
  QuotaLedger& quotas_;
  std::vector<Move> moves_;
  std::vector<Residue> residues_;
  Mark begin_;
};

}  // namespace berth
