// A seeded fleet of many teams with its work of some days: the same seed gives the same trace with every compiler, since
// nothing here computes in floating point. Where each number comes from: docs/generator.md.
#pragma once

#include <cstdint>

#include "base/rng.h"
#include "sim/trace.h"

namespace berth {

inline constexpr std::int64_t kFleetNodesMin = 10;
inline constexpr std::int64_t kFleetNodesMax = 125'000;

struct FleetSpec {
  std::int64_t nodes = 1000;
  int days = 1;  // the first is a Monday
  Seed seed{1};
  // How many jobs arrive a day, whatever load they make: the mix of jobs is fixed, so the load follows. 0 = as many as
  // make `load_pct`. On 6,250 nodes 30,000 a day make about 93 %, by the seed 85 to 105: the tail is heavy.
  std::int64_t jobs_per_day = 0;
  // GPU time asked for within the horizon, if every job started when submitted, in per cent of what the fleet has. More
  // than 100 makes queues grow. Only without `jobs_per_day`.
  int load_pct = 95;
  int teams = 0;  // 0 = by the fleet's size: 4 for 10 nodes, 300 from 6,250 on
};

// Jobs in order of submission, named after their kind and number ("gang-17"). The fleet is not empty when the trace begins:
// jobs submitted at time 0 are those of the two weeks before that would still run then, with what remains of their run
// time; whatever arrives later is submitted after 0.
// PRE: kFleetNodesMin <= nodes <= kFleetNodesMax; days in 1..366; jobs_per_day in 0..10'000'000; load_pct in 0..1000; teams
// in 0..10'000.
Trace generate_fleet(const FleetSpec& spec);

}  // namespace berth
