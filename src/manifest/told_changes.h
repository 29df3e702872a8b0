// By which small changes a pod that waits would start at once, in its condition berth.dev/WouldStart: the scheduler writes it, and
// `berth explain` reads it. A line for each change: "pods: with 2 of its 4 pods"; "end: ?": not all of that kind was tried.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "manifest/value.h"

namespace berth {

inline constexpr std::string_view kChangesCondition = "berth.dev/WouldStart";
// Its reasons, where it says nothing of use: it has a place; it waits for a moment, for others or for its queue, and not for room.
inline constexpr std::string_view kHasPlaceReason = "HasPlace";
inline constexpr std::string_view kKeptAsideReason = "KeptAside";

struct ToldChange {
  std::string kind, text;

  friend bool operator==(const ToldChange&, const ToldChange&) = default;
};

struct ToldChanges {
  std::vector<ToldChange> changes = {};
  std::vector<std::string> not_searched = {};  // kinds

  friend bool operator==(const ToldChanges&, const ToldChanges&) = default;
};
std::string to_text(const ToldChanges& changes);
// What is no such line is left out.
ToldChanges read_told_changes(std::string_view text);

struct ChangesOfPod {
  ToldChanges told;
  Time as_of;  // of the state in which they were tried
};
// None: nothing was told of it, or nothing that is of use.
std::optional<ChangesOfPod> changes_told_of(const Value& pod);

}  // namespace berth
