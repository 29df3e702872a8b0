// What a file of places (manifest/topology_file.h) would change of the labels of a cluster's nodes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "client/listing.h"
#include "manifest/topology_file.h"
#include "manifest/value.h"

namespace berth {

struct PlacedLabel {
  std::string key;
  std::string is;       // empty: it has none
  std::string will_be;  // empty: it is taken away

  bool changes() const { return is != will_be; }
  friend bool operator==(const PlacedLabel&, const PlacedLabel&) = default;
};

struct NodeLabels {
  std::string node;
  std::vector<PlacedLabel> labels;  // of each level, the widest first

  friend bool operator==(const NodeLabels&, const NodeLabels&) = default;
};

struct NodePlaces {
  std::vector<std::string> levels;
  std::vector<NodeLabels> changes;      // nodes of which a label changes, in the order of the file
  std::size_t as_they_are = 0;          // nodes that have their labels already
  std::vector<std::string> not_there;   // in the file, and not in the cluster
  std::vector<std::string> not_placed;  // in the cluster, and not in the file; they stay as they are
};

NodePlaces compare_places(const TopologyFile& topology, const std::vector<Value>& nodes);

// A merge patch of that node.
Value label_patch(const NodeLabels& node);

// A table of the changes, or all of it for programs.
std::string places_to_text(const NodePlaces& places, OutputStyle style);
// Who is as he is to be already, and who is missing where; a sentence each.
std::vector<std::string> notes_on(const NodePlaces& places);

}  // namespace berth
