// How well a kind of pod would like to be on a node: what it prefers, and behind all of that whether the node is avoided.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "state/ledger.h"

namespace berth {

class NodeLiking {
 public:
  NodeLiking(const Ledger& ledger, const PodRequest& request)
      : ledger_(ledger), likings_(ledger.matches().likings(request.constraints)) {}

  std::int64_t operator()(NodeId node) const {
    constexpr std::int64_t kAvoided = std::int64_t{1} << 37;
    return (likings_.empty() ? 0 : likings_[node.index()]) - (ledger_.is_avoided(node) ? kAvoided : 0);
  }
  // Of all nodes; then it need not be asked.
  bool is_alike() const { return likings_.empty() && ledger_.avoided().empty(); }
  bool is_alike(std::span<const NodeId> nodes) const {
    return is_alike() || nodes.empty() ||
           std::ranges::all_of(nodes, [&](NodeId node) { return (*this)(node) == (*this)(nodes.front()); });
  }

 private:
  const Ledger& ledger_;
  std::span<const std::int64_t> likings_;
};

}  // namespace berth
