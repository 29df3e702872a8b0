// Nodes that failed again and again of late: they are the last that anybody is given (docs/semantics.md, "Nodes that fail").
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/ids.h"

namespace berth {

// So often within so long, and a node is avoided until one of these failures is longer ago.
inline constexpr std::size_t kNodeFailuresMany = 2;
inline constexpr Duration kNodeFailuresWithin{24 * 3'600'000};

// INVARIANT: of each node the last kNodeFailuresMany failures at most, ascending, none longer ago than kNodeFailuresWithin when
// time was last told.
class NodeFailures {
 public:
  void note(NodeId node, Time at) {
    std::vector<Time>& times = of_[node];
    times.insert(std::ranges::upper_bound(times, at), at);
    if (times.size() > kNodeFailuresMany) {
      const Time first = times.front();
      times.erase(times.begin());
      if (times.front() != first) forgets_.erase({first + kNodeFailuresWithin, node});
    }
    forgets_.emplace(at + kNodeFailuresWithin, node);
  }

  // It is so late. The nodes of which something was forgotten.
  std::vector<NodeId> forget(Time now) {
    std::vector<NodeId> news;
    while (!forgets_.empty() && forgets_.begin()->first <= now) {
      const NodeId node = forgets_.begin()->second;
      forgets_.erase(forgets_.begin());
      std::vector<Time>& times = of_[node];
      std::erase_if(times, [&](Time each) { return each + kNodeFailuresWithin <= now; });
      if (times.empty()) of_.erase(node);
      news.push_back(node);
    }
    return news;
  }

  bool none() const { return of_.empty(); }
  std::size_t of(NodeId node) const {
    const auto found = of_.find(node);
    return found == of_.end() ? 0 : found->second.size();
  }
  bool are_many(NodeId node) const { return of(node) >= kNodeFailuresMany; }
  // When it is avoided no more, if it does not fail again. PRE: are_many().
  Time forgiven_at(NodeId node) const { return of_.at(node).front() + kNodeFailuresWithin; }

 private:
  std::map<NodeId, std::vector<Time>> of_;
  std::set<std::pair<Time, NodeId>> forgets_;  // when a failure is forgotten
};

}  // namespace berth
