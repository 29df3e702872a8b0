// What one controller is to the thread that runs them all, and what it works with.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "controllers/cluster_view.h"
#include "kube/alarm.h"
#include "kube/event_recorder.h"
#include "kube/outbox.h"
#include "kube/transport.h"
#include "manifest/kinds.h"
#include "manifest/owners.h"
#include "manifest/timestamp.h"
#include "manifest/value.h"

namespace berth {

// INVARIANT: used on the controllers' strand only; outlives the controllers.
struct Means {
  const ClusterView& view;
  Outbox& outbox;
  EventRecorder& events;
  const Alarm& alarm;
  WallClock wall;
  // What an answer to one's own call said of an object; every controller sees it as if its mirror had told it.
  std::function<void(const KindInfo&, Value)> learn;
};

class Controller {
 public:
  virtual ~Controller() = default;
  // Every change of every object, in order; only notes what has to be looked at.
  virtual void see(const KindInfo& kind, const ObjectChange& change) = 0;
  // Looks at what is due. Never before all mirrors have told their first list.
  virtual void work() = 0;
  virtual std::optional<Time> next() const = 0;  // when there will be work, by the alarm
};

// Deletes that very object and no other of its name. `propagation` is "Background", "Foreground" or "Orphan".
ApiCall deletion_of(const KindInfo& kind, const Value& object, const std::string& propagation = "Background");
// Refused with 409 if it has changed since.
ApiCall deletion_as_seen(const KindInfo& kind, const Value& object);
// Merges `changed` into that very object; into nothing else, and only if it is still as it was seen.
ApiCall change_of(const KindInfo& kind, const Value& object, Value changed, const std::string& subresource = "");
// What an answer's body says, null if nothing.
Value object_in(const ApiAnswer& answer);

// The merge patch that makes one value another: what is in maps of the first only has to be named to go.
Value replacing(const Value& had, Value now);

bool is_of(const KindInfo& kind, std::string_view qualified);
bool is_being_deleted(const Value& object);
bool has_ended(const Value& pod);  // Succeeded or Failed

}  // namespace berth
