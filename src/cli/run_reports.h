// What a simulation found, as people and machines read it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/cluster_run.h"
#include "sim/fill.h"
#include "sim/report.h"

namespace berth {

std::string fill_as_json(std::span<const FillRun> runs, const FillOptions& options);
std::string fill_as_table(std::span<const FillRun> runs, const FillOptions& options);

std::string run_as_json(const ClusterRun& run, const RunOptions& options);
std::string run_as_table(const ClusterRun& run, const RunOptions& options);

// Writes DIR/index.html, making DIR if need be; the path written.
Result<std::string> write_fill_report(const std::string& directory, std::span<const FillRun> runs,
                                      const FillOptions& options, const std::string& command);
Result<std::string> write_run_report(const std::string& directory, const ClusterRun& run, const Trace& trace,
                                     const RunOptions& options, const std::string& title, const std::string& command);

// Parts of the page of a run.
LinePlot demand_figure(const ClusterRun& run, const std::string& title);
LinePlot queue_length_figure(const ClusterRun& run);
QuantilePlot waits_figure(const ClusterRun& run);
HeatMap waits_over_time(const ClusterRun& run, const Trace& trace);
ReportTable queue_table(const ClusterRun& run);

// The checkpoints that are printed: 100 % where it was reached, and the end.
std::vector<std::int64_t> checkpoints_of(const FillOptions& options);
struct FillSummary {
  MeanAndSd allocated;
  MeanAndSd fragmented;
};
FillSummary summary_at(std::span<const FillRun> runs, std::int64_t percent);

std::string hex(std::uint64_t hash);

}  // namespace berth
