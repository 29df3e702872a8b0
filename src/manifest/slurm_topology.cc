#include "manifest/slurm_topology.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/wording.h"
#include "manifest/host_list.h"

namespace berth {
namespace {

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& each : small) {
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
  }
  return small;
}

constexpr std::string_view kBlanks = " \t\r";

// Of a line what is no comment, in words.
std::vector<std::string_view> words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(kBlanks); at < line.size(); at = line.find_first_not_of(kBlanks, at)) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

struct Switch {
  Place place;
  std::vector<std::string> below;  // switches
  std::vector<std::string> nodes;
  std::string above = {};  // empty: none
  std::size_t height = 0;  // 1: next to nodes; 0: not known yet
};

// What one line says: "SwitchName=s1 Nodes=n[1-4]".
struct Record {
  std::map<std::string, std::string_view, std::less<>> values;  // by key, in small letters
  std::string_view operator[](std::string_view key) const {
    const auto found = values.find(key);
    return found == values.end() ? std::string_view() : found->second;
  }
};

class SlurmTopology {
 public:
  SlurmTopology(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  Result<TopologyFile> read() {
    Place place{file_, 0, 0};
    for (std::size_t from = 0; from < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', from), text_.size());
      ++place.line;
      read_line(text_.substr(from, end - from), place);
      from = end + 1;
    }
    if (!switches_.empty() && (!blocks_.empty() || !block_sizes_.empty())) {
      complaints_.add({file_, 0, 0}, "it has switches and blocks; write a file of each");
    }
    if (!complaints_.empty()) return std::move(complaints_);
    TopologyFile topology = blocks_.empty() ? tree() : blocks();
    if (!complaints_.empty()) return std::move(complaints_);
    return topology;
  }

 private:
  void read_line(std::string_view line, const Place& place) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) return;
    const auto record = record_of(words, place);
    if (!record) return;
    if (!(*record)["switchname"].empty()) {
      read_switches(*record, place);
    } else if (!(*record)["blockname"].empty()) {
      read_blocks(*record, place);
    } else if (!(*record)["blocksizes"].empty()) {
      read_sizes((*record)["blocksizes"], place);
    } else {
      complaints_.add(place, "a line begins with SwitchName=, BlockName= or BlockSizes=");
    }
  }

  std::optional<Record> record_of(const std::vector<std::string_view>& words, const Place& place) {
    static constexpr std::string_view kKeys[] = {"switchname", "switches",  "nodes",
                                                 "linkspeed",  "blockname", "blocksizes"};
    Record record;
    const std::size_t before = complaints_.count();
    for (const std::string_view word : words) {
      const std::size_t is = word.find('=');
      const std::string key = lower(word.substr(0, is));
      if (is == std::string_view::npos || std::ranges::find(kKeys, key) == std::end(kKeys)) {
        const std::string_view near = nearest_word(key, kKeys);
        complaints_.add(place, fmt::format("{} is no word of a topology.conf{}", quote(word),
                                           near.empty() ? "" : fmt::format("; did you mean {}=?", near)));
      } else if (is + 1 == word.size()) {
        complaints_.add(place, fmt::format("{} has no value", quote(word)));
      } else if (!record.values.emplace(key, word.substr(is + 1)).second) {
        complaints_.add(place, fmt::format("{} stands there twice", quote(word.substr(0, is))));
      }
    }
    if (complaints_.count() != before) return std::nullopt;
    return record;
  }

  std::vector<std::string> hosts(std::string_view text, const Place& place) {
    if (text.empty()) return {};
    auto list = expand_host_list(text, place);
    if (!list) {
      complaints_.add_all(list.error());
      return {};
    }
    named_ += list->size();
    if (named_ > kHostsMax) {
      complaints_.add(place, fmt::format("more than {} names in the file", kHostsMax));
      return {};
    }
    return *std::move(list);
  }

  void read_switches(const Record& record, const Place& place) {
    if (record["switches"].empty() == record["nodes"].empty()) {
      return complaints_.add(place, "a switch has Nodes= or Switches=, one of the two");
    }
    // Several switches in one line would all have the same below them.
    const auto names = hosts(record["switchname"], place);
    if (names.size() != 1) {
      if (names.size() > 1)
        complaints_.add(place, "several switches would have the same below them; write a line for each");
      return;
    }
    Switch made{place, hosts(record["switches"], place), hosts(record["nodes"], place)};
    if (!switches_.emplace(names.front(), std::move(made)).second) {
      return complaints_.add(place, fmt::format("switch {} has a line already", quote(names.front())));
    }
    order_.push_back(names.front());
  }

  void read_blocks(const Record& record, const Place& place) {
    if (record["nodes"].empty()) return complaints_.add(place, "a block has Nodes=");
    blocks_.emplace_back(std::string(record["blockname"]), hosts(record["nodes"], place));
    block_places_.push_back(place);
  }

  // Higher levels are so many of the blocks, in the order of the file: each a power of two of the first size (topology.conf(5)).
  void read_sizes(std::string_view text, const Place& place) {
    if (!block_sizes_.empty()) return complaints_.add(place, "BlockSizes= stands there twice");
    for (std::size_t from = 0; from <= text.size();) {
      const std::size_t end = std::min(text.find(',', from), text.size());
      std::uint64_t size = 0;
      const auto [stop, error] = std::from_chars(text.data() + from, text.data() + end, size);
      const bool reads = error == std::errc() && stop == text.data() + end && size > 0 && size <= kHostsMax;
      const bool fits =
          reads && (block_sizes_.empty() || (size > block_sizes_.back() && size % block_sizes_.front() == 0 &&
                                             std::has_single_bit(size / block_sizes_.front())));
      if (!fits) {
        return complaints_.add(place,
                               fmt::format("BlockSizes={}: write numbers of nodes, each larger and a power of two "
                                           "times the first: 18,36,72",
                                           quote(text)));
      }
      block_sizes_.push_back(size);
      from = end + 1;
    }
  }

  TopologyFile tree() {
    for (const std::string& name : order_) {
      for (const std::string& below : switches_.at(name).below) {
        const auto found = switches_.find(below);
        if (found == switches_.end()) {
          complaints_.add(switches_.at(name).place, fmt::format("switch {} has no line of its own", quote(below)));
        } else if (!found->second.above.empty()) {
          complaints_.add(switches_.at(name).place,
                          fmt::format("switch {} is below {} already", quote(below), quote(found->second.above)));
        } else {
          found->second.above = name;
        }
      }
    }
    if (!complaints_.empty()) return {};
    const std::size_t highest = find_heights();
    if (highest > kFileLevelsMax) {
      complaints_.add({file_, 0, 0}, fmt::format("more than {} switches above each other", kFileLevelsMax));
    }
    if (!complaints_.empty()) return {};
    TopologyFile topology;
    for (std::size_t level = highest; level > 0; --level) topology.levels.push_back(fmt::format("switch-{}", level));
    for (const std::string& name : order_) {
      std::vector<std::string> domains(highest);
      for (const std::string* at = &name; !at->empty(); at = &switches_.at(*at).above) {
        domains[highest - switches_.at(*at).height] = *at;
      }
      for (const std::string& node : switches_.at(name).nodes) topology.nodes.push_back({node, domains});
    }
    return topology;
  }

  // From the leaves up; what is never reached is above itself. The highest.
  std::size_t find_heights() {
    std::size_t known = 0;
    std::size_t highest = 0;
    for (std::size_t height = 1; known < order_.size(); ++height) {
      const std::size_t before = known;
      std::vector<std::string> reached;
      for (const std::string& name : order_) {
        const Switch& each = switches_.at(name);
        const auto is_lower = [&](const std::string& below) { return switches_.at(below).height > 0; };
        if (each.height == 0 && std::ranges::all_of(each.below, is_lower)) reached.push_back(name);
      }
      for (const std::string& name : reached) switches_.at(name).height = height;
      known += reached.size();
      highest = height;
      if (known == before || height > kFileLevelsMax) break;
    }
    for (const std::string& name : order_) {
      if (switches_.at(name).height == 0 && highest <= kFileLevelsMax) {
        complaints_.add(switches_.at(name).place,
                        fmt::format("switch {} is below itself, or has such a one below it", quote(name)));
      }
    }
    return highest;
  }

  TopologyFile blocks() {
    TopologyFile topology;
    if (block_sizes_.size() > kFileLevelsMax) {
      complaints_.add({file_, 0, 0}, fmt::format("more than {} sizes of blocks", kFileLevelsMax));
      return topology;
    }
    for (std::size_t i = block_sizes_.size(); i-- > 1;)
      topology.levels.push_back(fmt::format("block-{}", block_sizes_[i]));
    topology.levels.emplace_back("block");
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      const auto& [name, nodes] = blocks_[block];
      if (!block_sizes_.empty() && nodes.size() < block_sizes_.front()) {
        complaints_.add(block_places_[block], fmt::format("block {} has {} nodes, and BlockSizes says {}", quote(name),
                                                          nodes.size(), block_sizes_.front()));
      }
      std::vector<std::string> domains;
      for (std::size_t i = block_sizes_.size(); i-- > 1;) {
        domains.push_back(fmt::format("{}", block / (block_sizes_[i] / block_sizes_.front()) + 1));
      }
      domains.push_back(name);
      for (const std::string& node : nodes) topology.nodes.push_back({node, domains});
    }
    return topology;
  }

  const std::string& file_;
  std::string_view text_;
  Complaints complaints_;
  std::size_t named_ = 0;  // nodes and switches, wherever they stand
  std::map<std::string, Switch, std::less<>> switches_;
  std::vector<std::string> order_;  // of the switches' lines
  std::vector<std::pair<std::string, std::vector<std::string>>> blocks_;
  std::vector<Place> block_places_;
  std::vector<std::uint64_t> block_sizes_;
};

}  // namespace

bool is_slurm_topology(std::string_view text) {
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::vector<std::string_view> words = words_of(text.substr(from, end - from));
    if (!words.empty()) {
      const std::string key = lower(words.front().substr(0, words.front().find('=')));
      return words.front().contains('=') && !words.front().contains(':') &&
             (key == "switchname" || key.starts_with("block") || key == "nodes" || key == "switches" ||
              key == "linkspeed");
    }
    from = end + 1;
  }
  return false;
}

Result<TopologyFile> read_slurm_topology(const std::string& file, std::string_view text) {
  return SlurmTopology(file, text).read();
}

}  // namespace berth
