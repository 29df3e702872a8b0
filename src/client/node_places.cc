#include "client/node_places.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace berth {
namespace {

constexpr std::size_t kNamedMax = 5;

std::string nodes_text(std::size_t count) { return fmt::format("{} {}", count, count == 1 ? "node" : "nodes"); }

// "n1, n2 and 7 more".
std::string some_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamedMax); ++i) text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kNamedMax) text += fmt::format(" and {} more", names.size() - kNamedMax);
  return text;
}

Value list_of(const std::vector<std::string>& names) {
  Value list = Value::list();
  for (const std::string& name : names) list.push_back(name);
  return list;
}

std::string cell_of(const PlacedLabel& label) {
  const auto shown = [](const std::string& value) { return value.empty() ? std::string("-") : value; };
  return label.changes() ? shown(label.is) + " -> " + shown(label.will_be) : shown(label.is);
}

}  // namespace

NodePlaces compare_places(const TopologyFile& topology, const std::vector<Value>& nodes) {
  std::map<std::string_view, const Value*> there;
  for (const Value& node : nodes) there.emplace(node["metadata"]["name"].text(), &node);
  NodePlaces places;
  places.levels = topology.levels;
  std::set<std::string_view> placed;
  for (const PlacedNode& node : topology.nodes) {
    placed.insert(node.name);
    const auto found = there.find(node.name);
    if (found == there.end()) {
      places.not_there.push_back(node.name);
      continue;
    }
    const Value& labels = (*found->second)["metadata"]["labels"];
    NodeLabels own{node.name, {}};
    for (std::size_t level = 0; level < topology.levels.size(); ++level) {
      own.labels.push_back(
          {topology.levels[level], std::string(labels[topology.levels[level]].text()), node.domains[level]});
    }
    if (std::ranges::any_of(own.labels, &PlacedLabel::changes)) {
      places.changes.push_back(std::move(own));
    } else {
      ++places.as_they_are;
    }
  }
  for (const auto& [name, node] : there) {
    if (!placed.contains(name)) places.not_placed.emplace_back(name);
  }
  return places;
}

Value label_patch(const NodeLabels& node) {
  Value labels = Value::map();
  for (const PlacedLabel& label : node.labels) {
    if (label.changes()) labels.set(label.key, label.will_be.empty() ? Value(nullptr) : Value(label.will_be));
  }
  return Value::map_of({{"metadata", Value::map_of({{"labels", std::move(labels)}})}});
}

std::string places_to_text(const NodePlaces& places, OutputStyle style) {
  if (style.format == OutputFormat::kJson || style.format == OutputFormat::kYaml) {
    Value changes = Value::list();
    for (const NodeLabels& node : places.changes) {
      changes.push_back(Value::map_of({{"node", node.node}, {"labels", label_patch(node)["metadata"]["labels"]}}));
    }
    return facts_to_text(Value::map_of({{"levels", list_of(places.levels)},
                                        {"changes", std::move(changes)},
                                        {"asTheyAre", places.as_they_are},
                                        {"notInTheCluster", list_of(places.not_there)},
                                        {"notInTheFile", list_of(places.not_placed)}}),
                         style.format);
  }
  Listing listing;
  listing.columns.push_back({"NODE"});
  for (const std::string& level : places.levels) listing.columns.push_back({level});
  for (const NodeLabels& node : places.changes) {
    ListingRow row{"node/" + node.node, {node.node}, {}};
    for (const PlacedLabel& label : node.labels) row.cells.push_back(cell_of(label));
    listing.rows.push_back(std::move(row));
  }
  return listing.to_text(style);
}

std::vector<std::string> notes_on(const NodePlaces& places) {
  std::vector<std::string> notes;
  if (places.as_they_are > 0) {
    notes.push_back(fmt::format("{} already {} as in the file.", nodes_text(places.as_they_are),
                                places.as_they_are == 1 ? "is" : "are"));
  }
  if (!places.not_there.empty()) {
    notes.push_back(fmt::format("{} of the file {} not in the cluster, and left out: {}.",
                                nodes_text(places.not_there.size()), places.not_there.size() == 1 ? "is" : "are",
                                some_of(places.not_there)));
  }
  if (!places.not_placed.empty()) {
    notes.push_back(fmt::format("{} of the cluster {} not in the file, and left as {}: {}.",
                                nodes_text(places.not_placed.size()), places.not_placed.size() == 1 ? "is" : "are",
                                places.not_placed.size() == 1 ? "it is" : "they are", some_of(places.not_placed)));
  }
  return notes;
}

}  // namespace berth
