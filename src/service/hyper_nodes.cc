#include "service/hyper_nodes.h"

#include <algorithm>
#include <utility>

namespace berth {

void HyperNodes::set(const Value& object) {
  const std::string name(object["metadata"]["name"].text());
  const auto [at, is_new] = objects_.try_emplace(name);
  // Its status is ours: nothing follows from it.
  const bool same = !is_new && at->second.object["spec"] == object["spec"];
  at->second.object = object;
  if (same) return;
  at->second.read = read_hyper_node(object);
  changed_ = true;
}

void HyperNodes::remove(const std::string& name) { changed_ = objects_.erase(name) > 0 || changed_; }

void HyperNodes::set_node(const NodeFacts& node) {
  const auto known = nodes_.find(node.name);
  if (known == nodes_.end() || known->second.labels != node.labels) changed_ = changed_ || !objects_.empty();
  nodes_[node.name] = node;
  engine_.set_node(resolved(node));
}

void HyperNodes::remove_node(const std::string& name) {
  nodes_.erase(name);
  told_.erase(name);
  changed_ = changed_ || !objects_.empty();
  engine_.remove_node(name);
}

void HyperNodes::settle() {
  if (!std::exchange(changed_, false)) return;
  std::vector<HyperNode> hyper_nodes;
  for (const auto& [name, held] : objects_) hyper_nodes.push_back(held.read);
  std::vector<NamedLabels> nodes;
  for (const auto& [name, facts] : nodes_) nodes.push_back({name, &facts.labels});
  HyperNodeDomains found = domains_of(hyper_nodes, nodes);
  standings_ = std::move(found.standings);
  const auto before = std::exchange(told_, std::move(found.of_nodes));
  for (const auto& [name, facts] : nodes_) {
    const auto was = before.find(name);
    const auto is = told_.find(name);
    const bool same = was == before.end() ? is == told_.end() : is != told_.end() && was->second == is->second;
    if (!same) engine_.set_node(resolved(facts));
  }
}

// A label of its own of that name does not count.
NodeFacts HyperNodes::resolved(const NodeFacts& node) const {
  const auto tiers = told_.find(node.name);
  if (tiers == told_.end()) return node;
  NodeFacts made = node;
  Labels& labels = made.says.labels;
  for (const auto& [tier, name] : tiers->second) {
    const std::string level = level_of_tier(tier);
    std::erase_if(labels, [&](const Label& each) { return each.key == level; });
    labels.push_back({level, name});
  }
  std::ranges::sort(labels);
  return made;
}

std::vector<OtherStatus> HyperNodes::statuses(Time now) const {
  std::vector<OtherStatus> statuses;
  for (const auto& [name, held] : objects_) {
    const auto found = standings_.find(name);
    if (found == standings_.end()) continue;
    const HyperNodeStanding& standing = found->second;
    const bool well = standing.reason.empty();
    Value condition = status_condition(
        "Ready", well, well ? "Ready" : standing.reason,
        well ? "its nodes are a domain of the level " + level_of_tier(held.read.tier) : standing.problem, held.object,
        now);
    statuses.push_back(
        {std::string(kHyperNodes), "", name, std::string(held.object["metadata"]["uid"].text()),
         Value::map_of({{"nodeCount", standing.nodes}, {"conditions", Value::List{std::move(condition)}}})});
  }
  return statuses;
}

}  // namespace berth
