// How evenly queues get what is due to them, for reports. Nothing here decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"

namespace berth {

// What is due to each queue of what it demands: its floor first; what is left of the capacity goes to whoever has least
// above the floor, and so on until there is no more or nobody wants any. PRE: the floors add up to `capacity` at most.
std::vector<double> dues(std::span<const std::int64_t> floors, std::span<const std::int64_t> demands,
                         std::int64_t capacity);

// Jain, Chiu, Hawe (1984): 1 if all values are equal, 1/n if one has everything. 1 without values.
double jain_index(std::span<const double> values);

// Follows what each queue holds and waits for.
class Evenness {
 public:
  Evenness(std::vector<std::int64_t> floors_milli, std::int64_t capacity_milli);

  void waits(std::size_t queue, std::int64_t milli) { waiting_[queue] += milli; }
  void holds(std::size_t queue, std::int64_t milli) { held_[queue] += milli; }
  // Things have been so for so long.
  void pass(Duration time);

  // Jain's index of held / due over the queues that demand something: its mean over all time so far, and since the last
  // call of mean_since().
  double mean() const { return all_.mean(); }
  double mean_since();
  // What queues waited for inside their floors, and did not hold.
  std::int64_t short_of_floor_gpu_s() const;

 private:
  struct Mean {
    double sum = 0;
    double weight = 0;
    double mean() const { return weight > 0 ? sum / weight : 1; }
  };

  std::vector<std::int64_t> floors_;
  std::int64_t capacity_;
  std::vector<std::int64_t> held_;
  std::vector<std::int64_t> waiting_;
  Mean all_;
  Mean since_;
  double short_milli_ms_ = 0;
};

}  // namespace berth
