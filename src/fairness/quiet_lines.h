// Which lines had nobody to try when they were last looked at. Most lines stand still in most cycles, and looking at each
// again is what such a cycle would cost.
//
// A cache of one state, which is not exchanged for another. Drop it, and the next answer is the same.
#pragma once

#include <cstdint>
#include <vector>

#include "model/ids.h"
#include "state/state.h"

namespace berth {

class QuietLines {
 public:
  // Forgets what news has overtaken. To be called before the others, at each look at the state.
  void look_at(const State& state) {
    if (news_ == state.news() && changes_.size() == state.lines().size()) return;
    news_ = state.news();
    changes_.assign(state.lines().size(), kNotQuiet);
  }
  bool holds(QueueId queue, const Line& line) const { return changes_[queue.index()] == line.changes(); }
  void note(QueueId queue, const Line& line) { changes_[queue.index()] = line.changes(); }

 private:
  static constexpr std::uint64_t kNotQuiet = UINT64_MAX;

  std::uint64_t news_ = 0;
  std::vector<std::uint64_t> changes_;  // by queue: of its line, when it had nobody to try
};

}  // namespace berth
