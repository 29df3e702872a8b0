#include "sim/timeline_bars.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::timeline_bars_test {

using Change = Timeline::Change;

constexpr std::int64_t kMinute = 60'000;

Time minute(std::int64_t m) { return Time{m * kMinute}; }

// Over ten minutes, a cell a minute.
const CellScale kTen{{minute(0), minute(10)}, 10};

std::string drawn(std::vector<Change> changes, const CellScale& scale = kTen) {
  Timeline timeline;
  timeline.end = minute(10);
  timeline.rows.push_back({.name = "w",
                           .queue = "q",
                           .user = "",
                           .asks_gpu_milli = 1000,
                           .submitted = changes.front().at,
                           .step_of = {},
                           .changes = std::move(changes)});
  return bar_of(timeline, timeline.rows.front(), scale);
}

Change waits(Time at) { return {.at = at}; }
Change runs(Time at, std::uint32_t attempt = 1) {
  return {.at = at, .doing = Doing::kRuns, .attempt = attempt, .places = {{0, 1000}}};
}
Change is(Doing doing, Time at) {
  const bool there = is_there(doing);
  return {.at = at, .doing = doing, .attempt = 1, .places = there ? runs(at).places : std::vector<Timeline::Place>()};
}

TEST(TimelineBar, ShowsWhatHappenedInEachCell) {
  struct Case {
    const char* what;
    std::vector<Change> changes;
    const char* bar;
  };
  const Case cases[] = {
      {"waits, runs, is done", {waits(minute(1)), runs(minute(3)), is(Doing::kDone, minute(7))}, " ..###|   "},
      {"an end between two cells is of the first", {runs(minute(0)), is(Doing::kDone, minute(10))}, "#########|"},
      {"it waits still", {waits(minute(4))}, "    ......"},
      {"it runs still", {runs(minute(8))}, "        ##"},
      {"evicted, and it waits again",
       {runs(minute(0)), waits(minute(4)), runs(minute(6), 2), is(Doing::kDone, minute(9))},
       "###x..##| "},
      {"with a grace", {runs(minute(0)), is(Doing::kStops, minute(3)), waits(minute(6))}, "###--x...."},
      {"moved at once", {runs(minute(0)), runs(minute(5), 2)}, "####m#####"},
      {"without some of its pods", {runs(minute(0)), is(Doing::kLacks, minute(2)), runs(minute(5))}, "##~~~#####"},
      {"ended by its limit", {runs(minute(0)), is(Doing::kOverran, minute(5))}, "####!     "},
      {"cancelled while it ran", {runs(minute(0)), is(Doing::kCancelled, minute(5))}, "####c     "},
      {"cancelled while it waited", {waits(minute(0)), is(Doing::kCancelled, minute(5))}, "....c     "},
      {"gone", {runs(minute(0)), is(Doing::kGone, minute(5))}, "####?     "},
      {"a run of a second can be seen",
       {waits(minute(0)), runs(Time{5 * kMinute + 10'000}), is(Doing::kDone, Time{5 * kMinute + 11'000})},
       ".....|    "},
  };
  for (const Case& c : cases) EXPECT_EQ(drawn(c.changes), c.bar) << c.what;
}

TEST(TimelineBar, IsCutAtTheWindow) {
  const CellScale later{{minute(4), minute(8)}, 4};
  EXPECT_EQ(drawn({waits(minute(0)), runs(minute(2)), is(Doing::kDone, minute(9))}, later), "####");
  EXPECT_EQ(drawn({runs(minute(0)), is(Doing::kDone, minute(4))}, later), "    ");
  EXPECT_EQ(drawn({runs(minute(0)), is(Doing::kDone, minute(8))}, later), "###|");
  EXPECT_EQ(drawn({waits(minute(8))}, later), "    ");
}

TEST(TimelineBar, CellsAndMomentsAgreeWhereTheyDoNotDivide) {
  const CellScale odd{{Time{17}, Time{1017}}, 7};
  EXPECT_EQ(odd.begin_of(0), Time{17});
  EXPECT_EQ(odd.begin_of(7), Time{1017});
  for (std::int64_t ms = 17; ms < 1017; ++ms) {
    const std::size_t cell = odd.cell_of(Time{ms});
    EXPECT_LE(odd.begin_of(cell), Time{ms}) << ms;
    EXPECT_GT(odd.begin_of(cell + 1), Time{ms}) << ms;
  }
}

TEST(TimelineAxis, HasRoundMomentsWithRoomBetweenThem) {
  const auto axis = [](std::int64_t from, std::int64_t to, std::size_t cells, bool dates) {
    return axis_of({{minute(from), minute(to)}, cells}, dates);
  };
  EXPECT_EQ(axis(0, 60, 60, false), "|0   |5m  |10m |15m |20m |25m |30m |35m |40m |45m |50m |55m");
  EXPECT_EQ(axis(0, 600, 40, false), "|0      |2h     |4h     |6h     |8h");
  EXPECT_EQ(axis(90, 150, 24, false), "|1h30m      |2h");
  EXPECT_EQ(axis(100, 150, 20, false), "        |2h");
  const std::int64_t day = 20'000 * 24 * 60;
  EXPECT_EQ(axis(day - 240, day + 480, 48, true), "|20:00  |22:00  |10-04  |02:00  |04:00  |06:00");
  EXPECT_EQ(axis(day + 60, day + 61, 48, true), "|01:00:00   |01:00:15   |01:00:30   |01:00:45");
}

TEST(ColumnsOfUse, FillUpToTheMeanOfEachCell) {
  const std::vector<HeldGpus> use = {
      {minute(0), 0}, {minute(2), 8000}, {Time{4 * kMinute + kMinute / 2}, 4000}, {minute(8), 0}};
  EXPECT_EQ(columns_of_use(use, kTen, 4, 8000),
            (std::vector<std::string>{"  ##      ", "  ###     ", "  ######  ", "  ######  "}));
}

TEST(LegendOf, SaysWhatIsThere) {
  EXPECT_EQ(legend_of(" ..##x "), ". waits  # runs  x evicted");
  EXPECT_EQ(legend_of("   "), "");
}

}  // namespace berth::timeline_bars_test
