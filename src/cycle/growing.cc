#include "cycle/growing.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cycle/attempt.h"
#include "cycle/deciding.h"
#include "cycle/elastic.h"
#include "fairness/gates.h"
#include "fairness/meeting.h"
#include "fairness/rank.h"

namespace berth {
namespace {

std::optional<Start> next_step(OneCycle& cycle, const Growing& growing, WorkloadId step) {
  if (cycle.plan.attempts >= cycle.effort.attempts_max) {
    cycle.plan.finished = false;
    return std::nullopt;
  }
  cycle.shadows.look(step);
  return attempt_step(cycle, step, growing);
}

// Whether it pays to restart it for as many steps as there is room for.
bool pays_to_grow(OneCycle& cycle, Growing growing) {
  const State& state = cycle.engine.state;
  const Time now = cycle.plan.now;
  const Wide of_each = state.shape(state.workload(growing.steps.front()).shape).gpu_milli;
  if (growth_pays(state, growing, 0, now)) return true;
  if (!growth_pays(state, growing, of_each * std::ssize(growing.steps), now)) return false;
  const Trial::Mark mark = cycle.trial.mark();
  Wide added = 0;
  for (const WorkloadId step : growing.steps) {
    const auto start = next_step(cycle, growing, step);
    if (!start) break;
    add_unit(cycle, *start);
    growing.at.emplace_back(start->pods.front().node);
    added += of_each;
  }
  cycle.trial.rollback_to(mark);
  return growth_pays(state, growing, added, now);
}

// Who has to go at once waits by the end of this cycle, so steps leave him the room that he would take. Whether that can be seen:
// there has to be effort enough, and what a budget would leave him is known only when he has stopped.
bool set_evicted_aside(OneCycle& cycle) {
  const State& state = cycle.engine.state;
  RefusedRequests refused;
  for (const Eviction& each : cycle.plan.evictions) {
    if (!state.workload(each.workload).step_of.is_none() || each.stop_by > cycle.plan.now) continue;
    if (cycle.plan.attempts == cycle.effort.attempts_max || state.quotas().budgets().has_any()) return false;
    cycle.shadows.look(each.workload);
    if (const auto start = attempt_anew(cycle, each.workload, refused)) add_unit(cycle, *start);
  }
  return true;
}

// How the next step compares with those of the parent's other children.
Rank rank_of_next(const OneCycle& cycle, const Growing& growing, QueueId parent, QueueId child) {
  const State& state = cycle.engine.state;
  const WorkloadId step = growing.steps.front();
  const QueueId queue = state.workload(step).queue;
  const Shape& shape = state.shape(state.workload(step).shape);
  const Candidate candidate{.workload = step,
                            .asked = asked_by(state, queue, shape, *growing.way),
                            .end = state.end_of(step, cycle.plan.now)};
  const QueueId covered_at =
      shape.terms.best_effort ? QueueId() : state.quotas().would_be_covered_at(queue, candidate.asked, candidate.end);
  const bool outside = parent == child || !is_covered(state.quotas().tree(), covered_at, child);
  const auto past = state.past_use(child, cycle.plan.now);
  return {.counts_for_nothing = shape.terms.best_effort,
          .outside = outside,
          .fraction = fraction_of(state, parent, child, candidate, outside, past),
          .candidate = step};
}

// By rule 9, where their queues meet. PRE: these are two.
bool comes_before(const OneCycle& cycle, const Growing& a, const Growing& b) {
  const State& state = cycle.engine.state;
  const QuotaTree& tree = state.quotas().tree();
  const QueueId queue_a = state.workload(a.minimum).queue;
  const QueueId queue_b = state.workload(b.minimum).queue;
  const QueueId meet = where_they_meet(tree, queue_a, queue_b);
  const auto side = [&](QueueId queue) {
    const QueueId child = child_towards(tree, queue, meet);
    return child.is_none() ? meet : child;
  };
  return rank_of_next(cycle, a, meet, side(queue_a)) < rank_of_next(cycle, b, meet, side(queue_b));
}

// In each queue they stand in their order.
using ByQueue = std::map<QueueId, std::vector<Growing>>;

// Whose first comes before the firsts of all others.
ByQueue::iterator first_of(const OneCycle& cycle, ByQueue& all) {
  auto first = all.begin();
  for (auto at = std::next(first); at != all.end(); ++at) {
    if (comes_before(cycle, at->second.front(), first->second.front())) first = at;
  }
  return first;
}

// The first in its queue takes as many as fit before the next there does.
bool take_step(OneCycle& cycle, Growing& growing) {
  auto start = next_step(cycle, growing, growing.steps.front());
  if (!start) return false;
  growing.at.emplace_back(start->pods.front().node);
  growing.steps.erase(growing.steps.begin());
  decide(cycle, {.start = std::move(*start), .evictions = {}});
  return !growing.steps.empty();
}

}  // namespace

void grow(OneCycle& cycle) {
  const State& state = cycle.engine.state;
  if (state.elastic().empty() || !cycle.plan.finished) return;
  std::vector<Growing> all = who_may_grow(state, cycle.plan, cycle.shadows.all());
  if (!cycle.plan.evictions.empty()) {
    std::erase_if(all, [](const Growing& growing) { return !growing.begins; });
    if (all.empty() || !set_evicted_aside(cycle)) return;
  }
  std::erase_if(all, [&](const Growing& growing) { return !pays_to_grow(cycle, growing); });
  ByQueue by_queue;
  for (Growing& growing : all) by_queue[state.workload(growing.minimum).queue].push_back(std::move(growing));
  while (!by_queue.empty()) {
    const auto first = first_of(cycle, by_queue);
    std::vector<Growing>& of_queue = first->second;
    if (!take_step(cycle, of_queue.front())) of_queue.erase(of_queue.begin());
    if (of_queue.empty()) by_queue.erase(first);
  }
}

}  // namespace berth
