// What keeps somebody from free room that he would fit: what is reserved or closed from a moment on, and what is promised to others
// (docs/semantics.md, rule 25 and "Reservations").
#pragma once

#include <optional>
#include <vector>

#include "model/reservation.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// INVARIANT: it is a reservation (or maintenance), or a promise, and not both.
struct InTheWay {
  Time
      by;  // whoever has gone by then is not kept away by it; the moment that is asked about: it lasts, and nobody is let in
  const Reservation* reservation = nullptr;
  const Shadow* promise = nullptr;
  KeptRoom room;           // of a promise whole GPUs alone
  bool takes_room = true;  // false: beside all of these it finds room, and this one is promised something else
};

// All that it might meet, the first first. Of a promise to somebody who is foretold to start earlier, by then; what it leaves would be
// scrubbed by then. PRE: it waits.
std::vector<InTheWay> all_in_the_way(const State& state, WorkloadId workload);

// The first beside which it finds no room, if it had gone before those behind it: with such a limit it would go ahead. Where none takes its
// room, the first promise that it would still meet. None: nothing is known.
std::optional<InTheWay> first_in_the_way(const State& state, WorkloadId workload);

}  // namespace berth
