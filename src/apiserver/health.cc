#include "apiserver/health.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace berth {
namespace {

constexpr std::array<std::string_view, 3> kPaths = {"/healthz", "/livez", "/readyz"};
constexpr std::string_view kStore = "store";
constexpr std::array<std::string_view, 2> kChecks = {"ping", kStore};
constexpr std::int64_t kLookEvery_ms = 1000;

// "/readyz/store" -> "/readyz", "store".
std::pair<std::string_view, std::string_view> split(std::string_view path) {
  const std::size_t slash = std::min(path.find('/', 1), path.size());
  return {path.substr(0, slash), path.substr(std::min(slash + 1, path.size()))};
}

bool is_excluded(const HttpRequest& request, std::string_view check) {
  return std::ranges::any_of(request.query,
                             [&](const auto& each) { return each.first == "exclude" && each.second == check; });
}

}  // namespace

bool is_health_path(std::string_view path) {
  const auto [which, check] = split(path);
  if (std::ranges::find(kPaths, which) == kPaths.end()) return false;
  return path == which || std::ranges::find(kChecks, check) != kChecks.end();
}

HealthReport health_report(const HttpRequest& request, std::string_view failed) {
  const auto [path, only] = split(request.path);
  std::string lines;
  bool well = true;
  for (const std::string_view check : kChecks) {
    if (!only.empty() && check != only) continue;
    if (is_excluded(request, check)) {
      lines += "[+]" + std::string(check) + " excluded: ok\n";
      continue;
    }
    const bool ok = check != failed;
    well = well && ok;
    // Why is for the log, not for whoever may ask.
    lines += (ok ? "[+]" : "[-]") + std::string(check) + (ok ? " ok\n" : " failed: reason withheld\n");
  }
  const std::string name(path.substr(1));
  if (!well) return {500, lines + name + " check failed\n"};
  const bool verbose = request.parameter("verbose") != nullptr && only.empty();
  return {200, verbose ? lines + name + " check passed\n" : "ok"};
}

HealthReport Health::report(const HttpRequest& request) const {
  look_at_store();
  return health_report(request, store_failed_ ? kStore : std::string_view());
}

// Work that does nothing: told "failed" by a store that takes no more. The answer serves who asks next.
void Health::look_at_store() const {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  const std::int64_t now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(since_start).count();
  std::int64_t due = next_look_ms_;
  if (now_ms < due || !next_look_ms_.compare_exchange_strong(due, now_ms + kLookEvery_ms)) return;
  store_.transact([](Transaction&) {},
                  [this](CommitOutcome outcome) { store_failed_ = outcome == CommitOutcome::kFailed; });
}

}  // namespace berth
