// What runs and waits, run forward in virtual time on a fork: when each who waits will start, if nobody else comes and everybody runs
// as long as somebody says he will, elastic work whatever its steps are. The state that is asked about is left as it was.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <vector>

#include "base/time.h"
#include "cycle/engine.h"
#include "model/ids.h"
#include "sim/session.h"

namespace berth {

class RunAhead {
 public:
  // How long the present attempt of one who runs, or the next of one who waits, is from its start to its end by itself; of who
  // runs it is longer than he has run. What is above his run limit is cut off by that.
  using LengthOfRun = std::function<Duration(const State& state, WorkloadId workload)>;

  struct Begun {
    WorkloadId workload;
    Time at;
  };
  // By a decision, or a fact: a node or a pod that is lost.
  struct Stopped {
    WorkloadId workload;
    Time at;
    EvictionRule rule = EvictionRule::kNone;
    std::int64_t lost_gpu_s = 0;
    bool is_step = false;  // by itself it is a shrink; with its minimum it goes, too
  };

  RunAhead(const State& state, Time now, LengthOfRun length_of_run, RecordWatch watch = nullptr);

  const State& state() const { return engine_.state; }
  Time now() const { return now_; }
  // A fact that is true from now on.
  void apply(const Event& event);
  // PRE: as of State's, and nothing was decided yet.
  void place_by(PlacementPolicy policy) { engine_.state.place_by(policy); }
  // Cycles at the present moment, until there is nothing more to try.
  void decide();
  // Goes to the next moment at which something ends or somebody may do more, and decides; false: there is none until `horizon`.
  // What happens before `not_before` is decided upon then, all at once: fewer decisions, and starts that are so much late.
  bool go_on(Time horizon, Time not_before = {});
  // Until this one begins to run, or that moment; when it does.
  std::optional<Time> start_of(WorkloadId workload, Time horizon);

  const std::vector<Begun>& begun() const { return begun_; }
  const std::vector<Stopped>& stopped() const { return stopped_; }

 private:
  struct Due {
    Time at;
    bool enforced = false;  // at one moment who is done is done, before anybody is ended by his run limit
    WorkloadId workload;
    std::uint32_t attempt = 0;

    friend auto operator<=>(const Due&, const Due&) = default;
  };
  using DueInTime = std::priority_queue<Due, std::vector<Due>, std::greater<>>;

  bool is_over(const Due& due) const;
  template <class Record>
  void note(const Record& record);
  void note_stopped(const Eviction& eviction);
  void note_begun(WorkloadId workload);
  void expect_end_of(WorkloadId workload);
  void adopt(const Plan& plan);
  Time next_moment();
  Time next_stop() const;
  Time next_deadline() const;
  void pass_time_to(Time moment);
  void end_who_is_due();
  void scrub_what_is_due();
  void cut_what_is_due();

  Engine engine_;
  Time now_;
  LengthOfRun length_of_run_;
  RecordWatch watch_;
  DueInTime ends_;
  std::map<Device, Time> scrubs_;  // when each ends that has begun
  std::map<Device, Time> recuts_;
  std::vector<Begun> begun_;
  std::vector<Stopped> stopped_;
};

}  // namespace berth
