// What a Workload of Kueue's holds, in the flavors of its ClusterQueue. Pure functions of objects.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controllers/cluster_view.h"
#include "manifest/value.h"

namespace berth {

// Where a LocalQueue leads; empty where there is none.
std::string cluster_queue_of(const ClusterView& view, std::string_view name_space, std::string_view local_queue);
// Kueue's status.admission. PRE: `holding` are pods on nodes, and one at least.
Value kueue_admission(const ClusterView& view, const std::string& cluster_queue,
                      const std::vector<const Value*>& holding);

}  // namespace berth
