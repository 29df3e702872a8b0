// One store as an SQLite file. Every change is one row, written once, under its revision: the newest row of a key is its
// record, the older ones are what the changes in the log replaced. So a commit appends, and reading the rows in order is
// replaying the log.
//
//   versions(revision, key, deleted, bytes, sum)     deleted: the record ended here; bytes are its last state
//   meta(epoch, revision, oldest, rows, digest, sum) one row. All revisions in (oldest, revision] are in versions; up to
//                                                    `oldest` only what is still the record, or is replaced in the log
//
// SQLite notices damage to its own structures only. `sum` is a checksum of the row, `digest` the sum of all of them: a
// flipped bit, a lost row and a page out of an older time do not go unnoticed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/store.h"

struct sqlite3;
struct sqlite3_stmt;
struct sqlite3_vfs;

namespace berth {

// Where SQLite puts its files; "" is the system's own. None: nobody has registered it.
sqlite3_vfs* vfs_named(const std::string& name);

// Views into what somebody else holds.
struct StoredRow {
  Revision revision = 0;
  std::string_view key;
  bool deleted = false;
  std::string_view bytes;
};

struct StoreState {
  std::int64_t epoch = 0;
  Revision revision = 0;
  Revision oldest = 0;
  std::int64_t rows = 0;
  std::uint64_t digest = 0;

  void add(const StoredRow& row);
  void drop(const StoredRow& row);
};

class StoreFile {
 public:
  enum class Written : std::uint8_t { kYes, kDiskFull, kFailed };

  // To write: makes the file if there is none, and keeps every other process out.
  static Result<std::unique_ptr<StoreFile>> open(const std::string& path, const std::string& vfs);
  // A backup, to read; it is left as it is.
  static Result<std::unique_ptr<StoreFile>> open_backup(const std::string& path, const std::string& vfs);
  // A new file of these records alone, with no log, read again to see that it is sound. Complains if `path` exists.
  static Result<Revision> write_new(const std::string& path, const std::string& vfs, std::int64_t epoch,
                                    Revision revision, std::vector<RecordPtr> records);
  static std::int64_t random_epoch();
  static Result<bool> exists(const std::string& path, const std::string& vfs);

  StoreFile(const StoreFile&) = delete;
  StoreFile& operator=(const StoreFile&) = delete;
  ~StoreFile();

  const StoreState& state() const { return state_; }
  // All rows in the order of their revisions, each compared with its sum and all with the digest.
  using Visit = std::function<void(const StoredRow&)>;
  Complaints read(const Visit& visit) const;
  // One transaction, durable when it returns kYes. After kFailed only reading makes sense.
  Written commit(std::span<const StoredRow> added, std::span<const StoredRow> dropped, Revision revision,
                 Revision oldest);
  // Brings the write-ahead log into the file when it has grown long; commits get slower without it, not wrong.
  Written tidy();
  // SQLite's own check of its pages.
  Complaints check_pages() const;

 private:
  StoreFile(std::string path, sqlite3* db) : path_(std::move(path)), db_(db) {}

  static Complaints check_name(const std::string& path, const std::string& vfs);
  static Result<std::unique_ptr<StoreFile>> connect(const std::string& path, const std::string& vfs, int flags);
  Complaints recognise();
  Complaints make_tables();
  Complaints use_write_ahead_log();
  Complaints read_state();
  int write_rows(std::span<const StoredRow> added, std::span<const StoredRow> dropped, const StoreState& next);
  int write_state(const StoreState& state);
  int prepare_writing();
  int run(const char* sql) const;
  std::int64_t number(const char* sql, int& rc) const;
  Complaints failure(int rc) const;
  Complaints damaged(const std::string& what) const;

  const std::string path_;
  sqlite3* const db_;
  bool is_empty_ = false;
  StoreState state_;
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> insert_{nullptr, nullptr};
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> erase_{nullptr, nullptr};
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> set_state_{nullptr, nullptr};
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> begin_{nullptr, nullptr};
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> commit_{nullptr, nullptr};
  int last_failure_ = 0;  // of a commit
  int log_pages_ = 0;     // of the write-ahead log, after the last commit
};

}  // namespace berth
