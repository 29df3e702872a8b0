// Who is next: the workloads that wait, in the order in which one cycle may try them.
#pragma once

#include <optional>
#include <vector>

#include "model/flavor.h"
#include "state/pending.h"
#include "state/state.h"

namespace berth {

// Lines stand side by side: a line that is held up holds up no other, and among the lines' candidates who was submitted
// first goes first. INVARIANT: the state does not change while this is in use.
class CandidateOrder {
 public:
  explicit CandidateOrder(const State& state);

  // The next to try; none when all that wait have been tried or stand behind somebody who did not fit.
  std::optional<WorkloadId> next();
  // What became of the last that next() gave. Started: the next of its shape may be tried.
  void started();
  // It did not fit, and so would nobody of its shape. In a strict line, whoever could use the same flavors waits behind.
  void refused();
  // It can never run as things are; who stands behind it does not wait for it.
  void passed_over();

 private:
  // The first untried workload of one shape.
  struct Entry {
    PendingKey key;
    const ShapeInLine* shape = nullptr;
    SortedBlocks<PendingKey>::Cursor at;
  };
  struct Turn {
    const Line* line = nullptr;
    std::vector<Entry> heap;  // the smallest key on top
    FlavorSet held;           // by blocked heads of a strict line
  };

  void drop_the_held(Turn& turn);
  FlavorSet flavors_of(const Entry& entry) const { return state_.shape(entry.shape->shape).flavors; }

  const State& state_;
  FlavorSet known_;
  std::vector<Turn> turns_;
  Turn* current_ = nullptr;
};

}  // namespace berth
