#include "manifest/window_times.h"
#include "base/time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace berth::window_times_test {

// Midnight at UTC, since 1970.
std::int64_t midnight_ms(int year, unsigned month, unsigned day) {
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  return std::chrono::sys_days(date).time_since_epoch().count() * kDayMs;
}

struct Night {
  int year;
  unsigned month, day;
};

TEST(WindowTimes, FollowTheClockOfTheirZone) {
  struct Case {
    const char* what;
    const char* days;
    const char* hours;
    const char* zone;
    Night date;
    // In hours at UTC, since the date's midnight: those that open on this day or on the next.
    std::vector<std::pair<double, double>> openings;
  };
  const Case cases[] = {
      {"every day", "daily", "08:00-18:00", "UTC", {2026, 11, 21}, {{8, 18}, {32, 42}}},
      {"over midnight", "daily", "20:00-08:00", "UTC", {2026, 11, 21}, {{20, 32}, {44, 56}}},
      {"whole days are one stretch", "mon-fri", "00:00-24:00", "UTC", {2026, 11, 23}, {{0, 48}}},
      {"always, since the clock's zero", "daily", "00:00-24:00", "Europe/Berlin", {2026, 11, 21}, {{0, 71}}},
      {"on some days, a Saturday", "mon-fri,sun", "08:00-18:00", "UTC", {2026, 11, 21}, {{32, 42}}},
      {"a Friday's night ends on Saturday", "mon-fri", "20:00-08:00", "UTC", {2026, 11, 20}, {{20, 32}}},
      {"over the weekend", "fri-mon", "08:00-18:00", "UTC", {2026, 11, 23}, {{8, 18}}},
      {"east of Greenwich", "daily", "20:00-08:00", "Asia/Tokyo", {2026, 11, 21}, {{11, 23}, {35, 47}}},
      {"half an hour off", "daily", "08:00-18:00", "Asia/Kolkata", {2026, 11, 21}, {{2.5, 12.5}, {26.5, 36.5}}},
      {"summer", "daily", "20:00-08:00", "Europe/Berlin", {2026, 7, 1}, {{18, 30}, {42, 54}}},
      {"summer time ends: 13 hours", "daily", "20:00-08:00", "Europe/Berlin", {2026, 10, 24}, {{18, 31}, {43, 55}}},
      {"the day of 25 hours", "sun", "00:00-24:00", "Europe/Berlin", {2026, 10, 24}, {{22, 47}}},
      {"summer time begins: 11 hours", "daily", "20:00-08:00", "Europe/Berlin", {2026, 3, 28}, {{19, 30}, {42, 54}}},
      {"the day of 23 hours", "sun", "00:00-24:00", "Europe/Berlin", {2026, 3, 28}, {{23, 46}}},
      {"what comes twice is the first",
       "daily",
       "02:30-04:00",
       "Europe/Berlin",
       {2026, 10, 25},
       {{0.5, 3}, {25.5, 27}}},
      {"also where it closes", "daily", "01:00-02:30", "Europe/Berlin", {2026, 10, 25}, {{24, 25.5}}},
      {"what does not come is the jump", "daily", "02:30-04:00", "Europe/Berlin", {2026, 3, 29}, {{1, 2}, {24.5, 26}}},
      {"nothing of it comes", "daily", "02:10-02:50", "Europe/Berlin", {2026, 3, 29}, {{24 + 10. / 60, 24 + 50. / 60}}},
      {"the other half of the world", "daily", "20:00-08:00", "America/New_York", {2026, 3, 8}, {{1, 12}, {24, 36}}},
  };
  for (const Case& c : cases) {
    const auto times = WindowTimes::read(c.days, c.hours, c.zone);
    ASSERT_TRUE(times.has_value()) << c.what << ": " << times.error();
    const std::int64_t midnight = midnight_ms(c.date.year, c.date.month, c.date.day);
    std::vector<std::pair<double, double>> found;
    for (const Interval& each : times->openings(Time{0}, Time{2 * kDayMs - 1}, Duration{midnight})) {
      const auto hours = [](Time time) { return static_cast<double>(time.ms) / static_cast<double>(kHourMs); };
      if (each.from.ms >= 0) found.emplace_back(hours(each.from), hours(each.to));
    }
    EXPECT_EQ(found, c.openings) << c.what;
  }
}

