// What is wrong with, or worth knowing about, a policy: where, what, why it hurts, and what to write instead.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

// Where something was said.
struct PolicyPlace {
  Place at;            // file and line, as far as they are known
  std::string object;  // "ClusterQueue research", "LocalQueue vision/main"; empty in a scenario
  std::string field;   // "spec.resourceGroups[0].flavors[1].name"; empty: all of it

  // "queues.yaml:14: ClusterQueue research: spec.cohort"
  std::string to_string() const;
  friend bool operator==(const PolicyPlace&, const PolicyPlace&) = default;
};

enum class Severity : std::uint8_t {
  kError,    // it cannot be followed, or does not do what it says
  kWarning,  // it is followed, and hardly means what was meant
  kNote,     // worth knowing
};
inline constexpr std::string_view kSeverityNames[] = {"error", "warning", "note"};
constexpr std::string_view name_of(Severity severity) { return kSeverityNames[static_cast<std::size_t>(severity)]; }

struct PolicyFinding {
  Severity severity = Severity::kError;
  std::string rule;  // "sum-above-parent"; docs/policies.md has all
  PolicyPlace place;
  // Of which queues it speaks, the one it is said at first.
  std::vector<std::string> queues;
  std::string what;
  std::string why;      // it hurts; may be empty
  std::string instead;  // what to write

  // "what; why; instead"
  std::string text() const;
  // "queues.yaml:14: ClusterQueue research: error: what; why; instead [rule]"
  std::string to_string() const;
  friend bool operator==(const PolicyFinding&, const PolicyFinding&) = default;
};

// A field that is read and not followed, and what comes of that.
struct NotFollowed {
  PolicyPlace place;
  std::string why;

  friend bool operator==(const NotFollowed&, const NotFollowed&) = default;
};

}  // namespace berth
