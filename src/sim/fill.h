// Arrivals only, until what has arrived asks for X times the fleet's GPUs: how much of the fleet can be given out, and
// how much of the rest is of no use. The protocol of Weng et al. (USENIX ATC 2023).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "model/policy.h"
#include "sim/session.h"
#include "sim/trace.h"

namespace berth {

// More arrivals than this are refused before the run begins.
inline constexpr std::int64_t kFillArrivalsMax = 16'000'000;

struct FillOptions {
  PlacementPolicy policy = PlacementPolicy::kFgd;
  std::int64_t until_percent = 130;  // of the fleet's GPUs
  // Its typical pods are those that have arrived, as a live cluster learns them; otherwise the whole trace's.
  bool learns = false;
};

// The state when arrived demand first reached a whole percentage of capacity; all in percent of the fleet's GPUs.
struct FillPoint {
  std::int64_t demand_percent = 0;
  double allocated_percent = 0;
  double fragmented_percent = 0;
};

struct FillRun {
  Seed seed;
  std::vector<FillPoint> points;  // [0] before the first arrival, then one a percent
  std::int64_t arrived_pods = 0;
  std::int64_t placed_pods = 0;
  std::uint64_t state_hash = 0;
};

// The pods arrive in an order drawn from the seed; after all of them, copies drawn from them, evenly and with
// replacement. `progress` is called with the percent reached, from the calling thread.
Result<FillRun> run_fill(const Trace& trace, const FillOptions& options, Seed seed, const std::string& source,
                         Session::Recorder recorder = nullptr, const std::function<void(std::int64_t)>& progress = {});

}  // namespace berth
