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

// Where somebody has GPUs, or a slice.
struct TakenPlace {
  PodRequest request;
  PodPlacement place;
};

// How many slices of GPUs of the flavor floors beside the queue's own line still promise, by shape.
SliceCounts slices_promised_beside(const QuotaLedger& quotas, QueueId queue, FlavorId flavor);
// "2 3g.40gb slices of h100"; empty where none are.
std::string slices_promised_text(const State& state, QueueId queue, FlavorSet flavors);

// False where more of them have no place since somebody of the queue has come who stays: to these places, which are taken in the
// trial, and perhaps from others that he has left.
bool leaves_promised_slices(const State& state, const Trial& trial, QueueId queue, std::span<const TakenPlace> come,
                            std::span<const TakenPlace> left = {});

}  // namespace berth
