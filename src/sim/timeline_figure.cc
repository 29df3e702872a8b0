#include "sim/timeline_figure.h"

#include <algorithm>
#include <map>
#include <utility>

#include "manifest/timestamp.h"
#include "model/quantity.h"
#include "sim/timeline_bars.h"
#include "sim/timeline_recorder.h"

namespace berth {
namespace {

constexpr std::size_t kColours = 8;

std::int64_t zero_of(TimeWindow window) { return is_date(window.from) ? window.from.ms : 0; }

std::string gpus_in_words(std::int64_t gpu_milli) {
  return decimal_of_milli(gpu_milli) + (gpu_milli == kMilliPerGpu ? " GPU" : " GPUs");
}

std::string nodes_in_words(const Timeline& timeline, const std::vector<Timeline::Place>& places) {
  constexpr std::size_t kNamed = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, places.size()); ++i) {
    text += (i == 0 ? "" : ", ") + timeline.nodes[places[i].node];
  }
  if (places.size() > kNamed) text += " and " + std::to_string(places.size() - kNamed) + " more";
  return text;
}

std::string_view doing_in_words(Doing doing) {
  switch (doing) {
    case Doing::kWaits:
      return "waits";
    case Doing::kStarts:
      return "has room, and waits until others have left it";
    case Doing::kRuns:
      return "runs";
    case Doing::kLacks:
      return "runs without some of its pods";
    case Doing::kStops:
      return "told to stop";
    case Doing::kMoves:
      return "told to stop, and goes elsewhere";
    case Doing::kDone:
      return "done";
    case Doing::kOverran:
      return "ended by its limit";
    case Doing::kFailed:
      return "failed";
    case Doing::kCancelled:
      return "cancelled";
    case Doing::kGone:
      return "gone";
  }
  return "";
}

Gantt::Kind kind_of(Doing doing) {
  switch (doing) {
    case Doing::kLacks:
      return Gantt::Kind::kLacks;
    case Doing::kStops:
    case Doing::kMoves:
      return Gantt::Kind::kStops;
    case Doing::kRuns:
      return Gantt::Kind::kRuns;
    default:
      return Gantt::Kind::kWaits;
  }
}

std::string end_in_words(const TimelineAttempt& attempt) {
  if (!attempt.end) return attempt.told_to_stop ? "told to stop" : "runs";
  const std::string how(name_of(attempt.how));
  return attempt.why == EvictionRule::kNone ? how : how + " (" + std::string(name_of(attempt.why)) + ")";
}

std::string row_name(const Timeline::Row& row) { return (row.step_of ? "+ " : "") + shown_name(row); }

Gantt::Row drawn_row(const TimelineView& view, const Timeline::Row& row) {
  const Timeline& timeline = view.timeline;
  const std::int64_t zero = zero_of(view.window);
  const auto queue = std::ranges::find(view.queues, row.queue);
  const auto group = static_cast<std::size_t>(queue - view.queues.begin());
  Gantt::Row drawn{.name = row_name(row), .group = std::min(group, kColours - 1), .bars = {}, .marks = {}};
  const std::string who = row_name(row) + ", " + row.queue;
  for (std::size_t i = 0; i < row.changes.size(); ++i) {
    const Timeline::Change& change = row.changes[i];
    if (is_over(change.doing)) continue;
    const Time until = timeline.until(row, i);
    const std::string on = is_there(change.doing) ? ", " + gpus_in_words(change.gpu_milli()) + " on " +
                                                        nodes_in_words(timeline, change.places)
                                                  : ", asks " + gpus_in_words(row.asks_gpu_milli);
    drawn.bars.push_back({change.at.ms - zero, until.ms - zero, kind_of(change.doing),
                          who + ": " + std::string(doing_in_words(change.doing)) + " from " + moment_word(change.at) +
                              " to " + moment_word(until) + on});
  }
  for (const TimelineAttempt& attempt : attempts_of(row)) {
    const bool was_stopped = attempt.end && attempt.how != AttemptEnd::kDone;
    if (was_stopped) {
      drawn.marks.push_back(
          {attempt.end->ms - zero, who + ": " + end_in_words(attempt) + " at " + moment_word(*attempt.end)});
    }
  }
  return drawn;
}

Gantt::Row drawn_reservation(const TimelineView& view, const Timeline::Reserved& reserved) {
  const std::int64_t zero = zero_of(view.window);
  const auto queue = std::ranges::find(view.queues, reserved.queue);
  const auto group = static_cast<std::size_t>(queue - view.queues.begin());
  const std::string whom = reserved.queue.empty() ? "for maintenance" : "to " + reserved.queue;
  Gantt::Row drawn{
      .name = "promised: " + reserved.name, .group = std::min(group, kColours - 1), .bars = {}, .marks = {}};
  for (const TimeWindow& lasts : times_of(reserved, view.window)) {
    drawn.bars.push_back({lasts.from.ms - zero, lasts.to.ms - zero, Gantt::Kind::kPromised,
                          reserved.name + ": " + gpus_in_words(reserved.gpus * kMilliPerGpu) + " promised " + whom +
                              " from " + moment_word(lasts.from) + " to " + moment_word(lasts.to)});
  }
  return drawn;
}

}  // namespace

