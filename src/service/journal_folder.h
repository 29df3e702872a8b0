// The journals of one scheduler: a file for each life of its engine, the newest eight kept. For replay and audit; all of it
// may be deleted at any time without one decision changing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sim/session.h"

namespace berth {

class JournalFolder {
 public:
  static constexpr std::size_t kFilesKept = 8;

  // Makes the folder. `log` hears when a file cannot be written; scheduling goes on without it.
  JournalFolder(std::string path, std::function<void(const std::string&)> log);

  // Begins the next file, "000007.journal"; what it returns writes to it as long as no later one is begun.
  Session::Recorder begin();
  // Of the present file, so far.
  std::uint64_t bytes() const;

 private:
  struct Open;

  std::string path_;
  std::function<void(const std::string&)> log_;
  std::shared_ptr<Open> open_;
};

}  // namespace berth
