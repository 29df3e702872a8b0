// What Kubernetes' objects say of where a pod may be, as the model has it: labels and taints of a node; a pod's
// nodeSelector, required node affinity and tolerations.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/value.h"
#include "model/node_constraints.h"

namespace berth {

Labels read_node_labels(const Value& labels);
std::vector<Taint> read_taints(const Value& taints);

// None: its operator or its effect is none.
std::optional<Toleration> read_toleration(const Value& toleration);

struct ReadConstraints {
  NodeConstraints constraints;
  std::string problem;  // what has no meaning here, and what to write instead; empty: nothing
};
// Of a pod's spec, without the labels that `ignored` names: somebody else looks at these.
ReadConstraints read_node_constraints(const Value& spec, std::string_view ignored);

}  // namespace berth
