// From what was typed to what is simulated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "model/policy.h"
#include "sim/line_order.h"
#include "sim/trace.h"

namespace berth {

// "42", "42..51" or "1,5,9"; at most 1,000 of them. `option` is where they were typed.
Result<std::vector<Seed>> parse_seeds(std::string_view text, const std::string& option = "--seeds");

// "1.3" -> 130. From 0.01 to 100, in hundredths.
Result<std::int64_t> parse_until_percent(std::string_view text);

Result<PlacementPolicy> parse_policy(std::string_view text);
Result<LineOrder> parse_order(std::string_view text);
// Of --limits: "2", "1.5", in thousandths; none where nothing is said.
Result<std::optional<std::int64_t>> parse_limits(const std::string& text);

// Complaints of both files together.
Result<Trace> read_trace(const std::string& nodes_file, const std::string& jobs_file);
// A whole number within the bounds.
Result<std::int64_t> parse_count(const std::string& option, const std::string& text, std::int64_t least,
                                 std::int64_t most);
// Jobs on a pool of so many GPUs, in which nothing else counts (count_gpus_only). Without a number it is that of processors
// in an SWF file; where there is none either, `if_not_said` is the complaint.
Result<Trace> read_trace_of_gpus(const std::string& jobs_file, const std::string& gpus, const std::string& if_not_said);
// Says on stderr how many jobs of an SWF file were left out, if any were.
Result<std::vector<TraceJob>> read_jobs_file(const std::string& jobs_file);

// Prints all complaints to stderr; the exit code for bad input.
int complain(const Complaints& complaints);
// As complain, with the exit code for what could not be done.
int failed(const Complaints& complaints);

}  // namespace berth
