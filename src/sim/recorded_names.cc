#include "sim/recorded_names.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "manifest/work_kinds.h"

namespace berth {
namespace {

enum class Closeness : std::uint8_t { kNone, kOther, kWhole };

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// "-x2b9k", and of a Job whose pods are numbered "-3-x2b9k".
bool is_suffix_of_pod(std::string_view suffix) {
  constexpr std::size_t kLetters = 5;
  if (!suffix.starts_with('-')) return false;
  const std::size_t last = suffix.rfind('-');
  return suffix.size() - last == 1 + kLetters && (last == 0 || is_number(suffix.substr(1, last - 1)));
}

// "w" of "job/w", "pod/w", "jobset.jobset.x-k8s.io/w": of all that makes pods, since a journal does not know what somebody is.
std::string_view without_kind(std::string_view meant) {
  const std::size_t slash = meant.find('/');
  if (slash == std::string_view::npos) return meant;
  const std::string_view kind = meant.substr(0, std::min(slash, meant.find('.')));
  return names_work_kind(kind) ? meant.substr(slash + 1) : meant;
}

Closeness closeness(std::string_view recorded, std::string_view meant) {
  if (recorded == meant) return recorded.empty() ? Closeness::kNone : Closeness::kWhole;
  meant = without_kind(meant);
  const bool whole_path = meant.contains('/');
  const std::size_t begin = recorded.find('/');
  if (begin == std::string_view::npos) return Closeness::kNone;
  const std::size_t end = recorded.find('/', begin + 1);
  const std::string_view name = whole_path ? recorded.substr(0, end) : recorded.substr(begin + 1, end - begin - 1);
  const bool is_of_it = name == meant || (name.starts_with(meant) && is_suffix_of_pod(name.substr(meant.size())));
  return is_of_it && !meant.empty() ? Closeness::kOther : Closeness::kNone;
}

}  // namespace

bool is_meant(std::string_view recorded, std::string_view meant) {
  return closeness(recorded, meant) != Closeness::kNone;
}

bool is_meant_rather(const State& state, WorkloadId one, WorkloadId other) {
  const auto rank = [&](WorkloadId id) {
    const Workload* const workload = state.workloads().find(id);
    const bool is_over = workload == nullptr || workload->phase >= Phase::kEnded;
    const bool is_step = workload != nullptr && !workload->step_of.is_none();
    return std::tuple(!is_over, !is_step, id);
  };
  return rank(one) > rank(other);
}

std::optional<WorkloadId> who_is_meant(const State& state, const std::vector<std::string>& names,
                                       std::string_view meant) {
  std::optional<WorkloadId> best;
  Closeness how_close = Closeness::kNone;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const WorkloadId id(i);
    const Closeness how = closeness(names[i], meant);
    if (how == Closeness::kNone) continue;
    const bool is_whole = how == Closeness::kWhole, best_is_whole = how_close == Closeness::kWhole;
    if (best && (is_whole != best_is_whole ? best_is_whole : !is_meant_rather(state, id, *best))) continue;
    best = id;
    how_close = how;
  }
  return best;
}

}  // namespace berth
