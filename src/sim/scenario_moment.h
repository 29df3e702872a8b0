// Moments of a scenario's virtual time: it begins at 00:00 of a first day, which is a Monday unless the text gives a date.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "model/quantity.h"

namespace berth {

class ScenarioClock {
 public:
  Time now() const { return now_; }

  // "08:00" or "08:00:30" (the next time that it is so), "+10m", "2026-11-21T08:00:00Z": the moment, which is not before
  // now. The first date that is given is the date of the day that it is then.
  Parsed<Time> later(std::string_view text);
  // The same of what is planned: a date says nothing of today, which without another is that Monday.
  Parsed<Time> planned(std::string_view text);
  // What is expected to come: as later(), but that a date says nothing of today here.
  Parsed<Time> foretold(std::string_view text) const;
  // "08:00": a moment at which something is expected to be due, before or after now, on this day or another.
  Parsed<Time> due(std::string_view text) const;
  void advance_to(Time moment) { now_ = moment; }
  // Its moments are those since 1970, and so are its dates.
  void begin_in_1970() { first_day_ = 0; }
  // From here on it may be later than `now`: how much later, only the run knows.
  void lose_track() { may_be_later_ = true; }
  bool may_be_later() const { return may_be_later_; }

  // How long 00:00 of the first day is after 1970. To be asked when all has been read: the date may come last.
  Duration zero_since_1970() const;

  // "08:00": the last time that it was so, today or yesterday; or a date. What cannot have come yet is a complaint.
  Parsed<Time> earlier(std::string_view text) const;

 private:
  // Where no date has been given, it is that Monday.
  Parsed<Time> on_date(std::string_view text) const;
  Parsed<Time> not_before_now(std::string_view text, Time moment) const;
  // "08:00" or "+10m"
  Parsed<Time> without_date(std::string_view text) const;
  std::string now_in_words() const;

  Time now_;
  bool may_be_later_ = false;
  std::optional<std::int64_t> first_day_;  // of the scenario, in days since 1970
};

// "08:00", "08:00:30.250", "day 2 08:00".
std::string format_moment(Time moment);

}  // namespace berth
