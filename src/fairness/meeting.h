// Where two queues meet in the tree of queues, and on which sides of it they are.
#pragma once

#include <set>

#include "state/quota_tree.h"

namespace berth {

// The child of `above` on the way down to `queue`; none: the queue itself.
inline QueueId child_towards(const QuotaTree& tree, QueueId queue, QueueId above) {
  QueueId child;
  for (; queue != above; queue = tree.parent(queue)) child = queue;
  return child;
}

// The lowest that both are below, or are; none: that of all.
inline QueueId where_they_meet(const QuotaTree& tree, QueueId a, QueueId b) {
  std::set<QueueId> above;
  for (QueueId at = a; !at.is_none(); at = tree.parent(at)) above.insert(at);
  while (!b.is_none() && !above.contains(b)) b = tree.parent(b);
  return b;
}

}  // namespace berth
