// What pods say of time in their annotations: not before, in which hours, for how long they wait at most, after what else, and
// with what else they take turns. The words are those of scenarios (docs/semantics.md, "Order").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "manifest/value.h"
#include "manifest/window_times.h"
#include "model/event.h"
#include "model/workload.h"

namespace berth {

inline constexpr std::string_view kNotBeforeAnnotation = "berth.dev/not-before";  // RFC 3339
inline constexpr std::string_view kHoursAnnotation =
    "berth.dev/hours";  // "20:00-08:00", "mon-fri 20:00-08:00 Asia/Tokyo"
inline constexpr std::string_view kMaxWaitAnnotation = "berth.dev/max-wait";        // "2h cancel", "2h raise:100"
inline constexpr std::string_view kNeverReadyAnnotation = "berth.dev/never-ready";  // "5m", "5m 3"
// "4h": the scheduler ends its Job so long after it started, or later, where its queue extends limits; by how much it did, and how
// often, it stamps on the pods: "30m 1".
inline constexpr std::string_view kRunLimitAnnotation = "berth.dev/run-limit";
inline constexpr std::string_view kExtendedAnnotation = "berth.dev/extended";
inline constexpr std::string_view kSingletonAnnotation = "berth.dev/singleton";
// "job/a,pod/b": of the same namespace. The second is the same in Slurm's word.
inline constexpr std::string_view kAfterAnnotation = "berth.dev/after";
inline constexpr std::string_view kAfterAnyAnnotation = "berth.dev/after-any";
inline constexpr std::string_view kAfterOkAnnotation = "berth.dev/after-ok";
inline constexpr std::string_view kAfterStartAnnotation = "berth.dev/after-start";

// Of a Job that waits for others, or for so long at most: since when it has begun, stamped by the scheduler.
inline constexpr std::string_view kBegunAtAnnotation = "berth.dev/begun-at";

inline constexpr std::size_t kAfterMax = 100;  // of one kind

// Somebody for whom it waits. INVARIANT: kind is "job" or "pod".
struct AfterName {
  std::string kind, name;
  DependsOn what = DependsOn::kEnd;

  std::string to_string() const { return kind + "/" + name; }
  friend bool operator==(const AfterName&, const AfterName&) = default;
};

// Hours, and how they are written; the same hours are written in the same way.
struct WrittenHours {
  std::string text;
  WindowTimes times;

  friend bool operator==(const WrittenHours&, const WrittenHours&) = default;
};

// All pods that start together are ready so long after they began, or all stop and are tried again: so often, or for ever.
struct ReadyInTime {
  Duration within{};
  std::optional<std::int32_t> retries = {};

  friend bool operator==(const ReadyInTime&, const ReadyInTime&) = default;
};

struct TimeRequest {
  std::optional<Time> not_before = {};
  std::optional<WrittenHours> hours = {};
  std::optional<MaxWait> max_wait = {};
  std::optional<ReadyInTime> ready = {};
  std::optional<Duration> run_limit = {};
  std::string singleton = {};  // empty: it takes no turns
  std::vector<AfterName> after = {};

  bool asks_nothing() const { return *this == TimeRequest(); }
  friend bool operator==(const TimeRequest&, const TimeRequest&) = default;
};

// What has no meaning here, and what to write instead.
struct TimeProblem {
  std::string_view annotation;
  std::string why;

  // "annotation berth.dev/hours: ..."
  std::string to_string() const;
};

struct TimeReading {
  TimeRequest request;
  std::vector<TimeProblem> problems;
};
TimeReading read_time_request(const Value& annotations);

}  // namespace berth
