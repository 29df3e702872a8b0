#include "sim/calibration.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "sim/cluster_run.h"

namespace berth::calibration_test {

constexpr std::int64_t kMinute = 60'000;
constexpr int kJobs = 120;

// On one GPU, one after the other.
Calibration of_a_line(std::int64_t limits_up_to_milli) {
  Trace trace;
  Rng rng(Seed{3});
  for (int i = 0; i < kJobs; ++i) {
    trace.jobs.push_back({.name = "j" + std::to_string(i),
                          .queue = {},
                          .user = "ann",
                          .submit = Time{i * 3 * kMinute},
                          .run = {rng.between(10, 1000) * rng.between(10, 1000)},
                          .gpus = 1,
                          .gpu_milli = kMilliPerGpu,
                          .gpu_models = {}});
  }
  count_gpus_only(trace, 1);
  const RunOptions run{.order = Order::kFifo, .seed = Seed{5}, .limits_up_to_milli = limits_up_to_milli};
  const Result<Calibration> done = calibrate(trace, run, {.every = 3, .samples = 10}, "jobs");
  EXPECT_TRUE(done);
  return done ? *done : Calibration{};
}

void expect_all_counted(const Calibration& done) {
  EXPECT_EQ(done.learned.asked, done.from_limits.asked);
  EXPECT_GT(done.learned.asked, done.waited / 5) << "one of three";
  EXPECT_LT(done.learned.asked, done.waited / 2);
  for (const ForecastQuality& each : {done.learned, done.from_limits}) {
    EXPECT_EQ(each.before + each.within + each.after, each.asked);
  }
}

// Whoever always asks what he needs is known to, as soon as enough have ended; that somebody may once need less is told as well.
TEST(Calibration, IsNearlyExactWhereLimitsAre) {
  const Calibration done = of_a_line(1000);
  EXPECT_EQ(done.jobs, kJobs);
  expect_all_counted(done);
  EXPECT_GE(done.learned.within, done.learned.asked * 6 / 10);
  EXPECT_LT(done.learned.median_width, Duration{done.from_limits.median_width.ms / 2});
  EXPECT_LT(done.learned.median_error, Duration{kMinute / 2});
  // Any length up to the limit is as likely as another: too early on the whole.
  EXPECT_GT(done.from_limits.after, done.from_limits.asked / 2);
  EXPECT_GT(done.from_limits.median_error, Duration{kMinute});
  EXPECT_GT(done.from_limits.width_that_holds, done.from_limits.median_width);
}

// Most start in their range, and not all.
TEST(Calibration, RangesMissNowAndThen) {
  const Calibration done = of_a_line(1500);
  expect_all_counted(done);
  EXPECT_GE(done.learned.within, done.learned.asked * 3 / 4);
  EXPECT_LT(done.learned.within, done.learned.asked);
  EXPECT_GT(done.learned.median_width, Duration{kMinute});
  EXPECT_NE(done.learned.width_that_holds, done.learned.median_width);
  EXPECT_LT(done.learned.median_error, done.from_limits.median_error);
}

}  // namespace berth::calibration_test
