#include "client/event_time.h"

#include "manifest/timestamp.h"

namespace berth {

Time time_of_event(const Value& event) {
  for (const Value* const each : {&event["series"]["lastObservedTime"], &event["lastTimestamp"], &event["eventTime"],
                                  &event["firstTimestamp"], &event["metadata"]["creationTimestamp"]}) {
    if (const auto at = parse_timestamp(each->text())) return *at;
  }
  return {};
}

}  // namespace berth
