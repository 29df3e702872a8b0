#include "state/node_matches.h"

#include <algorithm>
#include <utility>

namespace berth {

std::uint64_t digest_of(const NodeConstraints& constraints) {
  Hasher hasher;
  constraints.add_to(hasher);
  return hasher.digest();
}

std::uint64_t digest_of(const HomedConstraints& homed) {
  Hasher hasher;
  homed.constraints.add_to(hasher);
  hasher.add(homed.home.value());
  return hasher.digest();
}

NodeConstraintsId NodeMatches::intern(const HomedConstraints& homed, const std::vector<Node>& nodes) {
  if (homed == HomedConstraints()) return NodeConstraintsId(0);
  if (rows_.empty()) begin(nodes);
  if (kinds_.use_count() > 1) kinds_ = std::make_shared<Kinds>(*kinds_);
  const std::size_t id = kinds_->intern(homed);
  if (id == rows_.size()) {
    rows_.push_back(std::make_shared<Row>());
    look_at(id, nodes, 0, nodes.size());
  }
  return NodeConstraintsId(id);
}

NodeConstraintsId NodeMatches::with_home(NodeConstraintsId constraints, QueueId home, const std::vector<Node>& nodes) {
  if (home_of(constraints) == home) return constraints;
  return intern({rows_.empty() ? NodeConstraints() : (*this)[constraints], home}, nodes);
}

void NodeMatches::dedicate(std::vector<Dedication> list, const std::vector<Node>& nodes) {
  dedications_ = std::make_shared<Dedications>();
  dedications_->set(std::move(list), nodes);
  if (rows_.empty() && dedications_->empty()) return;
  if (rows_.empty()) return begin(nodes);
  for (std::size_t row = 0; row < rows_.size(); ++row) look_at(row, nodes, 0, nodes.size());
}

void NodeMatches::look_at(const std::vector<Node>& nodes, std::size_t first, std::size_t count) {
  if (!dedications_->empty()) {
    if (dedications_.use_count() > 1) dedications_ = std::make_shared<Dedications>(*dedications_);
    dedications_->look_at(nodes, first, count);
  }
  const auto has_taints = [](const Node& node) { return !node.taints.empty(); };
  if (rows_.empty()) {
    if (std::ranges::none_of(nodes, has_taints)) return;
    return begin(nodes);
  }
  for (std::size_t row = 0; row < rows_.size(); ++row) look_at(row, nodes, first, count);
}

void NodeMatches::begin(const std::vector<Node>& nodes) {
  kinds_ = std::make_shared<Kinds>();
  kinds_->intern(HomedConstraints());
  rows_.push_back(std::make_shared<Row>());
  look_at(0, nodes, 0, nodes.size());
}

void NodeMatches::look_at(std::size_t at, const std::vector<Node>& nodes, std::size_t first, std::size_t count) {
  if (rows_[at].use_count() > 1) rows_[at] = std::make_shared<Row>(*rows_[at]);
  Row& row = *rows_[at];
  const auto& [constraints, home] = (*kinds_)[at];
  row.selected.resize((nodes.size() + 63) / 64);
  row.tolerated.resize((nodes.size() + 63) / 64);
  const auto set = [](Bits& bits, std::size_t node, bool value) {
    const std::uint64_t bit = std::uint64_t{1} << (node % 64);
    bits[node / 64] = value ? bits[node / 64] | bit : bits[node / 64] & ~bit;
  };
  for (std::size_t node = first; node < first + count; ++node) {
    set(row.selected, node, berth::selects(constraints, nodes[node].name, nodes[node].labels));
    const bool kept_out = !dedications_->keeper(home, NodeId(node)).is_none();
    set(row.tolerated, node, !kept_out && berth::tolerates(constraints, nodes[node].taints));
  }
  if (!row.liking.empty()) row.liking.resize(nodes.size());
  for (std::size_t node = first; node < first + count; ++node) {
    const bool is_own = dedications_->is_owned(NodeId(node)) && dedications_->keeper(home, NodeId(node)).is_none();
    const std::int64_t liking = berth::liking(constraints, nodes[node].name, nodes[node].labels, nodes[node].taints) +
                                (is_own ? kOwnNodeLiking : 0);
    if (row.liking.empty() && liking != 0) row.liking.resize(nodes.size());
    if (!row.liking.empty()) row.liking[node] = liking;
  }
}

}  // namespace berth
