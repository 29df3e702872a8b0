// The journals that commands look into.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "journal/codec.h"
#include "sim/replay.h"
#include "sim/timeline_recorder.h"

namespace berth {

struct JournalBytes {
  Bytes bytes;
  JournalEnd end = JournalEnd::kOfItsLastRun;
};

// A journal; of a snapshot (`berth snapshot`) the one in it, which is whole though that went on, or may still.
Result<JournalBytes> read_journal(const std::string& path);

// The file, or of a folder of journals the newest.
Result<std::string> newest_journal(const std::string& path);

// A journal or a snapshot as it was at `moment`: "2h30m" after its beginning, or "2026-11-21T08:00:00Z"; empty: all of it. Of a
// folder of journals the newest, for a date the newest that had begun by then. Where a journal ends before that moment, stderr
// says so.
Result<Recorded> read_recording(const std::string& path, const std::string& moment);

// All that is in one of these until a moment, as a snapshot's file; `as_it_was`: what is in it.
Result<Bytes> read_snapshot(const std::string& path, const std::string& moment, Recorded& as_it_was);

// As a timeline; of a folder all journals, one after the other, and lengths count from the beginning of the first. What cannot be replayed is left out, and stderr says so.
Result<RecordedTimeline> read_timeline(const std::string& path, const std::string& moment);

// "2h30m" or "2026-11-21T08:00:00Z"; none where nothing was typed.
Result<std::optional<Time>> parse_moment(const std::string& option, const std::string& text);

// "2d3h" after the beginning, or a date where the clock says that the run had one.
std::string moment_in_words(Time moment);

// What to write in place of a name that nobody has: "; did you mean research?", else which there are, twenty at most.
std::string instead_of(std::string_view name, std::span<const std::string_view> known);

// As who_is_meant() has it. A complaint says what to write.
Result<WorkloadId> find_recorded(const Recorded& recorded, const std::string& workload);

}  // namespace berth
