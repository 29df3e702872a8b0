// What is refused of queues: their amounts, windows and shapes, what they have used, and whom they trust.
#pragma once

#include <cstddef>
#include <vector>

#include "model/event.h"
#include "state/state.h"
#include "state/value_refusals.h"

namespace berth {

FactRefusal refusal_of_typical(const std::vector<TypicalPod>& pods, std::size_t flavors);
FactRefusal refusal_of_window(const State& state, const WindowChanged& change);
FactRefusal refusal_of_queue(const Queue& queue, std::size_t queues, const std::vector<Flavor>& flavors);
FactRefusal refusal_of_change(const QueueChanged& change, const std::vector<Queue>& queues,
                              const std::vector<Flavor>& flavors);
// Whose work is on which device is told by its tenant, so who has work there does not become another tenant.
FactRefusal refusal_of_trust(const State& state, const TrustChanged& fact);
FactRefusal refusal_of_grant(const State& state, const GrantAdded& grant);
FactRefusal refusal_of_used(const State& state, const GpuTimeUsed& used);
FactRefusal refusal_of_past(const State& state, const PastUseFound& past);
FactRefusal refusal_of_kept(const State& state, const PastUseKept& past);
FactRefusal refusal_of_counted(const State& state, const GpuTimeCounted& counted);
FactRefusal refusal_of_missed(const State& state, const GpuTimeMissed& missed);
FactRefusal refusal_of_floor_use(const State& state, const FloorUseFound& found);

}  // namespace berth
