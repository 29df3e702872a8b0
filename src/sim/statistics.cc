#include "sim/statistics.h"

#include <algorithm>
#include <cmath>

namespace berth {

MeanAndSd mean_and_sd(std::span<const double> values) {
  MeanAndSd result;
  if (values.empty()) return result;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) result.mean += value / count;
  double variance = 0;
  for (const double value : values) variance += (value - result.mean) * (value - result.mean) / count;
  result.sd = std::sqrt(variance);
  return result;
}

Waits waits_of(std::vector<std::int64_t> values_ms) {
  Waits waits;
  waits.count = static_cast<std::int64_t>(values_ms.size());
  if (values_ms.empty()) return waits;
  std::sort(values_ms.begin(), values_ms.end());
  const auto quantile_s = [&](std::size_t percent) {
    const std::size_t rank = (values_ms.size() * percent + 99) / 100;
    return static_cast<double>(values_ms[std::max<std::size_t>(rank, 1) - 1]) / 1000;
  };
  double sum_s = 0;
  for (const std::int64_t value : values_ms) sum_s += static_cast<double>(value) / 1000;
  waits.mean_s = sum_s / static_cast<double>(values_ms.size());
  waits.p50_s = quantile_s(50);
  waits.p90_s = quantile_s(90);
  waits.p99_s = quantile_s(99);
  waits.max_s = static_cast<double>(values_ms.back()) / 1000;
  return waits;
}

}  // namespace berth
