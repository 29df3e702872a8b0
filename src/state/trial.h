// Moves made for "what if", kept or taken back: pods on and off nodes, and with them what queues hold. Gangs, preemption,
// migration and sizing are all tried this way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "model/reservation.h"
#include "state/ledger.h"
#include "state/quota_ledger.h"

namespace berth {

// Room that somebody may not have, whoever leaves it meanwhile.
struct KeptRoom {
  std::vector<GpusOfNode> gpus;  // by node, ascending
  std::vector<NodeId> nodes;     // whole ones, ascending

  bool empty() const { return gpus.empty() && nodes.empty(); }
};

// Where somebody got room in a trial, by node.
struct PlacedGpus {
  UnitId unit;
  WorkloadId workload;
  std::vector<GpusOfNode> gpus;
  bool moved = false;  // instead of where the state has him
};

// INVARIANT: when it ends without keep(), both ledgers are exactly as they were when it began.
class Trial {
 public:
  struct Mark {
    std::size_t moves = 0;
    std::size_t residues = 0;
    std::size_t quotas = 0;
    std::size_t placed = 0;
  };

  Trial(Ledger& ledger, QuotaLedger& quotas) : ledger_(ledger), quotas_(quotas), begin_(mark()) {}
  ~Trial() {
    lend_spares({});
    let_go();
    rollback_to(begin_);
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  const Ledger& ledger() const { return ledger_; }
  const QuotaLedger& quotas() const { return quotas_; }

  void apply(const Move& move) {
    ledger_.apply(move);
    moves_.push_back({move});
    if (move.direction == Move::Direction::kGive) keep_what_came_free(move.node);
  }
  // Of a pod that is there: what it leaves on devices, too.
  void depart(const Move& give, Emptied emptied) {
    for (Residue& before : ledger_.depart(give, emptied)) residues_.push_back(std::move(before));
    moves_.push_back({give});
    keep_what_came_free(give.node);
  }
  // As if the devices that all have left had been scrubbed.
  void scrub_idle() {
    for (const Device& device : ledger_.dirty()) residues_.push_back(ledger_.scrub(device));
  }
  // What is left there stays: nobody scrubs it before somebody else is there.
  void add_residue(Device device, QueueId tenant) { residues_.push_back(ledger_.add_residue(device, tenant)); }
  UnitId add(const QuotaUnit& unit, const AmountList& held) { return quotas_.add(unit, held); }
  void remove(UnitId unit) { quotas_.remove(unit); }
  void set_end(UnitId unit, Time end) { quotas_.set_end(unit, end); }
  void set_held(UnitId unit, const AmountList& held) { quotas_.set_held(unit, held); }
  // Who starts by the plan that is being made, or is repaired, for those who ask where he is: the state does not know yet.
  void note_placed(PlacedGpus placed) { placed_.push_back(std::move(placed)); }
  const std::vector<PlacedGpus>& placed() const { return placed_; }

  Mark mark() const { return {moves_.size(), residues_.size(), quotas_.mark(), placed_.size()}; }

  // Takes back everything since `mark`, the last first.
  void rollback_to(Mark mark) {
    BERTH_ASSERT(mark.moves <= moves_.size());
    quotas_.rollback_to(mark.quotas);
    placed_.resize(mark.placed);
    while (residues_.size() > mark.residues) {
      ledger_.restore(residues_.back());
      residues_.pop_back();
    }
    while (moves_.size() > mark.moves) {
      ledger_.apply(inverse(moves_.back().move));
      moves_.pop_back();
    }
  }

  // Everything stays as it is now.
  void keep() {
    moves_.clear();
    residues_.clear();
    placed_.clear();
    quotas_.keep();
    begin_ = {};
  }

  // Until let_go() nobody gets this room: what is free of it is taken now, and what comes free of it at once. Whole GPUs are
  // meant; a part of one that is free stays so. Replaces what was kept before, and gives that back. What was tried meanwhile may stay.
  // PRE: nothing is rolled back afterwards to a mark from before this call while it holds.
  void keep_from_all(KeptRoom kept);
  void let_go() { keep_from_all({}); }
  const KeptRoom& kept() const { return kept_; }
  // Whether the node takes new pods, but for what is kept. A spare does not, whoever it is lent to.
  bool is_open(NodeId node) const {
    const NodeFree& free = ledger_.node(node);
    return (free.open && !free.spare) || std::ranges::find(closed_, node) != closed_.end();
  }
  // Until this is called again these spares take pods, but for those that are kept from all. Replaces those that were lent before; what
  // was tried meanwhile may stay. PRE: all are spares (NodeFree::spare).
  void lend_spares(std::vector<NodeId> spares);
  // As if the maintenance of these nodes were over, until this is called again. PRE: they are closed for nothing else.
  void end_maintenance(std::vector<NodeId> nodes);
  // Until this is called again these GPUs rest no more and may be cut anew. Replaces those before. PRE: all rest in the state.
  void end_rests(std::vector<Device> devices);

 private:
  struct Done {
    Move move;
    bool keeps = false;  // it takes room that is kept, and is nobody's
  };

  void keep_what_came_free(NodeId node) {
    if (kept_.gpus.empty()) return;
    const auto at = std::ranges::lower_bound(kept_.gpus, node, {}, &GpusOfNode::node);
    if (at != kept_.gpus.end() && at->node == node) keep_what_is_free(*at);
  }
  void keep_what_is_free(const GpusOfNode& kept);

  Ledger& ledger_;
  QuotaLedger& quotas_;
  std::vector<Done> moves_;
  std::vector<Residue> residues_;
  std::vector<PlacedGpus> placed_;
  Mark begin_;
  KeptRoom kept_;
  std::size_t kept_since_ = 0;  // of the moves the first that was made since
  std::vector<NodeId> closed_;  // by keep_from_all()
  std::vector<NodeId> lent_;    // by lend_spares()
  std::vector<NodeId> opened_;  // by end_maintenance()
  std::vector<Device> rested_;  // by end_rests()
};

}  // namespace berth
