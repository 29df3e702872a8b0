// Forecasts of a live cluster in the background: the scheduler hands over a fork of what it knows, a thread of its own runs that
// ahead and writes what comes of it into a file, and no decision waits for it. What is written is at most kAgeMax old as long as
// somebody waits. All of it may be deleted at any time.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "kube/strand.h"
#include "service/round.h"
#include "sim/kept_forecasts.h"
#include "sim/run_times.h"
#include "state/state.h"

namespace berth {

class Forecaster {
 public:
  static constexpr Duration kAgeMax = seconds(5);
  // A run ahead is broken off after so long: until the next one is written this one is twice as old.
  static constexpr std::chrono::milliseconds kRunMax{2'000};
  static constexpr const char* kFileName = "forecasts";

  // `post` runs a function on the scheduler's thread; `log` hears when the file cannot be written.
  Forecaster(Seed seed, std::string folder, std::function<void(std::function<void()>)> post,
             std::function<void(const std::string&)> log);
  ~Forecaster();

  // All of these on the scheduler's thread. Whether it is time for another look.
  bool is_due(Time now) const { return !question_ && now >= next_; }
  // Runs ahead from now on. PRE: it is due; the state has come to rest.
  void ask(State fork, KeptForecasts::Names waiting, std::vector<EndedRun> ended, Time now);
  // How long the last look took, from the fork to the file.
  std::chrono::milliseconds last_took() const { return last_took_; }

 private:
  // Forks share with the engine what changes rarely, so this one ends where the engine lives.
  struct Question {
    State state;
    KeptForecasts::Names waiting;
    std::vector<EndedRun> ended;
    Time now;
  };

  void answer(const Question& question);
  void note_answered(std::chrono::milliseconds took);

  std::string path_;
  std::function<void(std::function<void()>)> post_;
  std::function<void(const std::string&)> log_;
  std::unique_ptr<Question> question_;  // that the worker is at; none: it is idle
  Time next_;
  std::chrono::milliseconds last_took_{0};
  std::atomic<bool> stopped_ = false;

  // The worker's own.
  KeptForecasts kept_;
  RunTimes run_times_;
  bool had_any_ = false;
  std::string told_failure_;
  Strand worker_;  // last: it uses all of the above
};

}  // namespace berth
