#include "store/store_file.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/hash.h"
#include "base/wording.h"

namespace berth {

namespace {

constexpr std::int64_t kApplicationId = 0x42727468;  // "Brth"
constexpr std::int64_t kFormat = 1;
// 8 MiB of log before it is brought into the file: a checkpoint syncs twice, so it should be rare.
constexpr int kLogPagesMax = 1000;

using StatementPtr = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;

StatementPtr prepare(sqlite3* db, const char* sql, int& rc) {
  sqlite3_stmt* statement = nullptr;
  if (rc == SQLITE_OK) rc = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  return {statement, sqlite3_finalize};
}

// Runs a statement that answers nothing, and readies it for the next time.
int step(sqlite3_stmt* statement) {
  sqlite3_step(statement);
  return sqlite3_reset(statement);  // the code of the step, if that failed
}

// Bijective in each word when the others stay, so that one changed word always changes the sum.
std::uint64_t sum_of_text(std::string_view text, std::uint64_t sum) {
  sum = mix64(sum ^ text.size());
  std::uint64_t word = 0;
  for (; text.size() >= sizeof word; text.remove_prefix(sizeof word)) {
    std::memcpy(&word, text.data(), sizeof word);
    sum = (sum ^ word) * 0x9fb21c651e98df25ULL;
    sum ^= sum >> 32U;
  }
  word = 0;
  if (!text.empty()) std::memcpy(&word, text.data(), text.size());
  return mix64(sum ^ word);
}

std::uint64_t sum_of(const StoredRow& row) {
  const std::uint64_t start = Hasher().add(row.revision).add(std::int32_t{row.deleted}).digest();
  return sum_of_text(row.bytes, sum_of_text(row.key, start));
}

std::uint64_t sum_of(const StoreState& state) {
  return Hasher().add(state.epoch).add(state.revision).add(state.oldest).add(state.rows).add(state.digest).digest();
}

std::string_view text_column(sqlite3_stmt* statement, int column) {
  const auto* const text = static_cast<const char*>(sqlite3_column_blob(statement, column));
  return {text, text == nullptr ? 0 : static_cast<std::size_t>(sqlite3_column_bytes(statement, column))};
}

// SQLite takes "file:..." for an address; we are given names of files.
std::string plain_name(const std::string& path) { return path.starts_with('/') ? path : "./" + path; }

StoreFile::Written written(int rc) {
  if (rc == SQLITE_OK) return StoreFile::Written::kYes;
  return (rc & 0xff) == SQLITE_FULL ? StoreFile::Written::kDiskFull : StoreFile::Written::kFailed;
}

}  // namespace

sqlite3_vfs* vfs_named(const std::string& name) { return sqlite3_vfs_find(name.empty() ? nullptr : name.c_str()); }

void StoreState::add(const StoredRow& row) {
  ++rows;
  digest += sum_of(row);
}

void StoreState::drop(const StoredRow& row) {
  --rows;
  digest -= sum_of(row);
}

std::int64_t StoreFile::random_epoch() {
  std::int64_t epoch = 0;
  sqlite3_randomness(sizeof epoch, &epoch);
  return epoch & ((std::int64_t{1} << 62) - 1);
}

StoreFile::~StoreFile() {
  insert_.reset();
  erase_.reset();
  set_state_.reset();
  begin_.reset();
  commit_.reset();
  sqlite3_close(db_);
}

int StoreFile::run(const char* sql) const { return sqlite3_exec(db_, sql, nullptr, nullptr, nullptr); }

std::int64_t StoreFile::number(const char* sql, int& rc) const {
  const StatementPtr statement = prepare(db_, sql, rc);
  if (rc != SQLITE_OK) return 0;
  const int stepped = sqlite3_step(statement.get());
  if (stepped != SQLITE_ROW) rc = stepped == SQLITE_DONE ? SQLITE_CORRUPT : stepped;
  return rc == SQLITE_OK ? sqlite3_column_int64(statement.get(), 0) : 0;
}

Complaints StoreFile::damaged(const std::string& what) const {
  return {{path_, 0, 0}, "the store is damaged: " + what + "; restore it from a backup"};
}

Complaints StoreFile::failure(int rc) const {
  const int error = sqlite3_system_errno(db_);
  const std::string why = error != 0 ? std::generic_category().message(error) : std::string(sqlite3_errmsg(db_));
  const auto complain = [this](std::string text) { return Complaints({path_, 0, 0}, std::move(text)); };
  switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return complain("is in use by another process; stop that one first, or name another file");
    case SQLITE_NOTADB:
      return complain(
          "is not a store (not even an SQLite file), or its first page is damaged; name another file, or "
          "restore this one from a backup");
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:  // a table or a column is not where it was
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
      return damaged(sqlite3_errmsg(db_));
    case SQLITE_CANTOPEN:
      return complain("cannot be opened: " + why +
                      "; name a file that you may read and write, in a folder that exists");
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return complain("may not be written; give the user who runs this the right to write it and its folder");
    case SQLITE_FULL:
      return complain("the disk is full; free some room");
    default:
      return complain("cannot be read or written: " + why + "; check the disk");
  }
}

