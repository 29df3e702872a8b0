#include "sim/scenario_moment.h"

#include <algorithm>
#include <chrono>

#include "base/time.h"
#include "base/wording.h"

namespace berth {
namespace {

constexpr std::int64_t kMonday = 20'458;  // 5 January 2026, in days since 1970
constexpr std::string_view kWrite = " is not a moment; write 08:00, 08:00:30, +10m or 2026-11-21T08:00:00Z";

// Reads fixed patterns: '0' stands for a digit of the number being read, everything else for itself.
class PatternReader {
 public:
  explicit PatternReader(std::string_view text) : rest_(text) {}

  std::int64_t digits(std::size_t count) {
    std::int64_t number = 0;
    if (rest_.size() < count) ok_ = false;
    for (std::size_t i = 0; ok_ && i < count; ++i) {
      ok_ = rest_[i] >= '0' && rest_[i] <= '9';
      number = number * 10 + (rest_[i] - '0');
    }
    if (ok_) rest_.remove_prefix(count);
    return number;
  }
  bool skip_if(char c) {
    const bool here = rest_.starts_with(c);
    if (here) rest_.remove_prefix(1);
    return here;
  }
  void skip(char c) { ok_ = skip_if(c) && ok_; }
  void require(bool holds) { ok_ = ok_ && holds; }
  bool ok() const { return ok_; }
  bool ended() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

std::int64_t read_hours_and_minutes(PatternReader& reader) {
  const std::int64_t hours = reader.digits(2);
  reader.skip(':');
  const std::int64_t minutes = reader.digits(2);
  reader.require(hours < 24 && minutes < 60);
  return (hours * 60 + minutes) * 60'000;
}

std::int64_t read_seconds(PatternReader& reader) {
  const std::int64_t seconds = reader.digits(2);
  reader.require(seconds < 60);
  if (!reader.skip_if('.')) return seconds * 1000;
  return seconds * 1000 + reader.digits(3);
}

std::optional<std::int64_t> time_of_day_ms(std::string_view text) {
  PatternReader reader(text);
  std::int64_t ms = read_hours_and_minutes(reader);
  if (reader.skip_if(':')) ms += read_seconds(reader);
  return reader.ended() ? std::optional(ms) : std::nullopt;
}

// Milliseconds since 1970.
std::optional<std::int64_t> date_ms(std::string_view text) {
  PatternReader reader(text);
  const auto year = static_cast<int>(reader.digits(4));
  reader.skip('-');
  const auto month = static_cast<unsigned>(reader.digits(2));
  reader.skip('-');
  const auto day = static_cast<unsigned>(reader.digits(2));
  reader.skip('T');
  std::int64_t ms = read_hours_and_minutes(reader);
  if (reader.skip_if(':')) ms += read_seconds(reader);
  if (!reader.skip_if('Z')) {
    const bool east = reader.skip_if('+');
    if (!east) reader.skip('-');
    ms += (east ? -1 : 1) * read_hours_and_minutes(reader);
  }
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  if (!reader.ended() || !date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count() * kDayMs + ms;
}

std::int64_t floor_days(std::int64_t ms) { return ms >= 0 ? ms / kDayMs : -((kDayMs - 1 - ms) / kDayMs); }

std::string two_digits(std::int64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); }

}  // namespace

Parsed<Time> ScenarioClock::on_date(std::string_view text) const {
  const std::optional<std::int64_t> ms = date_ms(text);
  if (!ms) return std::unexpected(quote(text) + std::string(kWrite));
  return Time{*ms - zero_since_1970().ms};
}

Parsed<Time> ScenarioClock::without_date(std::string_view text) const {
  if (text.starts_with('+')) {
    const Parsed<std::int64_t> ms = parse_duration_ms(text.substr(1));
    if (!ms) return std::unexpected(ms.error());
    return now_ + Duration{std::min(*ms, kTimeMax.ms + 1)};
  }
  const std::optional<std::int64_t> ms = time_of_day_ms(text);
  if (!ms) return std::unexpected(quote(text) + std::string(kWrite));
  const Time today{now_.ms / kDayMs * kDayMs + *ms};
  return today < now_ ? today + Duration{kDayMs} : today;
}

Parsed<Time> ScenarioClock::later(std::string_view text) {
  const std::optional<std::int64_t> ms = date_ms(text);
  if (ms && !first_day_) first_day_ = floor_days(*ms) - now_.ms / kDayMs;
  return foretold(text);
}

Parsed<Time> ScenarioClock::foretold(std::string_view text) const {
  const Parsed<Time> moment = text.contains('T') ? on_date(text) : without_date(text);
  return moment ? not_before_now(text, *moment) : moment;
}

Parsed<Time> ScenarioClock::not_before_now(std::string_view text, Time moment) const {
  if (moment < now_) {
    return std::unexpected(quote(text) + " is before now, which is " + now_in_words() +
                           "; write a later moment, or +10m");
  }
  if (moment > kTimeMax)
    return std::unexpected(quote(text) + " is more than 10,000 years away; write an earlier moment");
  return moment;
}

Parsed<Time> ScenarioClock::planned(std::string_view text) {
  if (text.find('T') != std::string_view::npos) first_day_ = first_day_.value_or(kMonday);
  return later(text);
}

// With the date, once there is one.
std::string ScenarioClock::now_in_words() const {
  if (!first_day_) return format_moment(now_);
  const std::chrono::sys_days day{std::chrono::days(*first_day_ + now_.ms / kDayMs)};
  const std::chrono::year_month_day date(day);
  return std::to_string(static_cast<int>(date.year())) + "-" + two_digits(static_cast<unsigned>(date.month())) + "-" +
         two_digits(static_cast<unsigned>(date.day())) + " " + format_moment(Time{now_.ms % kDayMs});
}

Parsed<Time> ScenarioClock::earlier(std::string_view text) const {
  Time moment;
  if (text.find('T') != std::string_view::npos) {
    const Parsed<Time> date = on_date(text);
    if (!date) return date;
    moment = *date;
  } else {
    const std::optional<std::int64_t> ms = time_of_day_ms(text);
    if (!ms) return std::unexpected(quote(text) + " is not a moment; write 08:00, 08:00:30 or 2026-11-21T08:00:00Z");
    moment = Time{now_.ms / kDayMs * kDayMs + *ms};
    if (moment > now_ && moment.ms >= kDayMs) moment.ms -= kDayMs;
  }
  if ((moment > now_ && !may_be_later_) || moment.ms < 0) {
    return std::unexpected(quote(text) + " has not come: it is " + format_moment(now_) + "; write a moment that has");
  }
  return moment;
}

Parsed<Time> ScenarioClock::due(std::string_view text) const {
  if (text.find('T') != std::string_view::npos) return on_date(text);
  const std::optional<std::int64_t> ms = time_of_day_ms(text);
  if (!ms) return std::unexpected(quote(text) + " is not a moment; write 08:00, 08:00:30 or 2026-11-21T08:00:00Z");
  return Time{now_.ms / kDayMs * kDayMs + *ms};
}

Duration ScenarioClock::zero_since_1970() const { return Duration{first_day_.value_or(kMonday) * kDayMs}; }

std::string format_moment(Time moment) {
  const std::int64_t day = moment.ms / kDayMs;
  const std::int64_t ms = moment.ms % kDayMs;
  std::string text = day > 0 ? "day " + std::to_string(day + 1) + " " : "";
  text += two_digits(ms / 3'600'000) + ":" + two_digits(ms / 60'000 % 60);
  if (ms % 60'000 == 0) return text;
  text += ":" + two_digits(ms / 1000 % 60);
  if (ms % 1000 == 0) return text;
  return text + "." + std::to_string(1000 + ms % 1000).substr(1);
}

}  // namespace berth
