// Whether places are left for the slices that floors promise by their profile, if everybody gave back who may have to
// (docs/semantics.md, rules 27 and 28). Made anew from who is where; nothing is kept for it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/ids.h"
#include "model/request.h"
#include "model/slice_packing.h"
#include "state/quota_ledger.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// Where somebody has GPUs, or a slice, and until when.
struct TakenPlace {
  PodRequest request;
  PodPlacement place;
  Time end = kForever;
};

// How many slices of GPUs of the flavor floors beside the queue's line still promise, by shape: now, or when they have risen.
SliceCounts slices_promised_beside(const QuotaLedger& quotas, QueueId queue, FlavorId flavor,
                                   const FloorRise* rise = nullptr);
// "2 3g.40gb slices of h100"; empty where none are.
std::string slices_promised_text(const State& state, QueueId queue, FlavorSet flavors, const FloorRise* rise = nullptr);

// False where more of them, of those that are promised beside the queue's line, have no place since somebody has come who stays: to these
// places, which are taken in the trial, and perhaps from others that he has left. So it is where that holds of any of the hours (none:
// now) before his end.
bool leaves_promised_slices(const State& state, const Trial& trial, QueueId queue, std::span<const TakenPlace> come,
                            std::span<const TakenPlace> left, std::span<const FloorRise* const> hours);

// Puts the slices of a start into other places of their nodes, if those that floors promise have more places then: beside the line of
// the queue at which it would be covered, and in that line. What a queue is promised itself keeps none of its work out, but where all can
// be kept, all are. PRE: the start is in the trial; no hour is asked about but now.
void put_beside_promised(const State& state, Trial& trial, Start& start, QueueId covered_at);

}  // namespace berth
