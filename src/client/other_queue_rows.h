// Kueue's ClusterQueues and Cohorts as queues that the listings of queues show: what their own statuses say, and no more.
#pragma once

#include <vector>

#include "manifest/value.h"

namespace berth {

// In the words of Berth's Queue, named "clusterqueue/NAME" and "cohort/NAME", as the scheduler calls them.
std::vector<Value> as_queues(const std::vector<Value>& cluster_queues, const std::vector<Value>& cohorts);

}  // namespace berth
