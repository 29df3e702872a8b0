// Whose turn it is, to be told: all who wait, as rule 9 of docs/semantics.md compares them, whether there is room for them
// or not. CandidateOrder tries those who may run now in the same order.
#pragma once

#include <cstddef>
#include <vector>

#include "base/time.h"
#include "fairness/rank.h"
#include "state/state.h"

namespace berth {

// A child below which somebody waits, whom it names, and how that one compares with those of the other children. The child
// may be the parent itself: its own line.
struct NamedChild {
  QueueId child;
  Rank rank;
  Candidate candidate;
};

// As the state is when it is made; looks at every line.
class WhoIsNext {
 public:
  WhoIsNext(const State& state, Time now);

  // Of the queue, or of the cluster (none): the first first.
  const std::vector<NamedChild>& below(QueueId parent) const {
    return below_[parent.is_none() ? below_.size() - 1 : parent.index()];
  }

 private:
  std::vector<std::vector<NamedChild>> below_;  // by queue; the last of the cluster
};

// Of those of a queue's line that could ever run the first so many, the first first. PRE: the queue has a line.
std::vector<WorkloadId> first_in_line(const State& state, QueueId line, std::size_t most);

}  // namespace berth
