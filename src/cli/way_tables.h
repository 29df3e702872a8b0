// Runs of one trace side by side, as tables, numbers and plots: for reports that compare.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/text_table.h"
#include "sim/compare.h"
#include "sim/report.h"
#include "sim/trace.h"

namespace berth {

using Way = Comparison::Way;
using Ways = std::vector<const Way*>;

double lost_percent(const ClusterRun& run);
std::string in_hours(std::int64_t gpu_seconds);  // "1,234"
std::string in_words(double seconds);            // "3.6 h"
// To four digits after the point: as many as mean something, so that 95.17 is not printed as 95.17000000000001.
double rounded(double value);

// Whether shares of queues with floors were measured.
enum class Fairness : bool { kNotMeasured, kMeasured };

// A column for each way, a row for each figure of the whole run.
TextTable whole_table(const Ways& ways, Fairness evenness);
// Of a queue none of whose jobs is in the run there is nothing.
const QueueWaits* queue_in(const ClusterRun& run, const std::string& queue);

nlohmann::ordered_json waits_as_json(const Waits& waits);
nlohmann::ordered_json way_as_json(const ClusterRun& run, Fairness evenness);

// A line for each way, until the last submission.
LinePlot way_plot(const Trace& trace, const Ways& ways, const std::string& title, const std::string& description,
                  Unit unit, const std::function<double(const RunSample&)>& value);
// Of GPUs in use and of GPUs waited for, as shares of all.
std::vector<LinePlot> demand_plots(const Trace& trace, const Ways& ways);

ReportTable as_report_table(TextTable table, const std::string& title, const std::string& description);

}  // namespace berth
