#include "store/store.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "store/faulty_disk.h"
#include "store/shelf.h"
#include "store/test_stores.h"

namespace berth::store_test {

std::unique_ptr<Store> store_on(const FaultyDisk& disk, StoreOptions options = {}) {
  options.vfs = disk.vfs();
  auto store = Store::open("store.db", options);
  if (!store) ADD_FAILURE() << store.error().to_string();
  return std::move(*store);
}

TEST(Store, KeepsWhatWasPutAndForgetsWhatWasErased) {
  FaultyDisk disk;
  auto store = store_on(disk);
  EXPECT_EQ(store->revision(), 0);
  EXPECT_EQ(put(*store, "a", "1"), CommitOutcome::kDone);
  EXPECT_EQ(put(*store, "b", ""), CommitOutcome::kDone);
  EXPECT_EQ(put(*store, "a", "3"), CommitOutcome::kDone);
  EXPECT_EQ(erase(*store, "b"), CommitOutcome::kDone);
  EXPECT_EQ(put(*store, std::string("\0\xff", 2), std::string("\0x", 2)), CommitOutcome::kDone);
  const std::int64_t epoch = store->epoch();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(store->revision(), 5);
    EXPECT_EQ(text_of(store->list("a").records), "a=3@3");
    EXPECT_EQ(store->find("b"), nullptr);
    EXPECT_EQ(store->find(std::string_view("\0\xff", 2))->bytes, std::string("\0x", 2));
    EXPECT_GE(store->find("a")->bytes.capacity(), store->find("a")->bytes.size() + 64);
    EXPECT_EQ(store->epoch(), epoch);
    EXPECT_EQ(store->check().to_string(), "");
    store.reset();
    store = store_on(disk);
  }
}

TEST(Store, ListsInTheOrderOfKeysAndInPages) {
  FaultyDisk disk;
  auto store = store_on(disk);
  for (const char* key : {"pods/b/1", "pods/a/2", "nodes//n", "pods/a/1", "podsx/a/1"}) put(*store, key, "x");
  struct Case {
    const char* prefix;
    const char* after;
    std::size_t limit;
    const char* keys;
    std::size_t remaining;
  };
  const Case cases[] = {
      {"", "", 0, "nodes//n pods/a/1 pods/a/2 pods/b/1 podsx/a/1", 0},
      {"pods/", "", 0, "pods/a/1 pods/a/2 pods/b/1", 0},
      {"pods/", "", 2, "pods/a/1 pods/a/2", 1},
      {"pods/", "pods/a/2", 2, "pods/b/1", 0},
      {"pods/", "pods/b/1", 2, "", 0},
      {"pods/", "nodes//n", 1, "pods/a/1", 2},
      {"pods/", "q", 1, "", 0},
      {"pods/a/1", "", 1, "pods/a/1", 0},
      {"zzz", "", 3, "", 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.prefix) + " after " + c.after);
    for (const auto& listing :
         {store->list(c.prefix, c.after, c.limit), *store->list_at(5, c.prefix, c.after, c.limit)}) {
      std::string keys;
      for (const RecordPtr& record : listing.records) keys += (keys.empty() ? "" : " ") + record->key;
      EXPECT_EQ(keys, c.keys);
      EXPECT_EQ(listing.remaining, c.remaining);
      EXPECT_EQ(listing.more, c.remaining > 0);
      EXPECT_EQ(listing.revision, 5);
    }
  }
}

TEST(Store, KnowsThePastAsFarAsTheLogReaches) {
  FaultyDisk disk;
  auto store = store_on(disk, {.changes_kept_max = 4});
  put(*store, "a", "1");
  put(*store, "b", "2");
  put(*store, "a", "3");
  erase(*store, "b");
  put(*store, "c", "5");
  erase(*store, "a");
  struct Case {
    Revision revision;
    std::optional<std::string> records;
  };
  const Case cases[] = {
      {1, std::nullopt},  {2, "a=1@1 b=2@2"}, {3, "a=3@3 b=2@2"}, {4, "a=3@3"},
      {5, "a=3@3 c=5@5"}, {6, "c=5@5"},       {7, std::nullopt},
  };
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(store->oldest_watchable(), 2);
    for (const Case& c : cases) {
      const auto listing = store->list_at(c.revision, "", "", 0);
      EXPECT_EQ(listing.has_value(), c.records.has_value()) << c.revision;
      EXPECT_EQ(listing ? text_of(listing->records) : "", c.records.value_or("")) << c.revision;
    }
    store.reset();
    store = store_on(disk, {.changes_kept_max = 4});
  }
}

