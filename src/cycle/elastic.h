// Elastic workloads take steps, one pod each, when all who wait have had their turn (docs/semantics.md, rule 18).
#pragma once

#include <cstddef>
#include <optional>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "base/wide.h"
#include "model/plan.h"
#include "placement/place.h"
#include "placement/score_index.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// One that runs, or begins by this plan, and has steps that wait.
struct Growing {
  struct Step {
    WorkloadId id;
    NodeId node;
  };

  WorkloadId minimum;
  std::vector<WorkloadId> steps = {};            // those that wait, ascending
  bool begins = false;                           // by this plan, or in this moment: what comes at once restarts nothing
  std::optional<std::size_t> way = {};           // of its shape, in which it was placed
  std::vector<std::optional<NodeId>> pods = {};  // where those of its minimum are
  std::vector<Step> there = {};                  // of its steps
};

// What it would have more.
struct Growth {
  std::int64_t pods = 0;
  Wide gpu_milli = 0;

  void add(const Shape& step) {
    ++pods;
    gpu_milli += step.gpu_milli;
  }
};

// Of one shape, who waits and is not started by this plan, as it leaves him.
std::optional<ShapeInLine> left_of(const State& state, const Plan& plan, QueueId line, const ShapeInLine& entry);

// In the order in which they may take steps: the higher priority first, then who came first. Who is to go, who is being repaired,
// whose queue is held or closed, who counts for nothing by its budget, who was resized a while ago and who stands in a strict line
// with a blocked head is not among them. `shadows`: what is promised by now.
std::vector<Growing> who_may_grow(const State& state, const Plan& plan, const std::vector<Shadow>& shadows);

// A place for one more pod, such as its set asks beside those that are there; its move stays in the trial, or there is none.
// PRE: `trial` is on the state's own ledgers; the way is known.
std::optional<Start> place_step(const State& state, Trial& trial, ScoreIndex& index, const Growing& growing,
                                WorkloadId step, Rng& rng, const Mixture* mixture = nullptr);

// Whether that is worth what is lost by restarting it: it is done sooner with them, or of who has declared no run, they
// give more until its limit. PRE: it has steps that wait.
bool growth_pays(const State& state, const Growing& growing, const Growth& growth, Time now);

}  // namespace berth
