#include "apiserver/annotation_warnings.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "apiserver/pod_facts.h"
#include "base/wording.h"
#include "manifest/gpu_need.h"
#include "manifest/handed_down.h"
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

// Words of others that Berth reads on pods, and on them alone, as they do.
constexpr std::string_view kOthersOfPods[] = {kKueueRequiredTopologyAnnotation,
                                              kKueuePreferredTopologyAnnotation,
                                              kKueueSliceTopologyAnnotation,
                                              kKueueSliceSizeAnnotation,
                                              kKueuePodSetGroupAnnotation,
                                              kVolcanoTopologyModeAnnotation,
                                              kVolcanoHighestTierAnnotation,
                                              kGpuFractionAnnotation,
                                              kGpuMemoryAnnotation};

// What Berth itself writes on pods.
constexpr std::string_view kStamped[] = {
    kGpusAnnotation,     kGroupUidAnnotation, kGroupTaskSizeAnnotation, kMovedAtAnnotation, kQueuedAtAnnotation,
    kExtendedAnnotation, kRankAnnotation,     kWorldSizeAnnotation,     kHostsAnnotation,   kLeaderAnnotation};

template <class List>
bool is_in(const List& list, std::string_view key) {
  return std::ranges::find(list, key) != std::end(list);
}

// Whose metadata it is, in whose words a warning speaks.
struct Holder {
  bool makes_pods = false;
  bool says_gang = false;  // who starts with whom is its to say
};

// Why a word that is one is none there; empty: it counts.
std::string misplaced(std::string_view key, const Holder& holder) {
  if (key == kGangAnnotation && !holder.says_gang) {
    return holder.makes_pods ? ": who starts together says spec.minAvailable"
                             : ": it is of Jobs and JobSets; write it on the one that makes the pod";
  }
  if (!holder.makes_pods || is_handed_down(key) || key == kGangAnnotation || key == kBegunAtAnnotation) return "";
  if (is_in(kStamped, key)) return " there: Berth writes it on pods";
  if (key == kCheckpointAnnotation) return " there: it is of pods; let their work write it on them";
  return " there: it is of pods; write it in the template of these";
}

void add(std::string text, std::vector<std::string>& warnings) {
  if (!is_in(warnings, text)) warnings.push_back(std::move(text));
}

void add_warnings(const Value& metadata, const Holder& holder, std::vector<std::string>& warnings) {
  for (const Value::Member& each : metadata["annotations"].members()) {
    const std::string nothing = "annotation " + quote(each.key) + " means nothing";
    if (is_in(kKnown, each.key) || is_in(kOthersOfPods, each.key)) {
      const std::string why = misplaced(each.key, holder);
      if (!why.empty()) add(nothing + why, warnings);
      continue;
    }
    if (!each.key.starts_with(kPrefix)) continue;
    const std::string_view nearest = nearest_word(each.key, kKnown);
    if (each.key == kQueueLabel) {
      add(nothing + ": it is a label; write it there", warnings);
    } else {
      add(nothing + (nearest.empty() ? "" : "; did you mean " + std::string(nearest) + "?"), warnings);
    }
  }
}

}  // namespace

std::vector<std::string> annotation_warnings(const KindInfo& kind, const Value& object) {
  std::vector<std::string> warnings;
  const Holder maker{.makes_pods = makes_pods(kind), .says_gang = is_job_kind(kind) || is_job_set_kind(kind)};
  if (maker.makes_pods) add_warnings(object["metadata"], maker, warnings);
  if (is_job_set_kind(kind)) {
    for (const Value& part : object["spec"]["replicatedJobs"].items()) {
      add_warnings(part["template"]["metadata"], maker, warnings);
    }
  }
  for (const Value* const pod : all_pods_in(kind, object)) add_warnings((*pod)["metadata"], {}, warnings);
  return warnings;
}

}  // namespace berth
