#include "manifest/topology_request.h"

#include <algorithm>
#include <string_view>

#include "base/wording.h"
#include "manifest/labels.h"
#include "model/quantity.h"
#include "model/workload.h"

namespace berth {
namespace {

class Reader {
 public:
  explicit Reader(const Value& annotations) : annotations_(annotations) {}

  ReadTopology read() {
    if (const Value* const own = annotations_.find(kTopologyAnnotation)) {
      read_own(own->text());
    } else {
      together(kKueuePreferredTopologyAnnotation, Togetherness::kPreferred);
      together(kKueueRequiredTopologyAnnotation, Togetherness::kRequired);
    }
    if (const Value* const own = annotations_.find(kSliceAnnotation)) {
      const std::string_view text = own->text();
      const std::size_t colon = std::min(text.find(':'), text.size());
      slices(kSliceAnnotation, text.substr(0, colon), text.substr(std::min(colon + 1, text.size())));
    } else if (const Value* const level = annotations_.find(kKueueSliceTopologyAnnotation)) {
      slices(kKueueSliceSizeAnnotation, annotations_[kKueueSliceSizeAnnotation].text(), level->text());
    }
    return std::move(read_);
  }

 private:
  void complain(std::string problem) {
    if (read_.problem.empty()) read_.problem = std::move(problem);
  }

  void together(std::string_view annotation, Togetherness how) {
    const std::string_view level = annotations_[annotation].text();
    if (level.empty()) return;
    read_.topology.together = how;
    read_.topology.level = level_named(level);
  }

  void read_own(std::string_view text) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string_view how = text.substr(0, colon);
    const std::string_view level = text.substr(std::min(colon + 1, text.size()));
    if ((how != "required" && how != "preferred") || level.empty()) {
      return complain("annotation " + std::string(kTopologyAnnotation) + ": " + quote(text) +
                      " is no topology; write required:LABEL or preferred:LABEL, with a label of nodes");
    }
    read_.topology.together = how == "required" ? Togetherness::kRequired : Togetherness::kPreferred;
    read_.topology.level = level_named(level);
  }

  void slices(std::string_view annotation, std::string_view size, std::string_view level) {
    const auto pods = parse_integer(size, 1, kPodsPerWorkloadMax);
    if (!pods || level.empty()) {
      return complain("annotation " + std::string(annotation) +
                      ": slices have a size and a level; write 8:LABEL, with a label of nodes");
    }
    read_.topology.slice_pods = *pods;
    read_.topology.slice_level = level_named(level);
  }

  const Value& annotations_;
  ReadTopology read_;
};

}  // namespace

std::string level_named(std::string_view label) {
  return std::string(label == "kubernetes.io/hostname" ? kNodeLevel : label);
}

ReadTopology read_topology(const Value& annotations) { return Reader(annotations).read(); }

}  // namespace berth
