#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "store/faulty_disk.h"
#include "store/store.h"
#include "store/test_stores.h"

namespace berth::backup_test {

void write_text(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

void run_sql(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
}

void put_many(Store& store, const std::string& prefix, int count) {
  store.transact_and_wait([&](Transaction& transaction) {
    for (int i = 0; i < count; ++i) transaction.put(prefix + std::to_string(i), std::string(200, 'x'));
  });
}

std::string complaint_of(const std::string& path) {
  const auto store = Store::open(path);
  return store ? "opened" : store.error().to_string();
}

TEST(OpenStore, SaysWhatIsWrongWithAFileAndWhatToDo) {
  struct Case {
    const char* name;
    std::function<void(const std::string& path)> spoil;  // a store of three changes, closed
    std::vector<const char*> words;
  };
  const Case cases[] = {
      {"text", [](const auto& path) { write_text(path, std::string(5'000, 'x')); }, {"is not a store", "backup"}},
      {"cut short", [](const auto& path) { std::filesystem::resize_file(path, 9'000); }, {"damaged", "backup"}},
      {"emptied", [](const auto& path) { std::filesystem::resize_file(path, 0); }, {"is missing", "3", "-mark"}},
      {"of another program", [](const auto& path) { run_sql(path, "PRAGMA application_id = 7"); }, {"another program"}},
      {"newer", [](const auto& path) { run_sql(path, "PRAGMA user_version = 9"); }, {"newer version", "format 9"}},
      {"older than any",
       [](const auto& path) { run_sql(path, "PRAGMA user_version = 0"); },
       {"damaged", "format is 0"}},
      {"without a table", [](const auto& path) { run_sql(path, "DROP TABLE versions"); }, {"damaged", "versions"}},
      {"without meta", [](const auto& path) { run_sql(path, "DELETE FROM meta"); }, {"damaged", "meta"}},
      {"other meta", [](const auto& path) { run_sql(path, "UPDATE meta SET revision = 9"); }, {"damaged", "meta"}},
      {"other bytes",
       [](const auto& path) { run_sql(path, "UPDATE versions SET bytes = x'00' WHERE revision = 2"); },
       {"damaged", "revision 2 of 'b'"}},
      {"a row less",
       [](const auto& path) { run_sql(path, "DELETE FROM versions WHERE revision = 2"); },
       {"damaged", "2 versions"}},
      {"gone",
       [](const auto& path) { std::filesystem::remove(path); },
       {"is missing", "revision 3", "delete", "-mark"}},
      {"put back from an older copy",
       [](const auto& path) {
         std::filesystem::copy(path, path + ".copy");
         put(**Store::open(path), "d", "4");
         std::filesystem::rename(path + ".copy", path);
       },
       {"ends at revision 3", "up to 4", "1 changes are missing", "-mark"}},
      {"another store",
       [](const auto& path) {
         put(**Store::open(path + ".other"), "d", "4");
         std::filesystem::rename(path + ".other", path);
       },
       {"not the store that was here before", "-mark"}},
      {"mark damaged",
       [](const auto& path) { write_text(path + "-mark", "nonsense"); },
       {"-mark", "damaged", "delete"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const TestFolder folder;
    const std::string path = folder.file("store.db");
    {
      const auto store = *Store::open(path);
      for (const char* key : {"a", "b", "c"}) put(*store, key, "1");
    }
    c.spoil(path);
    const std::string complaint = complaint_of(path);
    for (const char* word : c.words) EXPECT_NE(complaint.find(word), std::string::npos) << word << " in " << complaint;
    EXPECT_NE(complaint.find(path), std::string::npos) << complaint;
  }
}

TEST(OpenStore, SaysWhatIsWrongWithAName) {
  const TestFolder folder;
  EXPECT_NE(complaint_of("").find("no file name"), std::string::npos);
  EXPECT_NE(complaint_of(folder.file("missing/store.db")).find("cannot be opened"), std::string::npos);
  std::filesystem::create_directory(folder.file("folder"));
  EXPECT_NE(complaint_of(folder.file("folder")).find("cannot be opened"), std::string::npos);
  StoreOptions options;
  options.vfs = "no such disk";
  EXPECT_NE(Store::open(folder.file("store.db"), options).error().to_string().find("no SQLite VFS"), std::string::npos);
}

TEST(OpenStore, KeepsOthersOut) {
  const TestFolder folder;
  auto store = *Store::open(folder.file("store.db"));
  EXPECT_NE(complaint_of(folder.file("store.db")).find("in use by another process; stop"), std::string::npos);
  EXPECT_EQ(put(*store, "a", "1"), CommitOutcome::kDone);
  store.reset();
  EXPECT_EQ(complaint_of(folder.file("store.db")), "opened");
}

TEST(OpenStore, AcceptsALossWhoseMarkWasDeleted) {
  const TestFolder folder;
  const std::string path = folder.file("store.db");
  put(**Store::open(path), "a", "1");
  std::filesystem::copy(path, path + ".copy");
  put(**Store::open(path), "a", "2");
  std::filesystem::rename(path + ".copy", path);
  EXPECT_NE(complaint_of(path), "opened");
  std::filesystem::remove(path + "-mark");
  EXPECT_EQ(text_of((*Store::open(path))->list("").records), "a=1@1");
}

TEST(Backup, IsConsistentWhileEverythingGoesOn) {
  const TestFolder folder;
  const auto store = *Store::open(folder.file("store.db"));
  put_many(*store, "fixed/", 500);
  std::jthread writer([&](const std::stop_token& stop) {
    // Both are always equal.
    for (int i = 0; !stop.stop_requested(); ++i) {
      store->transact_and_wait([i](Transaction& transaction) {
        transaction.put("moving/1", std::to_string(i));
        transaction.put("moving/2", std::to_string(i));
      });
    }
  });
  for (int round = 0; round < 3; ++round) {
    const std::string path = folder.file("backup" + std::to_string(round));
    const auto revision = store->backup(path);
    ASSERT_TRUE(revision) << revision.error().to_string();
    const std::string restored = path + ".restored";
    ASSERT_EQ(restore_store(path, restored, 1'000), *revision + 1'000);
    const auto copy = *Store::open(restored);
    EXPECT_EQ(copy->list("fixed/").records.size(), 500U);
    EXPECT_EQ(copy->find("moving/1") == nullptr, copy->find("moving/2") == nullptr);
    EXPECT_TRUE(copy->find("moving/1") == nullptr || copy->find("moving/1")->bytes == copy->find("moving/2")->bytes);
    EXPECT_EQ(copy->check().to_string(), "");
  }
}

TEST(Restore, MakesTheSameObjectsWithANewEpochAndHigherRevisions) {
  const TestFolder folder;
  auto store = *Store::open(folder.file("store.db"));
  put(*store, "a", "1");
  put(*store, "b", "2");
  put(*store, "a", "3");
  erase(*store, "b");
  ASSERT_EQ(store->backup(folder.file("backup")), 4);
  put(*store, "a", "lost");
  const std::int64_t epoch = store->epoch();
  store.reset();
  std::filesystem::remove(folder.file("store.db"));  // and its mark stays
  ASSERT_EQ(restore_store(folder.file("backup"), folder.file("store.db")), 1'000'000'004);
  store = *Store::open(folder.file("store.db"));
  EXPECT_NE(store->epoch(), epoch);
  EXPECT_EQ(store->oldest_watchable(), 1'000'000'004);
  EXPECT_EQ(text_of(store->list("").records), "a=3@3");
  EXPECT_EQ(put(*store, "c", "5"), CommitOutcome::kDone);
  EXPECT_EQ(store->find("c")->revision, 1'000'000'005);
  EXPECT_EQ(store->watch("", 4, [](const ChangePtr&, Revision) {}), nullptr);
  EXPECT_EQ(text_of(store->list_at(1'000'000'004, "", "", 0)->records), "a=3@3");
  EXPECT_EQ(store->check().to_string(), "");
}

TEST(Restore, TakesAStoreThatIsClosedForABackup) {
  const TestFolder folder;
  {
    const auto store = *Store::open(folder.file("store.db"));
    put(*store, "a", "1");
    put(*store, "b", "2");
    put(*store, "a", "3");
    erase(*store, "b");
    const auto busy = restore_store(folder.file("store.db"), folder.file("new.db"));
    ASSERT_FALSE(busy);
    EXPECT_NE(busy.error().to_string().find("in use"), std::string::npos) << busy.error().to_string();
  }
  const auto restored = restore_store(folder.file("store.db"), folder.file("new.db"), 10);
  ASSERT_TRUE(restored) << restored.error().to_string();
  EXPECT_EQ(text_of((*Store::open(folder.file("new.db")))->list("").records), "a=3@3");
}

TEST(Restore, SaysWhatIsWrong) {
  const TestFolder folder;
  const std::string backup = folder.file("backup");
  const std::string path = folder.file("new.db");
  {
    const auto store = *Store::open(folder.file("store.db"));
    put_many(*store, "", 200);
    ASSERT_TRUE(store->backup(backup));
    const auto again = store->backup(backup);
    ASSERT_FALSE(again);
    EXPECT_NE(again.error().to_string().find("is there already"), std::string::npos);
  }
  const auto complaint = [&](const std::string& from, const std::string& to, Revision ahead) {
    const auto restored = restore_store(from, to, ahead);
    return restored ? "restored" : restored.error().to_string();
  };
  EXPECT_NE(complaint(backup, folder.file("store.db"), 1).find("is there already"), std::string::npos);
  EXPECT_NE(complaint(folder.file("none"), path, 1).find("cannot be opened"), std::string::npos);
  EXPECT_NE(complaint(backup, path, -1).find("name a number"), std::string::npos);
  EXPECT_NE(complaint(backup, path, std::int64_t{1} << 62).find("name a number"), std::string::npos);
  write_text(folder.file("empty"), "");
  EXPECT_NE(complaint(folder.file("empty"), path, 1).find("no backup"), std::string::npos);
  std::fstream file(backup, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(30'000).put('y');
  file.close();
  EXPECT_NE(complaint(backup, path, 1).find("does not match its checksum"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Backup, ThatFailsLeavesNothing) {
  FaultyDisk disk;
  StoreOptions options;
  options.vfs = disk.vfs();
  const auto store = *Store::open("store.db", options);
  put(*store, "a", "1");
  disk.fail_after(0, FaultyDisk::Failure::kDiskFull);
  const auto backup = store->backup("backup");
  ASSERT_FALSE(backup);
  EXPECT_NE(backup.error().to_string().find("disk is full"), std::string::npos) << backup.error().to_string();
  disk.heal();
  EXPECT_EQ(disk.size("backup"), 0U);
  EXPECT_TRUE(store->backup("backup"));
}

}  // namespace berth::backup_test
