// When pods have to leave nodes whose taints have the effect NoExecute, with the meaning that Kubernetes documents: at once, or
// after `tolerationSeconds`.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "model/node_constraints.h"

namespace berth {

// A taint with the effect NoExecute, and since when it was seen on its node.
struct ExecutingTaint {
  Taint taint;
  Time since;
};

// Such taints of a node that has these by now; those that it had before go on from when they were first seen.
std::vector<ExecutingTaint> executing_from(const std::vector<ExecutingTaint>& before, std::vector<Taint> taints,
                                           Time now);

// For how long it bears a taint; none: for ever.
struct TimedToleration {
  Toleration toleration;
  std::optional<Duration> lasts;
};

// When a pod that was seen on a node since `came` has to leave; none: it may stay. Of a taint the first of its tolerations counts.
std::optional<Time> leaves_at(std::span<const TimedToleration> tolerations, Time came,
                              std::span<const ExecutingTaint> taints);

}  // namespace berth
