// What of one flavor could be given to whoever was promised it, if everybody gave back who may have to: whole GPUs, and the
// whole domains that floors come in (docs/semantics.md, rule 28), as things are or when floors have risen. Made anew from who is where;
// nothing is kept for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "model/ids.h"
#include "model/node.h"
#include "model/reservation.h"
#include "state/quota_ledger.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// Some GPUs of somebody of a queue, who stays there, and how many thousandths of the flavor he holds in all.
struct StayingGpus {
  QueueId queue;
  std::vector<GpusOfNode> gpus;
  std::int64_t gpu_milli = 0;
};

// All GPUs of the domains that a workload has for itself where it has these; none: it minds nobody.
std::vector<GpusOfNode> own_domains_of(const State& state, WorkloadId workload, const std::vector<GpusOfNode>& gpus);

// A domain that a queue's cells are, as they are given out now.
struct GivenCell {
  QueueId queue;
  std::size_t of_cells = 0;  // in the list of the queue's quota
  DomainId domain;
  std::int64_t gpus = 0;           // of the flavor
  std::int64_t could_be_free = 0;  // of these, if all gave back
};

// Who stays is whoever is inside a floor. Where the flavor has cells, no cell is where somebody else could come into one, either, so that
// coverage that grows breaks none; but for queues that may take him, however far that grows: those below the lowest whose floor is large
// enough for him.
class IfAllGaveBack {
 public:
  // `moved`: where these are instead of where the state has them. `rise`: what is promised from then on, and who will be there still;
  // none: now.
  IfAllGaveBack(const State& state, const Trial& trial, FlavorId flavor, std::span<const PlacedGpus> moved = {},
                const FloorRise* rise = nullptr);
  // Outside of any trial.
  IfAllGaveBack(const State& state, FlavorId flavor, const FloorRise* rise = nullptr);

  void add(const StayingGpus& comes);

  // How much nearer to hand a domain should be left to others than the rest, by node: where cells may be in several domains,
  // those are taken in which the fewest of such nodes are.
  using Wanted = std::function<bool(NodeId)>;
  // Domains for all cells as far as there are some, each to one: those of the largest level first, in each the deepest queues
  // first, and each queue where its own work is before others. So a whole rack is not counted as whole nodes again, and what
  // is given below a queue is its own, too. Two ways to choose are tried, and the one is kept that lacks less; the best choice of all lacks
  // less than that in one of some 500,000 small random fleets.
  void give_cells(const Wanted& wanted = {});
  const std::vector<GivenCell>& cells() const { return given_; }
  // How many of the queue's cells are to be had, by its floor: that pays for so many of them.
  std::int64_t promised(QueueId queue, std::size_t of_cells) const;
  // GPUs of cells that no domain is left for.
  std::int64_t lacking_gpus() const { return lacking_; }
  // GPUs of a domain of this level that counts as whole: of the largest that there is.
  std::int64_t size_of_domain(TopologyId level) const;

  std::int64_t whole_gpus() const;
  // GPUs that are never a pod's whole, on which nobody would be: somebody could have all of them in shares, or in slices.
  std::int64_t shared_gpus() const;
  // How many whole GPUs are missing of all that is promised beside the line of a queue, with those in cells that are not lacking.
  // `by_parts`: where parts of GPUs are in question, so that also what could not be given without any cells counts.
  std::int64_t missing_beside(QueueId queue, bool by_parts) const { return missing(queue, by_parts, {}); }
  // The same with all that the line of the queue itself is promised beyond so many GPUs.
  std::int64_t missing_beyond(QueueId queue, std::int64_t gpus) const { return missing(queue, true, gpus); }
  bool is_above_or_same(QueueId above, QueueId queue) const;
  // The lowest of a queue's line whose floor is large enough for so much of the flavor, as floors are or as they are asked about: however
  // far coverage grows, what is below that one may be taken for. None: no floor is.
  QueueId lowest_that_may_cover(QueueId queue, std::int64_t gpu_milli) const;
  const Domains& domains(const GivenCell& cell) const;

 private:
  struct OnNode {
    std::uint64_t whole = 0;  // GPUs that could be had
    std::uint64_t stay = 0;   // of which somebody is on who gives nothing back now
    bool is_one = false;      // a node of the flavor that gives whole GPUs when it is open
    bool is_shared = false;   // one that is none, whose GPUs are shared by MPS or cut as pods ask
    bool usable = false;
    std::int64_t given_gpus = 0;  // of the last domain that was given out with it; 0: it is in none
    QueueId given_to;             // whose that is
    bool anybody = false;         // somebody stays, or may come to stay
    QueueId who;                  // the lowest queue that all of them are below; none: of several at the top
    QueueId within;               // queues below it may take all of them; none: no queue may
  };
  // Of a domain that others could have, too, and one with empty nodes: which a queue is given.
  enum class Rather : std::uint8_t { kFullest, kNarrowest };
  struct Level {
    TopologyId id;
    std::int64_t size = 0;
  };

  bool is_spare(NodeId node) const { return state_.node(node).spare; }
  void look_at_nodes(const Trial* trial);
  void look_at_units(const QuotaLedger& quotas, const Trial* trial, std::span<const PlacedGpus> moved);
  void stay(QueueId queue, QueueId within, bool covered, const GpusOfNode& gpus);
  void stay(const QuotaUnit& unit, QueueId within, const GpusOfNode& gpus) {
    stay(unit.queue, within, !unit.covered_at.is_none(), gpus);
  }
  void stay_in_own_domains(const QuotaUnit& unit, QueueId within, const std::vector<GpusOfNode>& gpus);
  void stay_where_fixed(const Pod& pod);
  bool may_stay(const QuotaUnit& unit) const;
  bool is_there_still(Time end) const { return rise_ == nullptr || end > rise_->from; }
  const QuotaTree& floors() const { return rise_ == nullptr ? quotas_.tree() : *rise_->tree; }
  std::int64_t could_be_free(const OnNode& node) const;
  std::vector<Level> levels() const;
  std::int64_t depth(QueueId queue) const;
  void give_cells(Rather rather, const Wanted& wanted);
  void give(const Level& level, QueueId queue, std::size_t of_cells, Rather rather, const Wanted& wanted);
  std::optional<GivenCell> best_domain(const Level& level, QueueId queue, std::size_t of_cells, Rather rather,
                                       const Wanted& wanted) const;
  bool may_be_of(QueueId queue, const Level& level, NodeId node) const;
  std::int64_t how_many_may_have(QueueId queue, NodeId node) const;
  std::int64_t could_be_free_in_cells_of(QueueId queue) const;
  std::int64_t promised_gpus(QueueId queue) const;
  std::int64_t missing(QueueId queue, bool by_parts, std::optional<std::int64_t> own_beyond) const;

  const State& state_;
  const Ledger& ledger_;
  const QuotaLedger& quotas_;
  FlavorId flavor_;
  const FloorRise* rise_;
  AmountsByDim covered_then_;  // by queue, GPUs of the flavor; nothing where it is asked of now
  bool has_cells_;
  std::vector<OnNode> nodes_;  // by node
  std::vector<GivenCell> given_;
  std::int64_t lacking_ = 0;
  std::int64_t fixed_milli_ = 0;  // of GPUs that were cut beforehand: what is not held there by those who stay
};

}  // namespace berth
