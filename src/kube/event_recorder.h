// Tells users what happened to their objects, as events.k8s.io/v1 events that `kubectl describe` shows. The same thing
// told again is counted in the first event's series; an object that says the same in ever other words (pod after pod of a
// Job refused) gets one event that counts the rest. Events are news, not truth: they may be dropped, never waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/time.h"
#include "kube/alarm.h"
#include "kube/transport.h"
#include "manifest/timestamp.h"
#include "manifest/value.h"

namespace berth {

struct EventRecorderOptions {
  std::string controller = {};     // reportingController: "berth.dev/scheduler"
  std::string instance = {};       // reportingInstance: this process; cut to 128 bytes
  std::uint64_t name_seed = 1;     // of the events' names; another for every process
  std::size_t series_max = 4096;   // remembered; the one not told for the longest time is forgotten first
  std::size_t in_flight_max = 16;  // writes
  std::size_t waiting_max = 1000;  // series that wait to be written; more are dropped
  int wordings_max = 10;           // of one reason about one object; what else is told within ten minutes is combined
  // Per object: so many writes at once, then one more each time so long has passed.
  int writes_burst = 25;
  Duration write_every = seconds(30);
};

class EventRecorder {
 public:
  enum class Type : std::uint8_t { kNormal, kWarning };

  // PRE: transport and alarm outlive it.
  static std::unique_ptr<EventRecorder> start(Transport& transport, Alarm& alarm, WallClock clock,
                                              EventRecorderOptions options);
  virtual ~EventRecorder() = default;  // what waits is dropped

  // `object` is what it happened to (or a reference to it: apiVersion, kind, namespace, name, uid); `reason` one
  // word in CamelCase ("Scheduled"), `action` what was done about it ("Binding"), `note` a sentence (cut to 1 KiB).
  // Never blocks and never calls the transport: the alarm's thread does.
  virtual void record(const Value& object, Type type, const std::string& reason, const std::string& action,
                      const std::string& note) = 0;
  virtual std::uint64_t dropped() const = 0;  // tellings that no event will ever count
};

}  // namespace berth
