// What a comparison of three ways to share a pool of GPUs found, as people and machines read it.
#pragma once

#include <string>

#include "base/result.h"
#include "sim/compare.h"

namespace berth {

std::string comparison_as_table(const Comparison& comparison, const CompareOptions& options);
std::string comparison_as_markdown(const Comparison& comparison, const CompareOptions& options);
std::string comparison_as_json(const Comparison& comparison, const CompareOptions& options);

// Writes DIR/index.html, making DIR if need be; the path written.
Result<std::string> write_comparison_report(const std::string& directory, const Comparison& comparison,
                                            const CompareOptions& options, const std::string& title,
                                            const std::string& command);

}  // namespace berth