TEST(WindowTimes, WhatBeginsAtAMomentComesAgainByTheClockOfItsZone) {
  struct Case {
    const char* what;
    Night date;
    double from, lasts;  // in hours at UTC, since the date's midnight
    const char* days;
    const char* zone;
    double now;
    std::vector<std::pair<double, double>> times;  // the first two
  };
  const Case cases[] = {
      {"weekly, on the day of the first", {2026, 11, 23}, 9, 4, "weekly", "UTC", 0, {{9, 13}, {177, 181}}},
      {"which is another in its zone", {2026, 11, 22}, 23, 4, "weekly", "Asia/Tokyo", 0, {{23, 27}, {191, 195}}},
      {"from the first such day on", {2026, 11, 21}, 9, 4, "mon-fri", "UTC", 0, {{57, 61}, {81, 85}}},
      {"while it lasts", {2026, 11, 23}, 9, 4, "mon-fri", "UTC", 10, {{9, 13}, {33, 37}}},
      {"long after the first time", {2026, 11, 23}, 9, 4, "mon", "UTC", 200, {{345, 349}, {513, 517}}},
      {"over the end of summer time", {2026, 10, 24}, 7, 2, "daily", "Europe/Berlin", 0, {{7, 9}, {32, 34}}},
      {"a night with an hour more", {2026, 10, 24}, 20, 8, "daily", "Europe/Berlin", 0, {{20, 29}, {45, 53}}},
      {"whole days are one stretch", {2026, 11, 23}, 9, 24, "mon-fri", "UTC", 0, {{9, 129}, {177, 297}}},
      {"of which the first begins no earlier", {2026, 11, 24}, 9, 24, "mon-fri", "UTC", 0, {{9, 105}, {153, 273}}},
      {"until midnight", {2026, 11, 23}, 20, 4, "mon", "UTC", 0, {{20, 24}, {188, 192}}},
  };
  const auto hours = [](double length) { return static_cast<std::int64_t>(length * static_cast<double>(kHourMs)); };
  for (const Case& c : cases) {
    const Duration zero{midnight_ms(c.date.year, c.date.month, c.date.day)};
    const Time first{hours(c.from)};
    const auto times = WindowTimes::coming_again(first, Duration{hours(c.lasts)}, c.days, c.zone, zero);
    ASSERT_TRUE(times.has_value()) << c.what << ": " << times.error();
    const std::vector<Interval> found = times->openings_since(first, Time{hours(c.now)}, zero);
    ASSERT_GE(found.size(), 2U) << c.what;
    for (std::size_t i = 0; i < 2; ++i) {
      const Interval expected{Time{hours(c.times[i].first)}, Time{hours(c.times[i].second)}};
      EXPECT_EQ(found[i], expected) << c.what << ", time " << i << ": " << found[i].from.ms / kHourMs << " to "
                                    << found[i].to.ms / kHourMs;
    }
  }
}

TEST(WindowTimes, TheClockOfAZoneShowsATimeNext) {
  const Duration zero{midnight_ms(2026, 10, 24)};
  const auto next = [&](std::int64_t clock, const char* zone, std::int64_t now) {
    return WindowTimes::next_at(Duration{clock * kHourMs}, zone, Time{now * kHourMs}, zero)->ms / kHourMs;
  };
  EXPECT_EQ(next(9, "UTC", 0), 9);
  EXPECT_EQ(next(9, "UTC", 9), 9);
  EXPECT_EQ(next(9, "UTC", 10), 33);
  EXPECT_EQ(next(9, "Europe/Berlin", 0), 7);
  EXPECT_EQ(next(9, "Europe/Berlin", 8), 32) << "summer time has ended";
  EXPECT_EQ(next(0, "Asia/Tokyo", 0), 15);
  EXPECT_FALSE(WindowTimes::next_at(Duration{0}, "Berlin", Time{}, zero).has_value());
}

