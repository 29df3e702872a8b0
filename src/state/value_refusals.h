// What is refused of a node or of a workload by itself, whatever else there is; and the words in which refusals are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/node.h"
#include "model/workload.h"

namespace berth {

using Refusal = std::optional<std::string>;

inline Refusal unless(bool holds, const char* text) { return holds ? Refusal() : Refusal(text); }

// The first refusal among several checks, each made only if those before it passed.
template <class... Checks>
Refusal first_of(Checks... checks) {
  Refusal refusal;
  static_cast<void>(((refusal = checks()) || ...));
  return refusal;
}

inline bool within(std::int64_t value, std::int64_t low, std::int64_t high) { return value >= low && value <= high; }

// `flavors`: how many there are.
bool is_valid(const PodRequest& request, std::size_t flavors);
Refusal refusal_of_shape(const WorkloadShape& shape, std::size_t flavors);
Refusal refusal_of_node(const Node& node, std::size_t flavors);
Refusal refusal_of_labels(const Labels& labels, const std::vector<Taint>& taints);
Refusal refusal_of_terms(const Terms& terms);

}  // namespace berth
