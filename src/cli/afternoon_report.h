// The report of a played afternoon: as a page with plots, and as a table for the terminal.
#pragma once

#include <string>

#include "base/result.h"
#include "demo/outcome.h"

namespace berth {

struct AfternoonTold {
  const AfternoonSpec& spec;
  const Trace& trace;
  const ClusterRun& run;
  std::size_t failed = 0, missing = 0;  // jobs
};

std::string afternoon_as_table(const AfternoonTold& told);
// Writes DIR/index.html; the path written. `command` plays it again.
Result<std::string> write_afternoon_report(const std::string& directory, const AfternoonTold& told,
                                           const std::string& command);

// "14:05" of an afternoon.
std::string clock_text(Time time);

}  // namespace berth
