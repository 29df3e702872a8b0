#include "apiserver/annotation_warnings.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "apiserver/pod_facts.h"
#include "base/wording.h"
#include "manifest/gpu_need.h"
#include "manifest/labels.h"
#include "manifest/time_request.h"
#include "manifest/topology_request.h"

namespace berth {
namespace {

constexpr std::string_view kPrefix = "berth.dev/";

// All that pods and what makes them may have of these: docs/kubectl.md, "What annotations say".
constexpr std::string_view kKnown[] = {kCheckpointAnnotation, kCoverageAnnotation,    kExitCodeAnnotation,
                                       kFlavorsAnnotation,    kGangAnnotation,        kGpuMilliAnnotation,
                                       kGpuModelsAnnotation,  kGpuSharingAnnotation,  kGpusAnnotation,
                                       kGroupSizeAnnotation,  kGroupUidAnnotation,    kGroupTaskSizeAnnotation,
                                       kLatencyAnnotation,    kModelAnnotation,       kMovableAnnotation,
                                       kMovedAtAnnotation,    kParallelismAnnotation, kNeededMemoryAnnotation,
                                       kQueuedAtAnnotation,   kRunForAnnotation,      kSliceAnnotation,
                                       kSliceNeedAnnotation,  kStopAfterAnnotation,   kNotBeforeAnnotation,
                                       kHoursAnnotation,      kMaxWaitAnnotation,     kNeverReadyAnnotation,
                                       kRunLimitAnnotation,   kExtendedAnnotation,    kSingletonAnnotation,
                                       kAfterAnnotation,      kAfterAnyAnnotation,    kAfterOkAnnotation,
                                       kAfterStartAnnotation, kBegunAtAnnotation,     kRepairAnnotation,
                                       kTopologyAnnotation,   kUserAnnotation,        kExclusiveTopologyAnnotation,
                                       kPodSetAnnotation,     kRankAnnotation,        kWorldSizeAnnotation,
                                       kHostsAnnotation,      kLeaderAnnotation};

void add_warnings(const Value& metadata, std::vector<std::string>& warnings) {
  for (const Value::Member& each : metadata["annotations"].members()) {
    if (!each.key.starts_with(kPrefix) || std::ranges::find(kKnown, each.key) != std::end(kKnown)) continue;
    const std::string_view nearest = nearest_word(each.key, kKnown);
    std::string text = "annotation " + quote(each.key) + " means nothing";
    if (each.key == kQueueLabel) {
      text += ": it is a label; write it there";
    } else if (!nearest.empty()) {
      text += "; did you mean " + std::string(nearest) + "?";
    }
    if (std::ranges::find(warnings, text) == warnings.end()) warnings.push_back(std::move(text));
  }
}

}  // namespace

std::vector<std::string> annotation_warnings(const KindInfo& kind, const Value& object) {
  if (!is_pod_kind(kind) && !makes_pods(kind)) return {};
  std::vector<std::string> warnings;
  add_warnings(object["metadata"], warnings);
  for (const Value* const pod : pods_in(kind, object)) add_warnings((*pod)["metadata"], warnings);
  return warnings;
}

}  // namespace berth
