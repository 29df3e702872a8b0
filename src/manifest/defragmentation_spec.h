// What the spec of a Defragmentation object asks, read once: for the server's door and the scheduler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "manifest/queue_spec.h"
#include "manifest/time_request.h"
#include "manifest/value.h"

namespace berth {

inline constexpr std::size_t kQuestionsMax = 100;  // of them, and of what-ifs, at a time
inline constexpr std::int64_t kDefragmentationEffortMax = 10'000;

// Room for pods of so many GPUs, or for slices of a profile, out of pieces, by moves of work that consents: planned, and carried out where somebody names the plan
// that he was shown, or in these hours.
struct DefragmentationSpec {
  std::int32_t gpus = 8;
  std::string slice = {};       // the profile; empty: for whole GPUs
  Duration use{4 * 3'600'000};  // what comes free is believed to be of use for so long
  std::int64_t effort = 0;      // attempts at a better plan than the first
  std::string carry_out = {};   // the plan's revision; empty: none is to be
  std::optional<WrittenHours> hours = {};
  Duration cooldown{3'600'000};  // in its hours it moves nobody for so long after it has moved somebody

  // What is planned, whoever carries it out and when.
  bool asks_the_same(const DefragmentationSpec& other) const {
    return gpus == other.gpus && slice == other.slice && use == other.use && effort == other.effort;
  }
  bool is_open(Time now) const;
  // When its hours begin next; none: it has none, or they go on.
  std::optional<Time> opens_after(Time now) const;

  friend bool operator==(const DefragmentationSpec&, const DefragmentationSpec&) = default;
};

struct DefragmentationSpecReading {
  DefragmentationSpec spec;  // to be used only if nothing is wrong
  std::vector<SpecMistake> mistakes;
};

DefragmentationSpecReading read_defragmentation_spec(const Value& spec);

}  // namespace berth
