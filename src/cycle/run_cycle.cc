#include "cycle/run_cycle.h"

#include <array>
#include <variant>

#include "cycle/feasibility.h"
#include "fairness/order.h"
#include "placement/place.h"
#include "placement/refused_requests.h"
#include "state/trial.h"

namespace berth {
namespace {

struct Cycle {
  Engine& engine;
  Trial& trial;
  Effort effort;
  Plan& plan;
};

// Tries one workload; what it lacks if it does not fit. Counts as an attempt only what had to be looked at.
std::variant<Start, Unfit> attempt(Cycle& cycle, WorkloadId candidate, RefusedRequests& refused) {
  const State& state = cycle.engine.state;
  const Shape& shape = state.shape(state.workload(candidate).shape);
  if (refused.covers(state, shape)) return Unfit{1};
  ++cycle.plan.attempts;
  // A stream per workload: what one draws does not depend on who was tried before it.
  const Rng rng(state.seed(), candidate.value());
  auto outcome = place_workload(state, cycle.trial, cycle.engine.index, candidate, rng);
  if (std::holds_alternative<Unfit>(outcome)) refused.add(state, shape);
  return outcome;
}

// Starts whom the order names, as long as somebody fits.
void allocate(Cycle& cycle) {
  const State& state = cycle.engine.state;
  CandidateOrder order(state);
  RefusedRequests refused;
  while (const auto candidate = order.next()) {
    if (cycle.plan.attempts == cycle.effort.attempts_max) {
      cycle.plan.finished = false;
      return;
    }
    auto outcome = attempt(cycle, *candidate, refused);
    if (Start* const start = std::get_if<Start>(&outcome)) {
      cycle.plan.starts.push_back(std::move(*start));
      order.started();
      continue;
    }
    const Workload& workload = state.workload(*candidate);
    const bool never = reason_never(state, state.shape(workload.shape)) != ReasonCode::kNone;
    cycle.plan.blocked.push_back({.line = state.line_of(workload.queue),
                                  .shape = workload.shape,
                                  .missing = never ? kMissingForever : std::get<Unfit>(outcome).missing});
    if (never) {
      order.passed_over();
    } else {
      order.refused();
    }
  }
}

constexpr std::array kPhases = {allocate};

}  // namespace

Plan run_cycle(Engine& engine, Time now, Effort effort) {
  Plan plan{.now = now, .revision = engine.state.revision(), .starts = {}, .blocked = {}};
#ifdef BERTH_CHECKED
  const std::uint64_t before = engine.state.hash();
#endif
  {
    Trial trial(engine.state.ledger_for_trial());
    Cycle cycle{engine, trial, effort, plan};
    for (const auto phase : kPhases) phase(cycle);
  }
#ifdef BERTH_CHECKED
  BERTH_ASSERT(engine.state.hash() == before);
#endif
  return plan;
}

}  // namespace berth
