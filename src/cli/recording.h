// The journals that commands look into.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "sim/replay.h"
#include "sim/timeline_recorder.h"

namespace berth {

// A journal, or the newest of a folder of them, as it was at `moment`: "2h30m" after its beginning, or "2026-11-21T08:00:00Z"; empty:
// all of it.
Result<Recorded> read_recording(const std::string& path, const std::string& moment);

// As a timeline; of a folder all journals, one after the other. What cannot be replayed is left out, and stderr says so.
Result<RecordedTimeline> read_timeline(const std::string& path, const std::string& until);

// "2h30m" or "2026-11-21T08:00:00Z"; none where nothing was typed.
Result<std::optional<Time>> parse_moment(const std::string& option, const std::string& text);

// "2d3h" after the beginning, or a date where the clock says that the run had one.
std::string moment_in_words(Time moment);

// By its whole name, or as people call it on a live cluster: "w", "default/w", "job/w". A complaint names the nearest one there is.
Result<WorkloadId> find_recorded(const Recorded& recorded, const std::string& workload);

}  // namespace berth
