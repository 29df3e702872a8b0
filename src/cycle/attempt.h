// One workload on its way through the gates: quotas, room, and the room of others.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "cycle/claim.h"
#include "cycle/cycle.h"
#include "cycle/elastic.h"
#include "placement/refused_requests.h"

namespace berth {

// Why a workload was not started.
struct Refused {
  std::int64_t missing = 1;
  ReasonCode gate = ReasonCode::kNone;
  bool by_quota = false;            // in one of its ways
  bool would_break_floors = false;  // somewhere it might have started, but for what is promised to others
  bool may_claim_beside = false;    // what is promised in backfill, of which it would have taken some
  bool rather_waits =
      false;  // for what comes free by itself than that a GPU is cut for it: the next of its shape may not
  bool is_cut_too_late = false;  // it would end in time before what is reserved, but for a GPU that is cut for it first
};

// What it starts with, whoever goes for it; its places stay in the trial. First beside all that is reserved; where it would be in
// the way of what is promised to others, or of their cells, it looks beside these before it waits.
std::variant<Claimed, Refused> attempt_anywhere(OneCycle& cycle, WorkloadId candidate, RefusedRequests& refused);

// As in the next cycle it would who was evicted in this one: in free room, by no claim to what others have. Its places stay in the
// trial.
std::optional<Start> attempt_anew(OneCycle& cycle, WorkloadId evicted, RefusedRequests& refused);

// One more pod beside those that an elastic workload has: in free room, and for it nobody goes. Its place stays in the trial.
std::optional<Start> attempt_step(OneCycle& cycle, WorkloadId step, const Growing& growing);

}  // namespace berth
