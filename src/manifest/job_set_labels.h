// The labels of a JobSet's Jobs and pods, as JobSet's own project calls them, that Berth reads.
#pragma once

#include <string_view>

namespace berth {

inline constexpr std::string_view kJobSetNameLabel = "jobset.sigs.k8s.io/jobset-name";
inline constexpr std::string_view kReplicatedJobLabel = "jobset.sigs.k8s.io/replicatedjob-name";
inline constexpr std::string_view kJobSetUidLabel = "jobset.sigs.k8s.io/jobset-uid";
inline constexpr std::string_view kReplicasLabel = "jobset.sigs.k8s.io/replicatedjob-replicas";

}  // namespace berth
