// How good a node is for a pod that fits it: one row a policy. Scores are integers, higher is better; formulas as in the
// simulator of Weng et al. (USENIX ATC 2023), whose published results they reproduce, but for fgd-balanced, which is ours
// (docs/decisions/0025).
#pragma once

#include <cstdint>
#include <string_view>

#include "base/rng.h"
#include "model/plan.h"
#include "model/policy.h"
#include "placement/node_view.h"
#include "placement/score_tree.h"
#include "placement/usual_demand.h"

namespace berth {

struct ScoreRow {
  PlacementPolicy policy;
  // ScoreTree::kUnfit if a filter refuses.
  Score (*score_if_fits)(const NodeView& node, const PodRequest& request, const UsualDemand& usual);
  // The device for a fraction of a GPU, on a node that it fits. Whole GPUs are alike: the first that are free are taken.
  int (*gpu_for_fraction)(const NodeView& node, const PodRequest& request, const UsualDemand& usual, Rng& rng);
  // Among the fitting nodes: the best score, the first in the run's order if several have it; or any, drawn evenly.
  bool draws_node = false;
};

const ScoreRow& score_row(PlacementPolicy policy);

// The devices that a pod gets on a node that it fits, and where a slice begins on its one.
PodPlacement place_on(const ScoreRow& row, NodeId id, const NodeView& node, const PodRequest& request,
                      const UsualDemand& usual, Rng& rng);

}  // namespace berth
