#include "cli/timeline_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/json_moment.h"
#include "client/listing.h"
#include "client/text_width.h"
#include "cycle/explain.h"
#include "model/quantity.h"
#include "sim/timeline_bars.h"
#include "sim/timeline_recorder.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kUseLines = 5;

// "12 %", of GPU time.
std::string percent_of(Wide part, Wide whole) {
  if (whole == 0) return "0 %";
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

// The most within the window.
std::int64_t capacity_of(const TimelineView& view) {
  std::int64_t most = 0;
  std::int64_t before = 0;
  for (const Timeline::Capacity& each : view.timeline.capacity) {
    if (each.at <= view.window.from) {
      before = each.gpu_milli;
    } else if (each.at < view.window.to) {
      most = std::max(most, each.gpu_milli);
    }
  }
  return std::max(most, before);
}

// To the minute from an hour on, to the second from a minute on.
std::string about(std::int64_t ms) {
  const std::int64_t unit = ms >= 3'600'000 ? 60'000 : ms >= 60'000 ? 1000 : 1;
  return (ms % unit == 0 ? "" : "about ") +
         format_duration_ms(std::max<std::int64_t>(1, (ms + unit / 2) / unit * unit));
}

std::string workloads_in_words(std::size_t count) {
  return count == 1 ? "1 workload" : with_separators(static_cast<std::int64_t>(count)) + " workloads";
}

// What stands to the left of the bars.
struct Margin {
  std::size_t name = 8;  // "workload"
  std::size_t queue = 5;
  std::size_t gpus = 4;

  std::size_t columns() const { return name + queue + gpus + 6; }
};

struct TextRow {
  std::string name;
  std::string queue;
  std::string gpus;
  std::string bar;
};

Margin margin_of(const std::vector<TextRow>& rows, std::size_t columns) {
  Margin margin;
  for (const TextRow& row : rows) {
    margin.name = std::max(margin.name, columns_of(row.name));
    margin.queue = std::max(margin.queue, columns_of(row.queue));
    margin.gpus = std::max(margin.gpus, row.gpus.size());
  }
  // The bars have half of the line at least.
  const std::size_t names = columns / 2 - margin.gpus - 6;
  if (margin.name + margin.queue > names) {
    margin.queue = std::min(margin.queue, names / 3);
    margin.name = std::min(margin.name, names - margin.queue);
  }
  return margin;
}

std::string margin_text(const Margin& margin, const TextRow& row) {
  return fitted(row.name, margin.name, "...") + "  " + fitted(row.queue, margin.queue, "...") + "  " +
         fitted_right(row.gpus, margin.gpus, "...") + "  ";
}

std::vector<TextRow> rows_without_bars(const TimelineView& view) {
  std::vector<TextRow> rows;
  for (const Timeline::Reserved& each : view.timeline.reserved) {
    if (times_of(each, view.window).empty()) continue;
    const std::string queue = each.queue.empty() ? "maintenance" : printable(each.queue);
    rows.push_back({"= " + printable(each.name), queue, std::to_string(each.gpus), ""});
  }
  for (const std::size_t at : view.chosen.rows) {
    const Timeline::Row& row = view.timeline.rows[at];
    rows.push_back({(row.step_of ? "  + " : "") + printable(shown_name(row)), printable(row.queue),
                    decimal_of_milli(row.asks_gpu_milli), ""});
  }
  return rows;
}

void draw_bars(const TimelineView& view, const CellScale& scale, std::vector<TextRow>& rows) {
  std::size_t at = 0;
  for (const Timeline::Reserved& each : view.timeline.reserved) {
    if (!times_of(each, view.window).empty()) rows[at++].bar = bar_of(each, scale);
  }
  for (const std::size_t row : view.chosen.rows) rows[at++].bar = bar_of(view.timeline, view.timeline.rows[row], scale);
}

std::string use_in_lines(const TimelineView& view, const RowFilter& filter, const CellScale& scale, std::size_t left) {
  const std::vector<HeldGpus> use = use_of_gpus(view.timeline, view.window, filter);
  std::int64_t top = capacity_of(view);
  for (const HeldGpus& each : use) top = std::max(top, each.gpu_milli);
  // No more than there are GPUs, so that no two lines have the same number.
  const auto height =
      static_cast<std::size_t>(std::clamp<std::int64_t>(top / kMilliPerGpu, 1, static_cast<std::int64_t>(kUseLines)));
  const std::vector<std::string> lines = columns_of_use(use, scale, height, top);
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::int64_t level = top * static_cast<std::int64_t>(height - i) / static_cast<std::int64_t>(height);
    const std::string label = with_separators((level + kMilliPerGpu / 2) / kMilliPerGpu);
    const std::string words = i == 0 ? "GPUs in use" : "";
    text += words + fitted_right(label, left - 2 - words.size(), "...") + "  " + lines[i] + "\n";
  }
  return text;
}

std::string without_trailing_space(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    at = end + 1;
  }
  return out;
}

Json attempts_as_json(const Timeline& timeline, const Timeline::Row& row) {
  Json attempts = Json::array();
  for (const TimelineAttempt& attempt : attempts_of(row)) {
    Json nodes = Json::array();
    for (const Timeline::Place& place : attempt.places) {
      nodes.push_back({{"node", timeline.nodes[place.node]}, {"gpu_milli", place.gpu_milli}});
    }
    attempts.push_back({{"start_ms", attempt.start.ms},
                        {"told_to_stop_ms", moment_or_null(attempt.told_to_stop)},
                        {"end_ms", moment_or_null(attempt.end)},
                        {"ended", attempt.end ? Json(name_of(attempt.how)) : Json(nullptr)},
                        {"why", attempt.why == EvictionRule::kNone ? Json(nullptr) : Json(name_of(attempt.why))},
                        {"gpu_milli", attempt.gpu_milli},
                        {"nodes", nodes}});
  }
  return attempts;
}