TEST(WindowTimes, TwoThatMeetLeaveNoGapAndDoNotOverlap) {
  const auto night = WindowTimes::read("daily", "20:00-02:30", "Europe/Berlin");
  const auto day = WindowTimes::read("daily", "02:30-20:00", "Europe/Berlin");
  std::vector<Interval> both = night->openings(Time{0}, Time{400 * kDayMs}, Duration{midnight_ms(2026, 1, 1)});
  for (const Interval& each : day->openings(Time{0}, Time{400 * kDayMs}, Duration{midnight_ms(2026, 1, 1)})) {
    both.push_back(each);
  }
  std::sort(both.begin(), both.end(), [](const Interval& a, const Interval& b) { return a.from < b.from; });
  for (std::size_t i = 1; i < both.size(); ++i) EXPECT_EQ(both[i].from, both[i - 1].to) << i;
}

TEST(WindowTimes, WhatIsOpenAlreadyCounts) {
  const auto times = WindowTimes::read("daily", "20:00-08:00", "UTC");
  const std::vector<Interval> openings = times->openings(Time{3 * kHourMs}, Time{3 * kHourMs}, Duration{0});
  ASSERT_EQ(openings.size(), 1u);
  EXPECT_EQ(openings[0], (Interval{Time{-4 * kHourMs}, Time{8 * kHourMs}}));
}

// Who has been running for a week started inside of it.
TEST(WindowTimes, AStretchBeganOnItsFirstDay) {
  const auto times = WindowTimes::read("sat-thu", "00:00-24:00", "UTC");
  const Duration friday{midnight_ms(2026, 11, 20)};
  const std::vector<Interval> openings = times->openings(Time{6 * kDayMs}, Time{6 * kDayMs}, friday);
  ASSERT_EQ(openings.size(), 1u);
  EXPECT_EQ(openings[0], (Interval{Time{1 * kDayMs}, Time{7 * kDayMs}}));
}

TEST(WindowTimes, SayWhatToWriteInstead) {
  struct Case {
    const char *days, *hours, *zone, *error;
  };
  const Case cases[] = {
      {"dayly", "08:00-18:00", "UTC", "'dayly' are no days; write daily, mon-fri or sat,sun"},
      {"mon-", "08:00-18:00", "UTC", "'mon-' are no days"},
      {"mon,", "08:00-18:00", "UTC", "'mon,' are no days"},
      {"daily", "8-18", "UTC", "'8-18' are no hours; write 20:00-08:00, or 00:00-24:00 for whole days"},
      {"daily", "08:00", "UTC", "'08:00' are no hours"},
      {"daily", "24:00-08:00", "UTC", "'24:00-08:00' are no hours"},
      {"daily", "08:00-24:01", "UTC", "'08:00-24:01' are no hours"},
      {"daily", "08:00-08:00", "UTC", "'08:00-08:00' is nothing or a whole day; write 00:00-24:00 for whole days"},
      {"daily", "08:00-18:00", "Europe/Atlantis",
       "zone: 'Europe/Atlantis' is no time zone; write one such as Europe/Berlin, or leave it out"},
      {"daily", "08:00-18:00", "../../etc/passwd", "zone: '../../etc/passwd' is no time zone"},
      {"daily", "08:00-18:00", "", "zone: '' is no time zone"},
  };
  for (const Case& c : cases) {
    const auto times = WindowTimes::read(c.days, c.hours, c.zone);
    ASSERT_FALSE(times.has_value()) << c.days << " " << c.hours << " " << c.zone;
    EXPECT_TRUE(times.error().starts_with(c.error)) << times.error();
  }
}

}  // namespace berth::window_times_test
