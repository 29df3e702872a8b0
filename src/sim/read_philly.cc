// Microsoft's Philly lists: jobs of 15 virtual clusters with the moment of their submission, and machines.
#include <algorithm>
#include <array>
#include <optional>

#include "base/wording.h"
#include "model/gpu.h"
#include "sim/readers.h"
#include "sim/table.h"

namespace berth {

namespace {

enum PhillyMachineColumn { kPhillyMachineId, kPhillyNumberOfGpus, kPhillyGpuMemory };
constexpr std::string_view kPhillyMachineColumns[] = {"machineId", "number of GPUs", "single GPU mem"};

enum PhillyJobColumn { kPhillyTimestamp, kPhillyDuration, kPhillyNumGpus, kPhillyCluster };
constexpr std::string_view kPhillyJobColumns[] = {"timestamp", "duration", "num_gpus", "cluster", "gpu_time"};

constexpr int kFirstYear = 1970;
constexpr int kLastYear = 2099;

constexpr bool is_leap(std::int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

constexpr std::int64_t days_in_month(std::int64_t year, std::int64_t month) {
  constexpr std::array<std::int64_t, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

// Days since the first day of kFirstYear.
constexpr std::int64_t day_number(std::int64_t year, std::int64_t month, std::int64_t day) {
  const auto leap_years_before = [](std::int64_t y) { return (y - 1) / 4 - (y - 1) / 100 + (y - 1) / 400; };
  std::int64_t days = (year - kFirstYear) * 365 + leap_years_before(year) - leap_years_before(kFirstYear) + day - 1;
  for (std::int64_t m = 1; m < month; ++m) days += days_in_month(year, m);
  return days;
}
static_assert(day_number(1970, 1, 1) == 0);
static_assert(day_number(2000, 2, 29) == 11'016);
static_assert(day_number(2000, 3, 1) == 11'017);
static_assert(day_number(2017, 10, 9) == 17'448);
static_assert(day_number(2099, 12, 31) == 47'481);

// "2017-10-09 07:01:55" -> seconds since 1970.
std::optional<std::int64_t> parse_timestamp(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00 00:00:00";
  const auto fits = [](char c, char shape) { return shape == '0' ? c >= '0' && c <= '9' : c == shape; };
  if (!std::ranges::equal(text, kShape, fits)) return std::nullopt;
  const auto number = [text](std::size_t at, std::size_t size) {
    return parse_integer(text.substr(at, size), 0, 9999).value();
  };
  const std::int64_t year = number(0, 4);
  const std::int64_t month = number(5, 2);
  const std::int64_t day = number(8, 2);
  const std::int64_t hour = number(11, 2);
  const std::int64_t minute = number(14, 2);
  const std::int64_t second = number(17, 2);
  const bool exists = year >= kFirstYear && year <= kLastYear && month >= 1 && month <= 12 && day >= 1 &&
                      day <= days_in_month(year, month) && hour < 24 && minute < 60 && second < 60;
  if (!exists) return std::nullopt;
  return ((day_number(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
}

TraceNode read_machine(std::span<const CsvField> fields, FieldParser& parser) {
  TraceNode node;
  node.name = parser.unique_name(fields[kPhillyMachineId], "machineId");
  node.gpus = static_cast<int>(
      parser.whole(fields[kPhillyNumberOfGpus], "number of GPUs", 0, kGpusPerNodeMax, "a number of GPUs"));
  parser.count_gpus(fields[kPhillyNumberOfGpus], "number of GPUs", node.gpus);
  if (node.gpus > 0) node.gpu_model = "gpu";
  // The size tells no model, but a file with nonsense in it is not trusted with the rest.
  const std::string_view memory = fields[kPhillyGpuMemory].text;
  if (!memory.ends_with("GB") || !parse_integer(memory.substr(0, memory.size() - 2), 1, 1024)) {
    parser.complain(fields[kPhillyGpuMemory], "single GPU mem",
                    quote(memory) + " is no size of a GPU's memory; write gigabytes such as 24GB");
  }
  return node;
}

// The submission is left in milliseconds since 1970.
TraceJob read_job(std::span<const CsvField> fields, FieldParser& parser) {
  TraceJob job;
  if (const auto timestamp = parse_timestamp(fields[kPhillyTimestamp].text)) {
    job.submit = Time{1000 * *timestamp};
  } else {
    parser.complain(fields[kPhillyTimestamp], "timestamp",
                    quote(fields[kPhillyTimestamp].text) +
                        " is no moment; write one between 1970 and 2099 like 2017-10-09 07:01:55");
  }
  job.run = Duration{parser.seconds_ms(fields[kPhillyDuration], "duration")};
  job.gpus = static_cast<int>(parser.whole(fields[kPhillyNumGpus], "num_gpus", 1, kJobGpusMax, "a number of GPUs"));
  job.gpu_milli = kMilliPerGpu;
  job.queue = parser.label(fields[kPhillyCluster], "cluster");
  return job;
}

}  // namespace

const TableFormat kPhillyNodes = {"Philly machines", "a Philly machine list", kPhillyMachineColumns, 3, true};
const TableFormat kPhillyJobs = {"Philly jobs", "a Philly job list", kPhillyJobColumns, 4, true};

Result<std::vector<TraceNode>> read_philly_nodes(std::string_view file_name, std::string_view text) {
  return read_table<TraceNode>(file_name, text, kPhillyNodes, read_machine);
}

Result<std::vector<TraceJob>> read_philly_jobs(std::string_view file_name, std::string_view text) {
  auto jobs = read_table<TraceJob>(file_name, text, kPhillyJobs, read_job);
  if (!jobs) return jobs;
  const auto earliest = std::ranges::min_element(*jobs, {}, &TraceJob::submit);
  const Duration offset = earliest->submit - Time{};
  for (std::size_t row = 0; row < jobs->size(); ++row) {
    TraceJob& job = (*jobs)[row];
    job.submit.ms -= offset.ms;
    job.name = "job-" + std::to_string(row + 1);
  }
  return jobs;
}

}  // namespace berth
