#include "manifest/topology_file.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "base/wording.h"
#include "manifest/host_list.h"
#include "manifest/label_syntax.h"
#include "manifest/slurm_topology.h"
#include "manifest/yaml.h"

namespace berth {
namespace {

constexpr std::string_view kLooksLike = "levels: [zone, rack] and domains: {z1: {r1: \"gpu[1-4]\"}}";

// Berth's own: levels, and domains in domains.
class OwnTopology {
 public:
  OwnTopology(const std::string& file, const YamlDocument& document) : file_(file), document_(document) {}

  Result<TopologyFile> read() {
    for (const auto& [key, value] : document_.value.members()) {
      if (key != "levels" && key != "domains") complain(key, quote(key) + " is no word here; write levels and domains");
    }
    for (const Value& each : document_.value["levels"].items()) {
      topology_.levels.emplace_back(each.text());
      if (!each.is_text()) complain("levels", "a level is the key of a label: zone");
    }
    if (topology_.levels.empty() || document_.value["domains"].members().empty()) {
      complain("", fmt::format("it has no levels, or no domains; write {}", kLooksLike));
    } else if (topology_.levels.size() > kFileLevelsMax) {
      complain("levels", fmt::format("more than {} levels", kFileLevelsMax));
    } else if (complaints_.empty()) {
      std::vector<std::string> domains(topology_.levels.size());
      read_domains(document_.value["domains"], "domains", 0, domains);
    }
    if (!complaints_.empty()) return std::move(complaints_);
    return std::move(topology_);
  }

 private:
  Place place_of(std::string_view field) const { return {file_, document_.line_of(field), 0}; }
  void complain(std::string_view field, std::string text) { complaints_.add(place_of(field), std::move(text)); }

  void read_domains(const Value& value, const std::string& field, std::size_t level,
                    std::vector<std::string>& domains) {
    if (level == topology_.levels.size()) return read_nodes(value, field, domains);
    if (!value.is_map()) {
      return complain(field, fmt::format("of the level {} there are domains by name, as in {}", topology_.levels[level],
                                         kLooksLike));
    }
    for (const auto& [name, inside] : value.members()) {
      domains[level] = name;
      read_domains(inside, field + '.' + name, level + 1, domains);
    }
  }

  void read_nodes(const Value& value, const std::string& field, const std::vector<std::string>& domains) {
    if (value.is_text()) return add(value.text(), field, domains);
    if (!value.is_list()) return complain(field, "nodes are a text, gpu[1-4], or a list of such texts");
    for (const Value& each : value.items()) {
      if (each.is_text()) {
        add(each.text(), field, domains);
      } else {
        complain(field, "a node is a text: gpu1");
      }
    }
  }

  void add(std::string_view text, const std::string& field, const std::vector<std::string>& domains) {
    const auto hosts = expand_host_list(text, place_of(field));
    if (!hosts) return complaints_.add_all(hosts.error());
    if (topology_.nodes.size() + hosts->size() > kHostsMax) {
      return complain(field, fmt::format("more than {} nodes in the file", kHostsMax));
    }
    for (const std::string& host : *hosts) topology_.nodes.push_back({host, domains});
  }

  const std::string& file_;
  const YamlDocument& document_;
  TopologyFile topology_;
  Complaints complaints_;
};

Result<TopologyFile> read_own(const std::string& file, std::string_view text) {
  const auto documents = parse_yaml_with_lines(text, file);
  if (!documents) return documents.error();
  if (documents->size() != 1 || !documents->front().value.is_map()) {
    return Complaints(
        {file, 0, 0},
        fmt::format("it is neither Slurm's topology.conf (SwitchName=s1 Nodes=gpu[1-4]) nor {}", kLooksLike));
  }
  return OwnTopology(file, documents->front()).read();
}

// What is wrong with what it says, however it was written.
Complaints mistakes_of(const TopologyFile& topology, const Place& file) {
  Complaints found;
  std::set<std::string_view> levels;
  for (const std::string& level : topology.levels) {
    if (level.empty() || !is_label_key(level)) {
      found.add(file, fmt::format("{} is no key of a label; write one such as rack or example.com/rack", quote(level)));
    } else if (!levels.insert(level).second) {
      found.add(file, fmt::format("the level {} stands there twice", quote(level)));
    }
  }
  std::set<std::string_view> nodes;
  // Where each domain was first: all of it is in the same of the wider levels.
  std::map<std::pair<std::size_t, std::string_view>, const PlacedNode*> first;
  for (const PlacedNode& node : topology.nodes) {
    if (!is_object_name(node.name)) found.add(file, quote(node.name) + " is no name of a node");
    if (!nodes.insert(node.name).second) found.add(file, fmt::format("node {} is there twice", quote(node.name)));
    for (std::size_t level = 0; level < node.domains.size(); ++level) {
      const std::string& domain = node.domains[level];
      if (domain.empty()) continue;
      const auto [at, is_new] = first.emplace(std::pair(level, std::string_view(domain)), &node);
      if (is_new && !is_label_value(domain)) {
        found.add(file, fmt::format("{} is no value of a label; write letters, digits, '-', '_' and '.', 63 at most",
                                    quote(domain)));
      }
      const auto wider = [&](const PlacedNode& of) { return std::span(of.domains).first(level); };
      if (!is_new && !std::ranges::equal(wider(*at->second), wider(node))) {
        found.add(file, fmt::format(
                            "{} {} is in two domains of wider levels; nodes with one value of a label are one domain: "
                            "give one of them another name",
                            topology.levels[level], quote(domain)));
        at->second = &node;
      }
    }
  }
  return found;
}

}  // namespace

Result<TopologyFile> read_topology_file(const std::string& file, std::string_view text,
                                        const std::vector<std::string>& levels) {
  const Place place{file, 0, 0};
  if (text.size() > kTopologyFileBytesMax) {
    return Complaints(place, fmt::format("it has more than {} MiB; write what is where in several files",
                                         kTopologyFileBytesMax >> 20u));
  }
  auto topology = is_slurm_topology(text) ? read_slurm_topology(file, text) : read_own(file, text);
  if (!topology) return topology;
  if (!levels.empty()) {
    if (levels.size() != topology->levels.size()) {
      return Complaints(place, fmt::format("it has {} levels ({}), and {} were named", topology->levels.size(),
                                           fmt::join(topology->levels, ","), levels.size()));
    }
    topology->levels = levels;
  }
  if (Complaints mistakes = mistakes_of(*topology, place); !mistakes.empty()) return mistakes;
  if (topology->nodes.empty()) return Complaints(place, "it names no node");
  return topology;
}

}  // namespace berth
