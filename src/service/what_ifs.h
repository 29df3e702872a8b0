// What-ifs that somebody asks for by an object: each is answered once, from a fork of what the scheduler knows, in the background,
// and the answer stands in its status. Nothing of the cluster is changed.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "manifest/value.h"
#include "model/ids.h"
#include "sim/run_times.h"
#include "state/state.h"

namespace berth {

class WhatIfs {
 public:
  static constexpr std::size_t kWaitingMax = 1'000;      // so many who start at another time are told
  static constexpr std::chrono::seconds kTakesMax{120};  // what takes longer is broken off

  struct Question {
    std::string name, uid;  // of the object
    Value spec;
  };

  void set(const Value& object);
  void remove(const std::string& name) { asked_.erase(name); }

  // One that has no answer yet.
  std::optional<Question> due() const;
  void note_answered(const Question& question, Value status);
  // Those that are to be written, by name.
  std::vector<std::pair<std::string, Value>> statuses() const;

 private:
  struct Asked {
    std::string uid;
    Value spec;
    Value said;    // as its object has it
    Value status;  // as it is to be
  };

  std::map<std::string, Asked> asked_;
};

// As people call them, of those who wait or run.
using NamesOfWork = std::map<WorkloadId, std::string>;

// The status with the answer, or with all that is wrong with the changes. It costs time: not on the scheduler's thread.
Value what_if_answer(const State& state, const NamesOfWork& names, const RunTimes& run_times, const Value& spec,
                     Time now, const std::function<bool()>& is_broken_off);

}  // namespace berth
