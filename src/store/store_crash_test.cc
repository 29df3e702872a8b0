// A scripted story on a disk that fails at every place where it can.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "store/faulty_disk.h"
#include "store/store.h"
#include "store/test_stores.h"

namespace berth::store_crash_test {

using Failure = FaultyDisk::Failure;
using Unsynced = FaultyDisk::Unsynced;

constexpr int kSteps = 24;
constexpr std::int64_t kChangesKept = 12;

Result<std::unique_ptr<Store>> open_on(const FaultyDisk& disk) {
  StoreOptions options;
  options.vfs = disk.vfs();
  options.changes_kept_max = kChangesKept;
  return Store::open("store.db", options);
}

// One transaction: some puts and erasures, of small and large records, always the same for the same step.
CommitOutcome take_step(Store& store, int step) {
  return store.transact_and_wait([step](Transaction& transaction) {
    Rng rng(Seed{static_cast<std::uint64_t>(step)});
    for (std::uint64_t changes = 1 + rng.below(3); changes > 0; --changes) {
      const std::string key = "key" + std::to_string(rng.below(6));
      if (transaction.find(key) && rng.below(4) == 0) {
        transaction.erase(key, "last");
      } else {
        const std::size_t size = rng.below(5) == 0 ? 20'000 : rng.below(50);
        transaction.put(key, std::to_string(step) + std::string(size, 'x'));
      }
    }
  });
}

// Revision and records; what equals it is the same store.
std::string text_of(const Store& store) {
  return std::to_string(store.revision()) + ": " + text_of(store.list("").records);
}

// The store as it is after each step, from 0 on, on a disk that never fails.
const std::vector<std::string>& story() {
  static const std::vector<std::string> kStates = [] {
    FaultyDisk disk;
    const auto store = *open_on(disk);
    std::vector<std::string> states = {text_of(*store)};
    for (int step = 0; step < kSteps; ++step) {
      take_step(*store, step);
      states.push_back(text_of(*store));
    }
    return states;
  }();
  return kStates;
}

// Runs the story until something fails, closing and opening in the middle; the number of steps that were acknowledged.
int run_story(const FaultyDisk& disk) {
  int acknowledged = 0;
  for (const int end : {kSteps / 2, kSteps}) {
    const auto store = open_on(disk);
    if (!store) {
      EXPECT_FALSE(store.error().empty());
      return acknowledged;
    }
    for (; acknowledged < end; ++acknowledged) {
      if (take_step(**store, acknowledged) != CommitOutcome::kDone) {
        EXPECT_EQ(text_of(**store), story()[static_cast<std::size_t>(acknowledged)])
            << "something of a failed commit shows";
        return acknowledged;
      }
    }
  }
  return acknowledged;
}

// Watches from an earlier revision get every later one.
void expect_log_without_gaps(Store& store) {
  const Revision oldest = store.oldest_watchable();
  for (const Revision after : {oldest, std::max(oldest, store.revision() - 3)}) {
    Told told;
    const auto watching = store.watch("", after, told.notice());
    ASSERT_NE(watching, nullptr);
    told.until(store.revision() > after ? store.revision() : 0);
    Revision next = after + 1;
    for (const ChangePtr& change : told.changes()) EXPECT_EQ(change->revision, next++);
    EXPECT_EQ(next, store.revision() + 1);
  }
}

// After `acknowledged` steps and a crash: they are there, and the next one is either there as a whole or not at all.
void expect_survived(const FaultyDisk& disk, int acknowledged) {
  auto store = open_on(disk);
  ASSERT_TRUE(store) << store.error().to_string();
  const auto at = static_cast<std::size_t>(acknowledged);
  const std::string found = text_of(**store);
  const bool took_next = at + 1 < story().size() && found == story()[at + 1];
  EXPECT_TRUE(took_next || found == story()[at]) << found;
  EXPECT_EQ((*store)->check().to_string(), "");
  expect_log_without_gaps(**store);
  // And life goes on.
  for (int step = acknowledged + (took_next ? 1 : 0); step < kSteps; ++step) {
    EXPECT_EQ(take_step(**store, step), CommitOutcome::kDone);
  }
  EXPECT_EQ(text_of(**store), story().back());
}

TEST(StoreCrash, KeepsWhatWasAcknowledgedWhereverThePowerGoes) {
  FaultyDisk healthy;
  EXPECT_EQ(run_story(healthy), kSteps);
  const std::int64_t writes = healthy.writes();
  EXPECT_GT(writes, 100);
  for (std::int64_t n = 0; n <= writes; ++n) {
    FaultyDisk disk;
    disk.fail_after(n, Failure::kPowerCut);
    const int acknowledged = run_story(disk);
    for (const Unsynced unsynced : {Unsynced::kSurvive, Unsynced::kLost, Unsynced::kTorn}) {
      SCOPED_TRACE("power cut after write " + std::to_string(n) + ", mode " +
                   std::to_string(static_cast<int>(unsynced)));
      const auto survivor = disk.copy();
      survivor->restart(unsynced, Seed{static_cast<std::uint64_t>(n)});
      expect_survived(*survivor, acknowledged);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(StoreCrash, GoesOnWhenAFullDiskHasRoomAgain) {
  for (std::int64_t n = 0; n <= 60; ++n) {
    SCOPED_TRACE("full after write " + std::to_string(n));
    FaultyDisk disk;
    auto store = open_on(disk);
    int step = 0;
    disk.fail_after(n, Failure::kDiskFull);
    CommitOutcome outcome = CommitOutcome::kDone;
    for (; step < kSteps && outcome == CommitOutcome::kDone; ++step) outcome = take_step(**store, step);
    if (outcome == CommitOutcome::kDone) continue;
    --step;
    EXPECT_EQ(outcome, CommitOutcome::kDiskFull);
    EXPECT_EQ(text_of(**store), story()[static_cast<std::size_t>(step)]);
    const auto crashed = disk.copy();  // before anything else is written
    crashed->restart(Unsynced::kSurvive);
    expect_survived(*crashed, step);
    disk.heal();
    for (; step < kSteps; ++step) EXPECT_EQ(take_step(**store, step), CommitOutcome::kDone);
    EXPECT_EQ(text_of(**store), story().back());
    store->reset();
    expect_survived(disk, kSteps);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(StoreCrash, TakesNoMoreWritesOnceTheDiskHasRefused) {
  for (std::int64_t n = 0; n <= 60; ++n) {
    SCOPED_TRACE("refuses after write " + std::to_string(n));
    FaultyDisk disk;
    auto store = open_on(disk);
    disk.fail_after(n, Failure::kIoError);
    int step = 0;
    while (step < kSteps && take_step(**store, step) == CommitOutcome::kDone) ++step;
    ASSERT_LT(step, kSteps);
    disk.heal();
    EXPECT_EQ(take_step(**store, step), CommitOutcome::kFailed);
    EXPECT_EQ(text_of(**store), story()[static_cast<std::size_t>(step)]);
    store->reset();
    disk.restart(Unsynced::kSurvive);
    expect_survived(disk, step);
    if (::testing::Test::HasFailure()) return;
  }
}

// Opens what has a flipped bit: it must be refused, or be what it was, and stay sound when it is written to. Whether it
// was refused.
bool is_refused_or_equal(const FaultyDisk& disk, const std::string& expected) {
  auto store = open_on(disk);
  if (!store) {
    EXPECT_FALSE(store.error().empty());
    return true;
  }
  EXPECT_EQ(text_of(**store), expected);
  for (int i = 0; i < 3; ++i) put(**store, "large", std::string(30'000, 'y'));
  erase(**store, "large");
  EXPECT_EQ((*store)->check().to_string(), "");
  store->reset();
  EXPECT_TRUE(open_on(disk));
  return false;
}

void flip_everywhere(const FaultyDisk& image, const std::string& expected, std::size_t stride, int& refused) {
  for (const std::string& file : image.files()) {
    for (std::size_t byte = 0; byte < image.size(file); byte += byte < 128 ? 3 : stride) {
      SCOPED_TRACE(file + ", byte " + std::to_string(byte));
      const auto disk = image.copy();
      disk->flip_bit(file, byte, static_cast<unsigned>(byte % 8));
      refused += is_refused_or_equal(*disk, expected) ? 1 : 0;
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(StoreCrash, NoticesAFlippedBitWhereItMatters) {
  FaultyDisk disk;
  auto store = open_on(disk);
  // Pages that became free, too: a damaged list of them would have live pages overwritten.
  for (int i = 0; i < 30; ++i) put(**store, "gone" + std::to_string(i), std::string(9'000, 'z'));
  for (int i = 0; i < 30; ++i) erase(**store, "gone" + std::to_string(i));
  for (int step = 0; step < kSteps; ++step) take_step(**store, step);
  store->reset();
  store = open_on(disk);
  for (int i = 0; i < 4; ++i) put(**store, "key1", std::string(3'000, 'w'));
  const std::string expected = text_of(**store);
  int refused = 0;
  {
    SCOPED_TRACE("after a crash, with a write-ahead log");
    const auto crashed = disk.copy();
    crashed->restart(Unsynced::kSurvive);
    EXPECT_GT(crashed->size("store.db-wal"), 10'000U);
    flip_everywhere(*crashed, expected, 491, refused);
  }
  EXPECT_GT(refused, 100);
  store->reset();
  SCOPED_TRACE("closed");
  refused = 0;
  flip_everywhere(disk, expected, 491, refused);
  EXPECT_GT(refused, 30);
}

TEST(StoreCrash, CheckReadsTheDiskAndNotItsMemory) {
  FaultyDisk disk;
  const auto store = *open_on(disk);
  put(*store, "a", std::string(3'000, 'x'));
  EXPECT_EQ(store->check().to_string(), "");
  const std::string log = disk.read("store.db-wal");
  disk.flip_bit("store.db-wal", log.find("xxxx"), 1);
  EXPECT_NE(store->check().to_string(), "");
}

}  // namespace berth::store_crash_test
