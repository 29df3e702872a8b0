#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"
#include "store/faulty_disk.h"
#include "store/store.h"
#include "store/test_stores.h"

namespace berth::store_property_test {

using Model = std::map<std::string, std::string>;  // key to "bytes@revision"

Model model_of(const std::vector<RecordPtr>& records) {
  Model model;
  for (const RecordPtr& record : records) model[record->key] = record->bytes + "@" + std::to_string(record->revision);
  return model;
}

void apply(Model& model, const Change& change) {
  if (change.after) {
    model[change.key()] = change.after->bytes + "@" + std::to_string(change.revision);
  } else {
    EXPECT_EQ(model.erase(change.key()), 1U);
  }
}

// A store, and what it should hold now and held after every revision.
class History {
 public:
  explicit History(Rng& rng) : rng_(rng) { open(); }

  Store& store() { return *store_; }
  Revision revision() const { return static_cast<Revision>(past_.size()) - 1; }
  const Model& at(Revision revision) const { return past_[static_cast<std::size_t>(revision)]; }

  void open() {
    store_.reset();
    StoreOptions options;
    options.vfs = disk_.vfs();
    options.changes_kept_max = rng_.between(0, 40);
    store_ = *Store::open("store.db", options);
  }

  void write() {
    store_->transact_and_wait([this](Transaction& transaction) {
      for (std::uint64_t changes = rng_.below(6); changes > 0; --changes) change_one(transaction);
    });
  }

 private:
  void change_one(Transaction& transaction) {
    const std::string key =
        std::string(1, static_cast<char>('a' + rng_.below(3))) + "/" + std::to_string(rng_.below(8));
    Model next = past_.back();
    EXPECT_EQ(transaction.find(key) != nullptr, next.contains(key));
    if (next.contains(key) && rng_.below(3) == 0) {
      transaction.erase(key, "last");
      next.erase(key);
    } else {
      const std::size_t size = rng_.below(4) == 0 ? 9'000 : 5;
      const std::string bytes(size, static_cast<char>('0' + rng_.below(10)));
      next[key] = bytes + "@" + std::to_string(transaction.put(key, bytes));
    }
    past_.push_back(std::move(next));
  }

  Rng& rng_;
  FaultyDisk disk_;
  std::unique_ptr<Store> store_;
  std::vector<Model> past_ = {{}};
};

// All pages of a listing, of random sizes, put together.
Model in_pages(const Store& store, Revision revision, const std::string& prefix, Rng& rng) {
  Model all;
  std::string after;
  while (true) {
    const auto page = store.list_at(revision, prefix, after, 1 + rng.below(5));
    EXPECT_EQ(page->revision, revision);
    all.merge(model_of(page->records));
    if (!page->more) return all;
    after = page->records.back()->key;
  }
}

Model part_of(const Model& model, const std::string& prefix) {
  Model part = model;
  std::erase_if(part, [&](const auto& entry) { return !entry.first.starts_with(prefix); });
  return part;
}

TEST(StoreProperty, EqualsAMapNowAndInThePast) {
  for (const Seed seed : property_seeds(10)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    History history(rng);
    for (int step = 0; step < 120; ++step) {
      history.write();
      if (rng.below(15) == 0) history.open();
      Store& store = history.store();
      ASSERT_EQ(store.revision(), history.revision());
      ASSERT_EQ(model_of(store.list("").records), history.at(store.revision()));
      const Revision then = rng.between(0, store.revision());
      const char first = static_cast<char>('a' + rng.below(3));
      const std::string prefix(rng.below(2), first);
      const bool reached = store.list_at(then, "", "", 0).has_value();
      ASSERT_EQ(reached, then >= store.oldest_watchable());
      if (reached) {
        ASSERT_EQ(in_pages(store, then, prefix, rng), part_of(history.at(then), prefix));
      }
    }
    EXPECT_EQ(history.store().check().to_string(), "");
  }
}

TEST(StoreProperty, AWatchFromAnyRevisionLeadsToThePresent) {
  for (const Seed seed : property_seeds(10)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    History history(rng);
    for (int round = 0; round < 10; ++round) {
      for (int step = 0; step < 10; ++step) history.write();
      if (rng.below(2) == 0) history.open();
      const Revision from = history.store().oldest_watchable();
      Told told;
      const auto watching = history.store().watch("", from, told.notice());
      told.until(from == history.revision() ? 0 : history.revision());
      Model model = history.at(from);
      Revision next = from + 1;
      for (const ChangePtr& change : told.changes()) {
        ASSERT_EQ(change->revision, next++);
        apply(model, *change);
      }
      ASSERT_EQ(model, history.at(history.revision()));
    }
  }
}

// A watch of everything and one of a part, begun at any time.
struct Witness {
  explicit Witness(Store& store, std::string its_prefix) : prefix(std::move(its_prefix)) {
    const auto begin = store.list(prefix);
    model = model_of(begin.records);
    seen = begin.revision;
    watching = store.watch(prefix, begin.revision, [this](const ChangePtr& change, Revision now) {
      if (!change) return;
      in_order = in_order && now > seen && (!prefix.empty() || now == seen + 1);
      apply(model, *change);
      seen = now;
      seen.notify_all();
    });
  }

