// Who waits for others to end, or to begin, before it may start, and for whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "model/event.h"
#include "model/ids.h"

namespace berth {

class Followers {
 public:
  // What has become of somebody. He begins once.
  enum class News : std::uint8_t { kBegun, kDone, kNotDone };

  // PRE: it waits for nobody yet, and none of these has ended. `in_vain`: another has ended, and not as it should have, or waits in
  // vain itself to be done.
  void add(WorkloadId follower, const std::vector<Dependency>& after, bool in_vain);
  // It waits for nobody any more, and never will.
  void forget(WorkloadId follower);
  // Those who wait for nobody else now, in the order in which they came. Whoever waits in vain makes all wait in vain to whom it
  // would have to be done.
  std::vector<WorkloadId> tell(WorkloadId workload, News news);

  bool waits(WorkloadId follower) const { return waiting_.contains(follower); }
  // For how many ends and beginnings it waits; how many of these are ends; and whether in vain, for one of those it waited for has not done what it
  // should, or never will.
  std::size_t waits_for(WorkloadId follower) const;
  std::size_t waits_for_ends(WorkloadId follower) const;
  // These, in the order in which they were named.
  std::vector<Dependency> awaited_by(WorkloadId follower) const;
  bool waits_in_vain(WorkloadId follower) const;

 private:
  struct Waiting {
    std::vector<Dependency> after;
    bool in_vain = false;
  };

  void give_up(WorkloadId follower);

  std::map<WorkloadId, Waiting> waiting_;
  std::map<WorkloadId, std::vector<WorkloadId>> followers_;  // of those who have not ended
};

}  // namespace berth
