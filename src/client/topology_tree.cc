#include "client/topology_tree.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "client/text_width.h"
#include "manifest/hyper_nodes.h"

namespace berth {
namespace {

std::string_view label_of(const NodeInUse& node, std::string_view label) {
  return label == kHostnameLabel ? node.name() : (*node.node)["metadata"]["labels"][label].text();
}

std::vector<DomainNode> split(const std::vector<const NodeInUse*>& nodes, const std::vector<std::string>& labels,
                              std::size_t level) {
  std::map<std::string_view, std::vector<const NodeInUse*>> by_name;
  for (const NodeInUse* const node : nodes) by_name[label_of(*node, labels[level])].push_back(node);
  std::vector<DomainNode> domains;
  for (auto& [name, inside] : by_name) {
    DomainNode& domain = domains.emplace_back(labels[level], std::string(name));
    for (const NodeInUse* const node : inside) domain.use.add(*node);
    if (level + 1 < labels.size() && !name.empty()) {
      domain.inner = split(inside, labels, level + 1);
    } else {
      domain.nodes = std::move(inside);
    }
  }
  // Those without the label are the first by name, and come last.
  if (domains.size() > 1 && domains.front().name.empty()) {
    std::ranges::rotate(domains, std::next(domains.begin()));
  }
  return domains;
}

std::vector<LargestGang> largest_gangs(const std::vector<std::string>& labels, const std::vector<NodeInUse>& nodes) {
  std::vector<LargestGang> largest;
  for (const std::string& label : labels) {
    std::map<std::string_view, DomainUse> domains;
    for (const NodeInUse& node : nodes) {
      if (const std::string_view name = label_of(node, label); !name.empty()) domains[name].add(node);
    }
    std::map<std::string, LargestGang> by_model;
    for (const auto& [name, use] : domains) {
      for (const auto& [model, of_model] : use.models) {
        LargestGang& found = by_model.try_emplace(model, LargestGang{.label = label, .model = model}).first->second;
        ++found.domains;
        found.whole_nodes = std::max(found.whole_nodes, of_model.whole_nodes);
        if (of_model.gang <= found.gpus) continue;
        found.gpus = of_model.gang;
        found.domain = name;
      }
    }
    for (auto& [model, found] : by_model) largest.push_back(std::move(found));
  }
  return largest;
}

std::vector<GangOnNetwork> gangs_on_network(const std::vector<Value>& workloads) {
  std::vector<GangOnNetwork> gangs;
  for (const Value& workload : workloads) {
    const Value& network = workload["status"]["network"];
    if (network.is_empty()) continue;
    const Value& about = workload["metadata"];
    gangs.push_back({std::string(about["namespace"].text()) + "/" + std::string(about["name"].text()),
                     std::string(network["cost"].text()), &network["uplinks"]});
  }
  std::ranges::sort(gangs, {}, &GangOnNetwork::name);
  return gangs;
}

// GPUs by the label and the name of the domain.
using UplinkLoads = std::map<std::pair<std::string_view, std::string_view>, std::int64_t>;

void note_loads(const UplinkLoads& loads, std::vector<DomainNode>& domains) {
  for (DomainNode& domain : domains) {
    const auto load = loads.find({domain.label, domain.name});
    if (load != loads.end()) domain.use.uplink_gpus = load->second;
    note_loads(loads, domain.inner);
  }
}

// A name that is in several domains of the level above is one domain to the scheduler, and two in the tree.
std::vector<std::string> notes_on(const std::vector<std::string>& labels, const std::vector<NodeInUse>& nodes) {
  std::vector<std::string> notes;
  for (std::size_t level = 1; level < labels.size(); ++level) {
    if (labels[level] == kHostnameLabel) continue;
    std::map<std::string_view, std::set<std::string_view>> above;
    for (const NodeInUse& node : nodes) {
      const std::string_view name = label_of(node, labels[level]), wider = label_of(node, labels[level - 1]);
      if (!name.empty() && !wider.empty()) above[name].insert(wider);
    }
    for (const auto& [name, wider] : above) {
      if (wider.size() < 2) continue;
      notes.push_back(short_level(labels[level]) + " " + std::string(name) + " is in " + std::to_string(wider.size()) +
                      " domains of " + labels[level - 1] + " (" + std::string(*wider.begin()) + ", " +
                      std::string(*std::next(wider.begin())) +
                      "): to the scheduler it is one domain; give each a name of its own in the label " +
                      labels[level]);
    }
  }
  return notes;
}

// Tiers of which no HyperNode has a node split nothing: they would only hide what is below them.
std::vector<std::string> leave_out_empty_tiers(const std::vector<NodeInUse>& nodes, std::vector<std::string>& labels) {
  std::vector<std::string> notes;
  std::erase_if(labels, [&](const std::string& label) {
    const auto has_it = [&](const NodeInUse& node) { return !label_of(node, label).empty(); };
    if (!label.starts_with(kHyperNodeLevelPrefix) || std::ranges::any_of(nodes, has_it)) return false;
    notes.push_back("no node is in a HyperNode of tier " + label.substr(kHyperNodeLevelPrefix.size()) +
                    ": kubectl describe hypernodes says why");
    return true;
  });
  return notes;
}

std::string name_of(const DomainNode& domain) {
  return domain.name.empty() ? "(no " + short_level(domain.label) + ")" : domain.name;
}

std::string models_in_words(const DomainUse& use) {
  std::string text;
  for (const auto& [model, of_model] : use.models) {
    text += (text.empty() ? "" : ", ") + std::to_string(of_model.gpus) + (model.empty() ? "" : " " + model);
  }
  return text.empty() ? "-" : text;
}

std::string gang_in_words(const DomainUse& use) {
  const ModelUse* best = nullptr;
  std::string_view model;
  for (const auto& [name, of_model] : use.models) {
    if (best != nullptr && best->gang >= of_model.gang) continue;
    best = &of_model;
    model = name;
  }
  if (best == nullptr) return "-";
  if (best->gang == 0 || use.models.size() == 1) return std::to_string(best->gang);
  return std::to_string(best->gang) + (model.empty() ? "" : " " + std::string(model));
}

Value facts_of(const DomainNode& domain, const std::vector<std::string>& path) {
  Value facts = Value::map_of({{"level", domain.label}, {"name", domain.name}});
  Value& way = facts.set("path", Value::list());
  for (const std::string& each : path) way.push_back(each);
  const ModelUse all = domain.use.all_models();
  facts.set("nodes", domain.use.nodes);
  facts.set("closedNodes", domain.use.closed_nodes);
  facts.set("wholeNodesFree", all.whole_nodes);
  facts.set("gpus", all.gpus);
  facts.set("gpusUsed", all.used);
  facts.set("gpusFree", all.free);
  facts.set("uplinkGpus", domain.use.uplink_gpus);
  Value& models = facts.set("models", Value::list());
  for (const auto& [model, use] : domain.use.models) {
    models.push_back(Value::map_of({{"model", model},
                                    {"gpus", use.gpus},
                                    {"gpusUsed", use.used},
                                    {"gpusFree", use.free},
                                    {"largestGang", use.gang},
                                    {"wholeNodesFree", use.whole_nodes}}));
  }
  return facts;
}

class DomainRows {
 public:
  explicit DomainRows(bool with_nodes) : with_nodes_(with_nodes) {}

