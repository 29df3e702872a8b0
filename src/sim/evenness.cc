#include "sim/evenness.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "model/gpu.h"

namespace berth {

std::vector<double> dues(std::span<const std::int64_t> floors, std::span<const std::int64_t> demands,
                         std::int64_t capacity) {
  BERTH_ASSERT(floors.size() == demands.size());
  std::vector<double> due(floors.size());
  std::vector<std::pair<double, std::size_t>> above;  // what each demands above its floor
  auto left = static_cast<double>(capacity);
  for (std::size_t i = 0; i < floors.size(); ++i) {
    due[i] = static_cast<double>(std::min(floors[i], demands[i]));
    left -= due[i];
    if (demands[i] > floors[i]) above.emplace_back(static_cast<double>(demands[i] - floors[i]), i);
  }
  std::sort(above.begin(), above.end());
  for (std::size_t at = 0; at < above.size(); ++at) {
    const double more = std::min(above[at].first, left / static_cast<double>(above.size() - at));
    due[above[at].second] += more;
    left -= more;
  }
  return due;
}

double jain_index(std::span<const double> values) {
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  if (values.empty()) return 1;
  return squares > 0 ? sum * sum / (static_cast<double>(values.size()) * squares) : 1;
}

Evenness::Evenness(std::vector<std::int64_t> floors_milli, std::int64_t capacity_milli)
    : floors_(std::move(floors_milli)), capacity_(capacity_milli), held_(floors_.size()), waiting_(floors_.size()) {}

void Evenness::pass(Duration time) {
  std::vector<std::int64_t> demands(floors_.size());
  for (std::size_t i = 0; i < floors_.size(); ++i) demands[i] = held_[i] + waiting_[i];
  const std::vector<double> due = dues(floors_, demands, capacity_);
  std::vector<double> got;
  std::int64_t short_of = 0;
  for (std::size_t i = 0; i < floors_.size(); ++i) {
    if (due[i] > 0) got.push_back(static_cast<double>(held_[i]) / due[i]);
    short_of += std::max<std::int64_t>(0, std::min(floors_[i], demands[i]) - held_[i]);
  }
  const auto ms = static_cast<double>(time.ms);
  short_milli_ms_ += static_cast<double>(short_of) * ms;
  if (got.empty()) return;  // nobody wants anything
  const double index = jain_index(got);
  for (Mean* const mean : {&all_, &since_}) {
    mean->sum += index * ms;
    mean->weight += ms;
  }
}

double Evenness::mean_since() { return std::exchange(since_, {}).mean(); }

std::int64_t Evenness::short_of_floor_gpu_s() const {
  return static_cast<std::int64_t>(short_milli_ms_ / (kMilliPerGpu * 1000.0));
}

}  // namespace berth