TEST(Store, ShortensALogThatIsTooLongInSmallSteps) {
  FaultyDisk disk;
  auto store = store_on(disk);
  for (int i = 0; i < 100; ++i) put(*store, "key" + std::to_string(i % 7), std::to_string(i));
  EXPECT_EQ(store->oldest_watchable(), 0);
  store.reset();
  store = store_on(disk, {.changes_kept_max = 10});
  put(*store, "a", "x");
  EXPECT_EQ(store->oldest_watchable(), 18);
  for (int i = 0; i < 9; ++i) put(*store, "a", "x");
  EXPECT_EQ(store->oldest_watchable(), 100);
  EXPECT_EQ(store->check().to_string(), "");
  EXPECT_EQ(store->list("key").records.size(), 7U);
}

TEST(Store, KeepsNoLogIfToldSo) {
  FaultyDisk disk;
  auto store = store_on(disk, {.changes_kept_max = 0});
  put(*store, "a", "1");
  erase(*store, "a");
  put(*store, "b", "2");
  EXPECT_EQ(store->oldest_watchable(), 3);
  store.reset();
  EXPECT_EQ(text_of(store_on(disk)->list("").records), "b=2@3");
}

TEST(Transaction, SeesTheDurableStateAndWhatCameBeforeInTheCommit) {
  FaultyDisk disk;
  auto store = store_on(disk);
  put(*store, "a/1", "x");
  put(*store, "a/2", "x");
  std::string seen;
  store->transact_and_wait([&](Transaction& transaction) {
    EXPECT_EQ(transaction.next_revision(), 3);
    EXPECT_EQ(transaction.put("a/3", "new"), 3);
    EXPECT_EQ(transaction.next_revision(), 4);
    EXPECT_EQ(store->find("a/3"), nullptr);
    transaction.for_each("a/", [&](const RecordPtr& record) {
      seen += record->key + " ";
      transaction.erase(record->key, "gone");
      transaction.put("a/9", "while visiting");
    });
    EXPECT_EQ(transaction.find("a/1"), nullptr);
  });
  EXPECT_EQ(seen, "a/1 a/2 a/3 ");
  EXPECT_EQ(text_of(store->list("a/").records), "a/9=while visiting@9");
  EXPECT_EQ(store->check().to_string(), "");
}

TEST(Transaction, ThatThrowsLeavesNothingAndHarmsNobody) {
  FaultyDisk disk;
  auto store = store_on(disk);
  put(*store, "kept", "1");
  HeldUp gate;
  store->transact([&](Transaction&) { gate.pass(); }, nullptr);
  gate.wait_until_reached();
  std::vector<CommitOutcome> outcomes;
  const auto note = [&](CommitOutcome outcome) { outcomes.push_back(outcome); };
  store->transact([](Transaction& transaction) { transaction.put("a", "1"); }, note);
  store->transact(
      [](Transaction& transaction) {
        transaction.put("a", "2");
        transaction.put("b", "2");
        transaction.erase("kept", "");
        throw std::bad_alloc();
      },
      note);
  store->transact([](Transaction& transaction) { transaction.put("x", std::string(kRecordBytesMax + 1, 'x')); }, note);
  store->transact([](Transaction& transaction) { transaction.put("c", "3"); },
                  [&](CommitOutcome outcome) {
                    note(outcome);
                    throw std::runtime_error("who cares");
                  });
  gate.open();
  EXPECT_EQ(put(*store, "d", "4"), CommitOutcome::kDone);
  const std::vector<CommitOutcome> expected = {CommitOutcome::kDone, CommitOutcome::kThrew, CommitOutcome::kThrew,
                                               CommitOutcome::kDone};
  EXPECT_EQ(outcomes, expected);
  EXPECT_EQ(text_of(store->list("").records), "a=1@2 c=3@3 d=4@4 kept=1@1");
  EXPECT_EQ(store->check().to_string(), "");
}

TEST(GroupCommit, TakesAllThatWaitsUpToItsLimit) {
  struct Case {
    const char* name;
    std::size_t units_max;
    std::int64_t writes_max;
    std::int64_t writes_min;
  };
  // A commit of small records is three pages and a sync, and a mark.
  for (const Case& c : {Case{"all at once", 512, 12, 3}, Case{"ten at a time", 10, 120, 30}}) {
    SCOPED_TRACE(c.name);
    FaultyDisk disk;
    auto store = store_on(disk, {.transactions_per_commit_max = c.units_max});
    HeldUp gate;
    store->transact([&](Transaction&) { gate.pass(); }, nullptr);
    gate.wait_until_reached();
    const std::int64_t before = disk.writes();
    for (int i = 0; i < 100; ++i) {
      store->transact([i](Transaction& transaction) { transaction.put(std::to_string(i), "x"); }, nullptr);
    }
    gate.open();
    EXPECT_EQ(store->transact_and_wait([](Transaction&) {}), CommitOutcome::kDone);
    EXPECT_EQ(store->revision(), 100);
    EXPECT_LE(disk.writes() - before, c.writes_max);
    EXPECT_GE(disk.writes() - before, c.writes_min);
  }
}

