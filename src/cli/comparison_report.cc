#include "cli/comparison_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cli/run_reports.h"
#include "cli/text_table.h"
#include "cycle/explain.h"
#include "sim/files.h"
#include "sim/report.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;
using Way = Comparison::Way;

double rounded(double value) { return std::round(value * 1e4) / 1e4; }
std::string length(double seconds) { return format_value(seconds, Unit::kSeconds); }
std::string hours(std::int64_t gpu_seconds) { return with_separators(gpu_seconds / 3600); }

double lost_percent(const ClusterRun& run) {
  return run.gpu_seconds == 0 ? 0
                              : 100 * static_cast<double>(run.lost_gpu_seconds) / static_cast<double>(run.gpu_seconds);
}

std::string said(const CompareOptions& options) {
  const std::string checkpoints =
      options.checkpoint_every
          ? "a checkpoint every " + length(static_cast<double>(options.checkpoint_every->ms) / 1000)
          : "no checkpoints";
  return fmt::format("order {}, reclaim {}, patience {}, cooldown {}, {}", name_of(options.order),
                     kFairReclaimNames[static_cast<std::size_t>(options.fair_reclaim)],
                     length(static_cast<double>(options.patience.ms) / 1000),
                     length(static_cast<double>(options.cooldown.ms) / 1000), checkpoints);
}

TextTable of_the_whole(const Comparison& comparison) {
  TextTable table{{""}, {}};
  const std::vector<const Way*> ways = comparison.ways();
  for (const Way* const way : ways) table.header.push_back(way->name);
  const auto add = [&](const std::string& what, const auto& value) {
    std::vector<std::string>& row = table.rows.emplace_back(std::vector<std::string>{what});
    for (const Way* const way : ways) row.push_back(value(way->run));
  };
  add("mean wait", [](const ClusterRun& run) { return length(run.wait.mean_s); });
  add("p90 wait", [](const ClusterRun& run) { return length(run.wait.p90_s); });
  add("utilisation while jobs arrived, %",
      [](const ClusterRun& run) { return fmt::format("{:.2f}", run.arriving_utilisation_percent); });
  add("GPU hours run", [](const ClusterRun& run) { return hours(run.gpu_seconds); });
  add("GPU hours lost to evictions", [](const ClusterRun& run) { return hours(run.lost_gpu_seconds); });
  add("the same, % of those run", [](const ClusterRun& run) { return fmt::format("{:.2f}", lost_percent(run)); });
  add("evictions", [](const ClusterRun& run) { return with_separators(run.evictions); });
  add("Jain index, mean over time", [](const ClusterRun& run) { return fmt::format("{:.4f}", run.evenness); });
  add("GPU hours short of floors", [](const ClusterRun& run) { return hours(run.short_of_floor_gpu_s); });
  add("never started", [](const ClusterRun& run) { return with_separators(run.never_started); });
  return table;
}

// By floor, the largest first.
std::vector<std::size_t> queues_by_floor(const Comparison& comparison) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < comparison.floors.size(); ++i) order.push_back(i);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return comparison.floors[i].gpus; });
  return order;
}

// Of a queue whose jobs all stand apart there is nothing.
const QueueWaits* queue_in(const ClusterRun& run, const std::string& queue) {
  const auto found = std::ranges::find(run.queues, queue, &QueueWaits::queue);
  return found == run.queues.end() ? nullptr : &*found;
}

TextTable of_queues(const Comparison& comparison) {
  TextTable table{{"queue", "floor", "jobs"}, {}};
  const std::vector<const Way*> ways = comparison.ways();
  for (const char* const what : {"mean", "p90"}) {
    for (const Way* const way : ways) table.header.push_back(fmt::format("{}, {}", what, way->name));
  }
  table.header.insert(table.header.end(), {"evictions", "GPU hours lost"});
  for (const std::size_t i : queues_by_floor(comparison)) {
    const QueueFloor& floor = comparison.floors[i];
    const QueueWaits* const shared = queue_in(comparison.shared.run, floor.queue);
    if (shared == nullptr) continue;
    auto& row = table.rows.emplace_back(
        std::vector<std::string>{floor.queue, with_separators(floor.gpus), with_separators(shared->jobs)});
    for (double Waits::* const what : {&Waits::mean_s, &Waits::p90_s}) {
      for (const Way* const way : ways) row.push_back(length(queue_in(way->run, floor.queue)->waits.*what));
    }
    row.insert(row.end(), {with_separators(shared->evictions), hours(shared->lost_gpu_seconds)});
  }
  return table;
}

