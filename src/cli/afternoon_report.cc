#include "cli/afternoon_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "cli/run_reports.h"
#include "cli/text_table.h"
#include "cycle/explain.h"
#include "sim/files.h"
#include "sim/report.h"

namespace berth {
namespace {

std::string length(double seconds) { return format_value(seconds, Unit::kSeconds); }

LinePlot allocation(const AfternoonTold& told) {
  LinePlot plot{.title = "Allocation",
                .description = "GPUs given to the jobs of each team, and free ones",
                .of_what = "GPUs",
                .series = {},
                .stacked = true};
  const TeamUse use = use_by_team(told.run, told.trace);
  Series free{"free", {}};
  for (const Time at : use.at) free.points.emplace_back(at.ms, static_cast<double>(told.run.gpu_milli) / kMilliPerGpu);
  for (std::size_t team = 0; team < kTeams.size(); ++team) {
    Series series{std::string(kTeams[team]), {}};
    for (std::size_t i = 0; i < use.at.size(); ++i) {
      const double gpus = static_cast<double>(use.gpu_milli[team][i]) / kMilliPerGpu;
      series.points.emplace_back(use.at[i].ms, gpus);
      free.points[i].second -= gpus;
    }
    plot.series.push_back(std::move(series));
  }
  // Times in whole seconds may let two jobs overlap that did not.
  for (auto& [at, gpus] : free.points) gpus = std::max(gpus, 0.0);
  plot.series.push_back(std::move(free));
  return plot;
}

std::vector<Figure> figures_of(const AfternoonTold& told) {
  const ClusterRun& run = told.run;
  std::vector<Figure> figures;
  figures.push_back(allocation(told));
  figures.push_back(demand_figure(run, "Demand"));
  figures.push_back(queue_length_figure(run));
  QuantilePlot waits = waits_figure(run);
  waits.title = "Waits by team";
  waits.description = "Median and 90th percentile, from submission to the start of all pods";
  figures.push_back(std::move(waits));
  figures.push_back(waits_over_time(run, told.trace));
  return figures;
}

std::string unfinished(const AfternoonTold& told) {
  std::string text;
  if (told.failed > 0) text += fmt::format("{} jobs failed\n", with_separators(static_cast<std::int64_t>(told.failed)));
  if (told.missing > 0)
    text += fmt::format("{} jobs were deleted\n", with_separators(static_cast<std::int64_t>(told.missing)));
  return text;
}

}  // namespace

std::string clock_text(Time time) {
  const std::int64_t minutes = time.ms / 60'000;
  return fmt::format("{:02}:{:02}", minutes / 60, minutes % 60);
}

std::string afternoon_as_table(const AfternoonTold& told) {
  const ClusterRun& run = told.run;
  TextTable teams{{"team", "jobs", "GPU hours", "mean wait", "p50", "p90", "max"}, {}};
  for (const QueueWaits& queue : run.queues) {
    teams.rows.push_back({queue.queue, with_separators(queue.jobs), with_separators(queue.gpu_seconds / 3600),
                          length(queue.waits.mean_s), length(queue.waits.p50_s), length(queue.waits.p90_s),
                          length(queue.waits.max_s)});
  }
  const std::int64_t complete = run.decisions;
  return fmt::format("{} of {} jobs complete on {} nodes with {} GPUs, {} to {}\n\n", with_separators(complete),
                     with_separators(run.jobs), with_separators(run.nodes),
                     with_separators(run.gpu_milli / kMilliPerGpu), clock_text(run.first_submit),
                     clock_text(run.last_end)) +
         teams.to_text() +
         fmt::format("\nutilisation {:.1f} % while jobs arrived, {:.1f} % until the last end; mean wait {}, p90 {}\n",
                     run.arriving_utilisation_percent, run.utilisation_percent, length(run.wait.mean_s),
                     length(run.wait.p90_s)) +
         unfinished(told);
}

Result<std::string> write_afternoon_report(const std::string& directory, const AfternoonTold& told,
                                           const std::string& command) {
  const ClusterRun& run = told.run;
  const Report report{
      .title = "An afternoon of four teams",
      .subtitle =
          fmt::format("{} jobs on {} GPUs of {} simulated nodes, played {} times as fast on a live control plane",
                      with_separators(run.jobs), with_separators(run.gpu_milli / kMilliPerGpu),
                      with_separators(run.nodes), told.spec.speed),
      .facts = {{"utilisation while jobs arrived", fmt::format("{:.1f} %", run.arriving_utilisation_percent)},
                {"mean wait", length(run.wait.mean_s)},
                {"p90 wait", length(run.wait.p90_s)},
                {"mean completion", length(run.completion.mean_s)},
                {"complete", with_separators(run.decisions)},
                {"failed or deleted", with_separators(static_cast<std::int64_t>(told.failed + told.missing))},
                {"times are known to", length(static_cast<double>(told.spec.speed))}},
      .figures = figures_of(told),
      .tables = {queue_table(run)},
      .command = command};
  return write_file(directory + "/index.html", render_html(report));
}

}  // namespace berth
