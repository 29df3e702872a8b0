#include "sim/cluster_run.h"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>

#include "base/wide.h"
#include "cycle/explain.h"
#include "sim/door.h"

namespace berth {
namespace {

constexpr std::int64_t kSamplesWanted = 480;

std::int64_t gpu_milli_of(const TraceJob& job) { return job.pods * job.gpus * std::int64_t{job.gpu_milli}; }

// The run of one trace. Workload ids are given in the order of submission, so arrival i is workload i.
class Simulation {
 public:
  Simulation(const Trace& trace, const Door& door, Session::Recorder recorder)
      : trace_(trace), door_(door), session_(std::move(recorder)) {
    // By (time, row).
    for (std::size_t row = 0; row < trace.jobs.size(); ++row) arrivals_.push_back(row);
    std::stable_sort(arrivals_.begin(), arrivals_.end(),
                     [&](std::size_t a, std::size_t b) { return trace.jobs[a].submit < trace.jobs[b].submit; });
    run_.times.resize(trace.jobs.size());
  }

  Result<ClusterRun> go(const std::string& source, const std::function<void(std::int64_t, std::int64_t)>& progress) {
    open();
    const auto all = static_cast<std::int64_t>(2 * arrivals_.size());
    while (const std::optional<Time> now = next_moment()) {
      count_gpu_time_until(*now);
      finish_until(*now);
      submit_until(*now);
      pass(*now);
      if (ends_too_late_) {
        return Complaints({source},
                          "the jobs run on for more than 10,000 years; look for a run time in the wrong unit");
      }
      sample(*now);
      if (progress) progress(static_cast<std::int64_t>(submitted_ + ended_), all);
    }
    summarise();
    return std::move(run_);
  }

 private:
  struct End {
    Time at;
    WorkloadId workload;

    friend auto operator<=>(const End&, const End&) = default;
  };

  void open() {
    for (const Event& event : door_.opening()) session_.apply(event);
    std::vector<WorkloadSubmitted> submissions;
    submissions.reserve(trace_.jobs.size());
    for (const TraceJob& job : trace_.jobs) submissions.push_back(door_.submission(job, job.submit));
    session_.apply(TypicalPodsChosen{typical_pods(submissions)});
    run_.jobs = static_cast<std::int64_t>(trace_.jobs.size());
    run_.nodes = static_cast<std::int64_t>(trace_.nodes.size());
    for (const TraceNode& node : trace_.nodes) run_.gpu_milli += std::int64_t{node.gpus} * kMilliPerGpu;
    if (arrivals_.empty()) return;
    run_.first_submit = trace_.jobs[arrivals_.front()].submit;
    last_submit_ = trace_.jobs[arrivals_.back()].submit;
    sample_every_.ms = std::max<std::int64_t>((last_submit_ - run_.first_submit).ms / kSamplesWanted, 1000);
    next_sample_ = run_.first_submit;
    counted_until_ = run_.first_submit;
  }

  std::optional<Time> next_moment() const {
    std::optional<Time> moment;
    if (!ends_.empty()) moment = ends_.top().at;
    if (submitted_ < arrivals_.size()) {
      const Time submit = trace_.jobs[arrivals_[submitted_]].submit;
      if (!moment || submit < *moment) moment = submit;
    }
    return moment;
  }

  const TraceJob& job_of(WorkloadId workload) const { return trace_.jobs[arrivals_[workload.index()]]; }
  JobTimes& times_of(WorkloadId workload) { return run_.times[arrivals_[workload.index()]]; }

  // What is allocated now has been since the moment before.
  void count_gpu_time_until(Time now) {
    const Time counted = std::min(now, last_submit_);
    if (counted > counted_until_) {
      arriving_gpu_ms_ +=
          static_cast<double>(allocated_milli_) / kMilliPerGpu * static_cast<double>((counted - counted_until_).ms);
    }
    counted_until_ = std::max(counted_until_, counted);
  }

  void finish_until(Time now) {
    while (!ends_.empty() && ends_.top().at <= now) {
      const WorkloadId workload = ends_.top().workload;
      ends_.pop();
      session_.apply(WorkloadEnded{workload});
      allocated_milli_ -= gpu_milli_of(job_of(workload));
      run_.last_end = std::max(run_.last_end, now);
      ++ended_;
    }
  }

  void submit_until(Time now) {
    for (; submitted_ < arrivals_.size(); ++submitted_) {
      const TraceJob& job = trace_.jobs[arrivals_[submitted_]];
      if (job.submit > now) return;
      WorkloadSubmitted submission = door_.submission(job, job.submit);
      submission.rank = static_cast<std::int64_t>(arrivals_[submitted_]);
      session_.apply(submission);
      run_.times[arrivals_[submitted_]].submit = job.submit;
      pending_milli_ += gpu_milli_of(job);
    }
  }

