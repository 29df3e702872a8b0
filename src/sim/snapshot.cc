#include "sim/snapshot.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "journal/chain.h"

namespace berth {
namespace {

constexpr std::string_view kMagic = "BERTHSNP";
constexpr std::size_t kHeaderBytes = kMagic.size() + 2 * 4 + 4 * 8;
constexpr std::size_t kDigestBytes = sizeof(Digest);

void put(Bytes& bytes, std::uint64_t number, int size) {
  for (int i = 0; i < size; ++i) bytes.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
}

// PRE: there are so many.
std::uint64_t get(std::span<const std::uint8_t> bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i) number |= std::uint64_t{bytes[at + i]} << (8 * i);
  return number;
}

// Of so many records.
std::size_t bytes_of(std::span<const std::uint8_t> journal, std::uint64_t records) {
  ChainReader chain(journal);
  for (std::uint64_t read = 0; read < records; ++read) {
    const auto payload = chain.next();
    if (!payload || payload->empty()) break;
  }
  return chain.offset();
}

}  // namespace

Result<Bytes> snapshot_of(const std::string& name, std::span<const std::uint8_t> journal, std::optional<Time> until,
                          Recorded& as_it_was) {
  Result<Recorded> recorded = recorded_at(name, journal, until);
  if (!recorded) return recorded.error();
  as_it_was = std::move(*recorded);
  const auto kept = journal.first(bytes_of(journal, as_it_was.records));
  Bytes file(kMagic.begin(), kMagic.end());
  put(file, kSnapshotVersion, 4);
  put(file, kJournalVersion, 4);
  put(file, as_it_was.records, 8);
  put(file, static_cast<std::uint64_t>(as_it_was.now.ms), 8);
  put(file, as_it_was.engine.state.hash(), 8);
  put(file, kept.size(), 8);
  const Digest digest = Sha256().of(file, kept);
  file.insert(file.end(), digest.begin(), digest.end());
  file.insert(file.end(), kept.begin(), kept.end());
  return file;
}

bool is_snapshot(std::span<const std::uint8_t> file) {
  return file.size() >= kMagic.size() && std::equal(kMagic.begin(), kMagic.end(), file.begin());
}

Result<std::span<const std::uint8_t>> journal_in(const std::string& name, std::span<const std::uint8_t> file) {
  const Complaints cut_off({name}, "a snapshot that is cut off, or was changed; take it again with `berth snapshot`");
  if (file.size() < kMagic.size() + 4) return cut_off;
  // First, since all else may be another thing in another version.
  if (const std::uint64_t version = get(file, kMagic.size(), 4); version != kSnapshotVersion) {
    return Complaints({name}, "a snapshot of version " + std::to_string(version) + ", and this Berth reads version " +
                                  std::to_string(kSnapshotVersion) +
                                  "; ask the Berth that wrote it, or take it again with this one");
  }
  if (file.size() < kHeaderBytes + kDigestBytes) return cut_off;
  if (const std::uint64_t format = get(file, kMagic.size() + 4, 4); format != kJournalVersion) {
    return Complaints({name}, "a snapshot of a journal in format " + std::to_string(format) +
                                  ", and this Berth decides by rules of format " + std::to_string(kJournalVersion) +
                                  "; ask the Berth that wrote it");
  }
  const auto journal = file.subspan(kHeaderBytes + kDigestBytes);
  if (journal.size() != get(file, kHeaderBytes - 8, 8)) return cut_off;
  const Digest digest = Sha256().of(file.first(kHeaderBytes), journal);
  if (!std::equal(digest.begin(), digest.end(), file.begin() + kHeaderBytes)) return cut_off;
  return journal;
}

}  // namespace berth
