#include "manifest/timestamp.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/time.h"

namespace berth {

namespace {

// 0000-01-01T00:00:00Z and 9999-12-31T23:59:59.999Z: what four digits of a year can say.
constexpr std::int64_t kFirstMs = std::int64_t{-719'528} * kDayMs;
constexpr std::int64_t kLastMs = std::int64_t{2'932'897} * kDayMs - 1;

// "2026-11-21T07:36:25" and the milliseconds that remain. Times that no year can say become the nearest that can.
struct Written {
  std::string text;
  std::int64_t ms = 0;
};

Written write_seconds(Time time) {
  const std::int64_t clamped = std::clamp(time.ms, kFirstMs, kLastMs);
  const std::int64_t day = (clamped - kFirstMs) / kDayMs + kFirstMs / kDayMs;
  const std::int64_t ms = clamped - day * kDayMs;
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{day}}};
  return {fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), ms / 3'600'000,
                      ms / 60'000 % 60, ms / 1000 % 60),
          ms % 1000};
}

// Takes text from the front; once something did not fit, nothing fits any more.
class TimestampReader {
 public:
  explicit TimestampReader(std::string_view text) : rest_(text) {}

  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }
  bool next_is(char c) const { return rest_.starts_with(c); }

  void skip(char c) {
    ok_ = ok_ && next_is(c);
    if (ok_) rest_.remove_prefix(1);
  }
  bool next_is_digit() const { return !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; }
  int digit() {
    ok_ = ok_ && next_is_digit();
    if (!ok_) return 0;
    const int value = rest_[0] - '0';
    rest_.remove_prefix(1);
    return value;
  }
  // So many digits, a number of at most `largest`.
  int number(int digits, int largest) {
    int value = 0;
    for (int i = 0; i < digits; ++i) value = value * 10 + digit();
    ok_ = ok_ && value <= largest;
    return value;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// ".123456789": milliseconds, the rest cut off.
int read_fraction_ms(TimestampReader& reader) {
  reader.skip('.');
  int ms = reader.digit() * 100;
  for (int i = 1, weight = 10; i < 9 && reader.next_is_digit(); ++i, weight /= 10) ms += reader.digit() * weight;
  return ms;
}

// "Z", "+02:00", "-07:30" in minutes.
int read_offset(TimestampReader& reader) {
  if (reader.next_is('Z')) {
    reader.skip('Z');
    return 0;
  }
  const bool west = reader.next_is('-');
  reader.skip(west ? '-' : '+');
  const int hours = reader.number(2, 23);
  reader.skip(':');
  const int minutes = hours * 60 + reader.number(2, 59);
  return west ? -minutes : minutes;
}

// "3h20m", or "3h" where the second number is 0.
std::string two_units(std::int64_t large, char large_unit, std::int64_t small, char small_unit) {
  return small == 0 ? fmt::format("{}{}", large, large_unit)
                    : fmt::format("{}{}{}{}", large, large_unit, small, small_unit);
}

}  // namespace

WallClock system_wall_clock() {
  return [] {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    return Time{std::chrono::duration_cast<std::chrono::milliseconds>(since_1970).count()};
  };
}

Time whole_second(Time time) { return Time{time.ms - time.ms % 1000}; }

std::string format_timestamp(Time time) { return write_seconds(time).text + "Z"; }

std::string format_micro_timestamp(Time time) {
  const Written written = write_seconds(time);
  return fmt::format("{}.{:03}000Z", written.text, written.ms);
}

std::optional<Time> parse_timestamp(std::string_view text) {
  TimestampReader reader(text);
  const std::chrono::year year{reader.number(4, 9999)};
  reader.skip('-');
  const std::chrono::month month{static_cast<unsigned>(reader.number(2, 12))};
  reader.skip('-');
  const std::chrono::year_month_day date = year / month / static_cast<int>(reader.number(2, 31));
  reader.skip('T');
  const int hours = reader.number(2, 23);
  reader.skip(':');
  const int minutes = reader.number(2, 59);
  reader.skip(':');
  const int seconds_of_minute = reader.number(2, 59);
  const int ms = reader.next_is('.') ? read_fraction_ms(reader) : 0;
  const int offset = read_offset(reader);
  if (!reader.ok() || !reader.at_end() || !date.ok()) return std::nullopt;
  const std::int64_t day = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t minute = std::int64_t{hours} * 60 + minutes - offset;
  return Time{day * kDayMs + minute * 60'000 + std::int64_t{seconds_of_minute} * 1000 + ms};
}

std::string format_age(Duration age) {
  const std::int64_t seconds = age.ms / 1000;
  const std::int64_t minutes = seconds / 60;
  const std::int64_t hours = minutes / 60;
  const std::int64_t days = hours / 24;
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return fmt::format("{}s", seconds);
  if (minutes < 10) return two_units(minutes, 'm', seconds % 60, 's');
  if (hours < 3) return fmt::format("{}m", minutes);
  if (hours < 8) return two_units(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return fmt::format("{}h", hours);
  if (days < 8) return two_units(days, 'd', hours % 24, 'h');
  if (days < 2 * 365) return fmt::format("{}d", days);
  if (days < 8 * 365) return two_units(days / 365, 'y', days % 365, 'd');
  return fmt::format("{}y", days / 365);
}

}  // namespace berth