Complaints StoreFile::check_name(const std::string& path, const std::string& vfs) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return Complaints("the name of the store, " + quote(path) + ", is no file name; write the name of a file");
  }
  if (vfs_named(vfs) == nullptr) {
    return Complaints({path, 0, 0},
                      "there is no SQLite VFS " + quote(vfs) + "; register it before the store is opened");
  }
  return {};
}

Result<bool> StoreFile::exists(const std::string& path, const std::string& vfs) {
  if (Complaints complaints = check_name(path, vfs); !complaints.empty()) return complaints;
  sqlite3_vfs* const disk = vfs_named(vfs);
  int found = 0;
  const int rc = disk->xAccess(disk, plain_name(path).c_str(), SQLITE_ACCESS_EXISTS, &found);
  if (rc != SQLITE_OK) return Complaints({path, 0, 0}, "its folder cannot be read; check the disk");
  return found != 0;
}

Result<std::unique_ptr<StoreFile>> StoreFile::connect(const std::string& path, const std::string& vfs, int flags) {
  if (Complaints complaints = check_name(path, vfs); !complaints.empty()) return complaints;
  sqlite3* db = nullptr;
  int rc = sqlite3_open_v2(plain_name(path).c_str(), &db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                           vfs.empty() ? nullptr : vfs.c_str());
  std::unique_ptr<StoreFile> file(new StoreFile(path, db));
  // cell_size_check: a cell that reaches beyond its page is damage, found when the page is read.
  if (rc == SQLITE_OK)
    rc = file->run("PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF");
  if (rc != SQLITE_OK) return file->failure(rc);
  return file;
}

Result<std::unique_ptr<StoreFile>> StoreFile::open(const std::string& path, const std::string& vfs) {
  auto file = connect(path, vfs, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!file) return file;
  if (sqlite3_db_readonly((*file)->db_, "main") == 1) return (*file)->failure(SQLITE_READONLY);
  // Exclusive from the first access: other processes are kept out, and SQLite needs no shared memory beside the file.
  if (const int rc =
          (*file)->run("PRAGMA locking_mode = EXCLUSIVE; PRAGMA page_size = 8192; PRAGMA secure_delete = OFF");
      rc != SQLITE_OK) {
    return (*file)->failure(rc);
  }
  Complaints complaints = (*file)->recognise();
  if (complaints.empty()) complaints = (*file)->use_write_ahead_log();
  if (complaints.empty() && (*file)->is_empty_) complaints = (*file)->make_tables();
  if (complaints.empty()) complaints = (*file)->check_pages();
  if (complaints.empty()) complaints = (*file)->read_state();
  if (!complaints.empty()) return complaints;
  if (const int rc = (*file)->prepare_writing(); rc != SQLITE_OK) return (*file)->failure(rc);
  return file;
}

