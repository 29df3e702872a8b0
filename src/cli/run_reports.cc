#include "cli/run_reports.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/text_table.h"
#include "cli/way_tables.h"
#include "cycle/explain.h"
#include "sim/files.h"
#include "sim/journal_file.h"
#include "sim/report.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

Json as_json(const MeanAndSd& value) { return {{"mean", rounded(value.mean)}, {"sd", rounded(value.sd)}}; }

Json as_json(const Waits& waits) {
  return {{"mean", rounded(waits.mean_s)},
          {"p50", waits.p50_s},
          {"p90", waits.p90_s},
          {"p99", waits.p99_s},
          {"max", waits.max_s}};
}

std::uint64_t hash_of(std::span<const FillRun> runs) {
  std::vector<std::uint64_t> hashes;
  for (const FillRun& run : runs) hashes.push_back(run.state_hash);
  return state_hash_of(hashes);
}

std::string pm(const MeanAndSd& value) { return fmt::format("{:.2f} ± {:.2f}", value.mean, value.sd); }

std::string wait_text(double seconds) { return format_value(seconds, Unit::kSeconds); }

std::vector<std::string> waits_row(const std::string& name, const Waits& waits) {
  return {name,
          wait_text(waits.mean_s),
          wait_text(waits.p50_s),
          wait_text(waits.p90_s),
          wait_text(waits.p99_s),
          wait_text(waits.max_s)};
}

Series mean_series(std::span<const FillRun> runs, const std::string& name, double FillPoint::* value) {
  Series series{name, {}};
  for (std::size_t point = 0; point < runs.front().points.size(); ++point) {
    double sum = 0;
    for (const FillRun& run : runs) sum += run.points[point].*value;
    series.points.emplace_back(runs.front().points[point].demand_percent * 100, sum / static_cast<double>(runs.size()));
  }
  return series;
}

std::vector<QueueWaits> largest_queues(const ClusterRun& run, std::size_t most) {
  std::vector<QueueWaits> queues = run.queues;
  std::stable_sort(queues.begin(), queues.end(),
                   [](const QueueWaits& a, const QueueWaits& b) { return a.gpu_seconds > b.gpu_seconds; });
  if (queues.size() > most) queues.resize(most);
  return queues;
}

Series sampled(const ClusterRun& run, const std::string& name, const auto& value) {
  Series series{name, {}};
  for (const RunSample& sample : run.samples) series.points.emplace_back(sample.at.ms, value(sample));
  return series;
}

double percent_of(const ClusterRun& run, std::int64_t milli) {
  return run.gpu_milli == 0 ? 0.0 : 100 * static_cast<double>(milli) / static_cast<double>(run.gpu_milli);
}

std::vector<Figure> run_figures(const ClusterRun& run) {
  const auto gpus = [](std::int64_t milli) { return static_cast<double>(milli) / kMilliPerGpu; };
  std::vector<Figure> figures;
  figures.push_back(
      LinePlot{.title = "Allocation",
               .description = "GPUs given out, free and usable, and free but of no use to the usual pods",
               .of_what = "GPUs",
               .series = {sampled(run, "allocated", [&](const RunSample& at) { return gpus(at.allocated_milli); }),
                          sampled(run, "free",
                                  [&](const RunSample& at) {
                                    return gpus(std::max<std::int64_t>(
                                        run.gpu_milli - at.allocated_milli - at.unusable_milli, 0));
                                  }),
                          sampled(run, "fragmented", [&](const RunSample& at) { return gpus(at.unusable_milli); })},
               .stacked = true});
  figures.push_back(demand_figure(run, "Utilisation and demand"));
  figures.push_back(LinePlot{
      .title = "Fragmentation",
      .description = "Free GPUs that the usual pods cannot use, as a share of the fleet's",
      .unit = Unit::kPercent,
      .series = {sampled(run, "fragmented", [&](const RunSample& at) { return percent_of(run, at.unusable_milli); })}});
  figures.push_back(queue_length_figure(run));
  return figures;
}

}  // namespace

LinePlot demand_figure(const ClusterRun& run, const std::string& title) {
  const auto demand = [&](const RunSample& at) { return percent_of(run, at.allocated_milli + at.pending_gpu_milli); };
  return {.title = title,
          .description = "GPUs in use, and in use or waited for, as a share of the fleet's",
          .unit = Unit::kPercent,
          .series = {sampled(run, "in use", [&](const RunSample& at) { return percent_of(run, at.allocated_milli); }),
                     sampled(run, "in use or waited for", demand)}};
}

