// Which nodes each kind of constraints allows, found once for each pair: filters only look it up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/intern.h"
#include "model/ids.h"
#include "model/node.h"
#include "state/dedications.h"

namespace berth {

std::uint64_t digest_of(const NodeConstraints& constraints);

// Its own nodes are liked more than any others, whatever a pod prefers.
inline constexpr std::int64_t kOwnNodeLiking = std::int64_t{1} << 36;

// What a pod asks, and whose it is where that makes a difference.
struct HomedConstraints {
  NodeConstraints constraints = {};
  QueueId home = {};

  friend bool operator==(const HomedConstraints&, const HomedConstraints&) = default;
};
std::uint64_t digest_of(const HomedConstraints& homed);

// Constraints 0 are those of a pod that asks nothing and is at home nowhere: any node will do whose taints keep nobody away
// and which is nobody's own. As long as no node has taints, no pod constraints and no queue nodes of its own, nothing is
// kept, everything is allowed and nothing preferred.
class NodeMatches {
 public:
  bool selects(NodeConstraintsId constraints, NodeId node) const {
    return rows_.empty() || has(rows_[constraints.index()]->selected, node);
  }
  // The same, but for nodes that are other queues' own.
  bool would_have(NodeConstraintsId constraints, NodeId node) const {
    return selects(constraints, node) && dedications_->keeper(home_of(constraints), node).is_none();
  }
  // Neither a taint nor a queue whose own it is keeps the pod away.
  bool tolerates(NodeConstraintsId constraints, NodeId node) const {
    return rows_.empty() || has(rows_[constraints.index()]->tolerated, node);
  }
  bool allows(NodeConstraintsId constraints, NodeId node) const {
    return rows_.empty() ||
           (has(rows_[constraints.index()]->selected, node) && has(rows_[constraints.index()]->tolerated, node));
  }
  // How well the pods like each node, as berth::liking() has it, and kOwnNodeLiking more; empty: all the same.
  std::span<const std::int64_t> likings(NodeConstraintsId constraints) const {
    return rows_.empty() ? std::span<const std::int64_t>() : rows_[constraints.index()]->liking;
  }
  // How much better a node is for the images that it has, by berth::image_points().
  std::int64_t image_points(NodeConstraintsId constraints, NodeId node) const {
    if (rows_.empty() || rows_[constraints.index()]->image_points.empty()) return 0;
    return rows_[constraints.index()]->image_points[node.index()];
  }
  // Whether everything is allowed everywhere.
  bool allows_all() const { return rows_.empty(); }
  std::size_t size() const { return rows_.size(); }

  const NodeConstraints& operator[](NodeConstraintsId constraints) const {
    return (*kinds_)[constraints.index()].constraints;
  }
  QueueId home_of(NodeConstraintsId constraints) const {
    return rows_.empty() ? QueueId() : (*kinds_)[constraints.index()].home;
  }
  const Dedications& dedications() const { return *dedications_; }

  // Their number; they are looked at with all these nodes if they are new.
  NodeConstraintsId intern(const HomedConstraints& homed, const std::vector<Node>& nodes);
  // The same at another home.
  NodeConstraintsId with_home(NodeConstraintsId constraints, QueueId home, const std::vector<Node>& nodes);
  // These queues have nodes of their own from now on, and no others.
  void dedicate(std::vector<Dedication> list, const std::vector<Node>& nodes);
  // The nodes from `first` on are new, or say something else of themselves than before.
  void look_at(const std::vector<Node>& nodes, std::size_t first, std::size_t count);
  // Nodes have these images now, and had not before, or the other way round. Those that somebody likes more or less for that.
  std::vector<NodeId> look_at_images(const std::vector<std::string>& changed, const std::vector<Node>& nodes);

 private:
  using Kinds = InternTable<HomedConstraints, digest_of>;
  using Bits = std::vector<std::uint64_t>;
  struct Row {
    Bits selected;                           // by node
    Bits tolerated;                          // by node
    std::vector<std::int64_t> liking;        // by node; empty: 0 of all
    std::vector<std::uint8_t> image_points;  // the same
  };

  static bool has(const Bits& bits, NodeId node) { return ((bits[node.index() / 64] >> (node.index() % 64)) & 1) != 0; }
  void look_at(std::size_t row, const std::vector<Node>& nodes, std::size_t first, std::size_t count);
  void begin(const std::vector<Node>& nodes);
  std::vector<std::uint8_t> points_of(const std::vector<std::string>& images, const std::vector<Node>& nodes) const;

  // Copies share rows until one of them writes.
  std::shared_ptr<Kinds> kinds_;
  std::shared_ptr<Dedications> dedications_ = std::make_shared<Dedications>();
  std::vector<std::shared_ptr<Row>> rows_;  // by constraints
};

}  // namespace berth
