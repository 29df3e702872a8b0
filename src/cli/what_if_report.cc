#include "cli/what_if_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "cli/json_moment.h"
#include "cli/recording.h"
#include "cli/text_table.h"
#include "cli/way_tables.h"
#include "cycle/explain.h"
#include "model/quantity.h"
#include "sim/timeline_figure.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRowsMax = 40;   // of a terminal
constexpr std::size_t kDrawnMax = 60;  // of each timeline of a page

// To the minute, and below one to the second; what is less than a second is not none.
std::string short_length(Duration length) {
  const std::int64_t unit_ms = length.ms >= 60'000 ? 60'000 : length.ms >= 1'000 ? 1'000 : 1;
  return format_duration_ms(length.ms / unit_ms * unit_ms);
}

std::string start_in_words(const Outlook::One& one, Time now) {
  if (one.cancelled) return "cancelled";
  if (!one.starts) return "not in 30 days";
  return *one.starts == now ? "at once" : "in " + short_length(*one.starts - now);
}

struct Starts {
  TextTable table;
  std::size_t same = 0;
  std::size_t left_out = 0;
};

// Those for whom it makes a difference, in the order of their numbers.
Starts starts_of(const WhatIf& what_if, bool all, std::size_t rows_max) {
  Starts starts{.table = {.header = {"workload", "queue", "starts as it is", "and then"}, .rows = {}},
                .same = static_cast<std::size_t>(what_if.same),
                .left_out = static_cast<std::size_t>(what_if.left_out)};
  for (std::size_t i = 0; i < what_if.before.waiting.size(); ++i) {
    const Outlook::One& before = what_if.before.waiting[i];
    const Outlook::One& after = what_if.after.waiting[i];
    if (before.starts_as(after) && !all) {
      ++starts.same;
    } else if (starts.table.rows.size() == rows_max && !all) {
      ++starts.left_out;
    } else {
      starts.table.rows.push_back({what_if.waiting[i].name, what_if.waiting[i].queue,
                                   start_in_words(before, what_if.now), start_in_words(after, what_if.now)});
    }
  }
  for (std::size_t i = 0; i < what_if.submitted.size(); ++i) {
    starts.table.rows.push_back({what_if.submitted[i].name, what_if.submitted[i].queue, "-",
                                 start_in_words(what_if.after.submitted[i], what_if.now)});
  }
  return starts;
}

struct Evictions {
  TextTable table;
  std::size_t alike = 0;
  std::size_t left_out = 0;
};

std::string eviction_in_words(const Outlook::Evicted& evicted) {
  if (evicted.times == 0) return "-";
  const std::string times = evicted.times == 1 ? "" : " " + with_separators(evicted.times) + " times";
  return "by " + evicted.rule + times + ", " + with_separators(evicted.lost_gpu_s / 3600) + " GPU-hours";
}

// Those for whom it makes a difference, in the order of their numbers.
Evictions evictions_of(const WhatIf& what_if, bool all, std::size_t rows_max) {
  Evictions evictions{.table = {.header = {"evicted", "queue", "as it is", "and then"}, .rows = {}},
                      .alike = static_cast<std::size_t>(what_if.evicted_alike),
                      .left_out = static_cast<std::size_t>(what_if.evicted_left_out)};
  for (const WhatIf::Evicted& each : what_if.evicted) {
    if (each.is_as_before() && !all) {
      ++evictions.alike;
    } else if (evictions.table.rows.size() == rows_max && !all) {
      ++evictions.left_out;
    } else {
      evictions.table.rows.push_back(
          {each.who.name, each.who.queue, eviction_in_words(each.before), eviction_in_words(each.after)});
    }
  }
  return evictions;
}

Duration waited_of(const Outlook& outlook) {
  Duration sum;
  for (const Outlook::OfQueue& queue : outlook.queues) sum = sum + queue.waited;
  return sum;
}

