// A timeline as figures and tables of a page.
#pragma once

#include <string>
#include <vector>

#include "sim/report.h"
#include "sim/timeline.h"

namespace berth {

// What of a timeline is on a page. On pages time is counted from the window's beginning where moments are dates.
struct TimelineView {
  const Timeline& timeline;
  TimeWindow window;
  ChosenRows chosen;
  std::vector<std::string> queues;  // each has its colour; those beyond the last colour share one
};

// The queues of those rows, by the GPU time that they held.
std::vector<std::string> queues_by_use(const Timeline& timeline, TimeWindow window, const RowFilter& filter);

// "2h30m" after the beginning, "2026-11-21T08:00:00Z"; "0".
std::string moment_word(Time moment);
// Of work on a live cluster without its unique id.
std::string shown_name(const Timeline::Row& row);
// "done", "evicted (reclaim)", "waits", "runs".
std::string fate_of(const Timeline::Row& row);

Gantt gantt_of(const TimelineView& view, const std::string& title, const std::string& description);
// GPUs in use, queue by queue.
LinePlot use_figure(const TimelineView& view, const RowFilter& filter, const std::string& title);
// One row for each attempt of those that are drawn, and for each who never ran.
ReportTable attempts_table(const TimelineView& view);

}  // namespace berth
