// Workloads that take turns: of those of one series at most so many have a turn at a time (arrays with a bound, and those of
// one name). A turn begins in the order in which they came and lasts until the workload has ended, wherever it is meanwhile:
// so no more than that ever run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "model/ids.h"

namespace berth {

class SeriesTurns {
 public:
  // INVARIANT: nobody waits while there are fewer turns than there may be.
  struct Series {
    std::int32_t at_most = 1;
    std::size_t turns = 0;         // that have begun and not ended; of who was found running perhaps more than may
    std::set<WorkloadId> waiting;  // by number: as they came
  };

  // One more; what it says of how many holds for all. Whose turn it is now, perhaps its own.
  std::vector<WorkloadId> join(WorkloadId workload, SeriesId series, std::int32_t at_most);
  // It has its turn, whoever else has one: it runs already. PRE: it waits for it.
  void take(WorkloadId workload, SeriesId series);
  // It has ended, in its turn or waiting for it. Whose turn it is now.
  std::vector<WorkloadId> leave(WorkloadId workload, SeriesId series);

  // By series; those of which nobody is left are forgotten.
  const std::map<SeriesId, Series>& all() const { return all_; }

 private:
  static std::vector<WorkloadId> give_turns(Series& series);

  std::map<SeriesId, Series> all_;
};

}  // namespace berth
