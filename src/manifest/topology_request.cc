#include "manifest/topology_request.h"

#include <algorithm>
#include <string_view>

#include "base/wording.h"
#include "manifest/hyper_nodes.h"
#include "manifest/label_syntax.h"
#include "manifest/labels.h"
#include "model/quantity.h"
#include "model/workload.h"

namespace berth {
namespace {

class TopologyRequestReader {
 public:
  explicit TopologyRequestReader(const Value& annotations) : annotations_(annotations) {}

  ReadTopology read() {
    if (const Value* const own = annotations_.find(kTopologyAnnotation)) {
      read_own(own->text());
    } else if (!read_kueues()) {
      read_volcanos();
    }
    if (const Value* const own = annotations_.find(kSliceAnnotation)) {
      const std::string_view text = own->text();
      const std::size_t colon = std::min(text.find(':'), text.size());
      slices(kSliceAnnotation, text.substr(0, colon), text.substr(std::min(colon + 1, text.size())));
    } else if (annotations_.find(kKueueSliceTopologyAnnotation) != nullptr ||
               annotations_.find(kKueueSliceSizeAnnotation) != nullptr) {
      slices(kKueueSliceSizeAnnotation, annotations_[kKueueSliceSizeAnnotation].text(),
             annotations_[kKueueSliceTopologyAnnotation].text());
    }
    if (annotations_.find(kKueueSliceLayersAnnotation) != nullptr) {
      complain(kKueueSliceLayersAnnotation, "slices within slices are not followed; write one layer of them, as " +
                                                std::string(kKueueSliceTopologyAnnotation) + " and " +
                                                std::string(kKueueSliceSizeAnnotation));
    }
    if (const Value* const exclusive = annotations_.find(kExclusiveTopologyAnnotation)) {
      read_.exclusive_level = level_in(kExclusiveTopologyAnnotation, exclusive->text());
    }
    if (const Value* const set = annotations_.find(kPodSetAnnotation)) {
      read_.pod_set = set->text();
      check_name(kPodSetAnnotation, *set);
    }
    if (const Value* const group = annotations_.find(kKueuePodSetGroupAnnotation)) {
      check_name(kKueuePodSetGroupAnnotation, *group);
    }
    return std::move(read_);
  }

 private:
  void complain(std::string_view annotation, std::string why) {
    read_.problems.push_back({annotation, std::move(why)});
  }

  void check_name(std::string_view annotation, const Value& name) {
    if (!name.is_empty() && is_label_value(name.text())) return;
    complain(annotation, quote(name.text()) +
                             " is no name; write one of letters, digits, dashes, dots and underscores, as in "
                             "workers-0, of 63 at most");
  }

  // Empty, and a complaint, if no node could have such a label.
  std::string level_in(std::string_view annotation, std::string_view label) {
    if (is_label_key(label)) return level_named(label);
    complain(annotation, quote(label) + " is no label; write one that nodes have, as in example.com/rack");
    return "";
  }

  // Kueue refuses several of them, too: nobody could say which holds.
  // Whether there is any.
  bool read_kueues() {
    constexpr std::string_view kWords[] = {kKueueRequiredTopologyAnnotation, kKueuePreferredTopologyAnnotation,
                                           kKueueUnconstrainedTopologyAnnotation};
    std::string_view first;
    for (const std::string_view annotation : kWords) {
      const Value* const value = annotations_.find(annotation);
      if (value == nullptr) continue;
      if (!first.empty()) {
        complain(annotation,
                 "it stands beside " + std::string(first) + ", and only one of them can hold; leave one out");
        continue;
      }
      first = annotation;
      if (annotation == kKueueUnconstrainedTopologyAnnotation) {
        if (value->text() == "true" || value->text() == "false") continue;
        complain(annotation, quote(value->text()) + " is neither true nor false; write true, or leave it out");
        continue;
      }
      read_.topology.level = level_in(annotation, value->text());
      if (read_.topology.level.empty()) continue;
      const bool required = annotation == kKueueRequiredTopologyAnnotation;
      read_.topology.together = required ? Togetherness::kRequired : Togetherness::kPreferred;
    }
    return !first.empty();
  }

