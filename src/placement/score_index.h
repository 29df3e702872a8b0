// The best node for a pod without looking at every node: for each distinct request the score of every node is kept, and
// brought up to date from the ledger's list of changes before it is asked. What it answers is what a plain scan answers;
// it can be thrown away at any time. INVARIANT: it is asked about one state only; a fork gets an index of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/rng.h"
#include "model/plan.h"
#include "placement/score_tree.h"
#include "placement/scores.h"
#include "state/state.h"

namespace berth {

class ScoreIndex {
 public:
  // About how much all rows may take together: the longest unused is dropped for a new one, but sixteen always stay.
  static constexpr std::size_t kDefaultBytesMax = 256u << 20;

  explicit ScoreIndex(std::size_t bytes_max = kDefaultBytesMax) : bytes_max_(bytes_max) {}

  // The node for one more pod of `request`, and its GPUs there; none if no node fits, or those around keep it from all. One that is
  // avoided (Ledger::is_avoided) only if no other will do; of those that the pod likes best, for what they are and then for who is there, the one with the best score; ties go to the first node in the run's order. `rng` serves policies that draw.
  std::optional<PodPlacement> best(const State& state, RequestId request, Rng& rng);

  // The same among these nodes alone, which are in the run's order.
  std::optional<PodPlacement> best_among(const State& state, RequestId request, std::span<const NodeId> nodes,
                                         Rng& rng);

  // The same by looking at every node; for tests and one-off questions.
  static std::optional<PodPlacement> best_by_scan(const State& state, const PodRequest& request, Rng& rng);

  // What the policies measure by, as of now.
  const UsualDemand& usual(const State& state);

 private:
  struct Row {
    ScoreTree scores;
    std::uint64_t next_change = 0;
    std::uint64_t last_used = 0;
  };

  Row& fresh_row(const State& state, RequestId request);
  void make_space(std::size_t nodes);
  // Of those among these nodes that are avoided. PRE: the row of the request is fresh.
  std::optional<NodeId> best_of_avoided(const State& state, RequestId request, std::span<const NodeId> nodes,
                                        Rng& rng) const;
  // None: none. PRE: the row of the request is fresh.
  std::optional<PodPlacement> on_devices(const State& state, RequestId request, std::optional<NodeId> node,
                                         Rng& rng) const;

  std::size_t bytes_max_;
  std::vector<std::unique_ptr<Row>> rows_;  // by request
  std::size_t rows_held_ = 0;
  std::uint64_t uses_ = 0;
  std::optional<UsualDemand> usual_;
  std::uint64_t usual_version_ = 0;  // of the typical pods
  std::size_t usual_flavors_ = 0;
  std::size_t usual_nodes_ = 0;
};

}  // namespace berth
