// A cluster as it was at one moment, in one file that can be carried elsewhere: what its scheduler had recorded until then, so that
// whatever is asked of it is answered as it would have been there, and its decisions can be made again.
//
// "BERTHSNP", the version of this form (32 bits), the format of the journal (32 bits), how many of its records there are, the
// moment in milliseconds, the hash of the state, how many bytes the journal has (64 bits each; all little-endian), SHA-256 over
// all that and over the journal, the journal. It ends after some record, as one does that is still being written.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "journal/codec.h"
#include "sim/replay.h"

namespace berth {

inline constexpr std::uint32_t kSnapshotVersion = 1;

// What a journal tells of until that moment, or all that it tells; each decision is made again and compared first. `as_it_was` is
// what was found then.
Result<Bytes> snapshot_of(const std::string& name, std::span<const std::uint8_t> journal, std::optional<Time> until,
                          Recorded& as_it_was);

bool is_snapshot(std::span<const std::uint8_t> file);
// The journal in it; a complaint if it is of another version, was changed, or is cut off. PRE: it is one.
Result<std::span<const std::uint8_t>> journal_in(const std::string& name, std::span<const std::uint8_t> file);

}  // namespace berth
