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

// Which of all lengths that a run may have, from the shortest on: as many parts of 2^32 are shorter. Who draws these evenly
// draws runs as they are.
using RunQuantile = std::uint32_t;

// Sizes of one kind are within a factor of two of each other.
int size_class(std::int64_t gpu_milli);

// PRE: the workload is known.
RunOf run_of(const State& state, WorkloadId workload);

class RunTimes {
 public:
  // A kind of which fewer have ended is not known (docs/semantics.md, rule 25); nor what is left of a run, if fewer ran longer.
  static constexpr std::size_t kEndedMin = 20;
  // Of each kind the last so many are remembered.
  static constexpr std::size_t kRememberedMax = 1'000;

  // It ended by itself, or at its limit.
  void ended(const RunOf& run, Duration took);

  // That length of those beyond `so_far`: between those of the narrowest kind that is known: of its user, queue and size; of its
  // user and queue; of its queue; of all; each time rather of those with a limit like its own. Of n of them one more falls into each
  // of the n + 1 gaps beside them with equal chances (Hill, "Posterior Distribution of Percentiles", JASA 63, 1968), so before the
  // first and behind the last, too. Never more than its limit.
  Duration quantile(const RunOf& run, Duration so_far, RunQuantile quantile) const;

  // So many have ended in all.
  std::size_t count() const { return count_; }

 private:
  // How long it ran: of who had no limit in milliseconds, else in 1/kWhole of it.
  struct Ended {
    Duration limit;
    std::int64_t length = 0;

    friend auto operator<=>(const Ended&, const Ended&) = default;
  };
  struct Known {
    std::deque<Ended> as_they_ended;
    std::vector<Ended> by_limit;
  };
  struct Factor {
    std::int64_t below, above;
  };
  static constexpr std::int64_t kWhole = 1 << 20;
  using Kind = std::tuple<int, std::string, std::string, int>;  // how narrow it is, queue, user, size

  static std::vector<Kind> kinds_of(const RunOf& run);
  static Ended measured(const RunOf& run, Duration took);
  static Duration as_run(const RunOf& run, std::int64_t length);
  static Duration drawn(const RunOf& run, Duration so_far, std::vector<std::int64_t>& lengths, RunQuantile quantile);
  static std::vector<std::int64_t> longer(const Known& known, const RunOf& run, Duration so_far, Factor factor);

  std::map<Kind, Known> kinds_;
  std::size_t count_ = 0;
};

// What is said of a run by who knows nothing but its limit: any length up to it is as likely as another. Of who has none: that he
// runs as long again as he has run, and a day at least.
Duration quantile_of_limit(const std::optional<Duration>& limit, Duration so_far, RunQuantile quantile);

}  // namespace berth
