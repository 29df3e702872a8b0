// Where else to look for a place for whoever is in the way of what floors promise where he would be put (docs/semantics.md, rule 28).
#pragma once

#include <vector>

#include "model/ids.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// Besides what is kept already: these nodes, these GPUs. Both ascending.
KeptRoom with_nodes(KeptRoom kept, const std::vector<NodeId>& nodes);
KeptRoom with_gpus(KeptRoom kept, const std::vector<GpusOfNode>& gpus);

// What the workload should leave alone in place of where it was put, one after the other, besides what is kept from it anyway; each is
// a place to look for less in others' way. Others' cells. And of who asks parts of GPUs, so that he breaks few that are whole: all that
// are whole on nodes where he might be; then all but on one node on which there is room for all of him, those first of which he breaks
// the fewest; then all but on those nodes that have the most room for each GPU that breaks, as many as it takes. A node that would turn
// breaks with all of its GPUs. PRE: nothing is kept in the trial.
std::vector<KeptRoom> rooms_to_leave_alone(const State& state, Trial& trial, WorkloadId workload,
                                           const KeptRoom& kept = {});

}  // namespace berth