Json row_as_json(const Timeline& timeline, const Timeline::Row& row) {
  return {{"name", row.name},
          {"queue", row.queue},
          {"user", row.user},
          {"gpu_milli", row.asks_gpu_milli},
          {"step_of", row.step_of ? Json(timeline.rows[*row.step_of].name) : Json(nullptr)},
          {"submitted_ms", row.submitted.ms},
          {"is", fate_of(row)},
          {"attempts", attempts_as_json(timeline, row)}};
}

}  // namespace

std::string timeline_as_text(const TimelineView& view, const RowFilter& filter, std::size_t columns) {
  std::vector<TextRow> rows = rows_without_bars(view);
  const Margin margin = margin_of(rows, columns);
  const CellScale scale{view.window, columns - margin.columns()};
  draw_bars(view, scale, rows);
  const std::size_t seen = view.chosen.rows.size() + view.chosen.left_out;
  std::string text = fmt::format("{} to {}, {} on {} GPUs; a character is {}\n\n", moment_word(view.window.from),
                                 moment_word(view.window.to), workloads_in_words(seen),
                                 with_separators(capacity_of(view) / kMilliPerGpu),
                                 about(view.window.length().ms / static_cast<std::int64_t>(scale.cells)));
  const std::string axis = axis_of(scale, is_date(view.window.from));
  text += margin_text(margin, {"workload", "queue", "GPUs", ""}) + axis + "\n";
  std::string cells;
  for (const TextRow& row : rows) {
    text += margin_text(margin, row) + row.bar + "\n";
    cells += row.bar;
  }
  if (view.chosen.left_out > 0) {
    text += fmt::format("{} left out, which held {} of the GPU time; --limit shows more\n",
                        workloads_in_words(view.chosen.left_out) + (view.chosen.left_out == 1 ? " is" : " are"),
                        percent_of(view.chosen.of_left_out, view.chosen.of_all));
  }
  text += "\n" + use_in_lines(view, filter, scale, margin.columns());
  const std::string legend = legend_of(cells);
  if (!legend.empty()) text += "\n" + legend + "\n";
  return without_trailing_space(text);
}

Json timeline_as_json(const TimelineView& view, const RowFilter& filter) {
  const Timeline& timeline = view.timeline;
  Json workloads = Json::array();
  for (const std::size_t row : view.chosen.rows) workloads.push_back(row_as_json(timeline, timeline.rows[row]));
  Json reservations = Json::array();
  for (const Timeline::Reserved& each : timeline.reserved) {
    Json later = Json::array();
    for (const Interval& time : each.later) later.push_back({time.from.ms, time.to.ms});
    reservations.push_back({{"name", each.name},
                            {"queue", each.queue.empty() ? Json(nullptr) : Json(each.queue)},
                            {"gpus", each.gpus},
                            {"from_ms", each.from.ms},
                            {"lasts_ms", each.lasts.ms},
                            {"every_ms", each.every.ms == 0 ? Json(nullptr) : Json(each.every.ms)},
                            {"later_ms", std::move(later)},
                            {"removed_ms", moment_or_null(each.removed)}});
  }
  Json capacity = Json::array();
  for (const Timeline::Capacity& each : timeline.capacity) {
    capacity.push_back({{"at_ms", each.at.ms}, {"gpu_milli", each.gpu_milli}});
  }
  Json use = Json::array();
  for (const HeldGpus& each : use_of_gpus(timeline, view.window, filter)) {
    use.push_back({{"at_ms", each.at.ms}, {"gpu_milli", each.gpu_milli}});
  }
  return {{"since_1970", is_date(view.window.from)},
          {"from_ms", view.window.from.ms},
          {"until_ms", view.window.to.ms},
          {"workloads", workloads},
          {"left_out", view.chosen.left_out},
          {"reservations", reservations},
          {"capacity", capacity},
          {"use", use}};
}

Report timeline_as_page(const TimelineView& view, const RowFilter& filter, const std::string& title,
                        const std::string& command) {
  const std::size_t seen = view.chosen.rows.size() + view.chosen.left_out;
  std::string of_these = "One line a workload, its steps below it";
  if (view.chosen.left_out > 0) {
    of_these = fmt::format("The {} that held or awaited most GPU time; {} left out, which held {} of it",
                           view.chosen.rows.size(), with_separators(static_cast<std::int64_t>(view.chosen.left_out)),
                           percent_of(view.chosen.of_left_out, view.chosen.of_all));
  }
  const std::int64_t capacity = capacity_of(view);
  const Wide offered = Wide{capacity} * view.window.length().ms;
  Report report{.title = title,
                .subtitle = moment_word(view.window.from) + " to " + moment_word(view.window.to) +
                            (is_date(view.window.from) ? "; times below are counted from its beginning" : ""),
                .facts = {{"workloads", with_separators(static_cast<std::int64_t>(seen))},
                          {"GPUs", with_separators(capacity / kMilliPerGpu)},
                          {"of their time in use", percent_of(view.chosen.of_all, offered)}},
                .figures = {gantt_of(view, "Who ran when", of_these + ". What exactly stands under the pointer.")},
                .tables = {attempts_table(view)},
                .command = command};
  LinePlot use = use_figure(view, filter, "GPUs in use");
  use.y_max = static_cast<double>(capacity) / kMilliPerGpu;
  report.figures.push_back(std::move(use));
  return report;
}

}  // namespace berth
