#include "manifest/hyper_nodes.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "base/wording.h"

namespace berth {
namespace {

constexpr std::size_t kNamedMax = 5;

HyperNodeMember read_member(const Value& member, const std::string& path, std::vector<HyperNodeProblem>& problems) {
  HyperNodeMember read;
  const std::string_view type = member["type"].text();
  if (type != "Node" && type != "HyperNode") {
    problems.push_back({path + ".type", quote(type) + " is neither Node nor HyperNode; write one of them"});
  }
  read.of_nodes = type != "HyperNode";
  const Value& selector = member["selector"];
  const std::string at = path + ".selector";
  const Value &exact = selector["exactMatch"], &regex = selector["regexMatch"], &labels = selector["labelMatch"];
  const int ways = (exact.is_null() ? 0 : 1) + (regex.is_null() ? 0 : 1) + (labels.is_null() ? 0 : 1);
  if (ways != 1) {
    problems.push_back({at, std::string(ways == 0 ? "it selects nothing" : "it selects in several ways") +
                                "; write one of exactMatch, regexMatch and labelMatch"});
    return read;
  }
  if (!exact.is_null()) {
    read.name = exact["name"].text();
    if (read.name.empty())
      problems.push_back({at + ".exactMatch.name", "it names nothing; write the name of a member"});
  } else if (!regex.is_null()) {
    auto pattern = NamePattern::parse(regex["pattern"].text());
    if (pattern) {
      read.pattern = *std::move(pattern);
    } else {
      problems.push_back({at + ".regexMatch.pattern", quote(regex["pattern"].text()) + ": " + pattern.error()});
    }
  } else if (!read.of_nodes) {
    problems.push_back({at + ".labelMatch", "HyperNodes are not selected by labels; write exactMatch or regexMatch"});
  } else if (auto parsed = LabelSelector::from_object(labels)) {
    read.labels = *std::move(parsed);
  } else {
    problems.push_back({at + ".labelMatch", parsed.error().to_string()});
  }
  return read;
}

class DomainFinder {
 public:
  DomainFinder(const std::vector<HyperNode>& hyper_nodes, const std::vector<NamedLabels>& nodes) : nodes_(nodes) {
    for (const HyperNode& each : hyper_nodes) by_name_.emplace(each.name, &each);
  }

  HyperNodeDomains find() {
    std::map<std::string, std::map<std::int64_t, std::set<std::string>>> of_nodes;
    for (const auto& [name, hyper_node] : by_name_) {
      for (const std::string& node : nodes_in(*hyper_node)) of_nodes[node][hyper_node->tier].insert(name);
    }
    for (const auto& [node, tiers] : of_nodes) {
      for (const auto& [tier, names] : tiers) {
        if (names.size() == 1) {
          found_.of_nodes[node][tier] = *names.begin();
          ++found_.standings[*names.begin()].nodes;
          continue;
        }
        for (const std::string& name : names) in_two_[name].push_back(node + " (" + others(names, name) + ")");
      }
    }
    for (const auto& [name, nodes] : in_two_) {
      blame(name, "NodeInTwo",
            "nodes are in another HyperNode of its tier, too, and count in neither: " + first_of(nodes) +
                "; leave them in one");
    }
    for (const auto& [name, hyper_node] : by_name_) found_.standings.try_emplace(name);
    return std::move(found_);
  }

