#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "store/faulty_disk.h"
#include "store/store.h"
#include "store/test_stores.h"

namespace berth::watch_test {

std::unique_ptr<Store> store_on(const FaultyDisk& disk, StoreOptions options = {}) {
  options.vfs = disk.vfs();
  return std::move(*Store::open("store.db", options));
}

TEST(Watch, TellsEveryChangeUnderThePrefixOnceAndInOrder) {
  FaultyDisk disk;
  auto store = store_on(disk);
  put(*store, "a/1", "x");
  put(*store, "b/1", "x");
  put(*store, "a/1", "y");
  erase(*store, "a/1");
  for (int round = 0; round < 2; ++round) {
    struct Case {
      const char* prefix;
      Revision after;
      const char* told;
      Revision until;
    };
    const Case cases[] = {
        {"", 0, "+a/1=x +b/1=x a/1=x>y -a/1=last of a/1", 4},
        {"a/", 0, "+a/1=x a/1=x>y -a/1=last of a/1", 4},
        {"a/", 2, "a/1=x>y -a/1=last of a/1", 4},
        {"a/", 3, "-a/1=last of a/1", 4},
        {"b/", 0, "+b/1=x", 2},
    };
    for (const Case& c : cases) {
      Told told;
      const auto watching = store->watch(c.prefix, c.after, told.notice());
      EXPECT_EQ(told.until(c.until), c.told) << c.prefix << c.after;
      for (const ChangePtr& change : told.changes()) {
        EXPECT_EQ((change->after ? change->after : change->before)->revision, change->revision);
      }
    }
    store.reset();  // the log survives a restart
    store = store_on(disk);
  }
}

TEST(Watch, GoesOnLiveAndFromAFutureRevision) {
  FaultyDisk disk;
  auto store = store_on(disk);
  Told live;
  Told future;
  const auto watching = store->watch("a", 0, live.notice());
  const auto waiting = store->watch("a", 2, future.notice());
  for (const char* bytes : {"1", "2", "3"}) put(*store, "a", bytes);
  EXPECT_EQ(live.until(3), "+a=1 a=1>2 a=2>3");
  EXPECT_EQ(future.until(3), "a=2>3");
}

TEST(Watch, IsNoneWhereTheLogNoLongerReaches) {
  FaultyDisk disk;
  auto store = store_on(disk, {.changes_kept_max = 2});
  for (int i = 0; i < 5; ++i) put(*store, "a", std::to_string(i));
  EXPECT_EQ(store->watch("", 2, [](const ChangePtr&, Revision) {}), nullptr);
  EXPECT_NE(store->watch("", 3, [](const ChangePtr&, Revision) {}), nullptr);
}

TEST(Watch, SaysNowAndThenThatNothingHappened) {
  FaultyDisk disk;
  auto store = store_on(disk);
  Told told;
  const auto watching = store->watch("elsewhere/", 0, told.notice());
  put(*store, "a", "1");
  while (told.quiet() < 1) continue;
  EXPECT_TRUE(told.changes().empty());
}

TEST(Watch, ThatFallsBehindTheLogHearsOfIt) {
  FaultyDisk disk;
  auto store = store_on(disk, {.changes_kept_max = 5});
  HeldUp gate;
  Told told;
  const auto slow = store->watch("", 0, [&](const ChangePtr&, Revision) { gate.pass(); });
  const auto watching = store->watch("", 0, told.notice());
  put(*store, "a", "0");
  gate.wait_until_reached();  // commits go on
  for (int i = 0; i < 50; ++i) EXPECT_EQ(put(*store, "a", std::to_string(i)), CommitOutcome::kDone);
  gate.open();
  told.ended();
  EXPECT_LE(told.changes().size(), 1U);
}

TEST(Watch, WhoseNoticeThrowsEnds) {
  FaultyDisk disk;
  auto store = store_on(disk);
  Told other;
  Told told;
  const auto watching = store->watch("", 0, [notice = told.notice()](const ChangePtr& change, Revision seen) {
    notice(change, seen);
    throw std::runtime_error("no");
  });
  const auto unharmed = store->watch("", 0, other.notice());
  put(*store, "a", "1");
  put(*store, "a", "2");
  told.ended();
  EXPECT_EQ(other.until(2), "+a=1 a=1>2");
  EXPECT_EQ(told.changes().size(), 1U);
}

TEST(Watch, MayEndItselfAndOthersAndWriteFromItsNotice) {
  FaultyDisk disk;
  auto store = store_on(disk);
  Told end;
  std::shared_ptr<Watching> mine;
  std::shared_ptr<Watching> others;
  int mine_told = 0;
  int others_told = 0;
  const auto at_the_end = store->watch("end", 0, end.notice());
  others = store->watch("later", 0, [&](const ChangePtr& change, Revision) { others_told += change ? 1 : 0; });
  std::mutex mutex;
  std::unique_lock lock(mutex);
  mine = store->watch("begin", 0, [&](const ChangePtr& change, Revision) {
    const std::lock_guard wait(mutex);  // until `mine` is there
    if (!change) return;
    ++mine_told;
    EXPECT_EQ(store->find("begin")->bytes, "1");
    EXPECT_EQ(store->list("").records.size(), 1U);
    store->transact(
        [](Transaction& transaction) {
          transaction.put("begin", "2");
          transaction.put("later", "2");
          transaction.put("end", "2");
        },
        nullptr);
    others.reset();
    mine.reset();
  });
  lock.unlock();
  put(*store, "begin", "1");
  end.until(4);
  EXPECT_EQ(mine_told, 1);
  EXPECT_EQ(others_told, 0);
}

TEST(Watch, EndsOnlyWhenItsNoticeHasReturned) {
  FaultyDisk disk;
  auto store = store_on(disk);
  HeldUp gate;
  std::atomic<bool> returned = false;
  auto watching = store->watch("", 0, [&](const ChangePtr& change, Revision) {
    if (!change) return;
    gate.pass();
    returned = true;
  });
  put(*store, "a", "1");
  gate.wait_until_reached();
  std::thread opener([&] { gate.open(); });
  watching.reset();
  EXPECT_TRUE(returned);
  opener.join();
}

TEST(Watch, MayOutliveTheStore) {
  FaultyDisk disk;
  auto store = store_on(disk);
  Told told;
  auto watching = store->watch("", 0, told.notice());
  put(*store, "a", "1");
  store.reset();
  watching.reset();
}

TEST(Watch, ManyBeginAndEndWhileManyWrite) {
  FaultyDisk disk;
  auto store = store_on(disk);
  constexpr int kWriters = 4;
  constexpr int kEach = 200;
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      for (int i = 0; i < kEach; ++i) put(*store, std::to_string(writer), std::to_string(i));
    });
  }
  for (int watcher = 0; watcher < 2; ++watcher) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        Told told;
        const Revision from = store->revision();
        const auto watching = store->watch("", from, told.notice());
        if (from < kWriters * kEach) told.until(from + 1);
        EXPECT_TRUE(told.changes().empty() || told.changes().front()->revision == from + 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store->revision(), kWriters * kEach);
}

}  // namespace berth::watch_test
