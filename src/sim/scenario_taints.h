// Who has to leave a node for a taint with the effect NoExecute, and when: what Kubernetes' node controller sees to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/executing_taints.h"
#include "state/state.h"

namespace berth::scenario {

// For how long each toleration of a pod set bears such a taint, in the order of its constraints; none: for ever.
using TolerationLengths = std::vector<std::optional<Duration>>;

class TaintEvictions {
 public:
  // By workload, and by pod set.
  using Lengths = std::map<WorkloadId, std::vector<TolerationLengths>>;

  explicit TaintEvictions(Lengths lengths) : lengths_(std::move(lengths)) {}

  // A node has these taints from now on.
  void note(NodeId node, const std::vector<Taint>& taints, Time now);
  // Whether anybody is to be looked at.
  bool look_at_pods() const { return !taints_.empty() || !leaves_.empty(); }
  // Something may have come or gone.
  void look(const State& state, Time now);
  // When the next ones leave; kForever: nobody has to.
  Time next() const;
  // Those of one workload that leave first; of a workload its steps, so that none of these stands in where it cannot stay.
  // PRE: somebody has to leave.
  std::pair<WorkloadId, std::vector<std::uint32_t>> first(const State& state) const;

 private:
  struct Seat {
    WorkloadId workload;
    std::uint32_t attempt = 0;
    std::uint32_t pod = 0;
    NodeId node;

    friend auto operator<=>(const Seat&, const Seat&) = default;
  };

  std::optional<Time> leaves(const State& state, const Pod& pod, Time came) const;

  Lengths lengths_;
  std::map<NodeId, std::vector<ExecutingTaint>> taints_;  // of nodes that have some
  std::map<Seat, Time> came_;                             // to these nodes
  std::map<Seat, Time> leaves_;                           // of those who have to
};

}  // namespace berth::scenario
