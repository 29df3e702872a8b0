// A thread of its own for what costs time and no decision waits for, one piece after the other. What it works on it has been given
// whole: forks of the state, and copies.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "kube/strand.h"

namespace berth {

// Decisions go first where there are not enough cores. On Linux this is the calling thread alone.
void give_way();

class Background {
 public:
  using Work = std::function<void()>;

  // `post` runs a function on the scheduler's thread.
  explicit Background(std::function<void(Work)> post);
  ~Background();

  // On the scheduler's thread, as what follows.
  bool is_idle() const { return idle_; }
  // From any thread: nobody wants what the work would come to.
  bool is_stopped() const { return stopped_; }
  // The work is done there, and what it returns here afterwards. What it was given ends here, too: forks share with the engine what
  // changes rarely. PRE: it is idle.
  void ask(std::function<Work()> work);

 private:
  std::function<void(Work)> post_;
  bool idle_ = true;
  std::function<Work()> work_;  // that the worker is at
  std::atomic<bool> stopped_ = false;
  Strand worker_;  // last: it uses all of the above
};

}  // namespace berth