TextTable of_those_apart(const Comparison& comparison) {
  TextTable table{{"queue", "jobs apart", "largest, GPUs", "mean wait", "p90", "max"}, {}};
  for (const Comparison::Apart& apart : comparison.apart) {
    table.rows.push_back({apart.queue, with_separators(apart.jobs), with_separators(apart.largest_gpus),
                          length(apart.waits.mean_s), length(apart.waits.p90_s), length(apart.waits.max_s)});
  }
  return table;
}

std::string headline(const Comparison& comparison, const CompareOptions& options) {
  return fmt::format("{} jobs of {} queues on {} GPUs; {}", with_separators(comparison.shared.run.jobs),
                     comparison.floors.size(), with_separators(comparison.gpus), said(options));
}

std::string verdict(const Comparison& comparison) {
  const std::vector<std::string> worse = worse_off(comparison.shared, comparison.partitioned);
  if (worse.empty()) return "With floors no queue waits longer than in its partition, in the mean and at p90.";
  std::string names;
  for (const std::string& queue : worse) names += (names.empty() ? "" : ", ") + queue;
  return "With floors these wait longer than in their partitions, in the mean or at p90: " + names + ".";
}

std::string about_those_apart(const Comparison& comparison) {
  const std::int64_t jobs = comparison.jobs_apart();
  return fmt::format(
      "{} larger than {} queue's partition, and in none of these runs. Beside the others, with floors, they wait so "
      "long.",
      jobs == 1 ? "1 job is" : with_separators(jobs) + " jobs are", jobs == 1 ? "its" : "their");
}

std::string what_they_cost(const Comparison& comparison) {
  const Waits& waits = comparison.with_all->wait;
  return fmt::format("Then the mean wait of all is {}, p90 {}.", length(waits.mean_s), length(waits.p90_s));
}

std::string texts(const Comparison& comparison, const CompareOptions& options, auto render) {
  std::string out = headline(comparison, options) + "\n\n" + render(of_the_whole(comparison)) + "\n" +
                    render(of_queues(comparison)) + "\n" + verdict(comparison) + "\n";
  if (comparison.apart.empty()) return out;
  return out + "\n" + about_those_apart(comparison) + "\n\n" + render(of_those_apart(comparison)) + "\n" +
         what_they_cost(comparison) + "\n";
}

Json waits_as_json(const Waits& waits) {
  return {{"mean", rounded(waits.mean_s)}, {"p50", waits.p50_s}, {"p90", waits.p90_s}, {"max", waits.max_s}};
}

Json run_as_json(const ClusterRun& run) {
  return {{"utilisation_while_arriving_pct", rounded(run.arriving_utilisation_percent)},
          {"wait_s", waits_as_json(run.wait)},
          {"evictions", run.evictions},
          {"gpu_s", run.gpu_seconds},
          {"lost_gpu_s", run.lost_gpu_seconds},
          {"lost_pct", rounded(lost_percent(run))},
          {"jain_index", rounded(run.evenness)},
          {"short_of_floors_gpu_s", run.short_of_floor_gpu_s},
          {"never_started", run.never_started},
          {"state_hash", hex(run.state_hash)}};
}

Series over_time(const Way& way, Time until, const auto& value) {
  Series series{way.name, {}};
  for (const RunSample& sample : way.run.samples) {
    if (sample.at <= until) series.points.emplace_back(sample.at.ms, value(sample));
  }
  return series;
}

LinePlot line_plot(const Comparison& comparison, const std::string& title, const std::string& description, Unit unit,
                   const auto& value) {
  LinePlot plot{.title = title, .description = description, .unit = unit, .series = {}};
  Time last_submit;
  for (const TraceJob& job : comparison.trace.jobs) last_submit = std::max(last_submit, job.submit);
  for (const Way* const way : comparison.ways()) plot.series.push_back(over_time(*way, last_submit, value));
  return plot;
}

QuantilePlot waits_of_largest(const Comparison& comparison) {
  constexpr std::size_t kShown = 6;
  QuantilePlot plot{
      .title = "Waits of the queues with the largest floors", .description = "Median and 90th percentile", .rows = {}};
  std::vector<std::size_t> queues = queues_by_floor(comparison);
  queues.resize(std::min(queues.size(), kShown));
  for (const std::size_t i : queues) {
    const std::string& queue = comparison.floors[i].queue;
    for (const Way* const way : comparison.ways()) {
      const QueueWaits* const waits = queue_in(way->run, queue);
      if (waits != nullptr) plot.rows.push_back({queue + ", " + way->name, waits->waits.p50_s, waits->waits.p90_s});
    }
  }
  return plot;
}

ReportTable as_report_table(TextTable table, const std::string& title, const std::string& description) {
  ReportTable made{.title = title, .description = description, .columns = {}, .rows = std::move(table.rows)};
  for (std::size_t i = 0; i < table.header.size(); ++i) made.columns.push_back({table.header[i], i > 0});
  return made;
}

}  // namespace

