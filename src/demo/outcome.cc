#include "demo/outcome.h"

#include <algorithm>
#include <string_view>

#include "manifest/timestamp.h"
#include "model/gpu.h"
#include "sim/trace.h"

namespace berth {
namespace {

constexpr std::int64_t kSamples = 600;

bool has_condition(const Value& job, std::string_view type) {
  const auto& conditions = job["status"]["conditions"].items();
  return std::ranges::any_of(
      conditions, [&](const Value& each) { return each["type"].text() == type && each["status"].text() == "True"; });
}

Time time_in(const Value& text) { return parse_timestamp(text.text()).value_or(Time{}); }

// What waits, runs and is given out, as a sum over what begins and ends.
class Sweep {
 public:
  Sweep(Time first, Time last) : first_(first), step_{std::max<std::int64_t>((last - first).ms / kSamples, 1)} {}

  // `value` from `begin` until `end`.
  void add(Time begin, Time end, std::int64_t value) {
    changes_.push_back({begin, value});
    changes_.push_back({end, -value});
  }
  std::vector<std::int64_t> samples() {
    std::ranges::sort(changes_, {}, &Change::at);
    std::vector<std::int64_t> samples;
    std::int64_t sum = 0;
    std::size_t next = 0;
    for (std::int64_t i = 0; i <= kSamples; ++i) {
      while (next < changes_.size() && changes_[next].at <= at(i)) sum += changes_[next++].value;
      samples.push_back(sum);
    }
    return samples;
  }
  Time at(std::int64_t sample) const { return first_ + Duration{step_.ms * sample}; }

