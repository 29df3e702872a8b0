#include "state/node_matches.h"

#include <algorithm>

namespace berth {

std::uint64_t digest_of(const NodeConstraints& constraints) {
  Hasher hasher;
  constraints.add_to(hasher);
  return hasher.digest();
}

NodeConstraintsId NodeMatches::intern(const NodeConstraints& constraints, const std::vector<Node>& nodes) {
  if (constraints == NodeConstraints()) return NodeConstraintsId(0);
  if (rows_.empty()) begin(nodes);
  if (kinds_.use_count() > 1) kinds_ = std::make_shared<Kinds>(*kinds_);
  const std::size_t id = kinds_->intern(constraints);
  if (id == rows_.size()) {
    rows_.push_back(std::make_shared<Row>());
    look_at(id, nodes, 0, nodes.size());
  }
  return NodeConstraintsId(id);
}

void NodeMatches::look_at(const std::vector<Node>& nodes, std::size_t first, std::size_t count) {
  const auto has_taints = [](const Node& node) { return !node.taints.empty(); };
  if (rows_.empty()) {
    if (std::ranges::none_of(nodes, has_taints)) return;
    return begin(nodes);
  }
  for (std::size_t row = 0; row < rows_.size(); ++row) look_at(row, nodes, first, count);
}

void NodeMatches::begin(const std::vector<Node>& nodes) {
  kinds_ = std::make_shared<Kinds>();
  kinds_->intern(NodeConstraints());
  rows_.push_back(std::make_shared<Row>());
  look_at(0, nodes, 0, nodes.size());
}

void NodeMatches::look_at(std::size_t at, const std::vector<Node>& nodes, std::size_t first, std::size_t count) {
  if (rows_[at].use_count() > 1) rows_[at] = std::make_shared<Row>(*rows_[at]);
  Row& row = *rows_[at];
  const NodeConstraints& constraints = (*kinds_)[at];
  row.selected.resize((nodes.size() + 63) / 64);
  row.tolerated.resize((nodes.size() + 63) / 64);
  const auto set = [](Bits& bits, std::size_t node, bool value) {
    const std::uint64_t bit = std::uint64_t{1} << (node % 64);
    bits[node / 64] = value ? bits[node / 64] | bit : bits[node / 64] & ~bit;
  };
  for (std::size_t node = first; node < first + count; ++node) {
    set(row.selected, node, berth::selects(constraints, nodes[node].name, nodes[node].labels));
    set(row.tolerated, node, berth::tolerates(constraints, nodes[node].taints));
  }
  if (!row.liking.empty()) row.liking.resize(nodes.size());
  for (std::size_t node = first; node < first + count; ++node) {
    const std::int64_t liking = berth::liking(constraints, nodes[node].name, nodes[node].labels, nodes[node].taints);
    if (row.liking.empty() && liking != 0) row.liking.resize(nodes.size());
    if (!row.liking.empty()) row.liking[node] = liking;
  }
}

}  // namespace berth