std::string comparison_as_table(const Comparison& comparison, const CompareOptions& options) {
  return texts(comparison, options, [](const TextTable& table) { return table.to_text(); });
}

std::string comparison_as_markdown(const Comparison& comparison, const CompareOptions& options) {
  return texts(comparison, options, [](const TextTable& table) { return table.to_markdown(); });
}

std::string comparison_as_json(const Comparison& comparison, const CompareOptions& options) {
  Json arrangements = Json::object();
  for (const Way* const way : comparison.ways()) arrangements[way->name] = run_as_json(way->run);
  Json queues = Json::object();
  for (const QueueFloor& floor : comparison.floors) {
    Json& entry = queues[floor.queue];
    entry = {{"floor_gpus", floor.gpus}};
    for (const Way* const way : comparison.ways()) {
      const QueueWaits* const waits = queue_in(way->run, floor.queue);
      if (waits == nullptr) continue;
      entry["jobs"] = waits->jobs;
      entry[way->name] = {{"wait_s", waits_as_json(waits->waits)},
                          {"evictions", waits->evictions},
                          {"lost_gpu_s", waits->lost_gpu_seconds}};
    }
  }
  Json apart = Json::array();
  for (const Comparison::Apart& each : comparison.apart) {
    apart.push_back({{"queue", each.queue},
                     {"jobs", each.jobs},
                     {"largest_gpus", each.largest_gpus},
                     {"wait_s", waits_as_json(each.waits)}});
  }
  Json out = {{"gpus", comparison.gpus},
              {"jobs", comparison.shared.run.jobs},
              {"order", name_of(options.order)},
              {"reclaim", kFairReclaimNames[static_cast<std::size_t>(options.fair_reclaim)]},
              {"patience_s", static_cast<double>(options.patience.ms) / 1000},
              {"cooldown_s", static_cast<double>(options.cooldown.ms) / 1000},
              {"checkpoint_every_s", nullptr},
              {"seed", options.seed.value},
              {"arrangements", arrangements},
              {"queues", queues},
              {"waiting_longer_than_in_their_partitions", worse_off(comparison.shared, comparison.partitioned)},
              {"apart", apart},
              {"with_those_apart", nullptr}};
  if (options.checkpoint_every) {
    out["checkpoint_every_s"] = static_cast<double>(options.checkpoint_every->ms) / 1000;
  }
  if (comparison.with_all) out["with_those_apart"] = run_as_json(*comparison.with_all);
  // Names come from users' files and may be any bytes.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::string> write_comparison_report(const std::string& directory, const Comparison& comparison,
                                            const CompareOptions& options, const std::string& title,
                                            const std::string& command) {
  const ClusterRun& shared = comparison.shared.run;
  Report report{.title = title,
                .subtitle = headline(comparison, options) + ". " + verdict(comparison),
                .facts = {},
                .figures = {},
                .tables = {as_report_table(of_the_whole(comparison), "The whole", ""),
                           as_report_table(of_queues(comparison), "Queues", "Waits, and what borrowing cost")},
                .command = command};
  for (const Way* const way : comparison.ways()) {
    report.facts.emplace_back("mean wait, " + way->name, length(way->run.wait.mean_s));
  }
  for (const Way* const way : comparison.ways()) {
    report.facts.emplace_back("Jain index, " + way->name, fmt::format("{:.4f}", way->run.evenness));
  }
  report.facts.emplace_back("lost to evictions", fmt::format("{:.2f} %", lost_percent(shared)));
  LinePlot jain =
      line_plot(comparison, "Jain index",
                "How evenly queues held what was due to them: their floors, and as much as the others above",
                Unit::kNumber, [](const RunSample& at) { return at.evenness; });
  jain.y_max = 1;
  report.figures.push_back(std::move(jain));
  const auto percent = [&](std::int64_t milli) {
    return 100 * static_cast<double>(milli) / static_cast<double>(std::max<std::int64_t>(shared.gpu_milli, 1));
  };
  report.figures.push_back(line_plot(comparison, "GPUs in use", "As a share of all", Unit::kPercent,
                                     [&](const RunSample& at) { return percent(at.allocated_milli); }));
  report.figures.push_back(line_plot(comparison, "GPUs waited for", "As a share of all", Unit::kPercent,
                                     [&](const RunSample& at) { return percent(at.pending_gpu_milli); }));
  report.figures.push_back(waits_of_largest(comparison));
  if (!comparison.apart.empty()) {
    report.tables.push_back(as_report_table(of_those_apart(comparison), "Jobs that stand apart",
                                            about_those_apart(comparison) + " " + what_they_cost(comparison)));
  }
  return write_file(directory + "/index.html", render_html(report));
}

}  // namespace berth
