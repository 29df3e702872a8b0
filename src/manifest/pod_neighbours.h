// What a pod's object says of the pods around it, as the model has it: its labels, pod affinities and anti-affinities,
// topologySpreadConstraints and host ports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "manifest/selector.h"
#include "manifest/value.h"
#include "model/neighbours.h"

namespace berth {

// Namespaces that a term selects by their labels (`namespaceSelector`), beside those that it names.
struct NamespacesByLabel {
  enum class Of : std::uint8_t { kNear, kApart, kPreferred };

  Of of = Of::kNear;
  std::size_t at = 0;  // which term of these
  LabelSelector selector;
};

struct ReadNeighbours {
  Neighbours neighbours;  // a term of `by_label` has the namespaces that it names, and none of those that it selects
  std::string problem;    // what has no meaning here, and what to write instead; empty: nothing
  std::vector<NamespacesByLabel> by_label = {};
};
ReadNeighbours read_neighbours(const Value& pod);

// With the namespaces that are selected now. Where a term selects more than kNamespacesMax it has all, whatever their labels,
// and `too_many` is set.
inline constexpr std::size_t kNamespacesMax = 1000;
Neighbours with_namespaces(Neighbours read, const std::vector<NamespacesByLabel>& by_label,
                           const std::map<std::string, Value>& labels_of_namespaces, bool& too_many);

}  // namespace berth
