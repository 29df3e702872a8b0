#include "cli/inputs.h"

#include <fmt/core.h>

#include <cstdio>
#include <limits>

#include "base/wording.h"
#include "cli/command_line.h"
#include "cycle/explain.h"
#include "model/quantity.h"
#include "sim/door.h"
#include "sim/files.h"
#include "sim/readers.h"

namespace berth {
namespace {

constexpr std::size_t kSeedsMax = 1000;

Parsed<std::int64_t> parse_seed(std::string_view text) {
  return parse_integer(text, 0, std::numeric_limits<std::int64_t>::max());
}

template <class Names>
Complaints unknown_name(std::string_view option, std::string_view text, const Names& names) {
  std::string known;
  for (const std::string_view name : names) known += (known.empty() ? "" : ", ") + std::string(name);
  const std::string_view near = nearest_word(text, names);
  const std::string hint = near.empty() ? "; write one of: " : "; did you mean " + std::string(near) + "? There are: ";
  return Complaints({std::string(option)}, quote(text) + " is not known" + hint + known);
}

// Only what a file says about the number of processors (SWF's MaxProcs); 0 if it says nothing.
std::int64_t processors_named_in(const std::string& jobs_file) {
  const Result<std::string> text = read_file(jobs_file);
  return text ? swf_max_procs(*text).value_or(0) : 0;
}

}  // namespace

Result<std::vector<Seed>> parse_seeds(std::string_view text, const std::string& option) {
  const Complaints mistake({option}, quote(text) + " is no list of seeds; write 42, 42..51 or 1,5,9 (at most 1,000)");
  std::vector<Seed> seeds;
  if (const std::size_t dots = text.find(".."); dots != std::string_view::npos) {
    const auto first = parse_seed(text.substr(0, dots));
    const auto last = parse_seed(text.substr(dots + 2));
    if (!first || !last || *last < *first || *last - *first >= static_cast<std::int64_t>(kSeedsMax)) return mistake;
    for (std::int64_t seed = *first; seed <= *last; ++seed) seeds.push_back({static_cast<std::uint64_t>(seed)});
    return seeds;
  }
  while (true) {
    const std::size_t comma = text.find(',');
    const auto seed = parse_seed(text.substr(0, comma));
    if (!seed || seeds.size() == kSeedsMax) return mistake;
    seeds.push_back({static_cast<std::uint64_t>(*seed)});
    if (comma == std::string_view::npos) return seeds;
    text.remove_prefix(comma + 1);
  }
}

Result<std::int64_t> parse_until_percent(std::string_view text) {
  const auto milli = parse_milli(text);
  const bool is_number = text.find_first_not_of("0123456789.") == std::string_view::npos;
  if (!milli || !is_number || *milli < 10 || *milli > 100'000 || *milli % 10 != 0) {
    return Complaints({"--until"},
                      quote(text) + " is no multiple of capacity; write a number from 0.01 to 100 such as 1.3");
  }
  return *milli / 10;
}

Result<PlacementPolicy> parse_policy(std::string_view text) {
  if (const auto policy = find_placement_policy(text)) return *policy;
  return unknown_name("--policy", text, kPlacementPolicyNames);
}

Result<LineOrder> parse_order(std::string_view text) {
  if (const auto order = find_line_order(text)) return *order;
  return unknown_name("--order", text, kLineOrderNames);
}

Result<std::vector<TraceJob>> read_jobs_file(const std::string& jobs_file) {
  const Result<std::string> text = read_file(jobs_file);
  if (!text) return text.error();
  Result<std::vector<TraceJob>> jobs = read_jobs(jobs_file, *text);
  if (const std::int64_t left_out = jobs ? swf_jobs_left_out(jobs_file, *text) : 0; left_out > 0) {
    fmt::print(stderr, "{}: {} {} left out (cancelled or failed before they ran)\n", jobs_file,
               with_separators(left_out), left_out == 1 ? "job was" : "jobs were");
  }
  return jobs;
}

Result<Trace> read_trace(const std::string& nodes_file, const std::string& jobs_file) {
  Trace trace;
  Complaints complaints;
  if (const Result<std::string> text = read_file(nodes_file); !text) {
    complaints.add_all(text.error());
  } else if (Result<std::vector<TraceNode>> nodes = read_nodes(nodes_file, *text); !nodes) {
    complaints.add_all(nodes.error());
  } else {
    trace.nodes = std::move(*nodes);
  }
  if (Result<std::vector<TraceJob>> jobs = read_jobs_file(jobs_file); !jobs) {
    complaints.add_all(jobs.error());
  } else {
    trace.jobs = std::move(*jobs);
  }
  if (!complaints.empty()) return complaints;
  return trace;
}

Result<std::optional<std::int64_t>> parse_limits(const std::string& text) {
  constexpr std::int64_t kLimitsMaxMilli = 1'000'000;
  if (text.empty()) return std::optional<std::int64_t>();
  const Parsed<std::int64_t> milli = parse_milli(text);
  if (!milli || *milli < 1000 || *milli > kLimitsMaxMilli) {
    return Complaints({"--limits"}, quote(text) + " is no factor of 1 to 1000; write --limits 2");
  }
  return std::optional(*milli);
}

Result<std::int64_t> parse_count(const std::string& option, const std::string& text, std::int64_t least,
                                 std::int64_t most) {
  const auto count = parse_integer(text, least, most);
  if (!count) return Complaints({option}, count.error());
  return *count;
}

Result<Trace> read_trace_of_gpus(const std::string& jobs_file, const std::string& gpus_text,
                                 const std::string& if_not_said) {
  Complaints complaints;
  std::int64_t gpus = processors_named_in(jobs_file);
  if (!gpus_text.empty()) {
    const Result<std::int64_t> counted = parse_count("--gpus", gpus_text, 1, kPoolGpusMax);
    if (counted) gpus = *counted;
    if (!counted) complaints.add_all(counted.error());
  } else if (gpus == 0) {
    complaints.add({"--gpus"}, if_not_said);
  }
  Trace trace;
  Result<std::vector<TraceJob>> jobs = read_jobs_file(jobs_file);
  if (jobs) trace.jobs = std::move(*jobs);
  if (!jobs) complaints.add_all(jobs.error());
  if (!complaints.empty()) return complaints;
  count_gpus_only(trace, gpus);
  return trace;
}

int complain(const Complaints& complaints) {
  const std::string text = complaints.to_string();
  std::fwrite(text.data(), 1, text.size(), stderr);
  return kExitBadInput;
}

int failed(const Complaints& complaints) {
  complain(complaints);
  return kExitFailed;
}

}  // namespace berth
