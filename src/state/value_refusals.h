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

using FactRefusal = std::optional<std::string>;

inline FactRefusal unless(bool holds, const char* text) { return holds ? FactRefusal() : FactRefusal(text); }

// The first refusal among several checks, each made only if those before it passed.
template <class... Checks>
FactRefusal first_of(Checks... checks) {
  FactRefusal refusal;
  static_cast<void>(((refusal = checks()) || ...));
  return refusal;
}

inline bool within(std::int64_t value, std::int64_t low, std::int64_t high) { return value >= low && value <= high; }

// `flavors`: how many there are.
bool is_valid(const PodRequest& request, std::size_t flavors);
FactRefusal refusal_of_shape(const WorkloadShape& shape, std::size_t flavors);
FactRefusal refusal_of_node(const Node& node, std::size_t flavors);
FactRefusal refusal_of_images(const std::vector<NodeImage>& images);
FactRefusal refusal_of_labels(const Labels& labels, const std::vector<Taint>& taints);
FactRefusal refusal_of_terms(const Terms& terms);
inline FactRefusal refusal_of_time(Time at) { return unless(within(at.ms, 0, kTimeMax.ms), "a time is out of bounds"); }

}  // namespace berth
