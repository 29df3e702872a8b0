// Events are news: an hour after they were last told they are deleted, as Kubernetes does. They are not mirrored; now and
// then a page of them is looked through.
#pragma once

#include <memory>
#include <vector>

#include "controllers/controller.h"

namespace berth {

inline constexpr Duration kEventsKept = seconds(3600);

// Those of a list of core events that were last told longer ago than that.
std::vector<Value> old_events(const Value& list, Time now);

std::unique_ptr<Controller> make_event_collector(const Means& means);

}  // namespace berth