std::int64_t started_of(const Outlook& outlook) {
  std::int64_t sum = 0;
  for (const Outlook::OfQueue& queue : outlook.queues) sum += queue.started;
  return sum;
}

std::int64_t not_started_of(const Outlook& outlook) {
  std::int64_t sum = 0;
  for (const Outlook::OfQueue& queue : outlook.queues) sum += queue.waiting - queue.started - queue.cancelled;
  return sum;
}

std::int64_t cancelled_of(const Outlook& outlook) {
  std::int64_t sum = 0;
  for (const Outlook::OfQueue& queue : outlook.queues) sum += queue.cancelled;
  return sum;
}

std::string mean_in_words(Duration sum, std::int64_t count) {
  return count == 0 ? "-" : short_length(Duration{sum.ms / count});
}

TextTable table_of_sums(const WhatIf& what_if) {
  TextTable table{.header = {"", "as it is", "and then"}, .rows = {}};
  const auto add = [&](const char* what, auto value_of) {
    table.rows.push_back({what, value_of(what_if.before), value_of(what_if.after)});
  };
  add("start at once", [](const Outlook& each) { return with_separators(each.starts_at_once); });
  add("mean wait from now", [](const Outlook& each) { return mean_in_words(waited_of(each), started_of(each)); });
  add("not in 30 days", [](const Outlook& each) { return with_separators(not_started_of(each)); });
  if (cancelled_of(what_if.before) + cancelled_of(what_if.after) > 0)
    add("cancelled", [](const Outlook& each) { return with_separators(cancelled_of(each)); });
  add("evictions", [](const Outlook& each) { return with_separators(each.evictions); });
  add("lost by them, GPU-hours", [](const Outlook& each) { return with_separators(each.lost_gpu_s / 3600); });
  return table;
}

// To the nearest.
std::string gpu_hours(Wide gpu_milli_ms) {
  constexpr std::int64_t kHour = std::int64_t{kMilliPerGpu} * 3'600'000;
  return with_separators(static_cast<std::int64_t>((gpu_milli_ms + kHour / 2) / kHour));
}

// Of queues that have somebody who waits or runs.
TextTable table_of_queues(const WhatIf& what_if) {
  TextTable table{.header = {"queue", "wait", "at once", "then", "mean wait", "then", "GPU-hours in a day", "then"},
                  .rows = {}};
  for (std::size_t i = 0; i < what_if.queues.size(); ++i) {
    const Outlook::OfQueue& before = what_if.before.queues[i];
    const Outlook::OfQueue& after = what_if.after.queues[i];
    if (before.waiting == 0 && before.gpu_milli_ms == 0 && after.gpu_milli_ms == 0) continue;
    table.rows.push_back({what_if.queues[i], with_separators(before.waiting), with_separators(before.starts_at_once),
                          with_separators(after.starts_at_once), mean_in_words(before.waited, before.started),
                          mean_in_words(after.waited, after.started), gpu_hours(before.gpu_milli_ms),
                          gpu_hours(after.gpu_milli_ms)});
  }
  return table;
}

Json mean_or_null(Duration sum, std::int64_t count) { return count == 0 ? Json(nullptr) : Json(sum.ms / count); }

Json outlook_as_json(const std::vector<std::string>& known, const Outlook& outlook) {
  Json queues = Json::array();
  for (std::size_t i = 0; i < known.size(); ++i) {
    const Outlook::OfQueue& queue = outlook.queues[i];
    // 128 bits, and in a day less than 2^63 GPU-ms.
    const auto gpu_ms = static_cast<std::int64_t>(queue.gpu_milli_ms / kMilliPerGpu);
    queues.push_back({{"queue", known[i]},
                      {"waiting", queue.waiting},
                      {"cancelled", queue.cancelled},
                      {"start_at_once", queue.starts_at_once},
                      {"started", queue.started},
                      {"mean_wait_ms", mean_or_null(queue.waited, queue.started)},
                      {"gpu_ms_in_a_day", gpu_ms}});
  }
  return {{"start_at_once", outlook.starts_at_once},
          {"mean_wait_ms", mean_or_null(waited_of(outlook), started_of(outlook))},
          {"not_in_30_days", not_started_of(outlook)},
          {"cancelled", cancelled_of(outlook)},
          {"evictions", outlook.evictions},
          {"lost_gpu_s", outlook.lost_gpu_s},
          {"queues", queues}};
}

