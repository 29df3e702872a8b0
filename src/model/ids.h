// Which thing is meant. Each is an index into the table of its kind in the state; names are for people only.
#pragma once

#include "base/id.h"

namespace berth {

using FlavorId = Id<struct FlavorTag>;
using QueueId = Id<struct QueueTag>;
using NodeId = Id<struct NodeTag>;                        // nodes in the run's order: the smaller id wins a tie
using NodeConstraintsId = Id<struct NodeConstraintsTag>;  // distinct constraints; 0: none
using NeighboursId = Id<struct NeighboursTag>;            // distinct neighbours; 0: none
using TopologyId = Id<struct TopologyTag>;                // distinct topologies; 0: none asked
using DomainId = Id<struct DomainTag>;                    // domains of one level
using RequestId = Id<struct RequestTag>;                  // distinct pod requests
using ShapeId = Id<struct ShapeTag>;                      // distinct workload shapes: identical ones are tried once
using WorkloadId = Id<struct WorkloadTag>;                // in the order of submission; never used again
using PodId = Id<struct PodTag>;                          // running pods
using UserId = Id<struct UserTag>;                        // people, in the order in which they first submitted
using SharerId = Id<struct SharerTag>;  // in whose name a part of a device is held: a tenant, or one of its users
using ExclusiveId =
    Id<struct ExclusiveTag>;  // in the name of which workload a pod is alone in its domains, and of which level
using ReservationId = Id<struct ReservationTag>;  // in the order in which they were made; never used again
using SeriesId = Id<struct SeriesTag>;            // of those who take turns, as whoever submits them numbers them
using UnitId = Id<struct UnitTag>;                // what counts against quotas as one: running workloads

}  // namespace berth
