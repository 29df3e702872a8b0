#include "client/topology_levels.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/wording.h"
#include "manifest/hyper_nodes.h"
#include "manifest/label_syntax.h"
#include "manifest/topology_request.h"
#include "model/usual_levels.h"

namespace berth {
namespace {

// Of labels with one name, as clouds give nodes several of their zone, one: that of Kubernetes, or else the first.
std::vector<std::string> usual_levels(const std::vector<Value>& nodes) {
  std::set<std::string> labels;
  for (const Value& node : nodes) {
    for (const Value::Member& each : node["metadata"]["labels"].members()) {
      if (usual_level(each.key)) labels.insert(std::string(each.key));
    }
  }
  std::vector<std::string> levels(labels.begin(), labels.end());
  std::ranges::stable_sort(levels, {}, [](const std::string& label) {
    return std::pair(usual_level(label), !label.starts_with("topology.kubernetes.io/"));
  });
  const auto same = std::ranges::unique(levels, {}, usual_level);
  levels.erase(same.begin(), same.end());
  return levels;
}

}  // namespace

Result<std::vector<std::string>> parse_levels(std::string_view text) {
  Complaints complaints;
  const auto complain = [&](const std::string& what) { complaints.add({"--levels"}, what); };
  std::vector<std::string> labels;
  bool more = true;
  while (more) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view label = text.substr(0, comma);
    more = comma < text.size();
    if (!is_label_key(label)) {
      complain(quote(label) + " is no label; write some that nodes have, the widest first: zone,rack");
    } else if (std::ranges::find(labels, label) != labels.end()) {
      complain(quote(label) + " stands there twice; name each level once");
    } else if (label == kHostnameLabel && more) {
      complain(quote(label) + " is not the last level, and nothing is narrower than a node; write it at the end");
    }
    labels.emplace_back(label);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  if (!complaints.empty()) return complaints;
  return labels;
}

std::vector<TopologyLevels> levels_of_topologies(const std::vector<Value>& topologies) {
  std::vector<TopologyLevels> all;
  for (const Value& topology : topologies) {
    TopologyLevels& made = all.emplace_back(std::string(topology["metadata"]["name"].text()));
    for (const Value& level : topology["spec"]["levels"].items()) made.labels.emplace_back(level["nodeLabel"].text());
  }
  std::ranges::sort(all, {}, &TopologyLevels::name);
  return all;
}

std::optional<TopologyLevels> levels_of_hyper_nodes(const std::vector<Value>& hyper_nodes) {
  std::set<std::int64_t, std::greater<>> tiers;
  for (const Value& each : hyper_nodes) tiers.insert(read_hyper_node(each).tier);
  if (tiers.empty()) return std::nullopt;
  TopologyLevels made{"", {}, "HyperNodes"};
  for (const std::int64_t tier : tiers) made.labels.push_back(level_of_tier(tier));
  made.labels.emplace_back(kHostnameLabel);
  return made;
}

TopologyLevels levels_in_labels(const std::vector<Value>& nodes, const std::vector<Value>& pods,
                                const std::vector<TopologyLevels>& topologies) {
  std::vector<std::string> candidates = usual_levels(nodes);
  const auto add = [&](const std::string& label) {
    if (std::ranges::find(candidates, label) == candidates.end()) candidates.push_back(label);
  };
  for (const TopologyLevels& each : topologies) std::ranges::for_each(each.labels, add);
  std::set<std::string> asked;
  for (const Value& pod : pods) {
    const Topology topology = read_topology(pod["metadata"]["annotations"]).topology;
    if (!topology.level.empty()) asked.insert(label_of_level(topology.level));
    if (topology.has_slices()) asked.insert(label_of_level(topology.slice_level));
  }
  std::ranges::for_each(asked, add);
  std::erase(candidates, std::string(kHostnameLabel));
  std::map<std::string, std::set<std::string_view>> domains;
  for (const Value& node : nodes) {
    for (const std::string& label : candidates) {
      const Value* const value = node["metadata"]["labels"].find(label);
      if (value != nullptr) domains[label].insert(value->text());
    }
  }
  std::erase_if(candidates, [&](const std::string& label) { return !domains.contains(label); });
  std::ranges::stable_sort(candidates, {}, [&](const std::string& label) { return domains.at(label).size(); });
  candidates.emplace_back(kHostnameLabel);
  return {"", std::move(candidates)};
}

std::string unknown_level(const std::vector<std::string>& labels, const std::vector<Value>& nodes) {
  std::set<std::string> known;
  for (const Value& node : nodes) {
    for (const Value::Member& each : node["metadata"]["labels"].members()) known.insert(each.key);
  }
  std::string text;
  for (const std::string& label : labels) {
    if (label == kHostnameLabel || known.contains(label)) continue;
    const std::vector<std::string_view> words(known.begin(), known.end());
    // The tree shows a label without what stands before its slash.
    const auto shown_so = std::ranges::find(words, label, short_level);
    const std::string_view near = shown_so != words.end() ? *shown_so : nearest_word(label, words);
    text += (text.empty() ? "no node has the label " : "; nor ") + label;
    if (!near.empty()) text += ", did you mean " + std::string(near) + "?";
  }
  return text;
}

std::string short_level(std::string_view label) {
  if (label == kHostnameLabel) return "node";
  return std::string(label.substr(label.rfind('/') + 1));
}

}  // namespace berth
