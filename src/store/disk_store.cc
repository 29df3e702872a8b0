#include "store/disk_store.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <map>

#include "base/wording.h"

namespace berth {

namespace {

constexpr std::size_t kCommitBytesMax = std::size_t{32} << 20;  // then what waits goes into the next commit
constexpr std::chrono::seconds kMarkSyncedEvery{2};
constexpr std::size_t kDroppedAtLeast = 16;  // in one commit, when the log is too long
constexpr Revision kStepOfLog = 256;         // changes looked at under the lock

Store::Listing listing_of(const Shelf& shelf, Shelf::Range range, Revision revision, std::size_t limit) {
  Store::Listing listing;
  listing.revision = revision;
  const std::size_t all = shelf.count(range);
  const std::size_t taken = limit == 0 ? all : std::min(limit, all);
  listing.records.reserve(taken);
  for (auto at = range.from; listing.records.size() < taken; at = shelf.next(at))
    listing.records.push_back(shelf.at(at));
  listing.remaining = all - taken;
  listing.more = listing.remaining > 0;
  return listing;
}

}  // namespace

// ---- opening and closing -------------------------------------------------------------------------------------------

Complaints DiskStore::take_in(const StoredRow& row, ShelfDraft& shelf) {
  const auto damaged = [&](const std::string& what) {
    return Complaints({path_, 0, 0}, "the store is damaged: revision " + std::to_string(row.revision) + " of " +
                                         quote(row.key) + " " + what + "; restore it from a backup");
  };
  const StoreState& state = file_->state();
  RecordPtr previous = shelf.now().find(row.key);
  RecordPtr record = make_record(std::string(row.key), std::string(row.bytes), row.revision);
  if (row.revision <= state.oldest) {
    if (row.deleted || previous) return damaged("should have left the log");
    shelf.put(std::move(record));
    return {};
  }
  if (row.revision != state.oldest + static_cast<Revision>(log_.size()) + 1) return damaged("follows a gap");
  if (row.deleted && !previous) return damaged("ends what does not exist");
  Change change{row.revision, row.deleted ? record : previous, row.deleted ? nullptr : record};
  log_.push_back({std::make_shared<const Change>(std::move(change)), std::move(previous)});
  if (row.deleted) {
    shelf.erase(row.key);
  } else {
    shelf.put(std::move(record));
  }
  return {};
}

Complaints DiskStore::load() {
  ShelfDraft shelf;
  Complaints odd;
  Complaints complaints = file_->read([&](const StoredRow& row) {
    if (odd.empty()) odd = take_in(row, shelf);
  });
  if (complaints.empty()) complaints = odd;
  const StoreState& state = file_->state();
  if (complaints.empty() && state.revision != state.oldest + static_cast<Revision>(log_.size())) {
    complaints = Complaints({path_, 0, 0}, "the store is damaged: its log ends before revision " +
                                               std::to_string(state.revision) + "; restore it from a backup");
  }
  epoch_ = state.epoch;
  oldest_ = state.oldest;
  view_ = std::make_shared<const View>(View{shelf.taken(), state.revision});
  return complaints;
}

void DiskStore::start() {
  mark_->write({epoch_, view_->revision});
  mark_->sync();
  mark_synced_at_ = std::chrono::steady_clock::now();
  const auto fetch = [this](Revision after, std::size_t changes_max) { return changes_after(after, changes_max); };
  feed_ = std::make_shared<Feed>(fetch, view_->revision);
  feed_->start();
  writing_ = std::thread([this] { write(); });
}

DiskStore::~DiskStore() {
  {
    const std::lock_guard lock(queue_mutex_);
    closing_ = true;
  }
  queue_filled_.notify_all();
  queue_drained_.notify_all();
  if (writing_.joinable()) writing_.join();
  if (feed_) feed_->stop();
}

// ---- reading -------------------------------------------------------------------------------------------------------

std::shared_ptr<const View> DiskStore::view() const {
  const std::lock_guard lock(view_mutex_);
  return view_;
}

Store::Listing DiskStore::list(std::string_view prefix, std::string_view after_key, std::size_t limit) const {
  const auto now = view();
  return listing_of(now->shelf, now->shelf.range(prefix, after_key), now->revision, limit);
}

std::optional<Store::Listing> DiskStore::list_at(Revision revision, std::string_view prefix, std::string_view after_key,
                                                 std::size_t limit) const {
  std::shared_ptr<const View> now;
  // What each key that changed since was at that revision: its first change after it knows.
  std::map<std::string_view, RecordPtr> then;
  std::vector<Logged> since;  // holds what the views in `then` point to
  // A step at a time: everybody needs this lock. What leaves the log meanwhile leaves nothing to say.
  for (Revision at = revision; !now || at < now->revision;) {
    const std::lock_guard lock(view_mutex_);
    if (!now) now = view_;
    if (at < oldest_ || revision > now->revision) return std::nullopt;
    for (const Revision until = std::min(at + kStepOfLog, now->revision); at < until; ++at) {
      const Logged& logged = log_[static_cast<std::size_t>(at - oldest_)];
      const std::string& key = logged.change->key();
      if (key.starts_with(prefix) && (after_key.empty() || key > after_key)) since.push_back(logged);
    }
  }
  for (const Logged& logged : since) then.try_emplace(logged.change->key(), logged.previous);
  ShelfDraft past(now->shelf);
  for (const auto& [key, record] : then) {
    if (record) {
      past.put(record);
    } else {
      past.erase(key);
    }
  }
  return listing_of(past.now(), past.now().range(prefix, after_key), revision, limit);
}

Revision DiskStore::oldest_watchable() const {
  const std::lock_guard lock(view_mutex_);
  return oldest_;
}

Feed::Batch DiskStore::changes_after(Revision after, std::size_t changes_max) const {
  Feed::Batch batch;
  const std::lock_guard lock(view_mutex_);
  batch.out_of_reach = after < oldest_;
  batch.until = std::max(after, std::min(view_->revision, after + static_cast<Revision>(changes_max)));
  if (batch.out_of_reach) return batch;
  for (Revision at = after + 1; at <= batch.until; ++at) {
    batch.changes.push_back(log_[static_cast<std::size_t>(at - oldest_ - 1)].change);
  }
  return batch;
}

std::shared_ptr<Watching> DiskStore::watch(std::string prefix, Revision after, Notice notice) {
  const std::lock_guard lock(view_mutex_);
  if (after < oldest_) return nullptr;
  return feed_->subscribe(std::move(prefix), after, std::move(notice));
}

Result<Revision> DiskStore::backup(const std::string& path) {
  // The view is durable and does not change: it is copied from memory, and the writing thread never notices.
  const auto now = view();
  const Shelf::Range all = now->shelf.range("");
  return StoreFile::write_new(path, options_.vfs, epoch_, now->revision,
                              listing_of(now->shelf, all, now->revision, 0).records);
}

// ---- writing -------------------------------------------------------------------------------------------------------

// Whoever has less than his share of a full queue is let in all the same: others have more than theirs.
bool DiskStore::is_full_for(std::string_view payer) const {
  if (waiting_.size() < options_.waiting_max) return false;
  const std::size_t his = waiting_.size_of(payer);
  return his >= options_.waiting_max / (waiting_.payers() + (his == 0 ? 1 : 0));
}

bool DiskStore::transact(std::function<void(Transaction&)> work, std::function<void(CommitOutcome)> done,
                         std::string_view payer) {
  {
    const std::lock_guard lock(queue_mutex_);
    if (closing_ || is_full_for(payer)) return false;
    waiting_.push(payer, 1, {std::move(work), std::move(done)});
  }
  queue_filled_.notify_one();
  return true;
}

CommitOutcome DiskStore::transact_and_wait(std::function<void(Transaction&)> work) {
  std::mutex mutex;
  std::condition_variable finished;
  std::optional<CommitOutcome> outcome;
  const auto done = [&](CommitOutcome reached) {
    const std::lock_guard lock(mutex);
    outcome = reached;
    finished.notify_one();  // under the lock: the waiter takes all three away as soon as it has seen the outcome
  };
  {
    std::unique_lock lock(queue_mutex_);
    queue_drained_.wait(lock, [this] { return closing_ || waiting_.size() < options_.waiting_max; });
    if (closing_) return CommitOutcome::kFailed;
    waiting_.push({}, 1, {std::move(work), done});
  }
  queue_filled_.notify_one();
  std::unique_lock lock(mutex);
  finished.wait(lock, [&] { return outcome.has_value(); });
  return *outcome;
}

void DiskStore::drain() {
  std::unique_lock lock(queue_mutex_);
  queue_drained_.wait(lock, [this] { return waiting_.empty() && !busy_; });
}

std::size_t DiskStore::units_per_commit_max() const {
  return std::clamp<std::size_t>(options_.transactions_per_commit_max, 1, 65'536);
}

void DiskStore::write() {
  while (true) {
    bool errands = false;
    {
      std::unique_lock lock(queue_mutex_);
      queue_filled_.wait(lock, [this] { return closing_ || !waiting_.empty() || !errands_.empty(); });
      if (waiting_.empty() && errands_.empty()) break;
      errands = !errands_.empty();
      busy_ = true;
    }
    if (errands) run_errands();
    commit_some();
    {
      const std::lock_guard lock(queue_mutex_);
      busy_ = false;
    }
    queue_drained_.notify_all();
  }
  if (!failed_) mark_->write({epoch_, view_->revision});
  mark_->sync();
}

void DiskStore::run_errands() {
  while (true) {
    std::function<void()> errand;
    {
      const std::lock_guard lock(queue_mutex_);
      if (errands_.empty()) return;
      errand.swap(errands_.front());
      errands_.pop_front();
    }
    errand();
  }
}

// One commit, of all that waits or as much as fills it.
void DiskStore::commit_some() {
  CommitOutcome outcome = CommitOutcome::kFailed;
  try {
    Draft draft(view_->shelf, view_->revision);
    run_works(draft);
    if (!failed_) outcome = commit(draft);
  } catch (const std::exception&) {
    outcome = CommitOutcome::kThrew;  // out of memory before anything was written
    if (run_.empty()) take_one();
  }
  for (Unit& unit : run_) {
    if (!unit.done) continue;
    try {
      unit.done(unit.threw ? CommitOutcome::kThrew : outcome);
    } catch (...) {
      // What has been decided is durable, and the others must hear of theirs.
    }
  }
  run_.clear();
  if (!failed_ && file_->tidy() == StoreFile::Written::kFailed) failed_ = true;
}

bool DiskStore::take_one() {
  const std::lock_guard lock(queue_mutex_);
  auto next = waiting_.pop();
  if (!next) return false;
  run_.push_back(*std::move(next));
  return true;
}

void DiskStore::run_works(Draft& draft) {
  while (run_.size() < units_per_commit_max() && draft.bytes() < kCommitBytesMax && take_one()) {
    if (failed_) continue;
    const std::size_t before = draft.changes().size();
    try {
      run_.back().work(draft);
    } catch (...) {
      run_.back().threw = true;
      draft.return_to(before);
    }
  }
}

// How many changes leave the log with this commit. Small steps: a log that is suddenly too long (the option was lowered)
// must not make one commit long.
std::size_t DiskStore::surplus_of_log(std::size_t added) const {
  const std::size_t kept = static_cast<std::size_t>(std::max<std::int64_t>(options_.changes_kept_max, 0));
  const std::size_t now = log_.size();
  return now > kept ? std::min(now - kept, 2 * added + kDroppedAtLeast) : 0;
}

CommitOutcome DiskStore::commit(Draft& draft) {
  const std::vector<Logged>& changes = draft.changes();
  if (changes.empty()) return CommitOutcome::kDone;
  const Revision revision = draft.next_revision() - 1;
  auto next = std::make_shared<const View>(View{draft.shelf(), revision});
  std::vector<StoredRow> added;
  for (const Logged& logged : changes) added.push_back(row_of(logged));
  std::size_t dropped_changes = 0;
  std::vector<StoredRow> dropped;
  // Everything that needs memory happens before the commit; behind the log's end nobody looks.
  const std::size_t visible = log_.size();
  const auto withdraw = [&] {
    const std::lock_guard lock(view_mutex_);
    log_.erase(log_.begin() + static_cast<std::ptrdiff_t>(visible), log_.end());
  };
  StoreFile::Written written = StoreFile::Written::kFailed;
  try {
    {
      const std::lock_guard lock(view_mutex_);
      log_.insert(log_.end(), changes.begin(), changes.end());
    }
    dropped_changes = surplus_of_log(changes.size());
    for (std::size_t i = 0; i < dropped_changes; ++i) {
      if (log_[i].previous) dropped.push_back(row_of(*log_[i].previous));
      if (!log_[i].change->after) dropped.push_back(row_of(log_[i]));
    }
    const auto begun = std::chrono::steady_clock::now();
    written = file_->commit(added, dropped, revision, oldest_ + static_cast<Revision>(dropped_changes));
    note_commit(std::chrono::steady_clock::now() - begun);
  } catch (...) {
    withdraw();
    throw;
  }
  if (written != StoreFile::Written::kYes) {
    withdraw();
    failed_ = written == StoreFile::Written::kFailed;
    return failed_ ? CommitOutcome::kFailed : CommitOutcome::kDiskFull;
  }
  reveal(std::move(next), dropped_changes);
  acknowledge(revision);
  return CommitOutcome::kDone;
}

void DiskStore::note_commit(std::chrono::steady_clock::duration took) {
  const double s = std::chrono::duration<double>(took).count();
  std::size_t bound = 0;
  while (bound < StoreFigures::kBounds && s > StoreFigures::bound_s(bound)) ++bound;
  const std::lock_guard lock(queue_mutex_);
  ++figures_.commits[bound];
  figures_.commits_s += s;
}

StoreFigures DiskStore::figures() const {
  const std::lock_guard lock(queue_mutex_);
  StoreFigures figures = figures_;
  figures.waiting = waiting_.size();
  return figures;
}

// Needs no memory: what is durable must not fail to become visible.
void DiskStore::reveal(std::shared_ptr<const View> next, std::size_t dropped) {
  const Revision revision = next->revision;
  {
    const std::lock_guard lock(view_mutex_);
    view_.swap(next);
    for (std::size_t i = 0; i < dropped; ++i) log_.pop_front();
    oldest_ += static_cast<Revision>(dropped);
  }
  feed_->wake(revision);
}

void DiskStore::acknowledge(Revision revision) noexcept {
  mark_->write({epoch_, revision});
  const auto now = std::chrono::steady_clock::now();
  if (now - mark_synced_at_ < kMarkSyncedEvery) return;
  mark_synced_at_ = now;
  mark_->sync();
}

// ---- checking ------------------------------------------------------------------------------------------------------

Complaints DiskStore::check() const {
  std::mutex mutex;
  std::condition_variable finished;
  std::optional<Complaints> found;
  const auto errand = [&] {
    Complaints complaints;
    try {
      complaints = compare_with_disk();
    } catch (const std::exception& problem) {
      complaints.add({path_, 0, 0}, std::string("could not be checked: ") + problem.what() + "; try again");
    }
    const std::lock_guard lock(mutex);
    found = std::move(complaints);
    finished.notify_one();
  };
  {
    const std::lock_guard lock(queue_mutex_);
    if (closing_) return {{path_, 0, 0}, "the store is being closed; check it after it has been opened again"};
    errands_.push_back(errand);
  }
  queue_filled_.notify_one();
  std::unique_lock lock(mutex);
  finished.wait(lock, [&] { return found.has_value(); });
  return *found;
}

// On the writing thread, so that nothing changes meanwhile.
Complaints DiskStore::compare_with_disk() const {
  Complaints complaints = file_->check_pages();
  // What the log's first changes replaced lies before the log.
  std::map<Revision, const Record*> replaced;
  for (const Logged& logged : log_) {
    if (logged.previous && logged.previous->revision <= oldest_)
      replaced.emplace(logged.previous->revision, logged.previous.get());
  }
  const auto expected = [&](const StoredRow& row) -> std::optional<StoredRow> {
    if (row.revision > oldest_) {
      const auto at = static_cast<std::size_t>(row.revision - oldest_ - 1);
      return at < log_.size() ? std::optional(row_of(log_[at])) : std::nullopt;
    }
    if (const auto old = replaced.find(row.revision); old != replaced.end()) return row_of(*old->second);
    const RecordPtr record = view_->shelf.find(row.key);
    return record && record->revision == row.revision ? std::optional(row_of(*record)) : std::nullopt;
  };
  std::size_t live = 0;
  complaints.add_all(file_->read([&](const StoredRow& row) {
    const auto known = expected(row);
    if (known && known->key == row.key && known->deleted == row.deleted && known->bytes == row.bytes) {
      const RecordPtr record = view_->shelf.find(row.key);
      if (record && record->revision == row.revision) ++live;
      return;
    }
    complaints.add({path_, 0, 0},
                   "revision " + std::to_string(row.revision) + " of " + quote(row.key) +
                       " is not what the memory holds; restart, and if it happens again check the memory");
  }));
  if (live != view_->shelf.size()) {
    complaints.add({path_, 0, 0}, "the disk has " + std::to_string(live) + " of the " +
                                      std::to_string(view_->shelf.size()) +
                                      " records in memory; restore it from a backup");
  }
  return complaints;
}

}  // namespace berth
