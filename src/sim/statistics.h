// Means and quantiles for people. Nothing here decides.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth {

struct MeanAndSd {
  double mean = 0;
  double sd = 0;  // of the population
};
MeanAndSd mean_and_sd(std::span<const double> values);

// Of times in milliseconds, in seconds. A quantile is the smallest value that at least that share of values does not
// exceed (nearest rank).
struct Waits {
  std::int64_t count = 0;
  double mean_s = 0;
  double p50_s = 0;
  double p90_s = 0;
  double p99_s = 0;
  double max_s = 0;
};
Waits waits_of(std::vector<std::int64_t> values_ms);

}  // namespace berth
