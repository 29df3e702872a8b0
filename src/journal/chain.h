// The append-only, hash-chained file of records: framing and proof, without the disk.
//
// A file is one or more sections, one a run. A section is a header and records. Header: "BERTHJNL", format version,
// index of this section, number of sections (32-bit little-endian each). Record: length of its payload (32-bit
// little-endian), payload, 32 bytes of SHA-256 over the 32 bytes before (of the record before; of the header for the
// first) and over length and payload. The header's own 32 bytes are SHA-256 over those of the section before (zeros for
// the first) and over the header; they are not stored. So no byte can change, go or come unnoticed. The last record of a
// section is RunClosed.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>

#include "journal/codec.h"

namespace berth {

// A NodesAdded of the largest fleet is below this.
inline constexpr std::uint32_t kJournalRecordBytesMax = 1u << 30;

using Digest = std::array<std::uint8_t, 32>;

// SHA-256 (FIPS 180-4) of several pieces, one after the other.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  Digest of(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// Turns payloads into the bytes to append.
class ChainWriter {
 public:
  // The header of the next section.
  Bytes begin_section(std::uint32_t index, std::uint32_t sections);
  Bytes append(std::span<const std::uint8_t> payload);

 private:
  Sha256 sha_;
  Digest last_{};
};

// Takes a whole file apart again and checks every byte of it.
class ChainReader {
 public:
  explicit ChainReader(std::span<const std::uint8_t> file) : file_(file) {}

  // The next payload; an empty one at the proper end of the file; or what is wrong and where ("record 17, byte 2043").
  std::expected<std::span<const std::uint8_t>, std::string> next();

  // The format of the section that is being read.
  std::uint32_t version() const { return version_; }
  std::uint64_t records() const { return records_; }
  std::uint32_t sections() const { return section_; }
  std::size_t offset() const { return offset_; }
  // The file ends within a record: it is still being written, or was when that stopped. Up to there it is sound.
  bool is_cut_off() const { return cut_off_; }

 private:
  std::expected<void, std::string> read_header();
  std::string at(const std::string& what) const;

  Sha256 sha_;
  std::span<const std::uint8_t> file_;
  std::size_t offset_ = 0;
  std::uint32_t version_ = kJournalVersion;
  Digest last_{};
  std::uint64_t records_ = 0;
  std::uint32_t section_ = 0;
  std::uint32_t sections_ = 0;
  bool in_section_ = false;
  bool cut_off_ = false;
};

}  // namespace berth
