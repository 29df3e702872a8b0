#include "manifest/window_times.h"

#include <cctz/civil_time.h>
#include <cctz/time_zone.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "base/time.h"
#include "base/wording.h"

namespace berth {
namespace {

constexpr std::int64_t kDayMinutes = 24 * 60;
constexpr std::uint8_t kEveryDay = 0x7f;
constexpr std::array<std::string_view, 7> kDays = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

std::optional<std::size_t> day_named(std::string_view name) {
  const auto place = std::find(kDays.begin(), kDays.end(), name);
  if (place == kDays.end()) return std::nullopt;
  return static_cast<std::size_t>(place - kDays.begin());
}

// "mon" or "fri-mon".
std::optional<std::uint8_t> days_between(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = day_named(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : day_named(text.substr(dash + 1));
  if (!first || !last) return std::nullopt;
  unsigned days = 1u << *last;
  for (std::size_t day = *first; day != *last; day = (day + 1) % kDays.size()) days |= 1u << day;
  return static_cast<std::uint8_t>(days);
}

std::optional<std::uint8_t> read_days(std::string_view text) {
  if (text == "daily") return kEveryDay;
  unsigned days = 0;
  while (true) {
    const std::size_t comma = text.find(',');
    const auto some = days_between(text.substr(0, comma));
    if (!some) return std::nullopt;
    days |= *some;
    if (comma == std::string_view::npos) return static_cast<std::uint8_t>(days);
    text.remove_prefix(comma + 1);
  }
}

// "20:00" and, at the end of a day, "24:00".
std::optional<std::int64_t> read_minute(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  const auto hours = parse_integer(text.substr(0, 2), 0, 24);
  const auto minutes = parse_integer(text.substr(3), 0, 59);
  if (!hours || !minutes || *hours * 60 + *minutes > kDayMinutes) return std::nullopt;
  return *hours * 60 + *minutes;
}

// What may stand in the name of a zone: it is looked up as a file.
bool is_zone_name(std::string_view name) {
  const auto is_known = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '_' ||
           c == '+' || c == '-';
  };
  return !name.empty() && name.size() <= 64 && !name.starts_with('/') &&
         std::all_of(name.begin(), name.end(), is_known);
}

std::int64_t ms_of(const cctz::time_zone& zone, const cctz::civil_second& clock) {
  const auto found = zone.lookup(clock);
  const auto moment = found.kind == cctz::time_zone::civil_lookup::SKIPPED ? found.trans : found.pre;
  return std::chrono::duration_cast<std::chrono::milliseconds>(moment.time_since_epoch()).count();
}

// "20:05"; of the end of a day "24:00".
std::string clock_text(std::int64_t minute) {
  const auto two_digits = [](std::int64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  return two_digits(minute / 60) + ":" + two_digits(minute % 60);
}

}  // namespace

Parsed<WindowTimes> WindowTimes::coming_again(Time first, Duration lasts, std::string_view days, std::string_view zone,
                                              Duration zero_since_1970) {
  // What is wrong with days and zone comes first.
  if (auto known = read(days == "weekly" ? "daily" : days, "00:00-24:00", zone); !known) return known;
  cctz::time_zone where;
  cctz::load_time_zone(std::string(zone), &where);
  const std::int64_t first_ms = first.ms + zero_since_1970.ms;
  const auto clock = cctz::convert(cctz::time_point<cctz::seconds>(cctz::seconds(first_ms / 1000)), where);
  if (first_ms % kMinuteMs != 0 || clock.second() != 0 || lasts.ms % kMinuteMs != 0)
    return std::unexpected("what comes on days of a calendar begins and ends at a whole minute; write one");
  if (lasts <= Duration{0} || lasts.ms > kDayMinutes * kMinuteMs)
    return std::unexpected("what comes on days of a calendar lasts at most 24 hours on each; write at most 24h");
  const std::int64_t opens = clock.hour() * 60 + clock.minute();
  std::int64_t closes = opens + lasts.ms / kMinuteMs;
  if (closes > kDayMinutes) closes -= kDayMinutes;
  const bool is_whole_day = closes == opens;
  auto times =
      read(days == "weekly" ? kDays[static_cast<std::size_t>(cctz::get_weekday(cctz::civil_day(clock)))] : days,
           clock_text(opens) + "-" + clock_text(is_whole_day ? (opens + 1) % kDayMinutes : closes), zone);
  if (!times) return times;
  if (is_whole_day) times->closes_minute_ = opens + kDayMinutes;
  if (is_whole_day && times->days_ == kEveryDay)
    return std::unexpected("it would never end; write less than 24h, or fewer days");
  return times;
}

Parsed<Time> WindowTimes::next_at(Duration since_midnight, std::string_view zone, Time now, Duration zero_since_1970) {
  if (const auto known = read("daily", "00:00-24:00", zone); !known) return std::unexpected(known.error());
  cctz::time_zone where;
  cctz::load_time_zone(std::string(zone), &where);
  const std::int64_t now_ms = now.ms + zero_since_1970.ms;
  const auto clock = cctz::convert(cctz::time_point<cctz::seconds>(cctz::seconds(now_ms / 1000)), where);
  for (cctz::civil_day day(clock);; ++day) {
    const std::int64_t at_ms = ms_of(where, cctz::civil_second(day) + since_midnight.ms / 1000);
    if (at_ms >= now_ms) return Time{at_ms - zero_since_1970.ms};
  }
}

std::vector<Interval> WindowTimes::openings_since(Time first, Time now, Duration zero_since_1970) const {
  const Time from = std::max(first, now);
  std::vector<Interval> times = openings(from, from + kCalendarAhead, zero_since_1970);
  std::erase_if(times, [&](const Interval& each) { return each.to <= first; });
  for (Interval& each : times) each.from = std::max(each.from, first);
  return times;
}

Parsed<WindowTimes> WindowTimes::read(std::string_view days, std::string_view hours, std::string_view zone) {
  WindowTimes times;
  const auto on = read_days(days);
  if (!on) return std::unexpected(quote(days) + " are no days; write daily, mon-fri or sat,sun");
  times.days_ = *on;
  const std::size_t dash = hours.find('-');
  const auto opens = read_minute(hours.substr(0, dash));
  const auto closes = dash == std::string_view::npos ? std::nullopt : read_minute(hours.substr(dash + 1));
  if (!opens || !closes || *opens == kDayMinutes) {
    return std::unexpected(quote(hours) + " are no hours; write 20:00-08:00, or 00:00-24:00 for whole days");
  }
  if (*opens == *closes) {
    return std::unexpected(quote(hours) + " is nothing or a whole day; write 00:00-24:00 for whole days");
  }
  times.opens_minute_ = *opens;
  times.closes_minute_ = *closes > *opens ? *closes : *closes + kDayMinutes;
  times.zone_ = zone;
  cctz::time_zone found;
  if (!is_zone_name(zone) || !cctz::load_time_zone(times.zone_, &found)) {
    return std::unexpected("zone: " + quote(zone) +
                           " is no time zone; write one such as Europe/Berlin, or leave it out");
  }
  return times;
}

std::vector<Interval> WindowTimes::openings(Time from, Time to, Duration zero_since_1970) const {
  cctz::time_zone zone;
  cctz::load_time_zone(zone_, &zone);
  const auto moment = [&](cctz::civil_day day, std::int64_t minute) {
    return Time{ms_of(zone, cctz::civil_second(cctz::civil_minute(day) + minute)) - zero_since_1970.ms};
  };
  const auto clock_at_from =
      cctz::convert(cctz::time_point<cctz::seconds>(cctz::seconds((from.ms + zero_since_1970.ms) / 1000)), zone);
  std::vector<Interval> openings;
  // One that is open now may have opened on an earlier day of the week, or on all of them.
  const bool is_always_open = days_ == kEveryDay && closes_minute_ - opens_minute_ == kDayMinutes;
  for (cctz::civil_day day = cctz::civil_day(clock_at_from) - (kDays.size() + 1);; ++day) {
    const Time opens = moment(day, opens_minute_);
    if (opens > to) break;
    if ((days_ >> static_cast<unsigned>(cctz::get_weekday(day)) & 1u) == 0) continue;
    const Time closes = moment(day, closes_minute_);
    if (!openings.empty() && openings.back().to >= opens) {
      openings.back().to = std::max(openings.back().to, closes);
    } else if (opens < closes) {
      openings.push_back({is_always_open ? Time{} : opens, closes});
    }
  }
  std::erase_if(openings, [&](const Interval& each) { return each.to <= from; });
  return openings;
}

}  // namespace berth
