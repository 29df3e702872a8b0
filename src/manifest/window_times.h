// When a window of the calendar is open, as people say it: days of the week, times of a clock, and where that clock hangs.
// Here it becomes moments; daylight saving is looked up in the system's time zone database.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/calendar.h"
#include "model/quantity.h"

namespace berth {

// So far ahead the openings of windows are told; what repeats yearly is in it at any time, if they are told anew in time.
inline constexpr Duration kCalendarAhead{std::int64_t{400} * 86'400'000};
inline constexpr Duration kCalendarLeft{std::int64_t{370} * 86'400'000};  // told anew when less is left of it

class WindowTimes {
 public:
  static constexpr std::string_view kUtc = "UTC";

  // "daily", "mon-fri", "sat,sun"; "20:00-08:00"; "Europe/Berlin". It opens on these days, and closes on the next one if the
  // second time is not after the first; "24:00" is the end of a day.
  static Parsed<WindowTimes> read(std::string_view days, std::string_view hours, std::string_view zone);

  // What begins at this moment, lasts so long, and comes again on these days ("weekly": on that of the moment) by the clock of
  // the zone: from a whole minute on, and 24 hours at most.
  static Parsed<WindowTimes> coming_again(Time first, Duration lasts, std::string_view days, std::string_view zone,
                                          Duration zero_since_1970);

  // All its openings that are not over at `from`, up to those that begin at `to`, for a virtual clock whose zero was so
  // long after 1970. A time of the clock that a day has twice is the first; one that it has not is the moment at which the
  // clock jumps over it. So two windows of which one closes as the other opens neither overlap nor leave a gap. Where it closes
  // on one day as it opens on the next it does not close at all; one that never does has been open since Time{}.
  std::vector<Interval> openings(Time from, Time to, Duration zero_since_1970) const;

  // The first moment from now on at which the clock of the zone shows this.
  static Parsed<Time> next_at(Duration since_midnight, std::string_view zone, Time now, Duration zero_since_1970);

  // Of these what comes at `first` or later, and is not over now: as far ahead as is told.
  std::vector<Interval> openings_since(Time first, Time now, Duration zero_since_1970) const;

  friend bool operator==(const WindowTimes&, const WindowTimes&) = default;

 private:
  static constexpr std::uint8_t kEveryDay = 0x7f;

  std::uint8_t days_ = kEveryDay;  // a bit for each, from Monday
  std::int64_t opens_minute_ = 0;
  std::int64_t closes_minute_ = 0;  // of the day on which it opens: up to two days' worth
  std::string zone_{kUtc};
};

}  // namespace berth