Result<std::unique_ptr<StoreFile>> StoreFile::open_backup(const std::string& path, const std::string& vfs) {
  auto file = connect(path, vfs, SQLITE_OPEN_READONLY);
  if (!file) return file;
  Complaints complaints = (*file)->recognise();
  if (complaints.empty() && (*file)->is_empty_) {
    complaints = Complaints({path, 0, 0}, "is an empty SQLite file and no backup; name a file that a backup has made");
  }
  if (complaints.empty()) complaints = (*file)->check_pages();
  if (complaints.empty()) complaints = (*file)->read_state();
  if (!complaints.empty()) return complaints;
  return file;
}

// Whether the file is ours to read.
Complaints StoreFile::recognise() {
  int rc = SQLITE_OK;
  const std::int64_t tables = number("SELECT count(*) FROM sqlite_schema", rc);
  const std::int64_t application = number("PRAGMA application_id", rc);
  const std::int64_t format = number("PRAGMA user_version", rc);
  if (rc != SQLITE_OK) return failure(rc);
  is_empty_ = tables == 0 && application == 0;
  if (is_empty_) return {};
  if (application != kApplicationId) {
    return {{path_, 0, 0},
            "is an SQLite database of another program, or its first page is damaged; name another file, or "
            "restore this one from a backup"};
  }
  if (format > kFormat) {
    return {{path_, 0, 0},
            "was written by a newer version (format " + std::to_string(format) + "; this one reads up to " +
                std::to_string(kFormat) + "); use that version"};
  }
  if (format != kFormat) return damaged("its format is " + std::to_string(format) + ", which never was");
  return {};
}

Complaints StoreFile::use_write_ahead_log() {
  int rc = SQLITE_OK;
  const StatementPtr mode = prepare(db_, "PRAGMA journal_mode = WAL", rc);
  if (rc != SQLITE_OK) return failure(rc);
  if (const int stepped = sqlite3_step(mode.get()); stepped != SQLITE_ROW) return failure(stepped);
  if (text_column(mode.get(), 0) != "wal") {
    return {{path_, 0, 0}, "this file system does not let SQLite keep a write-ahead log; name a file on a local disk"};
  }
  // journal_size_limit: a log that one large commit made long is cut again.
  rc =
      run("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 67108864; "
          "PRAGMA cache_size = -16384");
  const auto remember = [](void* pages, sqlite3*, const char*, int in_log) {
    *static_cast<int*>(pages) = in_log;
    return SQLITE_OK;
  };
  sqlite3_wal_hook(db_, remember, &log_pages_);
  return rc == SQLITE_OK ? Complaints() : failure(rc);
}

Complaints StoreFile::make_tables() {
  int rc =
      run("BEGIN IMMEDIATE;"
          "CREATE TABLE versions(revision INTEGER PRIMARY KEY, key BLOB NOT NULL, deleted INTEGER NOT NULL,"
          " bytes BLOB NOT NULL, sum INTEGER NOT NULL);"
          "CREATE TABLE meta(id INTEGER PRIMARY KEY CHECK (id = 1), epoch INTEGER NOT NULL, revision INTEGER NOT NULL,"
          " oldest INTEGER NOT NULL, rows INTEGER NOT NULL, digest INTEGER NOT NULL, sum INTEGER NOT NULL);");
  const std::string identity = "PRAGMA application_id = " + std::to_string(kApplicationId) +
                               "; PRAGMA user_version = " + std::to_string(kFormat);
  if (rc == SQLITE_OK) rc = run(identity.c_str());
  if (rc == SQLITE_OK) rc = prepare_writing();
  StoreState fresh;
  fresh.epoch = random_epoch();
  if (rc == SQLITE_OK) rc = write_state(fresh);
  if (rc == SQLITE_OK) rc = run("COMMIT");
  return rc == SQLITE_OK ? Complaints() : failure(rc);
}

