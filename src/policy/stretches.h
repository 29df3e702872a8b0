// The stretches of time that the windows of a policy make: in each of them the amounts of all queues stay as they are.
#pragma once

#include <string>
#include <vector>

#include "model/queue.h"
#include "policy/policy.h"
#include "state/turns.h"

namespace berth {

class Stretches {
 public:
  // The policy must outlive this.
  explicit Stretches(const Policy& policy);

  // Each set of windows that is open at some time and no others, in the order of time: over more than a year, so that clocks of
  // several zones have been set forward and back. One, of no windows, where a policy has none.
  const std::vector<OpenWindows>& all() const { return all_; }
  std::vector<Queue> queues_while(OpenWindows open) const;

  // "the window daily 20:00-08:00 of research is open"; of several the first hours at which they all are, too. PRE: it is one at
  // least.
  std::string in_words(OpenWindows open) const;

 private:
  std::string first_hours(OpenWindows open) const;

  const Policy& policy_;
  std::vector<Window> windows_;
  std::vector<Turn> turns_;  // from the beginning on
  std::vector<OpenWindows> all_;
};

}  // namespace berth
