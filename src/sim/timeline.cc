#include "sim/timeline.h"

#include <algorithm>
#include <map>

namespace berth {
namespace {

using Change = Timeline::Change;

AttemptEnd end_by(const Change& next, bool was_told) {
  switch (next.doing) {
    case Doing::kDone:
      return AttemptEnd::kDone;
    case Doing::kOverran:
      return AttemptEnd::kOverran;
    case Doing::kFailed:
      return AttemptEnd::kFailed;
    case Doing::kGone:
      return AttemptEnd::kGone;
    case Doing::kCancelled:
      // On a live cluster pods that were told to stop are gone when they have.
      return was_told ? AttemptEnd::kEvicted : AttemptEnd::kCancelled;
    case Doing::kWaits:
      return AttemptEnd::kEvicted;
    default:
      return AttemptEnd::kMoved;
  }
}

void be_on(TimelineAttempt& attempt, const Change& change) {
  attempt.gpu_milli = std::max(attempt.gpu_milli, change.gpu_milli());
  for (const Timeline::Place& place : change.places) {
    const auto found = std::ranges::find(attempt.places, place.node, &Timeline::Place::node);
    if (found == attempt.places.end()) {
      attempt.places.push_back(place);
    } else {
      found->gpu_milli = std::max(found->gpu_milli, place.gpu_milli);
    }
  }
}

std::int64_t overlap_ms(Time from, Time to, TimeWindow window) {
  return std::max<std::int64_t>(0, (std::min(to, window.to) - std::max(from, window.from)).ms);
}

// Whether there is anything of it to show.
bool is_seen(const Timeline& timeline, const Timeline::Row& row, TimeWindow window) {
  const Change& last = row.changes.back();
  const Time end = is_over(last.doing) ? last.at : timeline.end;
  return row.changes.front().at < window.to && end > window.from;
}

}  // namespace

std::int64_t Timeline::Change::gpu_milli() const {
  std::int64_t sum = 0;
  for (const Place& place : places) sum += place.gpu_milli;
  return sum;
}

Time Timeline::until(const Row& row, std::size_t change) const {
  if (change + 1 < row.changes.size()) return row.changes[change + 1].at;
  return std::max(end, row.changes[change].at);
}

std::vector<TimelineAttempt> attempts_of(const Timeline::Row& row) {
  std::vector<TimelineAttempt> attempts;
  std::optional<std::uint32_t> open;  // the number of the last, which has not ended
  for (const Change& change : row.changes) {
    if (open && (!is_there(change.doing) || change.attempt != *open)) {
      TimelineAttempt& last = attempts.back();
      last.end = change.at;
      last.how = end_by(change, last.told_to_stop.has_value());
      const bool was_taken = last.how == AttemptEnd::kEvicted || last.how == AttemptEnd::kMoved;
      if (was_taken && last.why == EvictionRule::kNone) last.why = change.why;
      open.reset();
    }
    if (!is_there(change.doing)) continue;
    if (!open) attempts.push_back({.start = change.at, .told_to_stop = {}, .end = {}, .places = {}});
    open = change.attempt;
    TimelineAttempt& attempt = attempts.back();
    be_on(attempt, change);
    if (change.doing != Doing::kStops && change.doing != Doing::kMoves) continue;
    if (!attempt.told_to_stop) attempt.told_to_stop = change.at;
    if (change.why != EvictionRule::kNone) attempt.why = change.why;
  }
  return attempts;
}

std::vector<TimeWindow> times_of(const Timeline::Reserved& reserved, TimeWindow window) {
  std::vector<TimeWindow> times;
  const Time end = std::min(window.to, reserved.removed.value_or(kForever));
  std::int64_t skipped = 0;
  if (reserved.every > Duration{0} && window.from > reserved.from) {
    skipped = (window.from - reserved.from).ms / reserved.every.ms;
  }
  const auto add = [&](Time from, Time to) {
    const TimeWindow lasts{std::max(from, window.from), std::min(to, end)};
    if (lasts.from < lasts.to) times.push_back(lasts);
  };
  for (Time from = reserved.from + Duration{skipped * reserved.every.ms}; from < end; from = from + reserved.every) {
    add(from, from + reserved.lasts);
    if (reserved.every == Duration{0}) break;
  }
  for (const Interval& each : reserved.later) add(each.from, each.to);
  return times;
}

Wide gpu_time_held(const Timeline& timeline, const Timeline::Row& row, TimeWindow window) {
  Wide sum = 0;
  for (std::size_t i = 0; i < row.changes.size(); ++i) {
    const Change& change = row.changes[i];
    sum += Wide{change.gpu_milli()} * overlap_ms(change.at, timeline.until(row, i), window);
  }
  return sum;
}

Wide gpu_time_awaited(const Timeline& timeline, const Timeline::Row& row, TimeWindow window) {
  Wide sum = 0;
  for (std::size_t i = 0; i < row.changes.size(); ++i) {
    const Change& change = row.changes[i];
    if (change.doing != Doing::kWaits && change.doing != Doing::kStarts) continue;
    sum += Wide{row.asks_gpu_milli} * overlap_ms(change.at, timeline.until(row, i), window);
  }
  return sum;
}

std::vector<HeldGpus> use_of_gpus(const Timeline& timeline, TimeWindow window, const RowFilter& filter) {
  std::map<Time, std::int64_t> by_moment = {{window.from, 0}};
  for (const Timeline::Row& row : timeline.rows) {
    if (!filter(row)) continue;
    for (std::size_t i = 0; i < row.changes.size(); ++i) {
      const Time from = std::max(row.changes[i].at, window.from);
      const Time to = std::min(timeline.until(row, i), window.to);
      const std::int64_t gpu_milli = row.changes[i].gpu_milli();
      if (from >= to || gpu_milli == 0) continue;
      by_moment[from] += gpu_milli;
      by_moment[to] -= gpu_milli;
    }
  }
  std::vector<HeldGpus> use;
  std::int64_t held = 0;
  for (const auto& [at, by] : by_moment) {
    held += by;
    if (at < window.to && (use.empty() || use.back().gpu_milli != held)) use.push_back({at, held});
  }
  return use;
}

ChosenRows choose_rows(const Timeline& timeline, TimeWindow window, std::size_t limit, const RowFilter& filter) {
  struct Family {
    std::vector<std::size_t> rows;
    Wide held = 0;
    Wide awaited = 0;
  };
  std::map<std::size_t, Family> families;  // by the row of the minimum
  ChosenRows chosen;
  std::size_t seen = 0;
  for (std::size_t i = 0; i < timeline.rows.size(); ++i) {
    const Timeline::Row& row = timeline.rows[i];
    if (!filter(row) || !is_seen(timeline, row, window)) continue;
    Family& family = families[row.step_of.value_or(i)];
    family.rows.push_back(i);
    family.held += gpu_time_held(timeline, row, window);
    family.awaited += gpu_time_awaited(timeline, row, window);
    ++seen;
  }
  std::vector<const Family*> by_time;
  for (const auto& [minimum, family] : families) {
    by_time.push_back(&family);
    chosen.of_all += family.held;
  }
  std::ranges::stable_sort(by_time, std::ranges::greater(),
                           [](const Family* family) { return family->held + family->awaited; });
  std::vector<const Family*> shown;
  std::size_t rows = 0;
  for (const Family* const family : by_time) {
    const bool fits = rows + family->rows.size() <= limit || rows == 0;
    if (!fits) chosen.of_left_out += family->held;
    if (!fits) continue;
    rows += family->rows.size();
    shown.push_back(family);
  }
  chosen.left_out = seen - rows;
  std::ranges::sort(shown, {}, [](const Family* family) { return family->rows.front(); });
  for (const Family* const family : shown) {
    chosen.rows.insert(chosen.rows.end(), family->rows.begin(), family->rows.end());
  }
  return chosen;
}

}  // namespace berth
