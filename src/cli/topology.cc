// `berth topology`: the domains of the cluster, and what would fit in each.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/inputs.h"
#include "cli/lookup.h"
#include "cli/output_options.h"
#include "cli/viewing.h"
#include "client/asking.h"
#include "client/node_devices.h"
#include "client/node_places.h"
#include "client/topology_levels.h"
#include "client/topology_tree.h"
#include "manifest/hyper_nodes.h"
#include "manifest/topology_file.h"
#include "sim/files.h"

namespace berth {
namespace {

struct TypedTopology {
  ConnectionWish connection;
  OutputWish output;
  std::vector<std::string> names;
  std::string levels;
  std::string file;
  bool applies = false;
};

// All are tried; the code of the first that was refused.
int label_nodes(Transport& server, const NodePlaces& places) {
  int exit_code = kExitDone;
  std::size_t done = 0;
  for (const NodeLabels& node : places.changes) {
    const auto changed = change_object(server, "nodes", "", node.node, label_patch(node));
    if (changed) {
      ++done;
      continue;
    }
    const int failure = fail(changed.error());
    if (exit_code == kExitDone) exit_code = failure;
  }
  fmt::print(stderr, "{} of {} nodes labelled; `berth topology --levels {}` shows them.\n", done, places.changes.size(),
             fmt::join(places.levels, ","));
  return exit_code;
}

// Nodes get the labels that a file says, once they were shown.
int place_nodes(const TypedTopology& typed, const std::vector<std::string>& levels, OutputStyle style) {
  const auto text = read_file(typed.file);
  if (!text) return complain(text.error());
  const auto topology = read_topology_file(typed.file, *text, levels);
  if (!topology) return complain(topology.error());
  const auto server = connect(typed.connection);
  if (!server) return complain(server.error());
  const auto nodes = list_objects(*server->transport, "nodes", "");
  if (!nodes) return fail(nodes.error());
  const NodePlaces places = compare_places(*topology, *nodes);
  fmt::print("{}", places_to_text(places, style));
  for (const std::string& note : notes_on(places)) fmt::print(stderr, "{}\n", printable(note));
  if (places.changes.empty()) {
    fmt::print(stderr, "No label changes.\n");
    return kExitDone;
  }
  if (typed.applies) return label_nodes(*server->transport, places);
  fmt::print(stderr, "Nothing was changed; with --apply the nodes get these labels.\n");
  return kExitDone;
}

// Of which trees are to be shown: what was typed goes before the Topologies, and those before what labels say.
Asked<std::vector<TopologyLevels>> chosen_levels(const TypedTopology& typed, const std::vector<std::string>& labels,
                                                 const SeenObjects& seen) {
  if (!labels.empty()) {
    if (const std::string unknown = unknown_level(labels, seen[0]); !unknown.empty()) {
      return std::unexpected(AskFailure{kExitNotFound, "--levels: " + unknown});
    }
    return std::vector{TopologyLevels{"", labels}};
  }
  const auto named = only_named(seen[2], typed.names, "Topology", "`kubectl get topologies`");
  if (!named) return std::unexpected(named.error());
  std::vector<TopologyLevels> all = levels_of_topologies(*named);
  if (auto hyper_nodes = levels_of_hyper_nodes(seen[3]); hyper_nodes && typed.names.empty()) {
    all.push_back(*std::move(hyper_nodes));
  }
  if (all.empty()) all.push_back(levels_in_labels(seen[0], seen[1], {}));
  return all;
}

int show_topology(const TypedTopology& typed) {
  Complaints complaints;
  const auto style = output_style(typed.output);
  if (!style) complaints.add_all(style.error());
  Result<std::vector<std::string>> labels = std::vector<std::string>();
  if (!typed.levels.empty()) labels = parse_levels(typed.levels);
  if (!labels) complaints.add_all(labels.error());
  if (!typed.levels.empty() && !typed.names.empty()) {
    complaints.add({"--levels"}, "a Topology has levels of its own; leave out its name, or the option");
  }
  if (!typed.file.empty() && !typed.names.empty()) {
    complaints.add({"--from"}, "the file has levels of its own; leave out the names of Topologies");
  }
  if (typed.applies && typed.file.empty()) {
    complaints.add({"--apply"}, "nothing is applied without a file; write --from topology.conf");
  }
  if (!complaints.empty()) return complain(complaints);
  if (!typed.file.empty()) return place_nodes(typed, *labels, *style);
  const auto server = connect(typed.connection);
  if (!server) return complain(server.error());
  std::vector<SeenKind> kinds = kTopologyKinds;
  kinds.push_back({.qualified = "workloads.berth.dev", .if_allowed = true});
  auto seen = see_once(*server->transport, kinds);
  if (!seen) return fail(seen.error());
  seen->at(0) = with_hyper_node_labels(std::move(seen->at(0)), seen->at(3));
  const auto chosen = chosen_levels(typed, *labels, *seen);
  if (!chosen) return fail(chosen.error());
  const std::vector<NodeInUse> nodes = nodes_in_use(seen->at(0), seen->at(1));
  std::vector<TopologyTree> trees;
  for (const TopologyLevels& levels : *chosen) trees.push_back(topology_tree(levels, nodes, seen->at(4)));
  fmt::print("{}", trees_to_text(trees, *style, pieces_of(nodes)));
  const bool for_programs = style->format == OutputFormat::kJson || style->format == OutputFormat::kYaml;
  if (nodes.empty() && !for_programs) fmt::print(stderr, "There are no nodes.\n");
  for (const TopologyTree& tree : trees) {
    for (const std::string& note : for_programs ? std::vector<std::string>() : tree.notes) {
      fmt::print(stderr, "{}\n", printable(note));
    }
  }
  return kExitDone;
}

}  // namespace

void add_topology(CLI::App& berth, int& exit_code) {
  CLI::App& app =
      *berth.add_subcommand("topology", "Show zones, racks and nodes as a tree, and what would fit in each");
  const auto typed = std::make_shared<TypedTopology>();
  app.add_option("name", typed->names, "Only these Topologies");
  app.add_option(
      "--levels", typed->levels,
      "Labels of nodes to be taken as levels, the widest first: zone,rack; with --from: what its levels are called");
  app.add_option("--from", typed->file,
                 "Show which labels nodes get by this file: Slurm's topology.conf, or YAML with levels and domains");
  app.add_flag("--apply", typed->applies, "Give the nodes these labels");
  add_connection_options(app, typed->connection, Namespaced::kNo);
  add_output_options(app, typed->output);
  app.footer(
      "The levels are those of the cluster's Topologies (kubectl get topologies), and the tiers of its HyperNodes.\n"
      "Where there are none: labels that say where a node is (topology.kubernetes.io/zone, rack, "
      "nvidia.com/gpu.clique\n"
      "and others), and what levels pods ask for; the fewer domains, the wider. -o wide: single nodes, too.\n"
      "\n"
      "USED: GPUs of which anything is taken. FREE: wholly free ones, on nodes that are ready, not cordoned and no "
      "spares;\n"
      "taints are not looked at. WHOLE NODES: of which all GPUs are free. LARGEST GANG: so many pods with a whole GPU "
      "each\n"
      "would find room there now, if they ask few CPUs and little memory; of one model, as gangs run.\n"
      "UPLINK: GPUs whose gangs have others outside of the domain, of gangs that say how their GPUs share a model\n"
      "(berth.dev/parallelism); of what leads out of a domain the busiest is chosen last.\n"
      "--from FILE: where nodes are is taken from a file; without --apply it only shows what would change.\n"
      "The second table says for each level which domain would hold the largest gang that has to be in one, the\n"
      "third what such gangs cost the network where they run, and what they would on an idle fleet.\n"
      "\n"
      "Examples:\n"
      "  berth topology\n"
      "  berth topology --levels topology.kubernetes.io/zone,rack\n"
      "  berth topology default -o json | jq '.topologies[0].largest'\n"
      "  berth topology --from /etc/slurm/topology.conf --levels spine,leaf\n"
      "  berth topology --from places.yaml --apply");
  app.callback([typed, &exit_code] { exit_code = show_topology(*typed); });
}

}  // namespace berth
