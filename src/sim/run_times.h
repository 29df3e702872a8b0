// How long work runs, learned from what has ended: of each kind, who ran for how long, and for what part of its run limit. What is
// said of somebody's run is drawn from those of his kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/rng.h"
#include "base/time.h"
#include "state/state.h"

namespace berth {

// What is known of a run before it ends.
struct RunOf {
  std::string user = {};
  std::string queue = {};
  std::int64_t gpu_milli = 0;          // that it holds
  std::optional<Duration> limit = {};  // a run is no longer
};

// PRE: the workload is known.
RunOf run_of(const State& state, WorkloadId workload);

class RunTimes {
 public:
  // A kind of which fewer have ended is not known (docs/semantics.md, rule 25).
  static constexpr std::size_t kEndedMin = 20;
  // Of each kind the last so many are remembered.
  static constexpr std::size_t kRememberedMax = 200;

  // It ended by itself, or at its limit.
  void ended(const RunOf& run, Duration took);

  // A length that it may well have, of those longer than `so_far`: drawn from those of the narrowest kind that is known: of its
  // user, queue and size; of its user and queue; of its queue; of all. Never more than its limit, if it has one.
  Duration draw(const RunOf& run, Duration so_far, Rng& rng) const;

  // So many have ended in all.
  std::size_t count() const { return count_; }

 private:
  // Its run, and in 1/kWhole of its limit; of who had none the latter is 0.
  struct Ended {
    Duration took;
    std::int64_t of_limit = 0;
  };
  static constexpr std::int64_t kWhole = 1 << 20;
  using Kind = std::tuple<int, std::string, std::string, int>;  // how narrow it is, queue, user, size

  static std::vector<Kind> kinds_of(const RunOf& run);
  static Duration length_of(const Ended& ended, const RunOf& run);

  std::map<Kind, std::deque<Ended>> kinds_;
  std::size_t count_ = 0;
};

// What is said of a run by who knows nothing but its limit: any length up to it is as likely as another. Of who has none: that he
// runs as long again as he has run, and a day at least.
Duration draw_from_limit(const std::optional<Duration>& limit, Duration so_far, Rng& rng);

}  // namespace berth
