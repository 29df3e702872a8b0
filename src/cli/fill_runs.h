// One fill for every seed, on all cores.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/fill.h"

namespace berth {

struct FillRuns {
  std::vector<FillRun> runs;                // in the order of the seeds
  std::vector<std::vector<Bytes>> records;  // of each, where they were asked for
};

Result<FillRuns> run_fills(const Trace& trace, const FillOptions& options, std::span<const Seed> seeds,
                           const std::string& source, bool record, const std::string& label);

}  // namespace berth