std::vector<std::string> queues_by_use(const Timeline& timeline, TimeWindow window, const RowFilter& filter) {
  std::map<std::string, Wide> held;
  for (const Timeline::Row& row : timeline.rows) {
    if (filter(row)) held[row.queue] += gpu_time_held(timeline, row, window);
  }
  std::vector<std::string> queues;
  for (const auto& [queue, time] : held) queues.push_back(queue);
  std::ranges::stable_sort(queues, std::ranges::greater(), [&](const std::string& queue) { return held[queue]; });
  return queues;
}

std::string moment_word(Time moment) {
  if (is_date(moment)) return format_timestamp(moment);
  return moment.ms == 0 ? "0" : format_duration_ms(moment.ms);
}

std::string shown_name(const Timeline::Row& row) {
  const std::size_t first = row.name.find('/');
  if (!is_date(row.submitted) || first == std::string::npos) return row.name;
  const std::size_t second = row.name.find('/', first + 1);
  return second == std::string::npos ? row.name : row.name.substr(0, second);
}

std::string fate_of(const Timeline::Row& row) {
  const std::vector<TimelineAttempt> attempts = attempts_of(row);
  const Doing last = row.changes.back().doing;
  if (last == Doing::kCancelled && !attempts.empty() && attempts.back().how == AttemptEnd::kEvicted) {
    return end_in_words(attempts.back());
  }
  return std::string(doing_in_words(last));
}

Gantt gantt_of(const TimelineView& view, const std::string& title, const std::string& description) {
  const std::int64_t zero = zero_of(view.window);
  Gantt gantt{.title = title,
              .description = description,
              .low = view.window.from.ms - zero,
              .high = view.window.to.ms - zero,
              .groups = view.queues,
              .rows = {}};
  if (gantt.groups.size() > kColours) {
    gantt.groups.resize(kColours);
    gantt.groups.back() = "others";
  }
  for (const Timeline::Reserved& reserved : view.timeline.reserved) {
    if (!times_of(reserved, view.window).empty()) gantt.rows.push_back(drawn_reservation(view, reserved));
  }
  for (const std::size_t row : view.chosen.rows) gantt.rows.push_back(drawn_row(view, view.timeline.rows[row]));
  return gantt;
}

LinePlot use_figure(const TimelineView& view, const RowFilter& filter, const std::string& title) {
  LinePlot plot{.title = title, .description = "By queue", .of_what = "GPUs", .series = {}, .stacked = true};
  const std::int64_t zero = zero_of(view.window);
  for (std::size_t i = 0; i < std::min(view.queues.size(), kColours); ++i) {
    const bool all_others = i + 1 == kColours && view.queues.size() > kColours;
    const auto is_of_it = [&](const Timeline::Row& row) {
      const auto at = static_cast<std::size_t>(std::ranges::find(view.queues, row.queue) - view.queues.begin());
      return filter(row) && (at == i || (all_others && at > i));
    };
    Series series{.name = all_others ? "others" : view.queues[i], .points = {}};
    for (const HeldGpus& use : use_of_gpus(view.timeline, view.window, is_of_it)) {
      series.points.emplace_back(use.at.ms - zero, static_cast<double>(use.gpu_milli) / kMilliPerGpu);
    }
    if (!series.points.empty()) series.points.emplace_back(view.window.to.ms - zero, series.points.back().second);
    plot.series.push_back(std::move(series));
  }
  return plot;
}

ReportTable attempts_table(const TimelineView& view) {
  ReportTable table{
      .title = "Attempts",
      .description = "Of the workloads that are drawn",
      .columns = {{"workload"}, {"queue"}, {"GPUs", true}, {"submitted"}, {"from"}, {"to"}, {"then"}, {"on"}},
      .rows = {}};
  for (const std::size_t at : view.chosen.rows) {
    const Timeline::Row& row = view.timeline.rows[at];
    const std::vector<TimelineAttempt> attempts = attempts_of(row);
    const auto add = [&](const std::string& gpus, const std::string& from, const std::string& to,
                         const std::string& then, const std::string& on) {
      table.rows.push_back({row_name(row), row.queue, gpus, moment_word(row.submitted), from, to, then, on});
    };
    if (attempts.empty()) add(decimal_of_milli(row.asks_gpu_milli), "", "", fate_of(row), "");
    for (const TimelineAttempt& attempt : attempts) {
      add(decimal_of_milli(attempt.gpu_milli), moment_word(attempt.start), attempt.end ? moment_word(*attempt.end) : "",
          end_in_words(attempt), nodes_in_words(view.timeline, attempt.places));
    }
  }
  return table;
}

}  // namespace berth
