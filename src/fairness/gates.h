// Whether quotas let a unit start: the gates before it is looked for room (docs/semantics.md, rules 1, 7 and 8).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "model/mixture.h"
#include "model/reason.h"
#include "model/workload.h"
#include "state/state.h"

namespace berth {

// Which bound is in the way, with its numbers.
struct QuotaRefusal {
  ReasonCode code = ReasonCode::kNone;
  QueueId queue;
  Dim dim;
  std::int64_t asked = 0;
  std::int64_t used = 0;
  std::int64_t bound = 0;
  UserId user = {};  // of kUserLimit: whose limit
  Time until = {};   // of kCalendar: so long the floor of the queue has room for it
  Time end = {};     // and when its run limit would end it

  friend bool operator==(const QuotaRefusal&, const QuotaRefusal&) = default;
};

// Whether a way leaves flavors open, beside other pods with GPUs, to pods that need not be near each other.
bool may_mix(const State& state, const std::vector<NumberedPodSet>& way);

// Whether pods of a way, beside others with GPUs, may be of several of the flavors that there are.
bool leaves_flavors_open(const State& state, const std::vector<NumberedPodSet>& way);

// Some floor or bound tells one flavor from another.
bool tells_flavors_apart(const QuotaTree& tree, QueueId queue);

// Which flavors its pods would be of if it came now in a way that leaves them open: flavor by flavor as many as its queue's floor holds; if
// that is not all of it, as those above hold; else as many as no bound refuses; if that is not all either, as many as none would if nothing were held; else
// all are of the first. So they are where one pod alone, or nearness, is asked: what the others have to offer, further ways say.
Mixture mixture_of(const State& state, QueueId queue, const Shape& shape, std::size_t way);

// By set of a way, and flavor: for so many of its pods there is room, as if the others were not.
using RoomByFlavor = std::vector<std::vector<std::int64_t>>;

// The same as things are, with no more of a flavor than there is room for; nothing: bounds refuse it, or its pods have not all room.
std::optional<Mixture> mixture_within(const State& state, QueueId queue, const Shape& shape, std::size_t way,
                                      const RoomByFlavor& room);

// By flavor: of the pods of a way that may mix never more, whoever has gone, since bounds refuse them; of pods that count for nothing all.
// Nothing: some of its pods may not mix, or quotas tell no flavor from another.
std::vector<std::int64_t> most_by_flavor(const State& state, QueueId queue, const Shape& shape, std::size_t way);

// What a unit of the shape would hold if it ran in this way, in that mixture.
AmountList asked_by(const State& state, QueueId queue, const Shape& shape, std::size_t way);

// What it holds in the places that it was given.
AmountList amounts_held(const State& state, const Shape& shape, const Start& start);

// Of the budgets alone: whether one has too little left for what it would use if it ran as long as it may. Without a run limit
// nobody knows how much that is.
std::optional<QuotaRefusal> budget_refusal(const QuotaLedger& quotas, QueueId queue, const Terms& terms,
                                           const AmountList& asked);
// Of all ways of a shape, which may cost more and less: that of the first, where every one is refused.
std::optional<QuotaRefusal> budget_refusal(const State& state, QueueId queue, const Shape& shape, const Terms& terms);

// Of all gates, the first. `user` matters only where users do.
std::optional<QuotaRefusal> quota_refusal(const QuotaLedger& quotas, QueueId queue, UserId user, const Terms& terms,
                                          const AmountList& asked);

// Whether it asks more than a limit, a borrowing limit or a user limit on the way up would leave it if nothing else were
// held.
bool is_above_bounds_alone(const QuotaLedger& quotas, QueueId queue, const AmountList& asked);

// Whether it asks more than the other queues would lend it if nothing at all were held.
bool is_above_lending_alone(const QuotaLedger& quotas, QueueId queue, const AmountList& asked);

// What is said of it: whoever may not borrow yet would not insist on a floor otherwise.
ReasonCode code_of(const QuotaRefusal& refusal, const Shape& shape);

// Where there is room for it inside a floor now, and until when: before its end, so that it is not covered (rule 7).
struct CoveredForAWhile {
  QueueId queue;
  Time until;
};
// The longest. PRE: it would be covered nowhere until its end.
std::optional<CoveredForAWhile> covered_for_a_while(const QuotaLedger& quotas, QueueId queue, const AmountList& asked,
                                                    Time end);

}  // namespace berth
