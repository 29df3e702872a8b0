// What users do with a control plane, as scripts that go on after a crash at the step where they were. The step that was
// under way is taken again: its work may have been done, and only the answer lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "rehearsal/past.h"
#include "rehearsal/plane.h"

namespace berth {

inline constexpr const char* kCopy = "copy.db";

struct StoryStep {
  std::string what;
  std::function<void(Plane&)> take;
};

struct Story {
  std::string name;
  std::string followed;  // the kind that somebody watches from the first moment on
  bool from_nothing;     // begins with an empty disk, otherwise with four machines that are known
  std::int64_t changes_kept_max;
  std::vector<StoryStep> steps;
  // What is wrong at the end, but for what must hold anyway.
  std::function<Complaints(const Past&)> at_the_end;

  // Which step makes a copy, kCopy; behind the last one: none.
  std::size_t copy_step() const;
};

const std::vector<Story>& stories();

}  // namespace berth