 private:
  static std::string first_of(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), kNamedMax); ++i) text += (i == 0 ? "" : ", ") + names[i];
    return names.size() > kNamedMax ? text + " and " + std::to_string(names.size() - kNamedMax) + " more" : text;
  }
  static std::string others(const std::set<std::string>& names, const std::string& name) {
    std::string text;
    for (const std::string& each : names) {
      if (each != name) text += (text.empty() ? "" : ", ") + each;
    }
    return text;
  }
  // The first that is wrong is told.
  void blame(const std::string& name, const char* reason, std::string problem) {
    HyperNodeStanding& standing = found_.standings[name];
    if (!standing.reason.empty()) return;
    standing.reason = reason;
    standing.problem = std::move(problem);
  }

  const std::set<std::string>& nodes_in(const HyperNode& hyper_node) {
    const auto known = nodes_in_.find(hyper_node.name);
    if (known != nodes_in_.end()) return known->second;
    way_.push_back(hyper_node.name);
    std::set<std::string> nodes;
    bool usable = hyper_node.problems.empty();
    if (!usable) {
      blame(hyper_node.name, "Invalid", hyper_node.problems.front().field + ": " + hyper_node.problems.front().why);
    }
    std::vector<std::string> missing;
    for (const HyperNodeMember& member : hyper_node.members) {
      if (!usable) break;
      const std::size_t before = selected_;
      usable = member.of_nodes ? add_nodes(member, nodes) : add_members(hyper_node, member, nodes);
      if (selected_ == before && !member.name.empty()) missing.push_back(member.name);
    }
    if (usable && !missing.empty()) {
      blame(hyper_node.name, "MemberMissing", "there is no " + first_of(missing) + "; what there is counts");
    }
    way_.pop_back();
    if (!usable) nodes.clear();
    return nodes_in_[hyper_node.name] = std::move(nodes);
  }

  static bool selects(const HyperNodeMember& member, const std::string& name) {
    return member.pattern ? member.pattern->matches(name) : !member.name.empty() && member.name == name;
  }

  bool add_nodes(const HyperNodeMember& member, std::set<std::string>& nodes) {
    for (const NamedLabels& node : nodes_) {
      if (member.labels ? !member.labels->matches(*node.labels) : !selects(member, node.name)) continue;
      ++selected_;
      nodes.insert(node.name);
    }
    return true;
  }

  // False: the whole is of no use.
  bool add_members(const HyperNode& whole, const HyperNodeMember& member, std::set<std::string>& nodes) {
    for (const auto& [name, part] : by_name_) {
      if (!selects(member, name)) continue;
      ++selected_;
      if (const auto at = std::ranges::find(way_, name); at != way_.end()) {
        std::string circle;
        for (auto each = at; each != way_.end(); ++each) circle += *each + " > ";
        for (auto each = at; each != way_.end(); ++each) {
          blame(*each, "Circle", "it is part of itself: " + circle + name + "; take one of these members out");
        }
        return false;
      }
      const std::set<std::string>& inside = nodes_in(*part);
      if (found_.standings[whole.name].reason == "Circle") return false;
      if (part->tier >= whole.tier) {
        blame(whole.name, "TierNotLower",
              "its member " + name + " has tier " + std::to_string(part->tier) +
                  ", and is to have a lower one than its own " + std::to_string(whole.tier));
        return false;
      }
      nodes.insert(inside.begin(), inside.end());
    }
    return true;
  }

  const std::vector<NamedLabels>& nodes_;
  std::map<std::string, const HyperNode*> by_name_;
  std::map<std::string, std::set<std::string>> nodes_in_;
  std::map<std::string, std::vector<std::string>> in_two_;
  std::vector<std::string> way_;  // from the one that is looked at to its members
  std::size_t selected_ = 0;
  HyperNodeDomains found_;
};

}  // namespace

std::string level_of_tier(std::int64_t tier) { return std::string(kHyperNodeLevelPrefix) + std::to_string(tier); }

HyperNode read_hyper_node(const Value& object) {
  HyperNode read{.name = std::string(object["metadata"]["name"].text())};
  const Value& spec = object["spec"];
  // Older ones write it as a text.
  const std::string_view text = spec["tier"].text();
  const auto tier = spec["tier"].is_integer() ? Parsed<std::int64_t>(spec["tier"].integer())
                                              : parse_integer(text, 0, kHyperNodeTierMax);
  if (!tier || *tier < 0 || *tier > kHyperNodeTierMax) {
    read.problems.push_back(
        {"spec.tier", "it is no tier; write a number from 0 to 1000, the lower the nearer its nodes are"});
  } else {
    read.tier = *tier;
  }
  const Value::List& members = spec["members"].items();
  for (std::size_t i = 0; i < members.size(); ++i) {
    read.members.push_back(read_member(members[i], "spec.members[" + std::to_string(i) + "]", read.problems));
  }
  return read;
}

HyperNodeDomains domains_of(const std::vector<HyperNode>& hyper_nodes, const std::vector<NamedLabels>& nodes) {
  return DomainFinder(hyper_nodes, nodes).find();
}

std::vector<Value> with_hyper_node_labels(std::vector<Value> nodes, const std::vector<Value>& hyper_nodes) {
  if (hyper_nodes.empty()) return nodes;
  std::vector<HyperNode> read;
  for (const Value& each : hyper_nodes) read.push_back(read_hyper_node(each));
  std::vector<NamedLabels> named;
  for (const Value& node : nodes) {
    named.push_back({std::string(node["metadata"]["name"].text()), &node["metadata"]["labels"]});
  }
  const HyperNodeDomains domains = domains_of(read, named);
  for (Value& node : nodes) {
    const auto of_node = domains.of_nodes.find(std::string(node["metadata"]["name"].text()));
    if (of_node == domains.of_nodes.end()) continue;
    for (const auto& [tier, name] : of_node->second) node.at("metadata").at("labels").set(level_of_tier(tier), name);
  }
  return nodes;
}

}  // namespace berth
