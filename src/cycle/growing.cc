#include "cycle/growing.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cycle/attempt.h"
#include "cycle/deciding.h"
#include "cycle/elastic.h"
#include "cycle/for_each_place.h"
#include "cycle/kept_out.h"
#include "cycle/repairs.h"
#include "fairness/gates.h"
#include "fairness/meeting.h"
#include "fairness/rank.h"

namespace berth {
namespace {

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

// Whether somebody is of that kind, of those of a shape that this cycle leaves in a line.
template <class IsOne>
bool some_are_left(const OneCycle& cycle, IsOne is_one) {
  const State& state = cycle.engine.state;
  bool some = false;
  state.lines_in_use().for_each([&](QueueId queue) {
    const auto& shapes = state.lines()[queue.index()]->shapes();
    some = some || std::ranges::any_of(shapes, [&](const ShapeInLine& entry) {
             return is_one(queue, entry) && left_of(state, cycle.plan, queue, entry);
           });
  });
  return some;
}

// Behind whom nobody may have to wait from the next cycle on, which tries those first.
bool some_may_pass(const OneCycle& cycle) {
  std::vector<Blocked> refused;
  std::ranges::copy_if(cycle.plan.blocked, std::back_inserter(refused),
                       [&](const Blocked& each) { return is_newly_refused_for_floors(cycle.engine.state, each); });
  if (refused.empty()) return false;
  // What is promised to those may be promised no more.
  if (some_stand_back(cycle)) return true;
  return some_are_left(cycle, [&](QueueId line, const ShapeInLine& entry) {
    const bool is_behind = std::ranges::find(refused, line, &Blocked::line) != refused.end();
    return is_behind && std::ranges::none_of(refused, [&](const Blocked& each) {
             return each.line == line && each.shape == entry.shape;
           });
  });
}

// Whom those who wait may count, of all whom this cycle starts.
std::set<NeighboursId> counted_of(const OneCycle& cycle) {
  const State& state = cycle.engine.state;
  std::set<NeighboursId> counted;
  const auto note = [&](const PodRequest& request, const PodPlacement&) {
    if (state.ledger().neighbourhood().is_counted(request.neighbours)) counted.insert(request.neighbours);
  };
  for (const Start& each : cycle.plan.starts) for_each_place(state, each, note);
  for (const Repair& each : cycle.plan.repairs) for_each_place(state, each, note);
  return counted;
}

// Beside those whom this cycle starts somebody may fit who did not before: the next one tries him first.
bool some_may_be_suited(const OneCycle& cycle) {
  const State& state = cycle.engine.state;
  const std::set<NeighboursId> counted = counted_of(cycle);
  if (counted.empty()) return false;
  const auto looks_at_them = [&](const NumberedPodSet& set) {
    return std::ranges::any_of(counted, [&](NeighboursId each) {
      return state.ledger().neighbourhood().looks_at(state.request(set.request).neighbours, each);
    });
  };
  const auto may_be = [&](ShapeId shape) {
    return std::ranges::any_of(state.shape(shape).ways,
                               [&](const auto& way) { return std::ranges::any_of(way, looks_at_them); });
  };
  const bool some_lack_members = std::ranges::any_of(gangs_to_repair(state), [&](WorkloadId gang) {
    return may_be(state.workload(gang).shape) &&
           std::ranges::find(cycle.plan.repairs, gang, &Repair::workload) == cycle.plan.repairs.end();
  });
  return some_lack_members ||
         some_are_left(cycle, [&](QueueId, const ShapeInLine& entry) { return may_be(entry.shape); });
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

const Shape& shape_of(const State& state, WorkloadId id) { return state.shape(state.workload(id).shape); }

// One step after the other, each of whoever comes first by then; the first in a queue takes as many as fit before the next there does.
// Calls take(growing, start) for each. False: it would have been more attempts.
template <class Take>
bool share_room(OneCycle& cycle, const std::vector<Growing>& all, std::int64_t attempts_max, Take take) {
  ByQueue by_queue;
  for (const Growing& growing : all) by_queue[cycle.engine.state.workload(growing.minimum).queue].push_back(growing);
  while (!by_queue.empty()) {
    if (cycle.plan.attempts >= attempts_max) return false;
    const auto first = first_of(cycle, by_queue);
    std::vector<Growing>& of_queue = first->second;
    Growing& growing = of_queue.front();
    const WorkloadId step = growing.steps.front();
    cycle.shadows.look(step);
    auto start = attempt_step(cycle, step, growing);
    if (start) {
      growing.there.push_back({step, start->pods.front().node});
      growing.steps.erase(growing.steps.begin());
      take(growing, std::move(*start));
    } else {
      // Those of its other pod sets may find room.
      const State& state = cycle.engine.state;
      std::erase_if(growing.steps, [&, shape = state.workload(step).shape](WorkloadId each) {
        return state.workload(each).shape == shape;
      });
    }
    if (growing.steps.empty()) of_queue.erase(of_queue.begin());
    if (of_queue.empty()) by_queue.erase(first);
  }
  return true;
}

// What may be tried before anybody takes a step.
struct Trials {
  int left = 32;
  std::int64_t attempts_max = 0;
};

// Who would take steps that are worth less than his restart, if these shared the room, the first who takes one first. None: nobody knows,
// it would be too much to try.
std::optional<std::vector<WorkloadId>> in_vain(OneCycle& cycle, const std::vector<Growing>& all, Trials& trials) {
  if (trials.left == 0) return std::nullopt;
  --trials.left;
  std::vector<WorkloadId> who;  // in the order in which they take their first
  std::map<WorkloadId, Growth> added;
  const Trial::Mark mark = cycle.trial.mark();
  const bool is_known = share_room(cycle, all, trials.attempts_max, [&](const Growing& growing, const Start& start) {
    add_unit(cycle, start);
    const auto [so_far, is_first] = added.try_emplace(growing.minimum);
    if (is_first) who.push_back(growing.minimum);
    so_far->second.add(shape_of(cycle.engine.state, start.workload));
  });
  cycle.trial.rollback_to(mark);
  if (!is_known) return std::nullopt;
  std::erase_if(who, [&](WorkloadId id) {
    return growth_pays(cycle.engine.state, *std::ranges::find(all, id, &Growing::minimum), added[id], cycle.plan.now);
  });
  return who;
}

std::vector<Growing> without(std::vector<Growing> all, const std::vector<WorkloadId>& ids) {
  std::erase_if(all, [&](const Growing& each) { return std::ranges::find(ids, each.minimum) != ids.end(); });
  return all;
}

// Whoever restarts for his steps takes those that pay beside what the others take, or none. Who is left out may have more beside those who
// are not: so he is tried again, one after the other.
std::vector<Growing> leave_out_who_grows_in_vain(OneCycle& cycle, const std::vector<Growing>& all) {
  const auto restarts = [&](const Growing& each) {
    return !growth_pays(cycle.engine.state, each, Growth(), cycle.plan.now);
  };
  // As many attempts stay for those who take steps.
  const std::int64_t attempts = cycle.plan.attempts + (cycle.effort.attempts_max - cycle.plan.attempts) / 2;
  Trials trials{.attempts_max = attempts};
  std::vector<WorkloadId> out;
  std::vector<Growing> left = all;
  while (std::ranges::any_of(left, restarts)) {
    const auto who = in_vain(cycle, left, trials);
    if (who && who->empty()) break;
    if (who) out.insert(out.end(), who->begin(), who->end());
    std::erase_if(left, [&](const Growing& each) {
      return who ? std::ranges::find(*who, each.minimum) != who->end() : restarts(each);
    });
  }
  if (out.size() == 1) return left;  // he has been tried beside all others
  for (std::size_t next = 0; next < out.size();) {
    std::vector<WorkloadId> others = out;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(next));
    std::vector<Growing> with_next = without(all, others);
    const auto who = in_vain(cycle, with_next, trials);
    if (!who) break;
    if (!who->empty()) {
      ++next;
      continue;
    }
    out = std::move(others);
    left = std::move(with_next);
  }
  return left;
}

// With all that it might take.
bool could_pay(const OneCycle& cycle, const Growing& growing) {
  Growth all;
  for (const WorkloadId step : growing.steps) all.add(shape_of(cycle.engine.state, step));
  return growth_pays(cycle.engine.state, growing, all, cycle.plan.now);
}

}  // namespace

void grow(OneCycle& cycle) {
  const State& state = cycle.engine.state;
  if (state.elastic().empty() || !cycle.plan.finished) return;
  if (some_may_pass(cycle) || some_may_be_suited(cycle)) {
    cycle.plan.finished = false;
    return;
  }
  std::vector<Growing> all = who_may_grow(state, cycle.plan, cycle.shadows.all());
  if (!cycle.plan.evictions.empty()) {
    std::erase_if(all, [](const Growing& growing) { return !growing.begins; });
    if (all.empty() || !set_evicted_aside(cycle)) return;
  }
  std::erase_if(all, [&](const Growing& growing) { return !could_pay(cycle, growing); });
  all = leave_out_who_grows_in_vain(cycle, all);
  const bool is_whole = share_room(cycle, all, cycle.effort.attempts_max, [&](const Growing&, Start start) {
    decide(cycle, {.start = std::move(start), .evictions = {}});
  });
  if (!is_whole) cycle.plan.finished = false;
}

}  // namespace berth
