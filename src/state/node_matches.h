// Which nodes each kind of constraints allows, found once for each pair: filters only look it up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/intern.h"
#include "model/ids.h"
#include "model/node.h"

namespace berth {

std::uint64_t digest_of(const NodeConstraints& constraints);

// Constraints 0 are those of a pod that asks nothing: any node will do whose taints keep nobody away. As long as no node
// has taints and no pod constraints, nothing is kept, everything is allowed and nothing preferred.
class NodeMatches {
 public:
  bool selects(NodeConstraintsId constraints, NodeId node) const {
    return rows_.empty() || has(rows_[constraints.index()]->selected, node);
  }
  bool tolerates(NodeConstraintsId constraints, NodeId node) const {
    return rows_.empty() || has(rows_[constraints.index()]->tolerated, node);
  }
  bool allows(NodeConstraintsId constraints, NodeId node) const {
    return rows_.empty() ||
           (has(rows_[constraints.index()]->selected, node) && has(rows_[constraints.index()]->tolerated, node));
  }
  // How well the pods like each node, as berth::liking() has it; empty: all the same.
  std::span<const std::int64_t> likings(NodeConstraintsId constraints) const {
    return rows_.empty() ? std::span<const std::int64_t>() : rows_[constraints.index()]->liking;
  }
  // Whether everything is allowed everywhere.
  bool allows_all() const { return rows_.empty(); }
  std::size_t size() const { return rows_.size(); }

  const NodeConstraints& operator[](NodeConstraintsId constraints) const { return (*kinds_)[constraints.index()]; }

  // Their number; they are looked at with all these nodes if they are new.
  NodeConstraintsId intern(const NodeConstraints& constraints, const std::vector<Node>& nodes);
  // The nodes from `first` on are new, or say something else of themselves than before.
  void look_at(const std::vector<Node>& nodes, std::size_t first, std::size_t count);

 private:
  using Kinds = InternTable<NodeConstraints, digest_of>;
  using Bits = std::vector<std::uint64_t>;
  struct Row {
    Bits selected;                     // by node
    Bits tolerated;                    // by node
    std::vector<std::int64_t> liking;  // by node; empty: 0 of all
  };

  static bool has(const Bits& bits, NodeId node) { return ((bits[node.index() / 64] >> (node.index() % 64)) & 1) != 0; }
  void look_at(std::size_t row, const std::vector<Node>& nodes, std::size_t first, std::size_t count);
  void begin(const std::vector<Node>& nodes);

  // Copies share rows until one of them writes.
  std::shared_ptr<Kinds> kinds_;
  std::vector<std::shared_ptr<Row>> rows_;  // by constraints
};

}  // namespace berth
