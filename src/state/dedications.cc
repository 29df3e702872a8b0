#include "state/dedications.h"

#include <algorithm>
#include <string>
#include <utility>

#include "model/topology.h"

namespace berth {
namespace {

// The level of single nodes goes by their names.
bool says(std::string_view name, const Labels& labels, const Label& label) {
  if (label.key == kNodeLevel) return label.value == name;
  const std::string* const value = find_label(labels, label.key);
  return value != nullptr && *value == label.value;
}

}  // namespace

void Dedications::set(std::vector<Dedication> list, const std::vector<Node>& nodes) {
  list_ = std::move(list);
  owners_.clear();
  look_at(nodes, 0, nodes.size());
}

void Dedications::look_at(const std::vector<Node>& nodes, std::size_t first, std::size_t count) {
  if (list_.empty()) return;
  owners_.resize(nodes.size());
  for (std::size_t node = first; node < first + count; ++node) {
    owners_[node] = owners_of(nodes[node].name, nodes[node].labels);
  }
}

QueueId Dedications::keeper(QueueId home, NodeId node) const {
  return list_.empty() ? QueueId() : first_not_above(home, owners_[node.index()]);
}

QueueId Dedications::keeper(QueueId home, std::string_view name, const Labels& labels) const {
  return first_not_above(home, owners_of(name, labels));
}

Dedications::Owners Dedications::owners_of(std::string_view name, const Labels& labels) const {
  Owners owners;
  for (const Dedication& each : list_) {
    const bool owns = std::ranges::any_of(each.labels, [&](const Label& label) { return says(name, labels, label); });
    if (owns) owners.push_back(each.queue);
  }
  return owners;
}

QueueId Dedications::home_above(QueueId home) const {
  const auto found = std::ranges::find(list_, home, &Dedication::queue);
  return found == list_.end() ? QueueId() : found->home_above;
}

QueueId Dedications::first_not_above(QueueId home, const Owners& owners) const {
  for (const QueueId owner : owners) {
    QueueId at = home;
    while (!at.is_none() && at != owner) at = home_above(at);
    if (at.is_none()) return owner;
  }
  return {};
}

}  // namespace berth
