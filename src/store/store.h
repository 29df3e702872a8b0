// The objects of one API server on one disk: keys to bytes, with a revision for every change. SQLite in WAL mode with
// synchronous FULL; what was acknowledged is on disk. One thread writes, many transactions a commit; everyone reads the
// mirror in memory, which never shows what is not yet durable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

using Revision = std::int64_t;

// INVARIANT: never changed once it is shared.
struct Record {
  std::string key;    // "pods/default/p1", "nodes//n1"
  std::string bytes;  // capacity leaves room for simdjson's padding (64 bytes)
  Revision revision = 0;
};
using RecordPtr = std::shared_ptr<const Record>;

// `after` is none for a deletion; of a deletion, `revision` is that of the deletion and `before` the last state.
struct Change {
  Revision revision = 0;
  RecordPtr before;  // none for a creation
  RecordPtr after;
  const std::string& key() const { return after ? after->key : before->key; }
};
using ChangePtr = std::shared_ptr<const Change>;

// What one unit of work sees and does, on the writing thread: the durable state and everything earlier in this commit.
// All of its writes become durable, and visible, together or not at all.
class Transaction {
 public:
  virtual ~Transaction() = default;
  virtual RecordPtr find(std::string_view key) const = 0;
  // Calls visit(record) for keys that begin with `prefix`, in order.
  virtual void for_each(std::string_view prefix, const std::function<void(const RecordPtr&)>& visit) const = 0;
  // The revision that the next put() or erase() will get, so that the bytes may name it.
  virtual Revision next_revision() const = 0;
  virtual Revision put(std::string key, std::string bytes) = 0;
  // The bytes are the last state as watchers will see it (with the revision of the deletion in it). PRE: the key is there.
  virtual Revision erase(const std::string& key, std::string last_bytes) = 0;
};

enum class CommitOutcome : std::uint8_t {
  kDone,      // durable (or the work wrote nothing)
  kDiskFull,  // nothing was written; reads go on, and a later write may succeed
  kFailed,    // the disk refused; the store takes no more writes until it is opened again
  kThrew,     // `work` threw, or memory ran out: nothing of it was written; others and later writes are not affected
};

struct StoreOptions {
  std::int64_t changes_kept_max = 100'000;  // in the revision log, for watchers that come back
  // Who writes one thing waits for the commit before and for all of his own: short ones are worth more to him than the
  // few writes a second that long ones would save.
  std::size_t transactions_per_commit_max = 32;
  std::size_t waiting_max =
      20'000;            // units of work not yet begun; beyond it transact() refuses who has his share of them
  std::string vfs = {};  // of SQLite; empty = the system's
};

// The most that one record may hold; put() and erase() throw std::length_error beyond it.
constexpr std::size_t kRecordBytesMax = std::size_t{64} << 20;

// What a store can say of itself, since it was opened.
struct StoreFigures {
  static constexpr std::size_t kBounds = 28;
  // 0.1 ms to 1.2 s, each 1.4 times the one before.
  static double bound_s(std::size_t bound);

  std::array<std::int64_t, kBounds + 1> commits{};  // by how long they took: up to bound_s(i); the last: longer
  double commits_s = 0;                             // all together
  std::size_t waiting = 0;                          // units of work
};

class Watching;  // ends the watch when destroyed; callbacks may still run until then, never after

class Store {
 public:
  // Makes the file if there is none. Complains (place, reason, remedy) about a file that is damaged, of a newer version,
  // or in use by another process. Beside PATH lies PATH-mark, which names the highest revision that was acknowledged: so
  // that a store that lost its end (a copy put back, a write-ahead log cut short) is noticed.
  static Result<std::unique_ptr<Store>> open(const std::string& path, StoreOptions options = {});
  // Runs what waits, and closes. Never from `work`, `done` or a notice. Watches may end later.
  virtual ~Store() = default;

  // `work` runs on the writing thread, soon, once; `done` runs there too, after the commit. False: too much waits
  // already, neither will run. `work` must be quick: everyone's writes wait for it. Once the store has failed, or memory
  // ran out, only `done` runs. One payer's work is done in the order in which it came; payers take turns.
  virtual bool transact(std::function<void(Transaction&)> work, std::function<void(CommitOutcome)> done,
                        std::string_view payer = {}) = 0;
  // The same, waiting for the end, and for room in the queue. Never from `work`, `done` or a notice.
  virtual CommitOutcome transact_and_wait(std::function<void(Transaction&)> work) = 0;

  // Waits until all work that was handed over is done, with what it hands over itself. Never from `work`, `done` or a notice.
  virtual void drain() = 0;

  virtual RecordPtr find(std::string_view key) const = 0;
  struct Listing {
    Revision revision = 0;
    std::vector<RecordPtr> records;  // in the order of their keys
    bool more = false;
    std::size_t remaining = 0;  // after the last of `records`
  };
  // Keys that begin with `prefix` and are greater than `after_key`, at most `limit` (0 = all).
  virtual Listing list(std::string_view prefix, std::string_view after_key = {}, std::size_t limit = 0) const = 0;
  // The same as it was at an earlier revision, from the log; none if the log no longer reaches back so far.
  virtual std::optional<Listing> list_at(Revision revision, std::string_view prefix, std::string_view after_key,
                                         std::size_t limit) const = 0;
  virtual Revision revision() const = 0;
  virtual Revision oldest_watchable() const = 0;

  // Every change under `prefix` after `after`, each once and in order, on the store's publishing thread. None if the log
  // no longer reaches back to `after`. `notice` gets nullptr now and then when nothing happened (about every second), with
  // the revision up to which it has seen everything: for bookmarks and time-outs. A watch that falls behind the log, or
  // whose notice throws, ends: it gets (nullptr, kFellBehind) once, and nothing after it. A notice may call transact(),
  // find() and list(), and end any watch; slow ones delay other notices, but no commit.
  static constexpr Revision kFellBehind = -1;
  using Notice = std::function<void(const ChangePtr& change, Revision seen)>;
  virtual std::shared_ptr<Watching> watch(std::string prefix, Revision after, Notice notice) = 0;

  // A consistent copy, while everything goes on. Complains if `path` exists.
  virtual Result<Revision> backup(const std::string& path) = 0;
  // SQLite's integrity check, the chain of revisions, and that the mirror equals the disk. Empty: sound. Writes wait
  // meanwhile. Never from `work` or `done`.
  virtual Complaints check() const = 0;
  // Changes when the store was restored from a backup; revisions go on above every one ever given.
  virtual std::int64_t epoch() const = 0;
  virtual StoreFigures figures() const = 0;
};

// Its end waits for a notice that is running, unless that is where it is ended from.
class Watching {
 public:
  virtual ~Watching() = default;
};

// Makes `path` (which must not exist) from a backup: the same objects, a new epoch, revisions that go on at least
// `revisions_ahead` above the backup's own.
Result<Revision> restore_store(const std::string& backup_path, const std::string& path,
                               Revision revisions_ahead = 1'000'000'000);

}  // namespace berth