Json one_as_json(const Outlook::One& one) {
  return {{"starts_ms", moment_or_null(one.starts)}, {"cancelled", one.cancelled}, {"evictions", one.evictions}};
}

Json evicted_as_json(const Outlook::Evicted& evicted) {
  return {{"evictions", evicted.times},
          {"lost_gpu_s", evicted.lost_gpu_s},
          {"rule", evicted.times == 0 ? Json(nullptr) : Json(evicted.rule)}};
}

// Until all have started who do, with some space behind.
TimeWindow drawn_window(const WhatIf& what_if, Time now) {
  Time last = now + kShareWindow;
  for (const Outlook* const outlook : {&what_if.before, &what_if.after}) {
    for (const Outlook::One& one : outlook->waiting) last = std::max(last, one.starts.value_or(now));
  }
  const Duration space{(last - now).ms / 20};
  return {now, std::min(what_if.before.timeline.end, last + space)};
}

// Whom it concerns: they wait now, come with the changes, or are stopped.
RowFilter concerned(Time now) {
  return [now](const Timeline::Row& row) {
    const bool waits = row.changes.front().doing == Doing::kWaits && row.submitted <= now;
    const std::vector<TimelineAttempt> attempts = attempts_of(row);
    return waits || std::ranges::any_of(attempts, [](const TimelineAttempt& attempt) {
             return attempt.how == AttemptEnd::kEvicted || attempt.how == AttemptEnd::kMoved;
           });
  };
}

}  // namespace

std::string what_if_as_text(const WhatIf& what_if, bool all) {
  const Starts starts = starts_of(what_if, all, kRowsMax);
  std::string text = fmt::format("{}: {} run, {} wait\n\n{}", moment_in_words(what_if.now), what_if.running,
                                 what_if.pending, table_of_sums(what_if).to_text());
  const TextTable queues = table_of_queues(what_if);
  if (queues.rows.size() > 1) text += "\n" + queues.to_text();
  const auto count = [](std::size_t value) { return with_separators(static_cast<std::int64_t>(value)); };
  const Evictions evictions = evictions_of(what_if, all, kRowsMax);
  if (!evictions.table.rows.empty()) text += "\n" + evictions.table.to_text();
  if (evictions.left_out > 0) text += count(evictions.left_out) + " more are evicted otherwise; --all shows them\n";
  if (evictions.alike > 0) text += count(evictions.alike) + " are evicted as they would have been\n";
  text += "\n" + (starts.table.rows.empty() ? "" : starts.table.to_text());
  if (starts.left_out > 0) {
    text += count(starts.left_out) + " more start at another time; --all shows them\n";
  }
  if (starts.same > 0) text += count(starts.same) + " who wait start when they would have\n";
  return text;
}

