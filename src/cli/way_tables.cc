#include "cli/way_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "cli/run_reports.h"
#include "cycle/explain.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

double lost_percent(const ClusterRun& run) {
  return run.gpu_seconds == 0 ? 0
                              : 100 * static_cast<double>(run.lost_gpu_seconds) / static_cast<double>(run.gpu_seconds);
}

std::string in_hours(std::int64_t gpu_seconds) { return with_separators(gpu_seconds / 3600); }
std::string in_words(double seconds) { return format_value(seconds, Unit::kSeconds); }
double rounded(double value) { return std::round(value * 1e4) / 1e4; }

TextTable whole_table(const Ways& ways, Fairness fairness) {
  TextTable table{{""}, {}};
  for (const Way* const way : ways) table.header.push_back(way->name);
  const auto add = [&](const std::string& what, const auto& value) {
    std::vector<std::string>& row = table.rows.emplace_back(std::vector<std::string>{what});
    for (const Way* const way : ways) row.push_back(value(way->run));
  };
  add("mean wait", [](const ClusterRun& run) { return in_words(run.wait.mean_s); });
  add("p90 wait", [](const ClusterRun& run) { return in_words(run.wait.p90_s); });
  add("utilisation while jobs arrived, %",
      [](const ClusterRun& run) { return fmt::format("{:.2f}", run.arriving_utilisation_percent); });
  add("GPU hours run", [](const ClusterRun& run) { return in_hours(run.gpu_seconds); });
  add("GPU hours lost to evictions", [](const ClusterRun& run) { return in_hours(run.lost_gpu_seconds); });
  add("the same, % of those run", [](const ClusterRun& run) { return fmt::format("{:.2f}", lost_percent(run)); });
  add("evictions", [](const ClusterRun& run) { return with_separators(run.evictions); });
  if (fairness == Fairness::kMeasured) {
    add("Jain index, mean over time", [](const ClusterRun& run) { return fmt::format("{:.4f}", run.evenness); });
    add("GPU hours short of floors", [](const ClusterRun& run) { return in_hours(run.short_of_floor_gpu_s); });
  }
  add("never started", [](const ClusterRun& run) { return with_separators(run.never_started); });
  return table;
}

const QueueWaits* queue_in(const ClusterRun& run, const std::string& queue) {
  const auto found = std::ranges::find(run.queues, queue, &QueueWaits::queue);
  return found == run.queues.end() ? nullptr : &*found;
}

Json waits_as_json(const Waits& waits) {
  return {{"mean", rounded(waits.mean_s)}, {"p50", waits.p50_s}, {"p90", waits.p90_s}, {"max", waits.max_s}};
}

Json way_as_json(const ClusterRun& run, Fairness fairness) {
  Json made = {{"utilisation_while_arriving_pct", rounded(run.arriving_utilisation_percent)},
               {"wait_s", waits_as_json(run.wait)},
               {"evictions", run.evictions},
               {"gpu_s", run.gpu_seconds},
               {"lost_gpu_s", run.lost_gpu_seconds},
               {"lost_pct", rounded(lost_percent(run))}};
  if (fairness == Fairness::kMeasured) {
    made["jain_index"] = rounded(run.evenness);
    made["short_of_floors_gpu_s"] = run.short_of_floor_gpu_s;
  }
  made["never_started"] = run.never_started;
  made["state_hash"] = hex(run.state_hash);
  return made;
}

LinePlot way_plot(const Trace& trace, const Ways& ways, const std::string& title, const std::string& description,
                  Unit unit, const std::function<double(const RunSample&)>& value) {
  LinePlot plot{.title = title, .description = description, .unit = unit, .series = {}};
  Time last_submit;
  for (const TraceJob& job : trace.jobs) last_submit = std::max(last_submit, job.submit);
  for (const Way* const way : ways) {
    Series series{way->name, {}};
    for (const RunSample& sample : way->run.samples) {
      if (sample.at <= last_submit) series.points.emplace_back(sample.at.ms, value(sample));
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

std::vector<LinePlot> demand_plots(const Trace& trace, const Ways& ways) {
  const auto all = static_cast<double>(std::max<std::int64_t>(ways.front()->run.gpu_milli, 1));
  const auto percent = [all](std::int64_t milli) { return 100 * static_cast<double>(milli) / all; };
  return {way_plot(trace, ways, "GPUs in use", "As a share of all", Unit::kPercent,
                   [&](const RunSample& at) { return percent(at.allocated_milli); }),
          way_plot(trace, ways, "GPUs waited for", "As a share of all", Unit::kPercent,
                   [&](const RunSample& at) { return percent(at.pending_gpu_milli); })};
}

ReportTable as_report_table(TextTable table, const std::string& title, const std::string& description) {
  ReportTable made{.title = title, .description = description, .columns = {}, .rows = std::move(table.rows)};
  for (std::size_t i = 0; i < table.header.size(); ++i) made.columns.push_back({table.header[i], i > 0});
  return made;
}

}  // namespace berth