 private:
  struct Change {
    Time at;
    std::int64_t value;
  };
  Time first_;
  Duration step_;
  std::vector<Change> changes_;
};

void sample(ClusterRun& run, const Trace& trace) {
  Sweep allocated(run.first_submit, run.last_end), pending(run.first_submit, run.last_end);
  Sweep pending_milli(run.first_submit, run.last_end), running(run.first_submit, run.last_end);
  for (std::size_t i = 0; i < run.times.size(); ++i) {
    const JobTimes& times = run.times[i];
    if (!times.started) continue;
    const std::int64_t milli = gpu_milli_of(trace.jobs[i]);
    pending.add(times.submit, times.start, 1);
    pending_milli.add(times.submit, times.start, milli);
    running.add(times.start, times.end, 1);
    allocated.add(times.start, times.end, milli);
  }
  const auto allocated_at = allocated.samples(), pending_at = pending.samples();
  const auto pending_milli_at = pending_milli.samples(), running_at = running.samples();
  for (std::size_t i = 0; i < allocated_at.size(); ++i) {
    run.samples.push_back({.at = allocated.at(static_cast<std::int64_t>(i)),
                           .allocated_milli = allocated_at[i],
                           .pending_jobs = pending_at[i],
                           .pending_gpu_milli = pending_milli_at[i],
                           .running_jobs = running_at[i]});
  }
}

// GPU time given out until `until`, of all that there was.
double percent_used(const ClusterRun& run, const Trace& trace, Time until) {
  double used = 0;
  for (std::size_t i = 0; i < run.times.size(); ++i) {
    const JobTimes& times = run.times[i];
    const Time end = std::min(times.end, until);
    if (times.started && end > times.start) {
      used += static_cast<double>(gpu_milli_of(trace.jobs[i])) * static_cast<double>((end - times.start).ms);
    }
  }
  const double all = static_cast<double>(run.gpu_milli) * static_cast<double>((until - run.first_submit).ms);
  return all > 0 ? 100 * used / all : 0;
}

void summarise(ClusterRun& run, const Trace& trace) {
  std::vector<std::int64_t> waits, completions;
  std::map<std::string, std::pair<QueueWaits, std::vector<std::int64_t>>> by_queue;
  Time last_submit = kAfternoonBegins;
  for (std::size_t i = 0; i < run.times.size(); ++i) {
    const JobTimes& times = run.times[i];
    const TraceJob& job = trace.jobs[i];
    auto& [queue, queue_waits] = by_queue[job.queue];
    queue.queue = job.queue;
    ++queue.jobs;
    if (!times.started) continue;
    last_submit = std::max(last_submit, times.submit);
    queue.gpu_seconds += gpu_milli_of(job) * ((times.end - times.start).ms / 1000) / 1000;
    queue_waits.push_back((times.start - times.submit).ms);
    waits.push_back((times.start - times.submit).ms);
    completions.push_back((times.end - times.submit).ms);
  }
  run.decisions = static_cast<std::int64_t>(waits.size());
  run.never_started = run.jobs - run.decisions;
  run.wait = waits_of(std::move(waits));
  run.completion = waits_of(std::move(completions));
  for (auto& [name, both] : by_queue) {
    both.first.waits = waits_of(std::move(both.second));
    run.queues.push_back(std::move(both.first));
  }
  run.utilisation_percent = percent_used(run, trace, run.last_end);
  run.arriving_utilisation_percent = percent_used(run, trace, last_submit);
}

}  // namespace

Outcome::Outcome(const std::vector<TraceJob>& jobs) : jobs_(jobs), seen_(jobs.size()) {
  for (std::size_t i = 0; i < jobs.size(); ++i) by_name_[jobs[i].name] = i;
}

void Outcome::take_job(const Value& job) {
  const auto at = by_name_.find(std::string(job["metadata"]["name"].text()));
  if (at == by_name_.end() || job["metadata"]["namespace"].text() != jobs_[at->second].queue) return;
  Seen& seen = seen_[at->second];
  if (seen.found) return;
  seen.found = true;
  ++found_;
  seen.created = time_in(job["metadata"]["creationTimestamp"]);
  seen.complete = has_condition(job, "Complete");
  complete_ += seen.complete ? 1 : 0;
  failed_ += has_condition(job, "Failed") ? 1 : 0;
}

void Outcome::take_pod(const Value& pod) {
  for (const Value& owner : pod["metadata"]["ownerReferences"].items()) {
    const auto at = by_name_.find(std::string(owner["name"].text()));
    if (at == by_name_.end() || owner["kind"].text() != "Job") continue;
    if (pod["metadata"]["namespace"].text() != jobs_[at->second].queue || pod["status"]["phase"].text() != "Succeeded")
      return;
    Seen& seen = seen_[at->second];
    seen.started = std::max(seen.started, time_in(pod["status"]["startTime"]));
    for (const Value& status : pod["status"]["containerStatuses"].items()) {
      seen.ended = std::max(seen.ended, time_in(status["state"]["terminated"]["finishedAt"]));
    }
  }
}

ClusterRun Outcome::run(const Trace& trace, const Played& played, std::int64_t speed) const {
  ClusterRun run;
  run.nodes = static_cast<std::int64_t>(trace.nodes.size());
  for (const TraceNode& node : trace.nodes) run.gpu_milli += node.gpus * std::int64_t{kMilliPerGpu};
  run.jobs = static_cast<std::int64_t>(jobs_.size());
  run.first_submit = run.last_end = kAfternoonBegins;
  for (const Seen& seen : seen_) {
    JobTimes times;
    times.submit = played.afternoon_time(seen.created, speed);
    times.started = seen.complete && seen.started > Time{} && seen.ended > Time{};
    if (times.started) {
      times.start = std::max(times.submit, played.afternoon_time(seen.started, speed));
      times.end = std::max(times.start, played.afternoon_time(seen.ended, speed));
      run.last_end = std::max(run.last_end, times.end);
    }
    run.times.push_back(times);
  }
  sample(run, trace);
  summarise(run, trace);
  return run;
}

TeamUse use_by_team(const ClusterRun& run, const Trace& trace) {
  TeamUse use;
  for (const RunSample& sample : run.samples) use.at.push_back(sample.at);
  for (const std::string_view team : kTeams) {
    Sweep sweep(run.first_submit, run.last_end);
    for (std::size_t i = 0; i < run.times.size(); ++i) {
      const JobTimes& times = run.times[i];
      if (times.started && trace.jobs[i].queue == team) sweep.add(times.start, times.end, gpu_milli_of(trace.jobs[i]));
    }
    use.gpu_milli.push_back(sweep.samples());
  }
  return use;
}

}  // namespace berth
