// The smallest changes that would start at once those who wait in a live cluster, found in the background: the scheduler hands over
// a fork of what it knows, a thread of its own tries changes on copies of it, and no decision waits for that. Who was never
// looked at comes first, then whose answer is the oldest; so all are looked at, however long it takes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "kube/strand.h"
#include "service/round.h"
#include "state/state.h"

namespace berth {

class ChangeSearch {
 public:
  // Nobody is looked at again before that.
  static constexpr Duration kAgainAfter = seconds(10);
  // Of one kind no more is tried after so long, and nobody else is begun with in one look: so it takes half a minute at most, where
  // a single try takes a second.
  static constexpr std::chrono::milliseconds kOfKindMax{300};
  static constexpr std::chrono::milliseconds kLookMax{1'000};
  static constexpr std::size_t kFoundMax = 64;  // in one look: so much is written after it

  using Waiting = std::vector<std::pair<WorkloadId, PodName>>;  // the first of its pods
  using Names = std::map<WorkloadId, std::string>;              // of those who run, as people call them

  using SteadyClock = std::function<std::chrono::steady_clock::time_point()>;

  // `post` runs a function on the scheduler's thread; `tell` hears there what was found. `clock` is asked on the search's own thread.
  ChangeSearch(std::function<void(std::function<void()>)> post, std::function<void(std::vector<FoundChanges>)> tell,
               SteadyClock clock = std::chrono::steady_clock::now);
  ~ChangeSearch();

  // All of these on the scheduler's thread. Whether it is time for another look.
  bool is_due(Time now) const { return !question_ && now >= next_; }
  // PRE: it is due; the state has come to rest; `waiting` are in the order in which they came.
  void ask(State fork, Waiting waiting, Names running, Time now);

 private:
  // Forks share with the engine what changes rarely, so this one ends where the engine lives.
  struct Question {
    State state;
    Waiting waiting;
    Names running;
    Time now;
    std::vector<FoundChanges> found;
  };

  void answer(Question& question);
  FoundChanges look_at(const Question& question, WorkloadId id, const PodName& pod) const;
  void note_answered(std::chrono::milliseconds took);

  std::function<void(std::function<void()>)> post_;
  std::function<void(std::vector<FoundChanges>)> tell_;
  SteadyClock clock_;
  std::unique_ptr<Question> question_;     // that the worker is at; none: it is idle
  std::map<std::string, Time> looked_at_;  // by uid of the first pod: when
  Time next_;
  std::atomic<bool> stopped_ = false;
  Strand worker_;  // last: it uses all of the above
};

}  // namespace berth