  void until(Revision revision) {
    for (Revision now = seen; now < revision; now = seen) seen.wait(now);
    watching.reset();
  }

  std::string prefix;
  Model model;
  std::atomic<Revision> seen = 0;
  bool in_order = true;
  std::shared_ptr<Watching> watching;
};

void write_as(Store& store, Seed seed, int writer, int transactions) {
  Rng rng(seed, static_cast<std::uint64_t>(writer));
  for (int i = 0; i < transactions; ++i) {
    const std::string key = std::string(1, static_cast<char>('a' + rng.below(2))) + std::to_string(rng.below(10));
    const auto change = [key, i, ending = rng.below(3) == 0](Transaction& transaction) {
      if (ending && transaction.find(key)) {
        transaction.erase(key, "last");
      } else {
        transaction.put(key, std::to_string(i));
      }
    };
    if (rng.below(4) == 0) {
      EXPECT_EQ(store.transact_and_wait(change), CommitOutcome::kDone);
    } else {
      EXPECT_TRUE(store.transact(change, nullptr));
    }
  }
}

TEST(StoreProperty, EveryWatchSeesEachChangeOnceWhileManyWrite) {
  for (const Seed seed : property_seeds(5)) {
    SCOPED_TRACE(name_of(seed));
    FaultyDisk disk;
    StoreOptions options;
    options.vfs = disk.vfs();
    const auto store = *Store::open("store.db", options);
    std::vector<std::unique_ptr<Witness>> witnesses;
    {
      std::vector<std::jthread> writers;
      for (int writer = 0; writer < 4; ++writer) {
        writers.emplace_back([&store, seed, writer] { write_as(*store, seed, writer, 250); });
      }
      for (const char* prefix : {"", "a", "b", "", "a", "c"})
        witnesses.push_back(std::make_unique<Witness>(*store, prefix));
    }
    put(*store, "a", "the end");
    put(*store, "b", "the end");
    put(*store, "c", "the end");
    for (const auto& witness : witnesses) {
      const auto end = store->find(witness->prefix.empty() ? "c" : witness->prefix);
      witness->until(end->revision);
      EXPECT_TRUE(witness->in_order);
      EXPECT_EQ(witness->model, model_of(store->list(witness->prefix).records));
    }
    for (const Revision then : {Revision{0}, store->revision() / 2}) {
      EXPECT_EQ(store->list_at(then, "", "", 0)->revision, then);
    }
    EXPECT_EQ(store->check().to_string(), "");
  }
}

}  // namespace berth::store_property_test
