// A disk in memory, as an SQLite VFS, that fails as real ones do: what was not synced may be lost, in whole or by sectors,
// when the power goes; it fills up, refuses, and flips bits. For tests of whatever stands on a store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"

namespace berth {

class FaultyDisk {
 public:
  // What becomes of writes that were never synced.
  enum class Unsynced : std::uint8_t {
    kSurvive,  // the process died, the machine did not
    kLost,
    kTorn,  // each sector of 512 bytes for itself, by the seed
  };
  enum class Failure : std::uint8_t {
    kPowerCut,  // everything fails from then on, until restart()
    kDiskFull,  // files do not grow; what they have can be overwritten
    kIoError,   // writes and syncs fail; reads go on
  };

  FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;
  // PRE: everything that was opened on it is closed.
  ~FaultyDisk();

  // For StoreOptions.vfs.
  const std::string& vfs() const { return name_; }

  // Writes, syncs, truncations and deletions so far.
  std::int64_t writes() const;
  // The first `more_writes` of those from now on succeed; then the failure begins, and lasts until heal() or restart().
  void fail_after(std::int64_t more_writes, Failure failure);
  void heal();
  // The power comes back, or another process begins. PRE: everything is closed (the store destroyed).
  void restart(Unsynced unsynced, Seed seed = {});

  std::vector<std::string> files() const;
  // 0 if there is no such file.
  std::size_t size(const std::string& file) const;
  std::string read(const std::string& file) const;
  // PRE: the byte is there.
  void flip_bit(const std::string& file, std::size_t byte, unsigned bit);
  void remove(const std::string& file);
  // The files as they are now, unsynced writes included, on a disk of their own: what a crash at this moment leaves.
  std::unique_ptr<FaultyDisk> copy() const;

  // Remembers every change from now on. What it returns is the disk as it is now; replay() on that one (never while it is
  // in use) moves it on, in the order of things, to how this one was after so many writes(). So one run of a story gives
  // what a crash after each of its writes leaves.
  std::unique_ptr<FaultyDisk> record();
  void replay(const FaultyDisk& recorded, std::int64_t writes);

 private:
  struct Contents;
  friend struct FaultyDiskVfs;

  std::string name_;
  std::unique_ptr<Contents> contents_;
};

}  // namespace berth
