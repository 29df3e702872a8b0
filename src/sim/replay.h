// Every decision of a journal made again: all of it, or up to a moment at which somebody wants to look around.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cycle/engine.h"
#include "journal/chain.h"
#include "model/plan.h"
#include "sim/run_times.h"
#include "sim/session.h"

namespace berth {

struct Replay {
  std::uint32_t runs = 0;
  std::uint64_t records = 0;
  std::uint64_t cycles = 0;
  std::uint64_t starts = 0;
  std::uint64_t bytes = 0;
  std::uint64_t state_hash = 0;  // of all runs together, as state_hash_of()
};

// A journal ends where its last run does; what a snapshot keeps of one may end after any record.
enum class JournalEnd : bool { kOfItsLastRun, kAfterAnyRecord };

// Applies the recorded facts, asks for the recorded cycles, and compares every byte that comes out with the journal's.
Result<Replay> replay_journal(const std::string& name, std::span<const std::uint8_t> file,
                              JournalEnd end = JournalEnd::kOfItsLastRun);

// When the first cycle of a journal of dates was asked for (facts that were found may be older; without a cycle, the first moment that it
// tells of), and the zero of all others; none: it tells of no moment yet, or is none.
std::optional<Time> beginning_of(std::span<const std::uint8_t> file);

// What happened to one who came until a moment.
struct RecordedPast {
  enum class End : std::uint8_t { kNone, kEnded, kOverran, kCancelled };

  End end = End::kNone;
  Time ended;
  std::optional<Eviction> eviction = {};  // the last, of which `stop_by` may have been at once
  Time evicted;
};

// A run as it was at a moment.
struct Recorded {
  Engine engine;
  std::vector<std::string> workloads;             // names, by number
  Time now;                                       // the latest that anything recorded until then speaks of
  RunTimes run_times;                             // of those that had ended by then
  std::uint64_t records = 0;                      // that tell of it
  bool goes_on = false;                           // the journal tells of later moments
  std::map<WorkloadId, RecordedPast> pasts = {};  // of those who ended, or were evicted

  // As who_is_meant() has it.
  std::optional<WorkloadId> find(std::string_view workload) const;
};

// The last run of the journal, with all that happened until that moment, or all that there is; each decision is made again and
// compared. A journal that is still being written ends where it ends. The watch sees all runs up to that one.
Result<Recorded> recorded_at(const std::string& name, std::span<const std::uint8_t> file, std::optional<Time> until,
                             RecordWatch watch = nullptr);

}  // namespace berth
