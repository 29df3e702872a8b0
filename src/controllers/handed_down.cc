#include "controllers/handed_down.h"

#include <string_view>

#include "manifest/labels.h"
#include "manifest/time_request.h"

namespace berth {
namespace {

void copy_where_missing(const Value& maker, const char* list, std::string_view key, Value& made) {
  const Value& word = maker[list][key];
  if (word.is_text() && made[list][key].is_null()) made.at(list).set(key, word);
}

}  // namespace

void hand_down(const Value& maker, Value& made) {
  for (const std::string_view key : {kQueueLabel, kKueueQueueLabel, kKueuePriorityLabel, kKueueMaxRunLabel}) {
    copy_where_missing(maker, "labels", key, made);
  }
  for (const std::string_view key :
       {kRunForAnnotation,  kExitCodeAnnotation, kStopAfterAnnotation,  kGpuMilliAnnotation,     kGpuModelsAnnotation,
        kFlavorsAnnotation, kCoverageAnnotation, kUserAnnotation,       kVolcanoQueueAnnotation, kNotBeforeAnnotation,
        kHoursAnnotation,   kMaxWaitAnnotation,  kNeverReadyAnnotation, kRunLimitAnnotation,     kSingletonAnnotation,
        kAfterAnnotation,   kAfterAnyAnnotation, kAfterOkAnnotation,    kAfterStartAnnotation,   kRepairAnnotation}) {
    copy_where_missing(maker, "annotations", key, made);
  }
}

}  // namespace berth
