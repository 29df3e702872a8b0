#include "state/node_matches.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/wide.h"

namespace berth {
namespace {

// To be written to: copies share it.
template <class Row>
Row& own(std::shared_ptr<Row>& row) {
  if (row.use_count() > 1) row = std::make_shared<Row>(*row);
  return *row;
}

}  // namespace

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
  Row& row = own(rows_[at]);
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
  // How many nodes have an image matters to all.
  row.image_points = points_of(constraints.images, nodes);
}

std::vector<std::uint8_t> NodeMatches::points_of(const std::vector<std::string>& images,
                                                 const std::vector<Node>& nodes) const {
  if (images.empty()) return {};
  const auto bytes_of = [](const Node& node, const std::string& name) {
    const auto found = std::ranges::find(node.images, name, &NodeImage::name);
    return found == node.images.end() ? std::int64_t{-1} : found->bytes;
  };
  const auto all = static_cast<std::int64_t>(nodes.size());
  std::vector<std::int64_t> sums(nodes.size());
  for (const std::string& name : images) {
    const auto have = std::ranges::count_if(nodes, [&](const Node& each) { return bytes_of(each, name) >= 0; });
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      const std::int64_t bytes = bytes_of(nodes[node], name);
      if (bytes > 0) sums[node] += static_cast<std::int64_t>(Wide{bytes} * have / all);
    }
  }
  std::vector<std::uint8_t> points(nodes.size());
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    points[node] = static_cast<std::uint8_t>(berth::image_points(sums[node], images.size()));
  }
  return points;
}

std::vector<NodeId> NodeMatches::look_at_images(const std::vector<std::string>& changed,
                                                const std::vector<Node>& nodes) {
  std::set<NodeId> news;
  for (std::size_t at = 0; at < rows_.size(); ++at) {
    const std::vector<std::string>& images = (*kinds_)[at].constraints.images;
    const auto is_asked = [&](const std::string& name) { return std::ranges::find(images, name) != images.end(); };
    if (std::ranges::none_of(changed, is_asked)) continue;
    std::vector<std::uint8_t> points = points_of(images, nodes);
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      if (points[node] != rows_[at]->image_points[node]) news.insert(NodeId(node));
    }
    own(rows_[at]).image_points = std::move(points);
  }
  return {news.begin(), news.end()};
}

}  // namespace berth
