// The store in a file: one thread that writes, one that publishes, and everyone who reads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/fair_queue.h"
#include "store/draft.h"
#include "store/feed.h"
#include "store/mark.h"
#include "store/shelf.h"
#include "store/store.h"
#include "store/store_file.h"

namespace berth {

// What is durable at one moment.
struct View {
  Shelf shelf;
  Revision revision = 0;
};

// Readers take the current view under a lock that is held for a moment only, and then need none.
class DiskStore : public Store {
 public:
  DiskStore(std::string path, StoreOptions options, std::unique_ptr<StoreFile> file, std::unique_ptr<Mark> mark)
      : path_(std::move(path)), options_(std::move(options)), file_(std::move(file)), mark_(std::move(mark)) {
    run_.reserve(units_per_commit_max());
  }
  ~DiskStore() override;

  // What the file holds, into memory. PRE: before start().
  Complaints load();
  void start();

  bool transact(std::function<void(Transaction&)> work, std::function<void(CommitOutcome)> done,
                std::string_view payer) override;
  CommitOutcome transact_and_wait(std::function<void(Transaction&)> work) override;
  void drain() override;
  RecordPtr find(std::string_view key) const override { return view()->shelf.find(key); }
  Listing list(std::string_view prefix, std::string_view after_key, std::size_t limit) const override;
  std::optional<Listing> list_at(Revision revision, std::string_view prefix, std::string_view after_key,
                                 std::size_t limit) const override;
  Revision revision() const override { return view()->revision; }
  Revision oldest_watchable() const override;
  std::shared_ptr<Watching> watch(std::string prefix, Revision after, Notice notice) override;
  Result<Revision> backup(const std::string& path) override;
  Complaints check() const override;
  std::int64_t epoch() const override { return epoch_; }
  StoreFigures figures() const override;

 private:
  struct Unit {
    std::function<void(Transaction&)> work;
    std::function<void(CommitOutcome)> done;
    bool threw = false;
  };

  std::shared_ptr<const View> view() const;
  Feed::Batch changes_after(Revision after, std::size_t changes_max) const;
  Complaints take_in(const StoredRow& row, ShelfDraft& shelf);
  Complaints compare_with_disk() const;

  void write();
  std::size_t units_per_commit_max() const;
  void run_errands();
  void commit_some();
  bool take_one();
  void run_works(Draft& draft);
  bool is_full_for(std::string_view payer) const;
  CommitOutcome commit(Draft& draft);
  void note_commit(std::chrono::steady_clock::duration took);
  std::size_t surplus_of_log(std::size_t added) const;
  void reveal(std::shared_ptr<const View> next, std::size_t dropped);
  void acknowledge(Revision revision) noexcept;

  const std::string path_;
  const StoreOptions options_;
  const std::unique_ptr<StoreFile> file_;  // the writing thread's
  const std::unique_ptr<Mark> mark_;       // the writing thread's
  std::int64_t epoch_ = 0;
  bool failed_ = false;    // the writing thread's
  std::vector<Unit> run_;  // the writing thread's: the units of this commit
  std::chrono::steady_clock::time_point mark_synced_at_{};
  std::shared_ptr<Feed> feed_;

  // INVARIANT: log_ holds the changes of the revisions in (oldest_, view_->revision], in order, and, during a commit,
  // those being written behind them, which nobody looks at.
  mutable std::mutex view_mutex_;
  std::shared_ptr<const View> view_;
  std::deque<Logged> log_;
  Revision oldest_ = 0;

  mutable std::mutex queue_mutex_;
  mutable std::condition_variable queue_filled_;
  std::condition_variable queue_drained_;
  FairQueue<Unit> waiting_;
  bool busy_ = false;  // with units that wait no more
  StoreFigures figures_;
  mutable std::deque<std::function<void()>> errands_;  // for the writing thread, between commits
  bool closing_ = false;
  std::thread writing_;
};

}  // namespace berth
