// Times as Kubernetes writes them. A Time here is milliseconds since 1970-01-01 UTC.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace berth {

// Whoever needs the time is given one of these; tests give their own.
using WallClock = std::function<Time()>;
WallClock system_wall_clock();

std::string format_timestamp(Time time);  // "2026-11-21T07:36:25Z"
// As format_timestamp will say it.
Time whole_second(Time time);
std::string format_micro_timestamp(Time time);  // "2026-11-21T07:36:25.123000Z"
// RFC 3339 with any offset and up to nine digits of a second; none if it is no time.
std::optional<Time> parse_timestamp(std::string_view text);
// "45s", "12m", "3h20m", "5d2h", "2y30d": how kubectl prints ages.
std::string format_age(Duration age);

}  // namespace berth
