// What was told of each queue, and when its status is to be written anew: each write costs a change in the store, and all who
// watch queues hear of it. No threads, clocks or sockets.
//
// What people and work do shows at once, in the next of the scheduler's looks (one a second). What time alone does is told at
// most every 10 s, and of it what a queue held in the past, and the shares by which it stands in its turn, only if some amount
// of the past has moved by a hundredth, or after a minute: so much may be forgotten if the scheduler is killed.
#pragma once

#include <map>
#include <set>
#include <string>

#include "base/time.h"
#include "service/live_engine.h"

namespace berth {

class ToldStandings {
 public:
  // Whether this is to be told now; then it counts as told, and nothing more is of the queue until note_told(): of two calls on
  // their way the first could be the last to arrive.
  bool is_due(const std::string& queue, const QueueStanding& standing, Time now);
  // It has arrived, or will never; or it did not, and is to be told again.
  void note_told(const std::string& queue, bool arrived);
  // Of all others nothing is known any more.
  void keep_only(const std::map<std::string, QueueStanding>& queues);
  std::size_t size() const { return told_.size() + on_their_way_.size(); }

 private:
  struct Told {
    QueueStanding standing;
    Time at;
  };
  std::map<std::string, Told> told_;
  std::set<std::string> on_their_way_;
};

}  // namespace berth
