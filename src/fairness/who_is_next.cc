#include "fairness/who_is_next.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "fairness/standing.h"

namespace berth {

WhoIsNext::WhoIsNext(const State& state, Time now) : below_(state.queues().size() + 1) {
  // A parent stands before its children in the table, so going backwards meets children first.
  for (std::size_t index = state.queues().size(); index-- > 0;) {
    const QueueId queue(index);
    const QueueId parent = state.queues()[index].parent;
    std::vector<NamedChild>& children = below_[index];
    const auto name = [&](std::vector<NamedChild>& into, QueueId above, Candidate candidate) {
      const bool own_line = above == queue;
      const AmountsByDim past = own_line ? AmountsByDim() : state.past_use(queue, now);
      Rank rank{.counts_for_nothing = candidate.best_effort,
                .outside = is_outside(state, above, queue, candidate),
                .fraction = {},
                .candidate = candidate.workload};
      rank.fraction = fraction_of(state, above, queue, candidate, rank.outside, past);
      into.push_back({queue, rank, std::move(candidate)});
    };
    std::optional<Candidate> named;
    if (state.lines()[index] && state.lines()[index]->size() > 0) {
      const std::vector<WorkloadId> first = first_in_line(state, queue, 1);
      if (!first.empty()) named = candidate_of(state, queue, first.front());
    }
    if (!children.empty()) {
      if (named) name(children, queue, std::move(*named));
      std::ranges::sort(children, {}, &NamedChild::rank);
      named = children.front().candidate;
      named->covered = !children.front().rank.outside;
    }
    if (named) name(below_[parent.is_none() ? below_.size() - 1 : parent.index()], parent, std::move(*named));
  }
  std::ranges::sort(below_.back(), {}, &NamedChild::rank);
}

std::vector<WorkloadId> first_in_line(const State& state, QueueId line, std::size_t most) {
  std::vector<Standing> first;
  for (const ShapeInLine& shape : state.lines()[line.index()]->shapes()) {
    if (shape.impossible()) continue;
    // Those of one shape have one user: among them the key decides.
    auto at = shape.waiting.begin_cursor();
    for (std::size_t i = 0; i < most; ++i, shape.waiting.advance(at)) {
      const PendingKey* const key = shape.waiting.at(at);
      if (key == nullptr) break;
      first.push_back(standing_of(state, line, state.shape(shape.shape).user, *key));
    }
  }
  const std::size_t kept = std::min(most, first.size());
  std::partial_sort(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(kept), first.end());
  std::vector<WorkloadId> workloads;
  for (std::size_t i = 0; i < kept; ++i) workloads.push_back(first[i].key.workload);
  return workloads;
}

}  // namespace berth
