// What it costs to take several of those who may be taken, where elastic workloads and steps of them are among these (docs/semantics.md,
// rules 17 and 18): all who look for such a set count alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/wide.h"
#include "fairness/rights.h"
#include "model/plan.h"
#include "state/state.h"

namespace berth {

using Chosen = std::vector<std::size_t>;  // indexes into those who may be taken, ascending

class TakenTogether {
 public:
  struct One {
    WorkloadId workload;
    std::int64_t lost_gpu_s = 0;  // if it alone were taken (lost_if_taken_gpu_s)
  };

  explicit TakenTogether(const State& state) : state_(state) {}

  // In the stead of those before.
  void put(std::vector<One> all);

  // The workload without which it does not run; itself, where it is no step.
  WorkloadId minimum(std::size_t each) const { return minima_[each]; }
  bool is_step(std::size_t each) const { return minima_[each] != all_[each].workload; }
  // False: each goes by itself, and loses what it loses alone.
  bool some_elastic() const { return some_elastic_; }

  // Of an elastic workload all restart, once, whether one of its pods goes or many.
  Wide lost_by(std::span<const std::size_t> chosen) const;
  // With an elastic workload go all of its steps that run: its end is never the smaller loss.
  std::int64_t stopped_with(std::size_t each) const;
  // It is a step, and its workload is among these.
  bool goes_with_another(std::size_t each, std::span<const std::size_t> chosen) const;
  // Some step of these goes with another of them: without it, it is the same set.
  bool says_it_twice(std::span<const std::size_t> chosen) const;

 private:
  const State& state_;
  std::vector<One> all_;
  std::vector<WorkloadId> minima_;  // of each
  bool some_elastic_ = false;
};

// As TakenTogether says it.
Wide lost_by(const State& state, std::span<const Eviction> evictions);

// How strongly it holds what it has, with a share of its side. A minimum holds as strongly as the strongest step that goes with it.
Claim claim_with_steps(const State& state, const QuotaLedger& quotas, WorkloadId workload, const Fraction& share);

}  // namespace berth
