#include "cli/comparison_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cli/way_tables.h"
#include "cycle/explain.h"
#include "sim/files.h"
#include "sim/report.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

std::string said(const CompareOptions& options) {
  const std::string checkpoints =
      options.checkpoint_every
          ? "a checkpoint every " + in_words(static_cast<double>(options.checkpoint_every->ms) / 1000)
          : "no checkpoints";
  return fmt::format("order {}, reclaim {}, patience {}, cooldown {}, {}", name_of(options.order),
                     kFairReclaimNames[static_cast<std::size_t>(options.fair_reclaim)],
                     in_words(static_cast<double>(options.patience.ms) / 1000),
                     in_words(static_cast<double>(options.cooldown.ms) / 1000), checkpoints);
}

// By floor, the largest first.
std::vector<std::size_t> queues_by_floor(const Comparison& comparison) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < comparison.floors.size(); ++i) order.push_back(i);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return comparison.floors[i].gpus; });
  return order;
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
      for (const Way* const way : ways) row.push_back(in_words(queue_in(way->run, floor.queue)->waits.*what));
    }
    row.insert(row.end(), {with_separators(shared->evictions), in_hours(shared->lost_gpu_seconds)});
  }
  return table;
}

TextTable of_those_apart(const Comparison& comparison) {
  TextTable table{{"queue", "jobs apart", "largest, GPUs", "mean wait", "p90", "max"}, {}};
  for (const Comparison::Apart& apart : comparison.apart) {
    table.rows.push_back({apart.queue, with_separators(apart.jobs), with_separators(apart.largest_gpus),
                          in_words(apart.waits.mean_s), in_words(apart.waits.p90_s), in_words(apart.waits.max_s)});
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
  return fmt::format("Then the mean wait of all is {}, p90 {}.", in_words(waits.mean_s), in_words(waits.p90_s));
}

std::string texts(const Comparison& comparison, const CompareOptions& options, auto render) {
  std::string out = headline(comparison, options) + "\n\n" +
                    render(whole_table(comparison.ways(), Fairness::kMeasured)) + "\n" + render(of_queues(comparison)) +
                    "\n" + verdict(comparison) + "\n";
  if (comparison.apart.empty()) return out;
  return out + "\n" + about_those_apart(comparison) + "\n\n" + render(of_those_apart(comparison)) + "\n" +
         what_they_cost(comparison) + "\n";
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

}  // namespace

std::string comparison_as_table(const Comparison& comparison, const CompareOptions& options) {
  return texts(comparison, options, [](const TextTable& table) { return table.to_text(); });
}

std::string comparison_as_markdown(const Comparison& comparison, const CompareOptions& options) {
  return texts(comparison, options, [](const TextTable& table) { return table.to_markdown(); });
}

std::string comparison_as_json(const Comparison& comparison, const CompareOptions& options) {
  Json arrangements = Json::object();
  for (const Way* const way : comparison.ways()) arrangements[way->name] = way_as_json(way->run, Fairness::kMeasured);
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
  if (comparison.with_all) out["with_those_apart"] = way_as_json(*comparison.with_all, Fairness::kMeasured);
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
                .tables = {as_report_table(whole_table(comparison.ways(), Fairness::kMeasured), "The whole", ""),
                           as_report_table(of_queues(comparison), "Queues", "Waits, and what borrowing cost")},
                .command = command};
  for (const Way* const way : comparison.ways()) {
    report.facts.emplace_back("mean wait, " + way->name, in_words(way->run.wait.mean_s));
  }
  for (const Way* const way : comparison.ways()) {
    report.facts.emplace_back("Jain index, " + way->name, fmt::format("{:.4f}", way->run.evenness));
  }
  report.facts.emplace_back("lost to evictions", fmt::format("{:.2f} %", lost_percent(shared)));
  LinePlot jain = way_plot(comparison.trace, comparison.ways(), "Jain index",
                           "How evenly queues held what was due to them: their floors, and as much as the others above",
                           Unit::kNumber, [](const RunSample& at) { return at.evenness; });
  jain.y_max = 1;
  report.figures.push_back(std::move(jain));
  for (LinePlot& plot : demand_plots(comparison.trace, comparison.ways())) report.figures.push_back(std::move(plot));
  report.figures.push_back(waits_of_largest(comparison));
  if (!comparison.apart.empty()) {
    report.tables.push_back(as_report_table(of_those_apart(comparison), "Jobs that stand apart",
                                            about_those_apart(comparison) + " " + what_they_cost(comparison)));
  }
  return write_file(directory + "/index.html", render_html(report));
}

}  // namespace berth