LinePlot queue_length_figure(const ClusterRun& run) {
  return {
      .title = "Queue length",
      .description = "Jobs that wait and jobs that run",
      .of_what = "jobs",
      .series = {sampled(run, "waiting", [](const RunSample& at) { return static_cast<double>(at.pending_jobs); }),
                 sampled(run, "running", [](const RunSample& at) { return static_cast<double>(at.running_jobs); })}};
}

QuantilePlot waits_figure(const ClusterRun& run) {
  QuantilePlot plot{.title = "Waits by queue",
                    .description = "Median and 90th percentile, of the queues with most GPU time",
                    .rows = {}};
  for (const QueueWaits& queue : largest_queues(run, 20)) {
    plot.rows.push_back({queue.queue, queue.waits.p50_s, queue.waits.p90_s});
  }
  return plot;
}

// The mean wait of the jobs that were submitted in each stretch of time.
HeatMap waits_over_time(const ClusterRun& run, const Trace& trace) {
  constexpr std::int64_t kColumns = 48;
  Time last_submit = run.first_submit;
  for (const JobTimes& times : run.times) last_submit = std::max(last_submit, times.submit);
  HeatMap map{.title = "Waits over time",
              .description = "Mean wait of the jobs submitted in each stretch, by queue",
              .start_ms = run.first_submit.ms,
              .bin_ms = std::max<std::int64_t>((last_submit - run.first_submit).ms / kColumns + 1, 60'000),
              .rows = {}};
  for (const QueueWaits& queue : largest_queues(run, 20)) {
    std::vector<std::pair<double, std::int64_t>> sums(
        static_cast<std::size_t>((last_submit - run.first_submit).ms / map.bin_ms) + 1);
    for (std::size_t row = 0; row < run.times.size(); ++row) {
      const JobTimes& times = run.times[row];
      if (!times.started || queue_name(trace.jobs[row]) != queue.queue) continue;
      auto& [sum_s, count] = sums[static_cast<std::size_t>((times.submit - run.first_submit).ms / map.bin_ms)];
      sum_s += static_cast<double>((times.start - times.submit).ms) / 1000;
      ++count;
    }
    HeatMap::Row& row = map.rows.emplace_back(HeatMap::Row{queue.queue, {}});
    for (const auto& [sum_s, count] : sums) {
      row.cells.push_back(count > 0 ? std::optional(sum_s / static_cast<double>(count)) : std::nullopt);
    }
  }
  return map;
}

ReportTable queue_table(const ClusterRun& run) {
  ReportTable table{.title = "Queues",
                    .description = "By GPU time",
                    .columns = {{"queue"},
                                {"jobs", true},
                                {"GPU hours", true},
                                {"mean wait", true},
                                {"p50", true},
                                {"p90", true},
                                {"p99", true}},
                    .rows = {}};
  for (const QueueWaits& queue : largest_queues(run, 500)) {
    table.rows.push_back({queue.queue, with_separators(queue.jobs), with_separators(queue.gpu_seconds / 3600),
                          wait_text(queue.waits.mean_s), wait_text(queue.waits.p50_s), wait_text(queue.waits.p90_s),
                          wait_text(queue.waits.p99_s)});
  }
  return table;
}

std::string hex(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

std::vector<std::int64_t> checkpoints_of(const FillOptions& options) {
  if (options.until_percent <= 100) return {options.until_percent};
  return {100, options.until_percent};
}

FillSummary summary_at(std::span<const FillRun> runs, std::int64_t percent) {
  std::vector<double> allocated;
  std::vector<double> fragmented;
  for (const FillRun& run : runs) {
    const FillPoint& point = run.points[static_cast<std::size_t>(percent)];
    allocated.push_back(point.allocated_percent);
    fragmented.push_back(point.fragmented_percent);
  }
  return {mean_and_sd(allocated), mean_and_sd(fragmented)};
}

std::string fill_as_json(std::span<const FillRun> runs, const FillOptions& options) {
  Json checkpoints = Json::object();
  for (const std::int64_t percent : checkpoints_of(options)) {
    const FillSummary summary = summary_at(runs, percent);
    checkpoints[std::to_string(percent)] = {{"allocation_pct", as_json(summary.allocated)},
                                            {"fragmented_pct", as_json(summary.fragmented)}};
  }
  Json seeds = Json::array();
  for (const FillRun& run : runs) seeds.push_back(run.seed.value);
  const Json out = {{"policy", name_of(options.policy)},
                    {"checkpoints", checkpoints},
                    {"seeds", seeds},
                    {"state_hash", hex(hash_of(runs))}};
  return out.dump(2) + "\n";
}

std::string fill_as_table(std::span<const FillRun> runs, const FillOptions& options) {
  TextTable table{{"demand, % of GPUs", "allocated, %", "fragmented, %"}, {}};
  std::vector<std::int64_t> rows;
  for (std::int64_t percent = 10; percent < options.until_percent; percent += 10) rows.push_back(percent);
  rows.push_back(options.until_percent);
  for (const std::int64_t percent : rows) {
    const FillSummary summary = summary_at(runs, percent);
    table.rows.push_back({std::to_string(percent), fmt::format("{:.2f}", summary.allocated.mean),
                          fmt::format("{:.2f}", summary.fragmented.mean)});
  }
  std::string out =
      fmt::format("{}, mean of {} {}\n", name_of(options.policy), runs.size(), runs.size() == 1 ? "seed" : "seeds");
  out += table.to_text() + "\n";
  for (const std::int64_t percent : checkpoints_of(options)) {
    const FillSummary summary = summary_at(runs, percent);
    out += fmt::format("at {:3d} %: {} % allocated, {} % fragmented\n", percent, pm(summary.allocated),
                       pm(summary.fragmented));
  }
  return out + fmt::format("state hash {}\n", hex(hash_of(runs)));
}

std::string run_as_json(const ClusterRun& run, const RunOptions& options) {
  Json queues = Json::object();
  for (const QueueWaits& queue : run.queues) {
    queues[queue.queue] = {{"jobs", queue.jobs}, {"gpu_s", queue.gpu_seconds}, {"wait_s", as_json(queue.waits)}};
  }
  Json left = Json::array();
  for (const LeftWaiting& job : run.left_waiting) {
    left.push_back({{"job", job.job}, {"reason", name_of(job.code)}, {"text", job.text}});
  }
  const Json out = {
      {"order", name_of(options.order)},
      {"policy", name_of(options.policy)},
      {"seed", options.seed.value},
      {"nodes", run.nodes},
      {"gpus", run.gpu_milli / kMilliPerGpu},
      {"jobs", run.jobs},
      {"never_started", run.never_started},
      {"left_waiting", left},
      {"wait_s", as_json(run.wait)},
      {"wait_of_large_s", as_json(run.wait_of_large)},
      {"completion_s", as_json(run.completion)},
      {"promised", {{"jobs", run.promises.jobs}, {"later", run.promises.later}, {"broken", run.promises.broken}}},
      {"utilisation_pct", rounded(run.utilisation_percent)},
      {"utilisation_while_arriving_pct", rounded(run.arriving_utilisation_percent)},
      {"cycles", run.cycles},
      {"decisions", run.decisions},
      {"queues", queues},
      {"state_hash", hex(run.state_hash)}};
  // Names come from users' files and may be any bytes.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string run_as_table(const ClusterRun& run, const RunOptions& options) {
  TextTable times{
      {"", "mean", "p50", "p90", "p99", "max"},
      {waits_row("wait", run.wait), waits_row(fmt::format("wait, {} GPUs and more", kLargeJobGpus), run.wait_of_large),
       waits_row("completion", run.completion)}};
  TextTable queues{{"queue", "jobs", "GPU hours", "mean wait", "p50", "p90"}, {}};
  for (const QueueWaits& queue : largest_queues(run, 15)) {
    queues.rows.push_back({queue.queue, with_separators(queue.jobs), with_separators(queue.gpu_seconds / 3600),
                           wait_text(queue.waits.mean_s), wait_text(queue.waits.p50_s), wait_text(queue.waits.p90_s)});
  }
  std::string out =
      fmt::format("{} jobs on {} nodes with {} GPUs, order {}, placement {}\n\n", with_separators(run.jobs),
                  with_separators(run.nodes), with_separators(run.gpu_milli / kMilliPerGpu), name_of(options.order),
                  name_of(options.policy));
  out += times.to_text() + "\n" + queues.to_text();
  if (run.queues.size() > queues.rows.size()) {
    out += fmt::format("... and {} more queues\n", run.queues.size() - queues.rows.size());
  }
  out += fmt::format(
      "\nutilisation {:.1f} % while jobs arrived, {:.1f} % until the last end; {} starts in {} cycles; {} jobs never "
      "started\nstate hash {}\n",
      run.arriving_utilisation_percent, run.utilisation_percent, with_separators(run.decisions),
      with_separators(run.cycles), with_separators(run.never_started), hex(run.state_hash));
  if (run.promises.jobs > 0) {
    out += fmt::format("{} jobs were promised a start while they waited; {} of them started later\n",
                       with_separators(run.promises.jobs), with_separators(run.promises.broken));
  }
  for (const LeftWaiting& job : run.left_waiting) {
    out += fmt::format("never started: {}: {}, {}\n", job.job, name_of(job.code), job.text);
  }
  if (run.never_started > static_cast<std::int64_t>(run.left_waiting.size()) && !run.left_waiting.empty()) {
    out += fmt::format("... and {} more\n",
                       with_separators(run.never_started - static_cast<std::int64_t>(run.left_waiting.size())));
  }
  return out;
}

Result<std::string> write_fill_report(const std::string& directory, std::span<const FillRun> runs,
                                      const FillOptions& options, const std::string& command) {
  Report report{
      .title = fmt::format("Filling a fleet: {}", name_of(options.policy)),
      .subtitle = fmt::format("Pods arrive, none departs, until demand is {} % of the fleet's GPUs; mean of {} seeds",
                              options.until_percent, runs.size()),
      .facts = {},
      .figures = {},
      .tables = {},
      .command = command};
  for (const std::int64_t percent : checkpoints_of(options)) {
    const FillSummary summary = summary_at(runs, percent);
    report.facts.emplace_back(fmt::format("allocated at {} %", percent),
                              fmt::format("{:.2f} %", summary.allocated.mean));
    report.facts.emplace_back(fmt::format("fragmented at {} %", percent),
                              fmt::format("{:.2f} %", summary.fragmented.mean));
  }
  report.facts.emplace_back("state hash", hex(hash_of(runs)));
  report.figures.push_back(LinePlot{.title = "Allocation",
                                    .description = "Share of the fleet's GPUs that was given out, by arrived demand",
                                    .x_axis = XAxis::kPercent,
                                    .unit = Unit::kPercent,
                                    .series = {mean_series(runs, "allocated", &FillPoint::allocated_percent)}});
  report.figures.push_back(
      LinePlot{.title = "Fragmentation",
               .description = "Share of the fleet's GPUs that is free but of no use to the usual pods",
               .x_axis = XAxis::kPercent,
               .unit = Unit::kPercent,
               .series = {mean_series(runs, "fragmented", &FillPoint::fragmented_percent)}});
  ReportTable seeds{.title = "Seeds",
                    .description = "At the end",
                    .columns = {{"seed", true},
                                {"pods arrived", true},
                                {"placed", true},
                                {"allocated, %", true},
                                {"fragmented, %", true},
                                {"state hash"}},
                    .rows = {}};
  for (const FillRun& run : runs) {
    seeds.rows.push_back({std::to_string(run.seed.value), with_separators(run.arrived_pods),
                          with_separators(run.placed_pods), fmt::format("{:.2f}", run.points.back().allocated_percent),
                          fmt::format("{:.2f}", run.points.back().fragmented_percent), hex(run.state_hash)});
  }
  report.tables.push_back(std::move(seeds));
  return write_file(directory + "/index.html", render_html(report));
}

Result<std::string> write_run_report(const std::string& directory, const ClusterRun& run, const Trace& trace,
                                     const RunOptions& options, const std::string& title, const std::string& command) {
  Report report{.title = title,
                .subtitle = fmt::format("{} jobs on {} GPUs of {} nodes, order {}, placement {}",
                                        with_separators(run.jobs), with_separators(run.gpu_milli / kMilliPerGpu),
                                        with_separators(run.nodes), name_of(options.order), name_of(options.policy)),
                .facts = {{"utilisation while jobs arrived", fmt::format("{:.1f} %", run.arriving_utilisation_percent)},
                          {"mean wait", wait_text(run.wait.mean_s)},
                          {"p90 wait", wait_text(run.wait.p90_s)},
                          {"mean completion", wait_text(run.completion.mean_s)},
                          {"started", with_separators(run.decisions)},
                          {"never started", with_separators(run.never_started)},
                          {"state hash", hex(run.state_hash)}},
                .figures = run_figures(run),
                .tables = {queue_table(run)},
                .command = command};
  report.figures.push_back(waits_figure(run));
  report.figures.push_back(waits_over_time(run, trace));
  return write_file(directory + "/index.html", render_html(report));
}

}  // namespace berth
