// A small file beside the store that names the highest revision ever acknowledged. SQLite quietly cuts a write-ahead log
// at the first bad frame, and a file put back from a copy is sound in itself: only something outside notices the loss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "store/store.h"

struct sqlite3_file;

namespace berth {

// Two slots in two sectors, written in turn, so that a torn write spoils the newer one at most.
class Mark {
 public:
  struct Content {
    std::int64_t epoch = 0;
    Revision revision = 0;
  };

  static std::string path_of(const std::string& store_path) { return store_path + "-mark"; }
  // None if there is no mark. Complains about one that cannot be understood.
  static Result<std::optional<Content>> read(const std::string& store_path, const std::string& vfs);
  static Result<std::unique_ptr<Mark>> open_to_write(const std::string& store_path, const std::string& vfs);
  static void remove(const std::string& store_path, const std::string& vfs);
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  ~Mark();

  // Cheap; a crash of the process alone loses nothing. Failures are left to the next commit, which meets the same disk.
  void write(Content content) noexcept;
  void sync() noexcept;

 private:
  Mark() = default;
  bool open(const std::string& path, const std::string& vfs, int flags);

  std::string path_;  // SQLite keeps a pointer to it
  std::unique_ptr<char[]> memory_;
  sqlite3_file* file_ = nullptr;
  std::size_t next_slot_ = 0;
};

}  // namespace berth
