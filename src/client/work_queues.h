// In which queue work is that does not say so itself, and which queues of Kueue's its LocalQueues lead to.
#pragma once

#include <vector>

#include "client/work.h"
#include "manifest/value.h"

namespace berth {

// Of pods that name no queue: that of their group, which the scheduler has from their PodGroup or from what made them, and writes
// in the group's Workload.
void take_queues_of_groups(std::vector<Work>& work, const std::vector<Value>& workloads);
// Of work in LocalQueues: the ClusterQueue, as the scheduler names it.
void take_cluster_queues(std::vector<Work>& work, const std::vector<Value>& local_queues);

}  // namespace berth
