#include "apiserver/metrics.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

namespace berth {
namespace {

void append_head(std::string& text, std::string_view name, std::string_view type, std::string_view help) {
  fmt::format_to(std::back_inserter(text), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

}  // namespace

std::string metrics_text(const StoreFigures& figures, Revision revision) {
  std::string text;
  const auto out = std::back_inserter(text);
  constexpr std::string_view kCommits = "berth_store_commit_duration_seconds";
  append_head(text, kCommits, "histogram", "Time until one commit, of up to many writes, was on disk.");
  std::int64_t within = 0;
  for (std::size_t i = 0; i < StoreFigures::kBounds; ++i) {
    within += figures.commits[i];
    fmt::format_to(out, "{}_bucket{{le=\"{:.4g}\"}} {}\n", kCommits, StoreFigures::bound_s(i), within);
  }
  within += figures.commits.back();
  fmt::format_to(out, "{0}_bucket{{le=\"+Inf\"}} {1}\n{0}_sum {2:.6f}\n{0}_count {1}\n", kCommits, within,
                 figures.commits_s);
  append_head(text, "berth_store_waiting", "gauge", "Writes that wait for a commit.");
  fmt::format_to(out, "berth_store_waiting {}\n", figures.waiting);
  append_head(text, "berth_store_revision", "counter", "The revision of the newest change.");
  fmt::format_to(out, "berth_store_revision {}\n", revision);
  return text;
}

}  // namespace berth
