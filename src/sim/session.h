// One engine under virtual time: facts go in, cycles are run, and each step may be recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "cycle/engine.h"
#include "journal/codec.h"

namespace berth {

// Sees each record once it is taken in: the state is as it is after it.
using RecordWatch = std::function<void(const State& state, const JournalRecord& record)>;

class Session {
 public:
  using Recorder = std::function<void(const Bytes& payload)>;

  explicit Session(Recorder recorder = nullptr) : recorder_(std::move(recorder)) {}

  const State& state() const { return engine_.state; }
  Engine& engine() { return engine_; }

  // PRE: the state does not refuse it.
  void apply(const Event& event);
  // What is applied after this happened at that time, if time makes a difference to anybody.
  void pass_time(Time now) {
    if (state().keeps_time() && now > state().clock()) apply(TimePassed{now});
  }

  // Runs cycles until there is nothing more to try at this moment; visit(plan) sees every one that was adopted.
  template <class Visit>
  void decide(Time now, Visit visit) {
    for (bool finished = false; !finished;) {
      const Plan plan = one_cycle(now, Effort::unbounded());
      visit(plan);
      finished = plan.finished;
    }
  }
  // One cycle, adopted if it changes anything.
  Plan one_cycle(Time now, Effort effort);

  // Ends the record and gives the final state hash.
  std::uint64_t close();

 private:
  Engine engine_;
  Recorder recorder_;
};

}  // namespace berth
