#include "sim/cluster_run.h"

#include <algorithm>
#include <map>
#include <queue>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/wide.h"
#include "cycle/explain.h"
#include "cycle/patience.h"
#include "sim/door.h"
#include "sim/evenness.h"
#include "sim/trace.h"

namespace berth {
namespace {

constexpr std::int64_t kSamplesWanted = 480;

// The run of one trace. Workload ids are given in the order of submission, so arrival i is workload i.
class Simulation {
 public:
  Simulation(const Trace& trace, const RunOptions& options, const Door& door, Session::Recorder recorder)
      : trace_(trace), options_(options), door_(door), session_(std::move(recorder)) {
    // By (time, row).
    for (std::size_t row = 0; row < trace.jobs.size(); ++row) arrivals_.push_back(row);
    std::stable_sort(arrivals_.begin(), arrivals_.end(),
                     [&](std::size_t a, std::size_t b) { return trace.jobs[a].submit < trace.jobs[b].submit; });
    run_.times.resize(trace.jobs.size());
    attempts_.resize(trace.jobs.size());
  }

  Result<ClusterRun> go(const std::string& source, const std::function<void(std::int64_t, std::int64_t)>& progress) {
    open();
    const auto all = static_cast<std::int64_t>(2 * arrivals_.size());
    while (const std::optional<Time> now = next_moment()) {
      now_ = *now;
      count_gpu_time_until(*now);
      session_.pass_time(*now);
      report_checkpoints_until(*now);
      finish_until(*now);
      stop_until(*now);
      const std::size_t first = submitted_;
      submit_until(*now);
      pass(*now);
      show_who_waits_since(first, *now);
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
  // Something that comes due, unless the attempt is over by then.
  struct Due {
    Time at;
    WorkloadId workload;
    std::uint32_t attempt = 0;

    friend auto operator<=>(const Due&, const Due&) = default;
  };
  using DueInTime = std::priority_queue<Due, std::vector<Due>, std::greater<>>;

  // Of one queue, until the last submission.
  struct Use {
    std::int64_t held_milli = 0;
    Time since;
    Wide gpu_milli_ms = 0;

    void pass(Time until) {
      gpu_milli_ms += Wide{held_milli} * (until - since).ms;
      since = until;
    }
  };

  struct Attempt {
    std::uint32_t number = 0;
    Duration kept;  // what the attempts before have done
  };

  void show_who_waits_since(std::size_t first, Time now) {
    if (!options_.watch.submitted) return;
    std::vector<WorkloadId> waiting;
    for (; first < submitted_; ++first) {
      if (is_pending(WorkloadId(first))) waiting.emplace_back(first);
    }
    if (!waiting.empty()) options_.watch.submitted(session_.state(), waiting, now);
  }

  void open() {
    for (const Event& event : door_.opening()) session_.apply(event);
    std::vector<WorkloadSubmitted> submissions;
    submissions.reserve(trace_.jobs.size());
    for (const TraceJob& job : trace_.jobs) submissions.push_back(door_.submission(job, job.submit));
    session_.apply(TypicalPodsChosen{typical_pods(submissions)});
    run_.jobs = static_cast<std::int64_t>(trace_.jobs.size());
    run_.nodes = static_cast<std::int64_t>(trace_.nodes.size());
    for (const TraceNode& node : trace_.nodes) run_.gpu_milli += std::int64_t{node.gpus} * kMilliPerGpu;
    if (!options_.floors_milli.empty()) measure_evenness();
    if (arrivals_.empty()) return;
    run_.first_submit = trace_.jobs[arrivals_.front()].submit;
    last_submit_ = trace_.jobs[arrivals_.back()].submit;
    sample_every_.ms = std::max<std::int64_t>((last_submit_ - run_.first_submit).ms / kSamplesWanted, 1000);
    next_sample_ = run_.first_submit;
    counted_until_ = run_.first_submit;
  }

  void measure_evenness() {
    std::vector<std::int64_t> floors;
    std::map<std::string, std::size_t> number;
    for (const auto& [queue, milli] : options_.floors_milli) {
      number[queue] = floors.size();
      floors.push_back(milli);
    }
    for (const TraceJob& job : trace_.jobs) queue_of_.push_back(number.at(queue_name(job)));
    evenness_.emplace(std::move(floors), run_.gpu_milli);
  }

  // Of the next arrival or end, or when somebody's patience ends, or what protects somebody, somebody may borrow again or a victim has
  // to have stopped.
  std::optional<Time> next_moment() {
    drop_what_is_over(ends_);
    drop_what_is_over(stops_);
    while (!patience_ends_.empty() && !is_pending(patience_ends_.top().workload)) patience_ends_.pop();
    std::optional<Time> moment;
    const auto consider = [&](Time at) { moment = moment ? std::min(*moment, at) : at; };
    if (!ends_.empty()) consider(ends_.top().at);
    if (!stops_.empty()) consider(stops_.top().at);
    if (!patience_ends_.empty()) consider(patience_ends_.top().at);
    if (const Time wake = session_.state().next_wake(); wake != kForever) consider(wake);
    if (const Time over = next_end_of_protection(session_.state(), now_); over != kForever) consider(over);
    if (submitted_ < arrivals_.size()) consider(trace_.jobs[arrivals_[submitted_]].submit);
    return moment;
  }

  const TraceJob& job_of(WorkloadId workload) const { return trace_.jobs[arrivals_[workload.index()]]; }
  JobTimes& times_of(WorkloadId workload) { return run_.times[arrivals_[workload.index()]]; }
  Attempt& attempt_of(WorkloadId workload) { return attempts_[arrivals_[workload.index()]]; }
  bool is_pending(WorkloadId id) const { return session_.state().workload(id).phase == Phase::kPending; }
  void drop_what_is_over(DueInTime& due) {
    while (!due.empty() && due.top().attempt != attempt_of(due.top().workload).number) due.pop();
  }

  // What is allocated now has been since the moment before.
  void count_gpu_time_until(Time now) {
    const Time counted = std::min(now, last_submit_);
    if (counted > counted_until_) {
      if (evenness_) evenness_->pass(counted - counted_until_);
      arriving_gpu_ms_ +=
          static_cast<double>(allocated_milli_) / kMilliPerGpu * static_cast<double>((counted - counted_until_).ms);
    }
    counted_until_ = std::max(counted_until_, counted);
  }

  void report_checkpoints_until(Time now) {
    for (drop_what_is_over(checkpoints_); !checkpoints_.empty() && checkpoints_.top().at <= now;
         drop_what_is_over(checkpoints_)) {
      Due due = checkpoints_.top();
      checkpoints_.pop();
      session_.apply(CheckpointReported{due.workload, due.at});
      due.at = due.at + *options_.checkpoint_every;
      if (due.at < times_of(due.workload).end) checkpoints_.push(due);
    }
  }

  void finish_until(Time now) {
    for (drop_what_is_over(ends_); !ends_.empty() && ends_.top().at <= now; drop_what_is_over(ends_)) {
      const WorkloadId workload = ends_.top().workload;
      ends_.pop();
      ++attempt_of(workload).number;
      if (options_.watch.ended) options_.watch.ended(session_.state(), workload, now - times_of(workload).start);
      session_.apply(WorkloadEnded{workload});
      change_held(workload, -gpu_milli_of(job_of(workload)));
      run_.last_end = std::max(run_.last_end, now);
      ++ended_;
    }
  }

  // What protected them does no more.
  void stop_until(Time now) {
    for (drop_what_is_over(stops_); !stops_.empty() && stops_.top().at <= now; drop_what_is_over(stops_)) {
      const WorkloadId workload = stops_.top().workload;
      stops_.pop();
      session_.apply(WorkloadStopped{workload});
      stop(workload, now);
    }
  }

  void change_held(WorkloadId workload, std::int64_t by_milli) {
    allocated_milli_ += by_milli;
    Use& use = use_[queue_name(job_of(workload))];
    use.pass(counted_until_);
    use.held_milli += by_milli;
    if (evenness_) evenness_->holds(queue_of_[arrivals_[workload.index()]], by_milli);
  }
  void change_waiting(WorkloadId workload, std::int64_t by_milli) {
    pending_milli_ += by_milli;
    if (evenness_) evenness_->waits(queue_of_[arrivals_[workload.index()]], by_milli);
  }

  void submit_until(Time now) {
    for (; submitted_ < arrivals_.size(); ++submitted_) {
      const TraceJob& job = trace_.jobs[arrivals_[submitted_]];
      if (job.submit > now) return;
      WorkloadSubmitted submission = door_.submission(job, job.submit);
      submission.rank = static_cast<std::int64_t>(arrivals_[submitted_]);
      submission.shape.terms.run_limit = limit_of(job, arrivals_[submitted_]);
      session_.apply(submission);
      run_.times[arrivals_[submitted_]].submit = job.submit;
      change_waiting(WorkloadId(submitted_), gpu_milli_of(job));
      const Duration patience = patience_of(job);
      if (patience > Duration{0}) patience_ends_.push({job.submit + patience, WorkloadId(submitted_)});
    }
  }

  // What its user says: more than it needs, and never less.
  std::optional<Duration> limit_of(const TraceJob& job, std::size_t row) const {
    if (!options_.limits_up_to_milli) return std::nullopt;
    Rng rng(options_.seed, row);
    const std::int64_t factor_milli = rng.between(1000, *options_.limits_up_to_milli);
    const Wide limit_ms = (Wide{job.run.ms} * factor_milli + 999) / 1000;
    return Duration{std::max<std::int64_t>(1, static_cast<std::int64_t>(limit_ms))};
  }

  // The earliest that each was promised is what counts.
  void keep_promises(const Plan& plan) {
    for (const Start& start : plan.starts) {
      const auto promised = promised_.find(start.workload);
      if (promised == promised_.end()) continue;
      run_.promises.broken += plan.now > promised->second ? 1 : 0;
      promised_.erase(promised);
    }
    if (!plan.shadows) return;
    for (const Shadow& each : *plan.shadows) {
      const auto [promised, first] = promised_.emplace(each.start.workload, each.at);
      run_.promises.jobs += first ? 1 : 0;
      run_.promises.later += each.at > promised->second ? 1 : 0;
      promised->second = std::min(promised->second, each.at);
    }
  }

  Duration patience_of(const TraceJob& job) const {
    if (options_.tree) return options_.tree->quota_of(queue_name(job)).patience;
    const auto quota = options_.quotas.find(queue_name(job));
    return quota == options_.quotas.end() ? Duration{0} : quota->second.patience;
  }

  void pass(Time now) {
    ++run_.cycles;
    while (!patience_ends_.empty() && patience_ends_.top().at <= now) patience_ends_.pop();
    session_.decide(now, [&](const Plan& plan) {
      keep_promises(plan);
      for (const WorkloadId begun : plan.begins) start(begun, now);
      for (const Eviction& eviction : plan.evictions) evict(eviction, now);
      for (const Start& started : plan.starts) {
        if (!started.waits) start(started.workload, now);
      }
    });
  }

  void start(WorkloadId workload, Time now) {
    const TraceJob& job = job_of(workload);
    const Attempt& attempt = attempt_of(workload);
    JobTimes& times = times_of(workload);
    if (options_.watch.started) options_.watch.started(workload, now);
    times.started = true;
    times.start = now;
    times.end = now + (job.run - attempt.kept);
    ends_too_late_ = ends_too_late_ || times.end > kTimeMax;
    ends_.push({times.end, workload, attempt.number});
    change_held(workload, gpu_milli_of(job));
    change_waiting(workload, -gpu_milli_of(job));
    ++run_.decisions;
    if (!options_.checkpoint_every || now + *options_.checkpoint_every >= times.end) return;
    checkpoints_.push({now + *options_.checkpoint_every, workload, attempt.number});
  }

  void evict(const Eviction& eviction, Time now) {
    // A job of a trace has no grace and no budget; its queue's minimum run time may protect it for a while.
    if (eviction.stop_by > now) {
      stops_.push({eviction.stop_by, eviction.workload, attempt_of(eviction.workload).number});
    } else {
      stop(eviction.workload, now);
    }
  }

  void stop(WorkloadId workload, Time now) {
    JobTimes& times = times_of(workload);
    Attempt& attempt = attempt_of(workload);
    const Duration ran = now - times.start;
    const std::int64_t period = options_.checkpoint_every ? options_.checkpoint_every->ms : 0;
    const Duration kept{period == 0 ? 0 : ran.ms - ran.ms % period};
    attempt.kept = attempt.kept + kept;
    ++attempt.number;
    times.lost = times.lost + (ran - kept);
    times.started = false;
    ++times.evictions;
    change_held(workload, -gpu_milli_of(job_of(workload)));
    change_waiting(workload, gpu_milli_of(job_of(workload)));
  }

  void sample(Time now) {
    const State& state = session_.state();
    // What happens once all have started says nothing about scheduling.
    const bool drains = now > last_submit_ && state.pending() == 0;
    if (now < next_sample_ || (drains && drain_sampled_)) return;
    drain_sampled_ = drains;
    next_sample_ = now + sample_every_;
    const Fragmentation& fragmentation = session_.engine().index.usual(state).fragmentation;
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
                            .running_jobs = static_cast<std::int64_t>(state.running()),
                            .evenness = evenness_ ? evenness_->mean_since() : 1});
  }

