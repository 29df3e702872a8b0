// What the scenario language has and this version does not know yet. Such words are refused, never ignored: a scenario
// that passes must have meant what was run. Whoever builds one of these takes its rows out.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "model/reason.h"

namespace berth {

struct LaterWord {
  // Where it may stand: the name of a statement, "" for statements themselves, "expect" for what follows that word.
  // `group` has the keys of `submit`.
  std::string_view statement;
  std::string_view word;
  std::string_view what;
};

inline constexpr LaterWord kLaterWords[] = {
    {"", "reserve", "reservations"},
    {"window", "borrowing_limit",
     "bounds of borrowing that change; limit= is the same as guarantee and borrowing together"},
    {"submit", "max", "elastic workloads"},
    {"submit", "resize", "elastic workloads"},
    {"expect", "shrunk", "elastic workloads"},
};

constexpr const LaterWord* find_later_word(std::string_view statement, std::string_view word) {
  const auto* const found = std::find_if(std::begin(kLaterWords), std::end(kLaterWords), [&](const LaterWord& later) {
    return later.statement == statement && later.word == word;
  });
  return found == std::end(kLaterWords) ? nullptr : found;
}

// The beginning of a complaint about such a word; what this version has instead follows.
inline std::string not_supported_yet(const std::string& quoted, const LaterWord& later) {
  return quoted + " is not supported yet (" + std::string(later.what) + "); this version ";
}

// Codes of the closed list of reasons that nothing in this version leads to. They may be expected: what is found instead is
// then told.
inline constexpr std::string_view kLaterReasonNames[] = {
    "FairShare", "Priority", "NamespaceQuota", "NotAllowed", "Numa", "BackOff",
};

}  // namespace berth
