// What a cycle decides of one workload goes into its plan and its trial, with all that follows from it.
#pragma once

#include "cycle/claim.h"
#include "cycle/cycle.h"
#include "cycle/for_each_place.h"

namespace berth {

// With an elastic workload go its steps, before it. What all of them lose is said once, of the first.
void evict(OneCycle& cycle, Eviction eviction);

// It stays the unit that it is, and its run limit counts anew.
void migrate(OneCycle& cycle, const Migration& migration);

// It starts, and those go or move who do for it. PRE: its places are in the trial, and theirs are not.
void decide(OneCycle& cycle, Claimed claimed);

// When all have left who are where it goes, if it waits for that; else now.
Time gone_by(const OneCycle& cycle, const Start& start);

// As the unit that it will be. PRE: its places are in the trial.
void add_unit(OneCycle& cycle, const Start& start);

// Whether somebody who was refused in this cycle, or waits since he was, stands back for what is promised to others, or reserved.
bool some_stand_back(const OneCycle& cycle);

// Nothing is scrubbed where somebody begins who trusts all who have been there.
template <class Placed>
void leave_dirty(OneCycle& cycle, const Placed& placed) {
  for_each_place(cycle.engine.state, placed, [&](const PodRequest&, const PodPlacement& place) {
    place.gpus.for_each([&](int gpu) {
      for (const QueueId tenant : cycle.vacating.left_on({place.node, gpu})) {
        cycle.trial.add_residue({place.node, gpu}, tenant);
      }
    });
  });
}

// Somebody who waits looks at who is around, and it is one of those whom he counts.
template <class Placed>
bool may_suit_others(const State& state, const Placed& placed) {
  bool counted = false;
  for_each_place(state, placed, [&](const PodRequest& request, const PodPlacement&) {
    counted = counted || state.ledger().neighbourhood().is_counted(request.neighbours);
  });
  return counted;
}

}  // namespace berth
