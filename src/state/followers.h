// Who waits for others to end before it may start, and for whom.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "model/event.h"
#include "model/ids.h"

namespace berth {

class Followers {
 public:
  // PRE: it waits for nobody yet, and none of these has ended. `in_vain`: another has ended, and not as it should have.
  void add(WorkloadId follower, const std::vector<Dependency>& after, bool in_vain);
  // It waits for nobody any more, and never will.
  void forget(WorkloadId follower);
  // Somebody has ended, done or not: those who wait for nobody else now, in the order in which they came.
  std::vector<WorkloadId> ended(WorkloadId workload, bool done);

  bool waits(WorkloadId follower) const { return waiting_.contains(follower); }
  // For how many it waits; and whether in vain, for one of those it waited for has not done what it should.
  std::size_t waits_for(WorkloadId follower) const;
  bool waits_in_vain(WorkloadId follower) const;

 private:
  struct Waiting {
    std::vector<Dependency> after;
    bool in_vain = false;
  };

  std::map<WorkloadId, Waiting> waiting_;
  std::map<WorkloadId, std::vector<WorkloadId>> followers_;  // of those who have not ended
};

}  // namespace berth
