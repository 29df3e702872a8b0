// Which nodes are of one queue alone, and of those below it (docs/semantics.md, "Nodes of one queue").
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "model/ids.h"
#include "model/node.h"

namespace berth {

// A queue's own nodes: all that say one of these labels of themselves.
struct Dedication {
  QueueId queue;
  QueueId home_above;  // the nearest queue above it that has nodes of its own; none: no other has
  std::vector<Label> labels;

  friend bool operator==(const Dedication&, const Dedication&) = default;
};

// The home of work is the nearest queue, from its own upwards, that has nodes of its own. It may go where nobody has, and to
// those of its home and of the homes above that one.
class Dedications {
 public:
  bool empty() const { return list_.empty(); }
  void set(std::vector<Dedication> list, const std::vector<Node>& nodes);
  // The nodes from `first` on are new, or say something else of themselves than before.
  void look_at(const std::vector<Node>& nodes, std::size_t first, std::size_t count);

  // Whether some queue has it for its own.
  bool is_owned(NodeId node) const { return !list_.empty() && !owners_[node.index()].empty(); }
  // Whose the node is, if work of that home may not go there; none: it may.
  QueueId keeper(QueueId home, NodeId node) const;
  // The same of a node that would say so of itself.
  QueueId keeper(QueueId home, std::string_view name, const Labels& labels) const;

 private:
  using Owners = std::vector<QueueId>;

  Owners owners_of(std::string_view name, const Labels& labels) const;
  QueueId home_above(QueueId home) const;
  QueueId first_not_above(QueueId home, const Owners& owners) const;

  std::vector<Dedication> list_;
  std::vector<Owners> owners_;  // by node; empty where no queue has any
};

}  // namespace berth
