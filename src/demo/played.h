// How far an afternoon has been played: a fact that is kept in the control plane itself, in a ConfigMap, so that whoever
// begins again after a kill goes on there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "demo/afternoon.h"
#include "manifest/value.h"

namespace berth {

inline constexpr std::string_view kDemoNamespace = "berth-demo";
inline constexpr std::string_view kAfternoonName = "afternoon";

struct Played {
  // The clock of a stretch in which somebody played. INVARIANT: none ends before it begins or before the one before ends.
  struct Life {
    Time from, until;
    friend bool operator==(const Life&, const Life&) = default;
  };
  std::size_t submitted = 0;  // so many jobs, in their order, are known to be in the control plane
  std::vector<Life> lives;
  bool over = false;  // all have ended, and there was a report
  friend bool operator==(const Played&, const Played&) = default;

  // The time of the afternoon when the clock showed that: it stood still while nobody played.
  Time afternoon_time(Time clock, std::int64_t speed) const;
};

struct KeptAfternoon {
  AfternoonSpec spec;
  Played played;
};
Value to_config_map(const AfternoonSpec& spec, const Played& played);
// Complains about one that somebody has edited into nonsense.
Result<KeptAfternoon> played_in_config_map(const Value& config_map);

}  // namespace berth