int StoreFile::prepare_writing() {
  int rc = SQLITE_OK;
  insert_ = prepare(db_, "INSERT INTO versions(revision, key, deleted, bytes, sum) VALUES(?1, ?2, ?3, ?4, ?5)", rc);
  erase_ = prepare(db_, "DELETE FROM versions WHERE revision = ?1", rc);
  set_state_ = prepare(
      db_, "REPLACE INTO meta(id, epoch, revision, oldest, rows, digest, sum) VALUES(1, ?1, ?2, ?3, ?4, ?5, ?6)", rc);
  begin_ = prepare(db_, "BEGIN IMMEDIATE", rc);
  commit_ = prepare(db_, "COMMIT", rc);
  return rc;
}

Complaints StoreFile::read_state() {
  int rc = SQLITE_OK;
  const StatementPtr read = prepare(db_, "SELECT epoch, revision, oldest, rows, digest, sum FROM meta", rc);
  if (rc != SQLITE_OK) return failure(rc);
  const int stepped = sqlite3_step(read.get());
  if (stepped == SQLITE_DONE) return damaged("its table meta is empty");
  if (stepped != SQLITE_ROW) return failure(stepped);
  const auto column = [&](int at) { return sqlite3_column_int64(read.get(), at); };
  state_ = {column(0), column(1), column(2), column(3), static_cast<std::uint64_t>(column(4))};
  if (static_cast<std::uint64_t>(column(5)) != sum_of(state_))
    return damaged("its table meta does not match its checksum");
  return {};
}

Complaints StoreFile::read(const Visit& visit) const {
  int rc = SQLITE_OK;
  const StatementPtr read =
      prepare(db_, "SELECT revision, key, deleted, bytes, sum FROM versions ORDER BY revision", rc);
  if (rc != SQLITE_OK) return failure(rc);
  std::int64_t rows = 0;
  std::uint64_t digest = 0;
  while ((rc = sqlite3_step(read.get())) == SQLITE_ROW) {
    const StoredRow row{sqlite3_column_int64(read.get(), 0), text_column(read.get(), 1),
                        sqlite3_column_int64(read.get(), 2) != 0, text_column(read.get(), 3)};
    const std::uint64_t sum = sum_of(row);
    if (sum != static_cast<std::uint64_t>(sqlite3_column_int64(read.get(), 4))) {
      return damaged("revision " + std::to_string(row.revision) + " of " + quote(row.key) +
                     " does not match its checksum");
    }
    ++rows;
    digest += sum;
    visit(row);
  }
  if (rc != SQLITE_DONE) return failure(rc);
  if (rows == state_.rows && digest == state_.digest) return {};
  return damaged("it holds " + std::to_string(rows) + " versions of records and should hold " +
                 std::to_string(state_.rows) + (rows == state_.rows ? ", but not these" : ""));
}

int StoreFile::write_state(const StoreState& state) {
  const std::int64_t values[] = {state.epoch,
                                 state.revision,
                                 state.oldest,
                                 state.rows,
                                 static_cast<std::int64_t>(state.digest),
                                 static_cast<std::int64_t>(sum_of(state))};
  int rc = SQLITE_OK;
  int at = 0;
  for (const std::int64_t value : values) {
    if (rc == SQLITE_OK) rc = sqlite3_bind_int64(set_state_.get(), ++at, value);
  }
  return rc == SQLITE_OK ? step(set_state_.get()) : rc;
}

int StoreFile::write_rows(std::span<const StoredRow> added, std::span<const StoredRow> dropped,
                          const StoreState& next) {
  int rc = step(begin_.get());
  for (const StoredRow& row : added) {
    sqlite3_stmt* const insert = insert_.get();
    if (rc == SQLITE_OK) rc = sqlite3_bind_int64(insert, 1, row.revision);
    if (rc == SQLITE_OK) rc = sqlite3_bind_blob64(insert, 2, row.key.data(), row.key.size(), SQLITE_STATIC);
    if (rc == SQLITE_OK) rc = sqlite3_bind_int64(insert, 3, row.deleted ? 1 : 0);
    // An empty view may have no address, which SQLite would take for NULL.
    if (rc == SQLITE_OK) {
      rc = sqlite3_bind_blob64(insert, 4, row.bytes.empty() ? "" : row.bytes.data(), row.bytes.size(), SQLITE_STATIC);
    }
    if (rc == SQLITE_OK) rc = sqlite3_bind_int64(insert, 5, static_cast<std::int64_t>(sum_of(row)));
    if (rc == SQLITE_OK) rc = step(insert);
    if (rc != SQLITE_OK) return rc;
  }
  for (const StoredRow& row : dropped) {
    if (rc == SQLITE_OK) rc = sqlite3_bind_int64(erase_.get(), 1, row.revision);
    if (rc == SQLITE_OK) rc = step(erase_.get());
  }
  if (rc == SQLITE_OK) rc = write_state(next);
  return rc == SQLITE_OK ? step(commit_.get()) : rc;
}

