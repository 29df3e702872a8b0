#include "demo/afternoon.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "sim/generate.h"
#include "sim/trace.h"

namespace berth {
namespace {

// Of the fleet while jobs arrive: more than fits, so that some wait; what is over runs in the second half.
constexpr std::int64_t kLoadPercent = 140;
constexpr std::int64_t kArrivalsPercent = 50, kRunMaxPercent = 50;  // of the afternoon
constexpr std::int64_t kJobsPerDayFirst = 4'000, kJobsPerDayMost = 8'000'000;

// In milli-GPU-seconds, as the generator counts.
std::int64_t gpu_time_of(const TraceJob& job) { return gpu_milli_of(job) * (job.run.ms / 1000); }

struct DayShape {
  Duration arrivals, run_max;
};

// What ran before and goes on, the long ones for a good part of the afternoon: whoever comes finds a full fleet.
std::vector<TraceJob> running_jobs(const Trace& fleet, const DayShape& shape, Rng& rng) {
  std::vector<TraceJob> running;
  for (const TraceJob& job : fleet.jobs) {
    if (job.submit > Time{}) continue;
    running.push_back(job);
    running.back().submit = kAfternoonBegins;
    if (job.run > shape.run_max) running.back().run = Duration{rng.between(shape.run_max.ms / 3, shape.run_max.ms)};
  }
  return running;
}

std::vector<TraceJob> arriving_jobs(const Trace& fleet, const DayShape& shape) {
  std::vector<TraceJob> arriving;
  for (const TraceJob& job : fleet.jobs) {
    if (job.submit < kAfternoonBegins || job.submit >= kAfternoonBegins + shape.arrivals) continue;
    arriving.push_back(job);
    arriving.back().run = std::min(job.run, shape.run_max);
  }
  return arriving;
}

std::int64_t gpu_time_of(const std::vector<TraceJob>& jobs) {
  std::int64_t sum = 0;
  for (const TraceJob& job : jobs) sum += gpu_time_of(job);
  return sum;
}

// So many of a million of what people submitted, a sweep whole or not at all.
std::vector<TraceJob> thinned(const std::vector<TraceJob>& jobs, std::int64_t per_million, Rng& rng) {
  std::vector<TraceJob> kept;
  bool keep = false;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const bool with_the_last = i > 0 && jobs[i].submit == jobs[i - 1].submit && jobs[i].user == jobs[i - 1].user;
    if (!with_the_last) keep = rng.between(0, 999'999) < per_million;
    if (keep) kept.push_back(jobs[i]);
  }
  return kept;
}

std::string team_of(const std::string& queue) {
  for (std::size_t i = 0; i < kTeams.size(); ++i) {
    if (queue.ends_with(std::to_string(i + 1))) return std::string(kTeams[i]);
  }
  return std::string(kTeams.front());
}

}  // namespace

Trace make_afternoon(const AfternoonSpec& spec) {
  const Duration length{spec.length.ms * spec.speed};
  BERTH_ASSERT(length >= kAfternoonMin && length <= kAfternoonMax);
  const DayShape shape{{length.ms * kArrivalsPercent / 100}, {length.ms * kRunMaxPercent / 100}};
  Rng running_rng(spec.seed, 11), arriving_rng(spec.seed, 12);
  FleetSpec of_fleet{.nodes = spec.nodes,
                     .days = 1,
                     .seed = spec.seed,
                     .jobs_per_day = kJobsPerDayFirst,
                     .teams = static_cast<int>(kTeams.size())};
  // More jobs a day until there are enough to choose from; then as many as make the load.
  while (true) {
    Trace fleet = generate_fleet(of_fleet);
    std::int64_t fleet_milli = 0;
    for (const TraceNode& node : fleet.nodes) fleet_milli += node.gpus * std::int64_t{1000};
    std::vector<TraceJob> jobs = running_jobs(fleet, shape, running_rng);
    const std::vector<TraceJob> arriving = arriving_jobs(fleet, shape);
    const std::int64_t wanted =
        std::max<std::int64_t>(fleet_milli * (shape.arrivals.ms / 1000) / 100 * kLoadPercent - gpu_time_of(jobs), 0);
    const std::int64_t offered = gpu_time_of(arriving);
    if (offered < wanted && of_fleet.jobs_per_day < kJobsPerDayMost) {
      of_fleet.jobs_per_day *= 2;
      running_rng = Rng(spec.seed, 11);
      continue;
    }
    // Thousandths of a thousandth, without a product of two large numbers.
    const std::int64_t per_million =
        offered <= wanted ? 1'000'000 : wanted / std::max<std::int64_t>(offered / 1'000'000, 1);
    for (TraceJob& each : thinned(arriving, per_million, arriving_rng)) jobs.push_back(std::move(each));
    for (TraceJob& each : jobs) each.queue = team_of(each.queue);
    fleet.jobs = std::move(jobs);
    return fleet;
  }
}

}  // namespace berth
