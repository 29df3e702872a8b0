#include "sim/timeline_bars.h"

#include <algorithm>
#include <utility>

#include "base/time.h"
#include "manifest/timestamp.h"
#include "model/quantity.h"

namespace berth {
namespace {

struct CellMeaning {
  char cell;
  std::string_view means;
};
// From the weakest.
constexpr CellMeaning kCells[] = {
    {' ', ""},
    {kWaitsCell, "waits"},
    {kStopsCell, "told to stop"},
    {kLacksCell, "runs without some of its pods"},
    {kRunsCell, "runs"},
    {kDoneCell, "done"},
    {kMovedCell, "moved"},
    {kCancelledCell, "cancelled"},
    {kOverranCell, "ended by its limit"},
    {kFailedCell, "failed"},
    {'?', "gone, nobody saw how"},
    {kEvictedCell, "evicted"},
};

std::size_t strength(char cell) {
  return static_cast<std::size_t>(std::ranges::find(kCells, cell, &CellMeaning::cell) - std::begin(kCells));
}

char cell_of(Doing doing) {
  switch (doing) {
    case Doing::kWaits:
    case Doing::kStarts:
      return kWaitsCell;
    case Doing::kRuns:
      return kRunsCell;
    case Doing::kLacks:
      return kLacksCell;
    case Doing::kStops:
    case Doing::kMoves:
      return kStopsCell;
    default:
      return ' ';
  }
}

char mark_of(AttemptEnd how) {
  switch (how) {
    case AttemptEnd::kNone:
      return ' ';
    case AttemptEnd::kDone:
      return kDoneCell;
    case AttemptEnd::kOverran:
      return kOverranCell;
    case AttemptEnd::kFailed:
      return kFailedCell;
    case AttemptEnd::kCancelled:
      return kCancelledCell;
    case AttemptEnd::kEvicted:
      return kEvictedCell;
    case AttemptEnd::kMoved:
      return kMovedCell;
    case AttemptEnd::kGone:
      return '?';
  }
  return ' ';
}

// The cells that a stretch of time meets.
template <class Visit>
void for_each_cell(Time from, Time to, const CellScale& scale, Visit visit) {
  from = std::max(from, scale.window.from);
  to = std::min(to, scale.window.to);
  if (from >= to) return;
  const std::size_t last = scale.cell_of(Time{to.ms - 1});
  for (std::size_t cell = scale.cell_of(from); cell <= last; ++cell) visit(cell);
}

void put(std::string& bar, std::size_t cell, char what) {
  if (strength(what) > strength(bar[cell])) bar[cell] = what;
}

// An end is of the cell in which it still ran.
void mark(std::string& bar, Time end, char what, const CellScale& scale) {
  if (end <= scale.window.from || end > scale.window.to) return;
  put(bar, scale.cell_of(Time{end.ms - 1}), what);
}

// "08:00" or "08:00:15", "11-21" where a day begins; "1d2h" of a run that has no dates.
std::string tick_label(Time tick, std::int64_t step, bool dates) {
  if (!dates) return tick.ms == 0 ? "0" : format_duration_ms(tick.ms);
  const std::string text = format_timestamp(tick);
  if (tick.ms % kDayMs == 0) return text.substr(5, 5);
  return text.substr(11, step < kMinuteMs ? 8 : 5);
}

constexpr std::int64_t kTickSteps[] = {1000,           5000,           15'000,      kMinuteMs,   5 * kMinuteMs,
                                       15 * kMinuteMs, 30 * kMinuteMs, kHourMs,     2 * kHourMs, 3 * kHourMs,
                                       6 * kHourMs,    12 * kHourMs,   kDayMs,      2 * kDayMs,  7 * kDayMs,
                                       14 * kDayMs,    30 * kDayMs,    100 * kDayMs};

// The first step whose labels have room between each other.
std::int64_t step_for(const CellScale& scale, bool dates) {
  constexpr std::size_t kSpace = 3;  // the stroke before it, and two spaces
  for (const std::int64_t step : kTickSteps) {
    const std::size_t longest =
        tick_label(Time{scale.window.to.ms / step * step - (dates ? step : 0)}, step, dates).size();
    const auto ticks = static_cast<std::size_t>(scale.window.length().ms / step);
    if (ticks * (longest + kSpace) <= scale.cells) return step;
  }
  return std::max(kTickSteps[std::size(kTickSteps) - 1], scale.window.length().ms);
}

}  // namespace

Time CellScale::begin_of(std::size_t cell) const {
  const Wide passed = Wide{window.length().ms} * static_cast<std::int64_t>(cell) / static_cast<std::int64_t>(cells);
  return window.from + Duration{static_cast<std::int64_t>(passed)};
}

std::size_t CellScale::cell_of(Time moment) const {
  const Wide passed = (moment - window.from).ms;
  auto cell = static_cast<std::size_t>(passed * static_cast<std::int64_t>(cells) / window.length().ms);
  // begin_of() rounds down.
  while (cell + 1 < cells && begin_of(cell + 1) <= moment) ++cell;
  return std::min(cell, cells - 1);
}

std::string bar_of(const Timeline& timeline, const Timeline::Row& row, const CellScale& scale) {
  std::string bar(scale.cells, ' ');
  for (std::size_t i = 0; i < row.changes.size(); ++i) {
    const char what = cell_of(row.changes[i].doing);
    for_each_cell(row.changes[i].at, timeline.until(row, i), scale, [&](std::size_t cell) { put(bar, cell, what); });
  }
  for (const TimelineAttempt& attempt : attempts_of(row)) {
    if (attempt.end) mark(bar, *attempt.end, mark_of(attempt.how), scale);
  }
  // Who is cancelled while he waits has no attempt that says so.
  const Timeline::Change& last = row.changes.back();
  if (last.doing == Doing::kCancelled && row.changes[row.changes.size() - 2].doing == Doing::kWaits) {
    mark(bar, last.at, kCancelledCell, scale);
  }
  return bar;
}

std::string bar_of(const Timeline::Reserved& reserved, const CellScale& scale) {
  std::string bar(scale.cells, ' ');
  for (const TimeWindow& lasts : times_of(reserved, scale.window)) {
    for_each_cell(lasts.from, lasts.to, scale, [&](std::size_t cell) { bar[cell] = '='; });
  }
  return bar;
}

std::string legend_of(std::string_view cells) {
  std::string text;
  for (const CellMeaning& each : kCells) {
    if (each.cell == ' ' || !cells.contains(each.cell)) continue;
    text += (text.empty() ? "" : "  ") + std::string(1, each.cell) + " " + std::string(each.means);
  }
  return text;
}

std::string axis_of(const CellScale& scale, bool dates) {
  const std::int64_t step = step_for(scale, dates);
  std::string axis(scale.cells, ' ');
  const std::int64_t first = (scale.window.from.ms + step - 1) / step * step;
  for (Time tick{first}; tick < scale.window.to; tick.ms += step) {
    const std::string label = "|" + tick_label(tick, step, dates);
    const std::size_t cell = scale.cell_of(tick);
    if (cell + label.size() <= axis.size()) axis.replace(cell, label.size(), label);
  }
  axis.erase(axis.find_last_not_of(' ') + 1);
  return axis;
}

std::vector<std::string> columns_of_use(const std::vector<HeldGpus>& use, const CellScale& scale, std::size_t lines,
                                        std::int64_t top_gpu_milli) {
  std::vector<Wide> held(scale.cells, 0);
  for (std::size_t i = 0; i < use.size(); ++i) {
    const Time until = i + 1 < use.size() ? use[i + 1].at : scale.window.to;
    for_each_cell(use[i].at, until, scale, [&](std::size_t cell) {
      const Time from = std::max(use[i].at, scale.begin_of(cell));
      const Time to = std::min(until, scale.begin_of(cell + 1));
      held[cell] += Wide{use[i].gpu_milli} * (to - from).ms;
    });
  }
  std::vector<std::string> drawn(lines, std::string(scale.cells, ' '));
  for (std::size_t cell = 0; cell < scale.cells; ++cell) {
    const std::int64_t length = (scale.begin_of(cell + 1) - scale.begin_of(cell)).ms;
    const Wide whole = Wide{std::max<std::int64_t>(top_gpu_milli, 1)} * std::max<std::int64_t>(length, 1);
    // To the nearest line.
    const Wide full = (held[cell] * static_cast<std::int64_t>(lines) * 2 + whole) / (whole * 2);
    for (std::size_t line = 0; line < lines; ++line) {
      if (full >= static_cast<std::int64_t>(lines - line)) drawn[line][cell] = kRunsCell;
    }
  }
  return drawn;
}

}  // namespace berth