TEST(GroupCommit, RefusesWhatIsTooMuchToWait) {
  FaultyDisk disk;
  auto store = store_on(disk, {.waiting_max = 3});
  HeldUp gate;
  store->transact([&](Transaction&) { gate.pass(); }, nullptr);
  gate.wait_until_reached();
  const auto nothing = [](Transaction&) {};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(store->transact(nothing, nullptr));
  EXPECT_FALSE(store->transact(nothing, nullptr));
  std::thread patient([&] { EXPECT_EQ(store->transact_and_wait(nothing), CommitOutcome::kDone); });
  gate.open();
  patient.join();
  EXPECT_TRUE(store->transact(nothing, nullptr));
}

TEST(GroupCommit, PayersTakeTurnsHoweverMuchOneOfThemHasWaiting) {
  FaultyDisk disk;
  auto store = store_on(disk, {.transactions_per_commit_max = 10});
  HeldUp gate;
  store->transact([&](Transaction&) { gate.pass(); }, nullptr);
  gate.wait_until_reached();
  std::string order;
  const auto write_as = [&](const std::string& payer) {
    store->transact(
        [&, payer](Transaction& transaction) { transaction.put(payer + std::to_string(order.size()), "x"); },
        [&, payer](CommitOutcome) { order += payer; }, payer);
  };
  for (int i = 0; i < 100; ++i) write_as("f");
  for (const char* payer : {"a", "b", "a"}) write_as(payer);
  gate.open();
  store->drain();
  EXPECT_EQ(order.size(), 103U);
  EXPECT_EQ(order.substr(0, 5).find_last_of("ab"), order.find_last_of("ab")) << order;
}

TEST(GroupCommit, AFullQueueTakesWorkOfWhoHasLessThanHisShare) {
  FaultyDisk disk;
  auto store = store_on(disk, {.waiting_max = 12});
  HeldUp gate;
  store->transact([&](Transaction&) { gate.pass(); }, nullptr);
  gate.wait_until_reached();
  const auto taken = [&](const char* payer) { return store->transact([](Transaction&) {}, nullptr, payer); };
  for (int i = 0; i < 12; ++i) EXPECT_TRUE(taken("flood"));
  EXPECT_FALSE(taken("flood"));
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(taken("ann")) << i;
  EXPECT_FALSE(taken("ann"));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(taken("bob")) << i;
  EXPECT_FALSE(taken("bob"));
  gate.open();
  store->drain();
  EXPECT_TRUE(taken("flood"));
}

TEST(Store, CountsItsCommits) {
  FaultyDisk disk;
  auto store = store_on(disk);
  const auto commits = [&] {
    std::int64_t all = 0;
    for (const std::int64_t each : store->figures().commits) all += each;
    return all;
  };
  EXPECT_EQ(commits(), 0);
  for (int i = 0; i < 5; ++i) put(*store, "a", std::to_string(i));
  store->transact_and_wait([](Transaction&) {});  // writes nothing
  EXPECT_EQ(commits(), 5);
  EXPECT_GT(store->figures().commits_s, 0);
  EXPECT_EQ(store->figures().waiting, 0U);
}

TEST(Store, RunsWhatWaitsBeforeItCloses) {
  FaultyDisk disk;
  auto store = store_on(disk);
  int done = 0;
  for (int i = 0; i < 50; ++i) {
    store->transact([i](Transaction& transaction) { transaction.put(std::to_string(i), "x"); },
                    [&](CommitOutcome outcome) { done += outcome == CommitOutcome::kDone ? 1 : 0; });
  }
  store.reset();
  EXPECT_EQ(done, 50);
  EXPECT_EQ(store_on(disk)->revision(), 50);
}

TEST(Shelf, SharesWhatDoesNotChange) {
  ShelfDraft draft;
  std::vector<Shelf> taken;
  for (int i = 0; i < 3'000; ++i) {
    const std::string key = std::to_string(i * 7'919 % 3'000);
    draft.put(std::make_shared<const Record>(Record{key, "x", i}));
    if (i % 500 == 0) taken.push_back(draft.taken());
  }
  for (int i = 0; i < 3'000; ++i) {
    draft.erase(std::to_string(i));
    draft.erase("not there");
  }
  EXPECT_EQ(draft.now().size(), 0U);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const Shelf::Range all = taken[i].range("");
    EXPECT_EQ(taken[i].size(), i * 500 + 1);
    EXPECT_EQ(taken[i].count(all), taken[i].size());
    std::string last;
    for (auto at = all.from; at != all.to; at = taken[i].next(at)) {
      EXPECT_LT(last, taken[i].at(at)->key);
      last = taken[i].at(at)->key;
    }
  }
  EXPECT_EQ(taken[1].count(taken[1].range("\xff\xff")), 0U);
}

}  // namespace berth::store_test
