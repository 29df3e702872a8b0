// What tests of the store, and on a store, need: a folder that goes away, and short words for common steps.
#pragma once

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "store/store.h"

namespace berth {

class TestFolder {
 public:
  TestFolder() {
    static std::atomic<int> count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("berth-store-" + std::to_string(getpid()) + "-" + std::to_string(++count));
    std::filesystem::create_directories(path_);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() { std::filesystem::remove_all(path_); }

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline CommitOutcome put(Store& store, std::string key, std::string bytes) {
  return store.transact_and_wait([&](Transaction& transaction) { transaction.put(key, bytes); });
}

inline CommitOutcome erase(Store& store, const std::string& key) {
  return store.transact_and_wait([&](Transaction& transaction) {
    if (transaction.find(key)) transaction.erase(key, "last of " + key);
  });
}

// "key=bytes@revision key=bytes@revision"
inline std::string text_of(const std::vector<RecordPtr>& records) {
  std::string text;
  for (const RecordPtr& record : records) {
    text += (text.empty() ? "" : " ") + record->key + "=" + record->bytes + "@" + std::to_string(record->revision);
  }
  return text;
}

// What a watch was told: "+a=1" "a=1>2" "-a=2".
inline std::string text_of(const Change& change) {
  if (!change.before) return "+" + change.key() + "=" + change.after->bytes;
  if (!change.after) return "-" + change.key() + "=" + change.before->bytes;
  return change.key() + "=" + change.before->bytes + ">" + change.after->bytes;
}

// Collects what a watch is told; others wait for it.
class Told {
 public:
  Store::Notice notice() {
    return [this](const ChangePtr& change, Revision seen) {
      const std::lock_guard lock(mutex_);
      if (change) changes_.push_back(change);
      if (!change) quiet_at_.push_back(seen);
      if (change) last_ = change->revision;
      told_.notify_all();
    };
  }
  // "+a=1 a=1>2", once a change of at least `revision` has come.
  std::string until(Revision revision) {
    std::unique_lock lock(mutex_);
    told_.wait(lock, [&] { return last_ >= revision; });
    std::string text;
    for (const ChangePtr& change : changes_) text += (text.empty() ? "" : " ") + text_of(*change);
    return text;
  }
  // The revision with which the next notice without a change comes.
  Revision quiet() {
    std::unique_lock lock(mutex_);
    const std::size_t known = quiet_at_.size();
    told_.wait(lock, [&] { return quiet_at_.size() > known; });
    return quiet_at_.back();
  }
  // Waits for the end of a watch that fell behind or threw.
  void ended() {
    std::unique_lock lock(mutex_);
    told_.wait(lock, [&] { return !quiet_at_.empty() && quiet_at_.back() == Store::kFellBehind; });
  }
  std::vector<ChangePtr> changes() {
    const std::lock_guard lock(mutex_);
    return changes_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable told_;
  std::vector<ChangePtr> changes_;
  std::vector<Revision> quiet_at_;
  Revision last_ = 0;
};

// Holds up whoever comes, until it is opened.
class HeldUp {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    reached_ = true;
    moved_.notify_all();
    moved_.wait(lock, [this] { return open_; });
  }
  void wait_until_reached() {
    std::unique_lock lock(mutex_);
    moved_.wait(lock, [this] { return reached_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    moved_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable moved_;
  bool reached_ = false;
  bool open_ = false;
};

}  // namespace berth