  void add(const std::vector<DomainNode>& domains) {
    for (const DomainNode& domain : domains) {
      if (domain.label == kHostnameLabel && !with_nodes_) continue;
      path_.push_back(domain.name);
      add(domain);
      add(domain.inner);
      path_.pop_back();
    }
  }
  std::vector<ListingRow> rows() && { return std::move(rows_); }

 private:
  void add(const DomainNode& domain) {
    const ModelUse all = domain.use.all_models();
    ListingRow& row = rows_.emplace_back();
    row.name = short_level(domain.label) + "/" + domain.name;
    row.cells = {std::string(2 * (path_.size() - 1), ' ') + name_of(domain),
                 short_level(domain.label),
                 domain.label,
                 std::to_string(domain.use.nodes),
                 std::to_string(domain.use.closed_nodes),
                 models_in_words(domain.use),
                 std::to_string(all.used),
                 std::to_string(all.free),
                 std::to_string(all.whole_nodes),
                 gang_in_words(domain.use),
                 domain.use.uplink_gpus == 0 ? "-" : std::to_string(domain.use.uplink_gpus)};
    row.facts = facts_of(domain, path_);
  }

  bool with_nodes_;
  std::vector<std::string> path_;
  std::vector<ListingRow> rows_;
};

Listing domains_listing(const TopologyTree& tree, bool with_nodes) {
  Listing listing;
  listing.columns = {{"DOMAIN"},
                     {"LEVEL", ShownIn::kNarrow},
                     {"LABEL", ShownIn::kWide},
                     {"NODES"},
                     {"CLOSED", ShownIn::kWide},
                     {"GPUS"},
                     {"USED"},
                     {"FREE"},
                     {"WHOLE NODES"},
                     {"LARGEST GANG"},
                     {"UPLINK", tree.gangs.empty() ? ShownIn::kWide : ShownIn::kBoth}};
  DomainRows rows(with_nodes);
  rows.add(tree.domains);
  listing.rows = std::move(rows).rows();
  return listing;
}

Listing largest_listing(const TopologyTree& tree) {
  Listing listing;
  listing.columns = {{"LEVEL", ShownIn::kNarrow},
                     {"LABEL", ShownIn::kWide},
                     {"MODEL"},
                     {"DOMAINS"},
                     {"LARGEST GANG"},
                     {"IN"},
                     {"WHOLE NODES"}};
  for (const LargestGang& each : tree.largest) {
    ListingRow& row = listing.rows.emplace_back();
    row.name = short_level(each.label);
    row.cells = {short_level(each.label),
                 each.label,
                 each.model.empty() ? "-" : each.model,
                 std::to_string(each.domains),
                 std::to_string(each.gpus),
                 each.domain.empty() ? "-" : each.domain,
                 std::to_string(each.whole_nodes)};
    row.facts = Value::map_of({{"level", each.label},
                               {"model", each.model},
                               {"domains", each.domains},
                               {"gpus", each.gpus},
                               {"domain", each.domain},
                               {"wholeNodesFree", each.whole_nodes}});
  }
  return listing;
}

Listing gangs_listing(const TopologyTree& tree) {
  Listing listing;
  listing.columns = {{"GANG"}, {"NETWORK"}};
  for (const GangOnNetwork& each : tree.gangs) {
    ListingRow& row = listing.rows.emplace_back();
    row.name = each.name;
    row.cells = {each.name, each.cost.empty() ? "not whole" : each.cost};
    row.facts = Value::map_of({{"name", each.name}, {"cost", each.cost}, {"uplinks", *each.uplinks}});
  }
  return listing;
}

Value facts_of(const TopologyTree& tree) {
  Value levels = Value::list(), domains = Value::list(), largest = Value::list(), notes = Value::list();
  Value gangs = Value::list();
  for (ListingRow& row : gangs_listing(tree).rows) gangs.push_back(std::move(row.facts));
  for (const std::string& label : tree.levels.labels) levels.push_back(label);
  for (ListingRow& row : domains_listing(tree, true).rows) domains.push_back(std::move(row.facts));
  for (ListingRow& row : largest_listing(tree).rows) largest.push_back(std::move(row.facts));
  for (const std::string& note : tree.notes) notes.push_back(note);
  return Value::map_of({{"name", tree.levels.name},
                        {"levels", std::move(levels)},
                        {"domains", std::move(domains)},
                        {"largest", std::move(largest)},
                        {"gangs", std::move(gangs)},
                        {"notes", std::move(notes)}});
}

// ---- the map ---------------------------------------------------------------------------------------------------------

struct MapLine {
  std::string title;  // with its indentation
  std::string free;   // "5/16"; empty: of a domain whose inner ones follow
  std::vector<const NodeInUse*> nodes;
};

void gather(const DomainNode& domain, std::size_t depth, std::vector<MapLine>& lines) {
  const ModelUse all = domain.use.all_models();
  const bool ends = domain.inner.empty() || domain.inner.front().label == kHostnameLabel;
  std::string title = domain.name.empty() ? name_of(domain) : short_level(domain.label) + " " + domain.name;
  MapLine& line = lines.emplace_back(std::string(2 * depth, ' ') + printable(title),
                                     std::to_string(all.free) + "/" + std::to_string(all.gpus));
  if (!ends) {
    for (const DomainNode& inner : domain.inner) gather(inner, depth + 1, lines);
    return;
  }
  line.nodes = domain.nodes;
  for (const DomainNode& inner : domain.inner) {
    line.nodes.insert(line.nodes.end(), inner.nodes.begin(), inner.nodes.end());
  }
}

// A node that takes no pods stands in round brackets.
std::string drawn(const NodeInUse& node, bool colors) {
  const bool open = node.takes_pods();
  const std::string map = (open ? "[" : "(") + node.devices.drawn() + (open ? "]" : ")");
  if (!colors) return map;
  const bool whole = open && node.devices.free_whole() == std::ssize(node.devices.milli());
  return whole ? colored_as(map, "ready") : open ? map : colored_as(map, "not-ready");
}

// As many as fit, line by line below each other.
std::string maps_of(const std::vector<const NodeInUse*>& nodes, std::size_t indent, std::size_t columns, bool colors) {
  std::string text;
  std::size_t at = indent, bare = 0;
  for (const NodeInUse* const node : nodes) {
    const std::size_t width = node->devices.milli().size() + 2;
    if (width == 2) {
      ++bare;
      continue;
    }
    if (at > indent && at + 1 + width > columns) {
      text += "\n" + std::string(indent, ' ');
      at = indent;
    }
    text += (at > indent ? " " : "") + drawn(*node, colors);
    at += width + (at > indent ? 1 : 0);
  }
  if (bare == 0) return text;
  return text + (text.empty() ? "" : " and ") + std::to_string(bare) + " without GPUs";
}

}  // namespace

void DomainUse::add(const NodeInUse& node) {
  const auto gpus = std::ssize(node.devices.milli());
  const bool open = node.takes_pods(), exclusive = node.devices.sharing() == Sharing::kExclusive;
  ++nodes;
  if (!open) ++closed_nodes;
  if (gpus == 0) return;
  ModelUse& use = models[node.model + (exclusive ? "" : node.devices.modes_shown())];
  const std::int64_t free = node.devices.free_whole();
  use.gpus += gpus;
  use.used += gpus - free;
  if (!open) return;
  use.free += free;
  if (!exclusive) return;
  use.gang += free;
  if (free == gpus) ++use.whole_nodes;
}

ModelUse DomainUse::all_models() const {
  ModelUse all;
  for (const auto& [model, use] : models) {
    all.gpus += use.gpus;
    all.used += use.used;
    all.free += use.free;
    all.gang += use.gang;
    all.whole_nodes += use.whole_nodes;
  }
  return all;
}

TopologyTree topology_tree(const TopologyLevels& levels, const std::vector<NodeInUse>& nodes,
                           const std::vector<Value>& workloads) {
  std::vector<const NodeInUse*> all;
  for (const NodeInUse& node : nodes) all.push_back(&node);
  TopologyTree tree{.levels = levels, .domains = {}, .largest = {}, .notes = {}};
  const std::vector<std::string>& labels = tree.levels.labels;
  tree.notes = leave_out_empty_tiers(nodes, tree.levels.labels);
  tree.largest = largest_gangs(labels, nodes);
  std::ranges::move(notes_on(labels, nodes), std::back_inserter(tree.notes));
  if (!labels.empty() && !nodes.empty()) tree.domains = split(all, labels, 0);
  tree.gangs = gangs_on_network(workloads);
  UplinkLoads loads;
  for (const GangOnNetwork& gang : tree.gangs) {
    for (const Value& each : gang.uplinks->items()) {
      loads[{each["level"].text(), each["domain"].text()}] += each["gpus"].integer();
    }
  }
  note_loads(loads, tree.domains);
  return tree;
}

std::string trees_to_text(const std::vector<TopologyTree>& trees, OutputStyle style,
                          const std::vector<FreePieces>& pieces) {
  if (style.format == OutputFormat::kJson || style.format == OutputFormat::kYaml) {
    Value all = Value::list();
    for (const TopologyTree& tree : trees) all.push_back(facts_of(tree));
    return facts_to_text(Value::map_of({{"topologies", std::move(all)}, {"pieces", pieces_as_value(pieces)}}),
                         style.format);
  }
  std::string text;
  for (const TopologyTree& tree : trees) {
    const Listing domains = domains_listing(tree, style.format == OutputFormat::kWide);
    if (style.format == OutputFormat::kName) {
      text += domains.to_text(style);
      continue;
    }
    if (!text.empty()) text += "\n";
    if (!tree.levels.name.empty()) text += "Topology " + printable(tree.levels.name) + "\n";
    if (!tree.levels.title.empty()) text += tree.levels.title + "\n";
    text += domains.to_text(style);
    if (!domains.rows.empty() && !tree.largest.empty()) text += "\n";
    text += largest_listing(tree).to_text(style);
    if (!tree.gangs.empty()) text += "\n" + gangs_listing(tree).to_text(style);
  }
  if (!pieces.empty() && style.format != OutputFormat::kName) text += "\n" + pieces_in_words(pieces);
  return text;
}

std::string map_of_tree(const TopologyTree& tree, std::size_t columns, bool colors) {
  std::vector<MapLine> lines;
  const bool only_nodes = !tree.domains.empty() && tree.domains.front().label == kHostnameLabel;
  if (only_nodes) {
    DomainNode all{"", "nodes"};
    for (const DomainNode& each : tree.domains) {
      for (const NodeInUse* const node : each.nodes) {
        all.use.add(*node);
        all.nodes.push_back(node);
      }
    }
    gather(all, 0, lines);
    lines.front().title = "all nodes";
  } else {
    for (const DomainNode& domain : tree.domains) gather(domain, 0, lines);
  }
  std::size_t title = 0, free = 0;
  for (const MapLine& line : lines) {
    title = std::max(title, columns_of(line.title));
    free = std::max(free, line.free.size());
  }
  std::string text;
  for (const MapLine& line : lines) {
    text += line.title + std::string(title - columns_of(line.title) + 3, ' ') + line.free;
    const std::size_t indent = title + 3 + free + 3;
    if (!line.nodes.empty()) {
      text += std::string(indent - title - 3 - line.free.size(), ' ') + maps_of(line.nodes, indent, columns, colors);
    }
    text += "\n";
  }
  return text;
}

}  // namespace berth
