// A journal on disk, written section by section.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "journal/chain.h"

namespace berth {

// Appends to a new file. After the first failure (disk full) nothing more is written; close() tells.
class JournalFile {
 public:
  static Result<JournalFile> create(const std::string& path);

  void begin_section(std::uint32_t index, std::uint32_t sections);
  void append(std::span<const std::uint8_t> payload);
  // Whoever reads the file sees what was appended so far.
  void flush();
  // Everything is on the disk, or a complaint.
  Result<std::uint64_t> close();  // bytes

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void write(const Bytes& bytes);

  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
  std::unique_ptr<ChainWriter> chain_;
  std::uint64_t bytes_ = 0;
  int error_ = 0;  // errno of the first failure
};

// One hash of several runs' final ones; a single run's own.
std::uint64_t state_hash_of(std::span<const std::uint64_t> hashes);

}  // namespace berth