StoreFile::Written StoreFile::commit(std::span<const StoredRow> added, std::span<const StoredRow> dropped,
                                     Revision revision, Revision oldest) {
  StoreState next = state_;
  next.revision = revision;
  next.oldest = oldest;
  for (const StoredRow& row : added) next.add(row);
  for (const StoredRow& row : dropped) next.drop(row);
  const int rc = write_rows(added, dropped, next);
  sqlite3_clear_bindings(insert_.get());
  if (rc == SQLITE_OK) {
    state_ = next;
    return Written::kYes;
  }
  last_failure_ = rc;
  if (sqlite3_get_autocommit(db_) == 0 && run("ROLLBACK") != SQLITE_OK) return Written::kFailed;
  return written(rc);
}

StoreFile::Written StoreFile::tidy() {
  if (log_pages_ < kLogPagesMax) return Written::kYes;
  return written(sqlite3_wal_checkpoint_v2(db_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr));
}

Result<Revision> StoreFile::write_new(const std::string& path, const std::string& vfs, std::int64_t epoch,
                                      Revision revision, std::vector<RecordPtr> records) {
  const auto taken = exists(path, vfs);
  if (!taken) return taken.error();
  if (*taken) return Complaints({path, 0, 0}, "is there already; name a file that does not exist");
  auto file = connect(path, vfs, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!file) return file.error();
  StoreFile& fresh = **file;
  const auto abandon = [&](const Complaints& complaints) -> Result<Revision> {
    file->reset();
    sqlite3_vfs* const disk = vfs_named(vfs);
    disk->xDelete(disk, plain_name(path).c_str(), 0);
    return complaints;
  };
  // EXTRA: without it the end of the last transaction, which is that its journal is deleted, may not be durable.
  const int rc = fresh.run("PRAGMA page_size = 8192; PRAGMA synchronous = EXTRA");
  Complaints complaints = rc == SQLITE_OK ? fresh.make_tables() : fresh.failure(rc);
  if (!complaints.empty()) return abandon(complaints);
  fresh.state_ = {epoch, 0, 0, 0, 0};
  // In the order of revisions, which is that of the file.
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a->revision < b->revision; });
  std::vector<StoredRow> rows;
  for (const RecordPtr& record : records) rows.push_back({record->revision, record->key, false, record->bytes});
  if (fresh.commit(rows, {}, revision, revision) != Written::kYes) return abandon(fresh.failure(fresh.last_failure_));
  file->reset();
  auto copy = open_backup(path, vfs);
  complaints = copy ? (*copy)->read([](const StoredRow&) {}) : copy.error();
  if (!complaints.empty()) return abandon(complaints);
  return revision;
}

Complaints StoreFile::check_pages() const {
  // What is checked is the disk, not what was read from it some time ago.
  int rc = sqlite3_db_release_memory(db_);
  const StatementPtr check = prepare(db_, "PRAGMA quick_check(20)", rc);
  if (rc != SQLITE_OK) return failure(rc);
  Complaints complaints;
  while ((rc = sqlite3_step(check.get())) == SQLITE_ROW) {
    const std::string_view found = text_column(check.get(), 0);
    if (found != "ok") complaints.add_all(damaged(std::string(found)));
  }
  if (rc != SQLITE_DONE) complaints.add_all(failure(rc));
  return complaints;
}

}  // namespace berth