  // What is in one HyperNode of a lower tier is in one of this, too.
  void read_volcanos() {
    const Value* const mode = annotations_.find(kVolcanoTopologyModeAnnotation);
    const Value* const highest = annotations_.find(kVolcanoHighestTierAnnotation);
    if (mode == nullptr && highest == nullptr) return;
    // Where one is not said: hard, as Volcano's API has it, and the lowest tier.
    const std::string_view how = mode == nullptr ? "hard" : mode->text();
    if (how != "hard" && how != "soft") {
      return complain(kVolcanoTopologyModeAnnotation, quote(how) + " is neither hard nor soft; write one of them");
    }
    const auto tier =
        highest == nullptr ? Parsed<std::int64_t>(1) : parse_integer(highest->text(), 0, kHyperNodeTierMax);
    if (!tier) {
      return complain(kVolcanoHighestTierAnnotation,
                      "the highest tier that will do: " + tier.error() + "; write that of a HyperNode, such as 1");
    }
    read_.topology.level = level_of_tier(*tier);
    read_.topology.together = how == "hard" ? Togetherness::kRequired : Togetherness::kPreferred;
  }

  void read_own(std::string_view text) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string_view how = text.substr(0, colon);
    const std::string_view level = text.substr(std::min(colon + 1, text.size()));
    if ((how != "required" && how != "preferred") || level.empty()) {
      return complain(kTopologyAnnotation,
                      quote(text) + " is no topology; write required:LABEL or preferred:LABEL, with a label of nodes");
    }
    read_.topology.level = level_in(kTopologyAnnotation, level);
    if (read_.topology.level.empty()) return;
    read_.topology.together = how == "required" ? Togetherness::kRequired : Togetherness::kPreferred;
  }

  void slices(std::string_view annotation, std::string_view size, std::string_view level) {
    const auto pods = parse_integer(size, 1, kPodsPerWorkloadMax);
    if (!pods || level.empty()) {
      return complain(
          annotation,
          annotation == kSliceAnnotation
              ? "slices have a size and a level; write 8:LABEL, with a label of nodes"
              : "slices have a size and a level; write how many pods a slice has, and a label of nodes in " +
                    std::string(kKueueSliceTopologyAnnotation));
    }
    read_.topology.slice_level =
        level_in(annotation == kSliceAnnotation ? annotation : kKueueSliceTopologyAnnotation, level);
    if (!read_.topology.slice_level.empty()) read_.topology.slice_pods = *pods;
  }

  const Value& annotations_;
  ReadTopology read_;
};

}  // namespace

std::string level_named(std::string_view label) {
  return std::string(label == "kubernetes.io/hostname" ? kNodeLevel : label);
}

std::string label_of_level(std::string_view level) {
  return std::string(level == kNodeLevel ? "kubernetes.io/hostname" : level);
}

std::string TopologyProblem::to_string() const { return "annotation " + std::string(annotation) + ": " + why; }

bool asks_in_kueues_words(const Value& annotations) {
  constexpr std::string_view kOwn[] = {kTopologyAnnotation, kSliceAnnotation};
  constexpr std::string_view kKueues[] = {kKueueRequiredTopologyAnnotation, kKueuePreferredTopologyAnnotation,
                                          kKueueSliceTopologyAnnotation, kKueueSliceSizeAnnotation};
  const auto is_there = [&](std::string_view each) { return annotations.find(each) != nullptr; };
  return std::ranges::none_of(kOwn, is_there) && std::ranges::any_of(kKueues, is_there);
}

ReadTopology read_topology(const Value& annotations) { return TopologyRequestReader(annotations).read(); }

}  // namespace berth
