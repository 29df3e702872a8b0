#include "sim/session.h"

#include "base/assert.h"
#include "cycle/run_cycle.h"

namespace berth {

void Session::apply(const Event& event) {
#ifdef BERTH_CHECKED
  BERTH_ASSERT(!engine_.state.refusal(event));
#endif
  if (recorder_) recorder_(encode(event));
  engine_.state.apply(event);
}

Plan Session::one_cycle(Time now, Effort effort) {
  Plan plan = run_cycle(engine_, now, effort);
  if (recorder_) recorder_(encode(CycleAsked{now, effort}));
  if (plan.changes_nothing()) return plan;
  if (recorder_) recorder_(encode(plan));
  engine_.state.adopt(plan);
  return plan;
}

std::uint64_t Session::close() {
  const std::uint64_t hash = engine_.state.hash();
  if (recorder_) recorder_(encode(RunClosed{hash}));
  return hash;
}

}  // namespace berth