  void summarise() {
    std::vector<std::int64_t> waits;
    std::vector<std::int64_t> of_large;
    std::vector<std::int64_t> completions;
    double gpu_ms = 0;
    for (std::size_t row = 0; row < trace_.jobs.size(); ++row) {
      const TraceJob& job = trace_.jobs[row];
      const JobTimes& times = run_.times[row];
      run_.evictions += times.evictions;
      const auto gpus = static_cast<double>(gpu_milli_of(job)) / kMilliPerGpu;
      gpu_ms += gpus * static_cast<double>(times.lost.ms);
      if (!times.started) {
        ++run_.never_started;
        continue;
      }
      waits.push_back(wait_of(job, times).ms);
      if (gpu_milli_of(job) >= kLargeJobGpus * kMilliPerGpu) of_large.push_back(waits.back());
      completions.push_back((times.end - times.submit).ms);
      gpu_ms += gpus * static_cast<double>(job.run.ms);
    }
    run_.wait = waits_of(std::move(waits));
    run_.wait_of_large = waits_of(std::move(of_large));
    run_.completion = waits_of(std::move(completions));
    run_.queues = waits_by_queue(trace_, run_.times, [](std::size_t) { return true; });
    for (QueueWaits& queue : run_.queues) {
      Use& use = use_[queue.queue];
      use.pass(counted_until_);
      queue.arriving_gpu_seconds = static_cast<std::int64_t>(use.gpu_milli_ms / (kMilliPerGpu * 1000));
      run_.gpu_seconds += queue.gpu_seconds;
      run_.lost_gpu_seconds += queue.lost_gpu_seconds;
    }
    const auto percent_of_capacity = [&](double used_gpu_ms, Time until) {
      const double capacity =
          static_cast<double>(run_.gpu_milli) / kMilliPerGpu * static_cast<double>((until - run_.first_submit).ms);
      return capacity > 0 ? 100 * used_gpu_ms / capacity : 0;
    };
    run_.utilisation_percent = percent_of_capacity(gpu_ms, run_.last_end);
    run_.arriving_utilisation_percent = percent_of_capacity(arriving_gpu_ms_, last_submit_);
    if (evenness_) {
      run_.evenness = evenness_->mean();
      run_.short_of_floor_gpu_s = evenness_->short_of_floor_gpu_s();
    }
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
  const RunOptions& options_;
  const Door& door_;
  Session session_;
  ClusterRun run_;
  Time now_;
  std::vector<std::size_t> arrivals_;  // rows of the trace
  std::size_t submitted_ = 0;
  std::size_t ended_ = 0;
  std::vector<Attempt> attempts_;  // by row
  DueInTime ends_;
  DueInTime stops_;  // of those who were told to
  DueInTime checkpoints_;
  DueInTime patience_ends_;            // whatever the attempt
  std::vector<std::size_t> queue_of_;  // by row, where evenness is measured
  std::optional<Evenness> evenness_;
  std::map<std::string, Use> use_;  // by queue
  std::map<WorkloadId, Time> promised_;
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

Duration wait_of(const TraceJob& job, const JobTimes& times) { return times.end - times.submit - job.run; }

std::vector<QueueWaits> waits_by_queue(const Trace& trace, const std::vector<JobTimes>& times,
                                       const std::function<bool(std::size_t)>& include) {
  std::map<std::string, std::pair<QueueWaits, std::vector<std::int64_t>>> by_queue;
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    if (!include(row)) continue;
    const TraceJob& job = trace.jobs[row];
    const auto gpu_seconds = [&](Duration run) {
      return static_cast<std::int64_t>(Wide{gpu_milli_of(job)} * run.ms / (kMilliPerGpu * 1000));
    };
    auto& [queue, waits] = by_queue[queue_name(job)];
    ++queue.jobs;
    queue.evictions += times[row].evictions;
    queue.starts += times[row].evictions + (times[row].started ? 1 : 0);
    queue.lost_gpu_seconds += gpu_seconds(times[row].lost);
    if (!times[row].started) continue;
    waits.push_back(wait_of(job, times[row]).ms);
    queue.gpu_seconds += gpu_seconds(job.run);
  }
  std::vector<QueueWaits> queues;
  for (auto& [name, entry] : by_queue) {
    entry.first.queue = name;
    entry.first.waits = waits_of(std::move(entry.second));
    queues.push_back(std::move(entry.first));
  }
  return queues;
}

Result<ClusterRun> run_cluster(const Trace& trace, const RunOptions& options, const std::string& source,
                               Session::Recorder recorder,
                               const std::function<void(std::int64_t, std::int64_t)>& progress) {
  const Result<Door> door = Door::open(trace,
                                       {.seed = options.seed,
                                        .policy = options.policy,
                                        .order = options.order,
                                        .quotas = options.quotas,
                                        .tree = options.tree},
                                       source);
  if (!door) return door.error();
  Simulation simulation(trace, options, *door, std::move(recorder));
  return simulation.go(source, progress);
}

}  // namespace berth
