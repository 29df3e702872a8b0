// The words of an explanation, beside the table of filters (placement/filters.h) that it counts by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cycle/explain.h"
#include "fairness/gates.h"
#include "placement/node_view.h"
#include "state/state.h"

namespace berth {

// What a node has free of that for which this row of the filters refuses it; 0 where the row is about no amount.
std::int64_t free_of_what_lacks(std::size_t row, const NodeView& node, const PodRequest& request);

// "8 GPUs of h100", "64 CPUs", "2Ti of memory of h100"
std::string amount_in_words(const State& state, Dim dim, std::int64_t amount);

// "10.5 GPU-hours"
std::string gpu_time_text(std::int64_t gpu_us);

// Which bound of which queue is in the way.
std::string quota_text(const State& state, const QuotaRefusal& refusal);

// Whether a floor covers what it holds, and why not. PRE: it has room.
std::string coverage_text(const State& state, WorkloadId workload);

// PRE: it waits, and may not borrow yet.
std::string cooldown_text(const State& state, WorkloadId workload);

// Of work that must not share GPUs as it asks, or as those are that are free.
std::string isolation_text(const State& state, const Shape& shape, const Explanation& explanation);

// Of one whose parts of GPUs would leave too few whole ones for others' floors.
std::string whole_floors_text(const State& state, QueueId queue, const Shape& shape);

// Of one who has the reason Dirty: "; GPU 0 of n1 is quarantined, ...", if one that it could have is.
std::string quarantine_text(const State& state, const Shape& shape);

// PRE: all but the text is known, and it waits.
std::string explanation_text(const State& state, const Explanation& explanation);

}  // namespace berth
