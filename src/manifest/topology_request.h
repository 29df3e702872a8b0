// How close together a pod asks to be with those who start with it, in its annotations: Berth's own and Kueue's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manifest/value.h"
#include "model/topology.h"

namespace berth {

// The level of nodes that have this label; the other way round.
std::string level_named(std::string_view label);
std::string label_of_level(std::string_view level);

// Kueue's word for what is so without any word.
inline constexpr std::string_view kKueueUnconstrainedTopologyAnnotation =
    "kueue.x-k8s.io/podset-unconstrained-topology";

// Kueue's: the pod sets of a workload that say the same are one.
inline constexpr std::string_view kKueuePodSetGroupAnnotation = "kueue.x-k8s.io/podset-group-name";

// Kueue's: slices within slices.
inline constexpr std::string_view kKueueSliceLayersAnnotation =
    "kueue.x-k8s.io/podset-slice-required-topology-constraints";

// Volcano's: in one HyperNode of this tier or a lower one; "hard" or "soft".
inline constexpr std::string_view kVolcanoTopologyModeAnnotation = "volcano.sh/network-topology-mode";
inline constexpr std::string_view kVolcanoHighestTierAnnotation = "volcano.sh/network-topology-highest-tier";

// "LABEL": as long as it has GPUs in a domain of that label, nobody else has any there; and JobSet's, of each of its Jobs.
inline constexpr std::string_view kExclusiveTopologyAnnotation = "berth.dev/exclusive-topology";
// "NAME": of its gang those who say the same are together, and have domains for themselves, without the others.
inline constexpr std::string_view kPodSetAnnotation = "berth.dev/pod-set";
inline constexpr std::string_view kJobSetExclusiveAnnotation = "alpha.jobset.sigs.k8s.io/exclusive-topology";

// What has no meaning here, and what to write instead.
struct TopologyProblem {
  std::string_view annotation;
  std::string why;

  // "annotation berth.dev/topology: ..."
  std::string to_string() const;
};

struct ReadTopology {
  Topology topology;
  std::string exclusive_level = {};  // in the domains of which it is to be alone; empty: it minds nobody
  std::string pod_set = {};          // as part of its gang that goes by itself; empty: that of those who name none
  std::vector<TopologyProblem> problems;
};
// Whether it is Kueue's words that say where the pods are, and none of Berth's own: then each sort of pods is a set for itself.
bool asks_in_kueues_words(const Value& annotations);
// Berth's words go before Kueue's, and those before Volcano's. The level of single nodes has their label's name, kubernetes.io/hostname.
ReadTopology read_topology(const Value& annotations);

}  // namespace berth
