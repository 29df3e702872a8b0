// The journals of one scheduler: a file for each life of its engine, which a change of queues begins too. The newest eight are
// kept, and of those before them as many as have room: by number alone eight changes in a minute would throw away a month. For
// replay and audit; all of it may be deleted at any time without one decision changing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sim/session.h"

namespace berth {

class JournalFolder {
 public:
  static constexpr std::size_t kFilesKeptMin = 8;
  static constexpr std::size_t kFilesKeptMax = 1000;  // commands read all of them
  static constexpr std::uint64_t kBytesKept = std::uint64_t{256} << 20;

  // Makes the folder. `log` hears when a file cannot be written; scheduling goes on without it.
  // `bytes_kept`: what all files together have at most, beyond the newest eight.
  JournalFolder(std::string path, std::function<void(const std::string&)> log, std::uint64_t bytes_kept = kBytesKept);

  // Begins the next file, "000007.journal"; what it returns writes to it as long as no later one is begun.
  Session::Recorder begin();
  // Of the present file, so far.
  std::uint64_t bytes() const;

 private:
  struct Open;

  std::string path_;
  std::uint64_t bytes_kept_;
  std::function<void(const std::string&)> log_;
  std::shared_ptr<Open> open_;
};

}  // namespace berth