  void pass(Time now) {
    ++run_.cycles;
    session_.decide(now, [&](const Start& start) {
      const TraceJob& job = job_of(start.workload);
      JobTimes& times = times_of(start.workload);
      times.started = true;
      times.start = now;
      times.end = now + job.run;
      ends_too_late_ = ends_too_late_ || times.end > kTimeMax;
      ends_.push({times.end, start.workload});
      allocated_milli_ += gpu_milli_of(job);
      pending_milli_ -= gpu_milli_of(job);
      ++run_.decisions;
    });
  }

  void sample(Time now) {
    const State& state = session_.state();
    // What happens once all have started says nothing about scheduling.
    const bool drains = now > last_submit_ && state.pending() == 0;
    if (now < next_sample_ || (drains && drain_sampled_)) return;
    drain_sampled_ = drains;
    next_sample_ = now + sample_every_;
    const Fragmentation& fragmentation = session_.engine().index.fragmentation(state);
    double unusable = 0;
    for (std::size_t i = 0; i < state.ledger().nodes(); ++i) {
      const NodeFree& node = state.ledger().node(NodeId(i));
      if (node.gpus == 0) continue;
      unusable += static_cast<double>(
          fragmentation.unusable(FlavorId(node.flavor), node.cpu_milli, state.ledger().gpu_milli(NodeId(i))));
    }
    const auto weight = static_cast<double>(std::max<std::int64_t>(fragmentation.weight(), 1));
    run_.samples.push_back({.at = now,
                            .allocated_milli = allocated_milli_,
                            .unusable_milli = static_cast<std::int64_t>(unusable / weight),
                            .pending_jobs = static_cast<std::int64_t>(state.pending()),
                            .pending_gpu_milli = pending_milli_,
                            .running_jobs = static_cast<std::int64_t>(state.running())});
  }

  void summarise() {
    std::vector<std::int64_t> waits;
    std::vector<std::int64_t> completions;
    std::map<std::string, std::pair<QueueWaits, std::vector<std::int64_t>>> by_queue;
    double gpu_ms = 0;
    for (std::size_t row = 0; row < trace_.jobs.size(); ++row) {
      const TraceJob& job = trace_.jobs[row];
      const JobTimes& times = run_.times[row];
      auto& [queue, queue_waits] = by_queue[job.queue.empty() ? "default" : job.queue];
      ++queue.jobs;
      if (!times.started) {
        ++run_.never_started;
        continue;
      }
      waits.push_back((times.start - times.submit).ms);
      queue_waits.push_back(waits.back());
      completions.push_back((times.end - times.submit).ms);
      gpu_ms += static_cast<double>(gpu_milli_of(job)) / kMilliPerGpu * static_cast<double>(job.run.ms);
      queue.gpu_seconds += static_cast<std::int64_t>(Wide{gpu_milli_of(job)} * job.run.ms / (kMilliPerGpu * 1000));
    }
    run_.wait = waits_of(std::move(waits));
    run_.completion = waits_of(std::move(completions));
    for (auto& [name, entry] : by_queue) {
      entry.first.queue = name;
      entry.first.waits = waits_of(std::move(entry.second));
      run_.queues.push_back(std::move(entry.first));
    }
    const auto percent_of_capacity = [&](double used_gpu_ms, Time until) {
      const double capacity =
          static_cast<double>(run_.gpu_milli) / kMilliPerGpu * static_cast<double>((until - run_.first_submit).ms);
      return capacity > 0 ? 100 * used_gpu_ms / capacity : 0;
    };
    run_.utilisation_percent = percent_of_capacity(gpu_ms, run_.last_end);
    run_.arriving_utilisation_percent = percent_of_capacity(arriving_gpu_ms_, last_submit_);
    explain_who_is_left();
    run_.state_hash = session_.close();
  }

  void explain_who_is_left() {
    for (std::size_t arrival = 0; arrival < arrivals_.size(); ++arrival) {
      if (run_.left_waiting.size() == ClusterRun::kLeftShown) return;
      if (run_.times[arrivals_[arrival]].started) continue;
      const Explanation why = explain(session_.state(), WorkloadId(arrival));
      run_.left_waiting.push_back({trace_.jobs[arrivals_[arrival]].name, why.code, why.text});
    }
  }

  const Trace& trace_;
  const Door& door_;
  Session session_;
  ClusterRun run_;
  std::vector<std::size_t> arrivals_;  // rows of the trace
  std::size_t submitted_ = 0;
  std::size_t ended_ = 0;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::int64_t allocated_milli_ = 0;
  std::int64_t pending_milli_ = 0;
  Time last_submit_;
  Time counted_until_;
  double arriving_gpu_ms_ = 0;  // until the last submission
  bool ends_too_late_ = false;
  Duration sample_every_;
  bool drain_sampled_ = false;
  Time next_sample_;
};

}  // namespace

Result<ClusterRun> run_cluster(const Trace& trace, const RunOptions& options, const std::string& source,
                               Session::Recorder recorder,
                               const std::function<void(std::int64_t, std::int64_t)>& progress) {
  const Result<Door> door =
      Door::open(trace, {.seed = options.seed, .policy = options.policy, .order = options.order}, source);
  if (!door) return door.error();
  Simulation simulation(trace, *door, std::move(recorder));
  return simulation.go(source, progress);
}

}  // namespace berth
