// What a Job hands down to its pods, Volcano's Job to its, and a JobSet to its Jobs: the queue, and the words for which
// Kubernetes has no field.
#pragma once

#include <string_view>

#include "manifest/labels.h"
#include "manifest/value.h"

namespace berth {

// From the metadata of who makes it into that of what is made, where that says nothing itself. Of words that say the same in
// other dialects, or can't both be said, any counts: a template in Kueue's words keeps them.
void hand_down(const Value& maker, Value& made);

// In which words something names its queue, and where in its metadata.
struct QueueWord {
  const char* list;
  std::string_view key;
};
inline constexpr QueueWord kQueueWords[] = {
    {"labels", kQueueLabel}, {"labels", kKueueQueueLabel}, {"annotations", kVolcanoQueueAnnotation}};

// Whether the annotation is handed down.
bool is_handed_down(std::string_view annotation);

}  // namespace berth
