// Who ran when, on what, in which queue: what a journal or a run into the future tells, row by row. Moments are exact: those of
// cycles, and of facts that say theirs. A fact that does not happened, as far as anybody knew, at the next cycle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "base/wide.h"
#include "model/calendar.h"
#include "model/workload.h"

namespace berth {

enum class Doing : std::uint8_t {
  kWaits,
  kStarts,  // its room is its own, and others have yet to leave it
  kRuns,
  kLacks,  // it runs, and some of its pods are lost and not replaced yet
  kStops,  // told to stop, and still there
  kMoves,  // the same, with room elsewhere
  kDone,
  kOverran,  // its run limit ended it
  kFailed,   // its failure policy did, or it was tried again in vain
  kCancelled,
  kGone,  // a scheduler that began anew did not find it any more
};
// It is in the world, on devices.
constexpr bool is_there(Doing doing) { return doing >= Doing::kRuns && doing <= Doing::kMoves; }
constexpr bool is_over(Doing doing) { return doing >= Doing::kDone; }

struct Timeline {
  struct Place {
    std::size_t node = 0;  // of `nodes`
    std::int64_t gpu_milli = 0;

    friend bool operator==(const Place&, const Place&) = default;
  };
  // From this moment on it is at that.
  struct Change {
    Time at = {};
    Doing doing = Doing::kWaits;
    std::uint32_t attempt = 0;
    EvictionRule why = EvictionRule::kNone;  // its room was taken, if it was
    std::vector<Place> places = {};          // where it is, by node; none unless it is there

    std::int64_t gpu_milli() const;
  };
  struct Row {
    std::string name;
    std::string queue;
    std::string user;
    std::int64_t asks_gpu_milli = 0;
    Time submitted;
    std::optional<std::size_t> step_of;  // the row of the minimum beside which it runs
    std::vector<Change> changes;         // INVARIANT: ascending, not empty
  };
  struct Capacity {
    Time at;
    std::int64_t gpu_milli = 0;  // of nodes that have not failed
  };
  struct Reserved {
    std::string name;
    std::string queue;      // empty: maintenance
    std::int64_t gpus = 0;  // of maintenance all of its nodes
    Time from;
    Duration lasts;
    Duration every{0};                 // none: once, and
    std::vector<Interval> later = {};  // at these times, as far as they are known
    std::optional<Time> removed;
  };

  std::vector<Row> rows;  // as they were submitted
  std::vector<std::string> nodes;
  std::vector<Capacity> capacity;  // ascending
  std::vector<Reserved> reserved;
  Time begin;
  Time end;  // so far is known

  // When this change gives way to the next of its row, or the end.
  Time until(const Row& row, std::size_t change) const;
};

struct TimeWindow {
  Time from;
  Time to;

  Duration length() const { return to - from; }
};

enum class AttemptEnd : std::uint8_t { kNone, kDone, kOverran, kFailed, kCancelled, kEvicted, kMoved, kGone };
inline constexpr std::string_view kAttemptEndNames[] = {"none",      "done",    "over-run", "failed",
                                                        "cancelled", "evicted", "moved",    "gone"};
constexpr std::string_view name_of(AttemptEnd end) { return kAttemptEndNames[static_cast<std::size_t>(end)]; }

// From its start, on all its places at once, until it left them.
struct TimelineAttempt {
  Time start;
  std::optional<Time> told_to_stop;
  std::optional<Time> end;  // none: it was still there
  AttemptEnd how = AttemptEnd::kNone;
  EvictionRule why = EvictionRule::kNone;  // of those that were evicted or moved
  std::vector<Timeline::Place> places;     // all on which it was, with the most that it held there
  std::int64_t gpu_milli = 0;              // the most at a time
};
std::vector<TimelineAttempt> attempts_of(const Timeline::Row& row);

// When it lasts, as far as the window goes.
std::vector<TimeWindow> times_of(const Timeline::Reserved& reserved, TimeWindow window);

// In GPU-thousandths times ms, within the window: what it held; what it asked for while it waited.
Wide gpu_time_held(const Timeline& timeline, const Timeline::Row& row, TimeWindow window);
Wide gpu_time_awaited(const Timeline& timeline, const Timeline::Row& row, TimeWindow window);

// GPUs that were held, in thousandths, by those rows: from each moment on, the first at the window's beginning.
using RowFilter = std::function<bool(const Timeline::Row& row)>;
struct HeldGpus {
  Time at;
  std::int64_t gpu_milli = 0;
};
std::vector<HeldGpus> use_of_gpus(const Timeline& timeline, TimeWindow window, const RowFilter& filter);

// The rows that `filter` lets through and that were there at some time of the window, steps behind their minimum. Of more than
// `limit` those that held or awaited most GPU time, a minimum with its steps; in the order of their submission.
struct ChosenRows {
  std::vector<std::size_t> rows;
  std::size_t left_out = 0;
  Wide of_all = 0;       // GPU time that was held
  Wide of_left_out = 0;  // by those left out
};
ChosenRows choose_rows(const Timeline& timeline, TimeWindow window, std::size_t limit, const RowFilter& filter);

}  // namespace berth