std::string what_if_as_json(const WhatIf& what_if) {
  Json workloads = Json::array();
  for (std::size_t i = 0; i < what_if.before.waiting.size(); ++i) {
    workloads.push_back({{"name", what_if.waiting[i].name},
                         {"queue", what_if.waiting[i].queue},
                         {"before", one_as_json(what_if.before.waiting[i])},
                         {"after", one_as_json(what_if.after.waiting[i])}});
  }
  Json submitted = Json::array();
  for (std::size_t i = 0; i < what_if.submitted.size(); ++i) {
    submitted.push_back({{"name", what_if.submitted[i].name},
                         {"queue", what_if.submitted[i].queue},
                         {"after", one_as_json(what_if.after.submitted[i])}});
  }
  Json evicted = Json::array();
  for (const WhatIf::Evicted& each : what_if.evicted) {
    evicted.push_back({{"name", each.who.name},
                       {"queue", each.who.queue},
                       {"before", evicted_as_json(each.before)},
                       {"after", evicted_as_json(each.after)}});
  }
  const Json out = {{"at_ms", what_if.now.ms},
                    {"since_1970", is_date(what_if.now)},
                    {"until_ms", what_if.before.timeline.end.ms},
                    {"running", what_if.running},
                    {"waiting", what_if.pending},
                    {"before", outlook_as_json(what_if.queues, what_if.before)},
                    {"after", outlook_as_json(what_if.queues, what_if.after)},
                    {"workloads", workloads},
                    {"evicted", evicted},
                    {"evicted_alike", what_if.evicted_alike},
                    {"evicted_left_out", what_if.evicted_left_out},
                    {"start_when_they_would", what_if.same},
                    {"left_out", what_if.left_out},
                    {"submitted", submitted}};
  // Names come from users' files and may be any bytes.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Report what_if_as_page(const WhatIf& what_if, const std::string& title, const std::string& changes,
                       const std::string& command) {
  const Starts starts = starts_of(what_if, false, 200);
  const Evictions evictions = evictions_of(what_if, false, 200);
  const std::string same =
      fmt::format("{} start when they would have, {} more at another time", starts.same, starts.left_out);
  const auto change_of = [&](auto value_of) { return value_of(what_if.before) + " → " + value_of(what_if.after); };
  Report report{
      .title = title,
      .subtitle = moment_in_words(what_if.now) + "; what would be otherwise: " + changes,
      .facts = {{"start at once", change_of([](const Outlook& each) { return with_separators(each.starts_at_once); })},
                {"mean wait from now",
                 change_of([](const Outlook& each) { return mean_in_words(waited_of(each), started_of(each)); })},
                {"evictions", change_of([](const Outlook& each) { return with_separators(each.evictions); })},
                {"GPU-hours lost by them",
                 change_of([](const Outlook& each) { return with_separators(each.lost_gpu_s / 3600); })}},
      .figures = {},
      .tables = {as_report_table(table_of_sums(what_if), "The whole", "Run ahead twice, everybody as long both times"),
                 as_report_table(table_of_queues(what_if), "Queues",
                                 "As it is, and then: of those who wait, and what all of a queue hold in a day"),
                 as_report_table(evictions.table, "Who is evicted otherwise",
                                 fmt::format("By which rule, and what it loses; {} as they would have been, {} more "
                                             "otherwise",
                                             evictions.alike, evictions.left_out)),
                 as_report_table(starts.table, "Who starts at another time", same)},
      .command = command};
  if (!what_if.has_timelines()) return report;
  const TimeWindow window = drawn_window(what_if, what_if.now);
  const RowFilter filter = concerned(what_if.now);
  const RowFilter all = [](const Timeline::Row&) { return true; };
  const std::vector<std::string> queues = queues_by_use(what_if.before.timeline, window, all);
  const auto add = [&](const Timeline& timeline, const std::string& when) {
    const TimelineView view{.timeline = timeline,
                            .window = window,
                            .chosen = choose_rows(timeline, window, kDrawnMax, filter),
                            .queues = queues};
    report.figures.push_back(gantt_of(view, "Who starts when, " + when,
                                      fmt::format("Those who wait or are stopped; {} are not drawn. What exactly "
                                                  "stands under the pointer.",
                                                  view.chosen.left_out)));
    report.figures.push_back(use_figure(view, all, "GPUs in use, " + when));
  };
  add(what_if.before.timeline, "as it is");
  add(what_if.after.timeline, "and then");
  return report;
}

}  // namespace berth
