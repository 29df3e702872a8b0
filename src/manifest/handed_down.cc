#include "manifest/handed_down.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "manifest/gpu_need.h"
#include "manifest/labels.h"
#include "manifest/time_request.h"
#include "manifest/topology_request.h"

namespace berth {
namespace {

constexpr std::string_view kLabels[] = {kQueueLabel, kKueueQueueLabel, kKueuePriorityLabel, kKueueMaxRunLabel};

// All that say something of pods before there are any. What becomes of a pod is written on that pod: its devices, its rank, its
// last checkpoint.
constexpr std::string_view kAnnotations[] = {kRunForAnnotation,
                                             kExitCodeAnnotation,
                                             kStopAfterAnnotation,
                                             kGpuMilliAnnotation,
                                             kGpuModelsAnnotation,
                                             kFlavorsAnnotation,
                                             kCoverageAnnotation,
                                             kUserAnnotation,
                                             kVolcanoQueueAnnotation,
                                             kNotBeforeAnnotation,
                                             kHoursAnnotation,
                                             kMaxWaitAnnotation,
                                             kNeverReadyAnnotation,
                                             kRunLimitAnnotation,
                                             kSingletonAnnotation,
                                             kAfterAnnotation,
                                             kAfterAnyAnnotation,
                                             kAfterOkAnnotation,
                                             kAfterStartAnnotation,
                                             kRepairAnnotation,
                                             kTopologyAnnotation,
                                             kSliceAnnotation,
                                             kParallelismAnnotation,
                                             kPodSetAnnotation,
                                             kExclusiveTopologyAnnotation,
                                             kMovableAnnotation,
                                             kNeededMemoryAnnotation,
                                             kModelAnnotation,
                                             kSliceNeedAnnotation,
                                             kGpuSharingAnnotation,
                                             kLatencyAnnotation};

// Of each line one holds.
const std::vector<std::vector<std::string_view>>& alternatives() {
  static const std::vector<std::vector<std::string_view>> kLines = {
      {kTopologyAnnotation, kKueueRequiredTopologyAnnotation, kKueuePreferredTopologyAnnotation,
       kKueueUnconstrainedTopologyAnnotation, kVolcanoTopologyModeAnnotation, kVolcanoHighestTierAnnotation},
      {kSliceAnnotation, kKueueSliceTopologyAnnotation, kKueueSliceSizeAnnotation},
      {kGpuMilliAnnotation, kGpuFractionAnnotation, kGpuMemoryAnnotation},
      {kNeededMemoryAnnotation, kModelAnnotation}};
  return kLines;
}

// What is made says it itself, in whatever words.
bool is_said(const Value& words, std::string_view key) {
  if (!words[key].is_null()) return true;
  const auto has = [&](std::string_view word) { return !words[word].is_null(); };
  return std::ranges::any_of(alternatives(), [&](const std::vector<std::string_view>& line) {
    return std::ranges::find(line, key) != line.end() && std::ranges::any_of(line, has);
  });
}

void copy_where_missing(const Value& maker, const char* list, std::span<const std::string_view> keys, Value& made) {
  const Value own = made[list];
  for (const std::string_view key : keys) {
    const Value& word = maker[list][key];
    if (word.is_text() && !is_said(own, key)) made.at(list).set(key, word);
  }
}

}  // namespace

void hand_down(const Value& maker, Value& made) {
  copy_where_missing(maker, "labels", kLabels, made);
  copy_where_missing(maker, "annotations", kAnnotations, made);
}

bool is_handed_down(std::string_view annotation) {
  return std::ranges::find(kAnnotations, annotation) != std::end(kAnnotations);
}

}  // namespace berth
