// Backups that a running server makes: who may ask, what is refused, and that there is one at a time.
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "apiserver/backups.h"
#include "local_api/api_answers.h"
#include "local_api/local_transport.h"
#include "local_api/test_server.h"

namespace berth::backups_test {

namespace fs = std::filesystem;

// Gone with the test, whatever lies in it.
class BackupFolder {
 public:
  BackupFolder() = default;
  ~BackupFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  BackupFolder(const BackupFolder&) = delete;
  BackupFolder& operator=(const BackupFolder&) = delete;

  std::string path() const { return path_.string(); }
  ApiServerOptions options() const {
    ApiServerOptions options;
    options.backup_folder = path();
    return options;
  }

 private:
  const fs::path path_ =
      fs::temp_directory_path() / ("berth-backups-" + std::to_string(reinterpret_cast<std::uintptr_t>(this)));
};

std::string asking_for(const std::string& file) { return R"({"file":")" + file + R"("})"; }

TEST(Backup, IsAFileOfItsOwnThatCanBePutBack) {
  const BackupFolder folder;
  TestServer server(folder.options());
  ASSERT_EQ(server.call("POST", "/api/v1/namespaces/default/pods", pod_named("p1")).status, 201);
  const Revision revision = server.store().revision();
  const ApiAnswer answer = server.call("POST", std::string(kBackupPath), asking_for("one.db"));
  ASSERT_EQ(answer.status, 201) << answer.body;
  const Value made = object_of(answer);
  const std::string path = folder.path() + "/one.db";
  EXPECT_EQ(made["file"].text(), path);
  EXPECT_EQ(made["revision"].integer(), revision);
  EXPECT_EQ(made["bytes"].integer(), static_cast<std::int64_t>(fs::file_size(path)));
  EXPECT_EQ(fs::status(path).permissions() & fs::perms::all, fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::status(folder.path()).permissions() & fs::perms::all, fs::perms::owner_all);

  const std::string restored = folder.path() + "/restored.db";
  const auto reached = restore_store(path, restored);
  ASSERT_TRUE(reached) << reached.error().to_string();
  const auto store = Store::open(restored);
  ASSERT_TRUE(store) << store.error().to_string();
  EXPECT_TRUE((*store)->find("pods/default/p1"));
}

TEST(Backup, WhatAProcessLeftInTheMiddleIsInNobodysWay) {
  const BackupFolder folder;
  TestServer server(folder.options());
  fs::create_directories(folder.path() + "/full.db.part/a");
  const ApiAnswer refused = server.call("POST", std::string(kBackupPath), asking_for("full.db"));
  EXPECT_EQ(refused.status, 500);  // a folder that is not empty is nobody's leftover
  EXPECT_NE(refused.body.find("full.db.part"), std::string::npos) << refused.body;
  fs::remove_all(folder.path() + "/full.db.part");
  fs::copy_file(server.folder() / "objects.db", folder.path() + "/full.db.part");
  EXPECT_EQ(server.call("POST", std::string(kBackupPath), asking_for("full.db")).status, 201);
  EXPECT_FALSE(fs::exists(folder.path() + "/full.db.part"));
}

TEST(Backup, IsRefusedWithTheReason) {
  const BackupFolder folder;
  TestServer server(folder.options());
  const std::string long_name(101, 'x');
  ASSERT_EQ(server.call("POST", std::string(kBackupPath), asking_for("there.db")).status, 201);
  struct Case {
    const char* what;
    const char* method;
    std::string body;
    const char* user;
    int status;
    const char* message;  // a part of it
  };
  const Case cases[] = {
      {"no name", "POST", "{}", "admin", 400, "what is given is no name"},
      {"no object", "POST", "[]", "admin", 400, "no object"},
      {"no JSON", "POST", "{", "admin", 400, ""},
      {"a number", "POST", R"({"file":1})", "admin", 400, "what is given is no name"},
      {"another field", "POST", R"({"file":"a.db","path":"/"})", "admin", 400, "unknown field 'path'"},
      {"a path", "POST", asking_for("/etc/a.db"), "admin", 400, "is no name of a backup"},
      {"out of the folder", "POST", asking_for("../a.db"), "admin", 400, "is no name of a backup"},
      {"a dot in it", "POST", asking_for("a.b.db"), "admin", 400, "is no name of a backup"},
      {"nothing before the ending", "POST", asking_for(".db"), "admin", 400, "is no name of a backup"},
      {"no ending", "POST", asking_for("a"), "admin", 400, "is no name of a backup"},
      {"too long", "POST", asking_for(long_name + ".db"), "admin", 400, "at most 100"},
      {"there already", "POST", asking_for("there.db"), "admin", 409, "is there already"},
      {"another verb", "GET", "", "admin", 405, "made with POST"},
      {"somebody", "POST", asking_for("a.db"), "ann", 403, "cannot post path \\\"/berth/v1alpha1/backup\\\""},
      {"the scheduler", "POST", asking_for("a.db"), "system:berth-scheduler", 403, "cannot post path"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const ApiAnswer answer = server.call(c.method, std::string(kBackupPath), c.body, c.user);
    EXPECT_EQ(answer.status, c.status) << answer.body;
    EXPECT_NE(answer.body.find(c.message), std::string::npos) << answer.body;
  }
  TestServer without;
  EXPECT_EQ(without.call("POST", std::string(kBackupPath), asking_for("a.db")).status, 404);
}

TEST(Backup, IsForWhomeverARoleLetsPost) {
  const BackupFolder folder;
  TestServer server(folder.options());
  const std::string roles = "/apis/rbac.authorization.k8s.io/v1/";
  ASSERT_EQ(server
                .call("POST", roles + "clusterroles",
                      R"({"metadata":{"name":"keeper"},"rules":[
                          {"nonResourceURLs":["/berth/v1alpha1/backup"],"verbs":["post"]}]})")
                .status,
            201);
  ASSERT_EQ(server
                .call("POST", roles + "clusterrolebindings",
                      R"({"metadata":{"name":"keeper"},
                          "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"keeper"},
                          "subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"ann"}]})")
                .status,
            201);
  EXPECT_EQ(server.call("POST", std::string(kBackupPath), asking_for("a.db"), "ann").status, 201);
  EXPECT_EQ(server.call("POST", std::string(kBackupPath), asking_for("b.db"), "bob").status, 403);
}

// A store whose backups take until they are let go.
class SlowStore final : public Store {
 public:
  explicit SlowStore(Store& store) : store_(store) {}

  void wait_until_one_has_begun() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return begun_; });
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    may_end_ = true;
    changed_.notify_all();
  }

  Result<Revision> backup(const std::string& path) override {
    {
      std::unique_lock lock(mutex_);
      begun_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return may_end_; });
    }
    return store_.backup(path);
  }
  bool transact(std::function<void(Transaction&)> work, std::function<void(CommitOutcome)> done,
                std::string_view payer) override {
    return store_.transact(std::move(work), std::move(done), payer);
  }
  void drain() override { store_.drain(); }
  CommitOutcome transact_and_wait(std::function<void(Transaction&)> work) override {
    return store_.transact_and_wait(std::move(work));
  }
  RecordPtr find(std::string_view key) const override { return store_.find(key); }
  Listing list(std::string_view prefix, std::string_view after_key, std::size_t limit) const override {
    return store_.list(prefix, after_key, limit);
  }
  std::optional<Listing> list_at(Revision revision, std::string_view prefix, std::string_view after_key,
                                 std::size_t limit) const override {
    return store_.list_at(revision, prefix, after_key, limit);
  }
  Revision revision() const override { return store_.revision(); }
  Revision oldest_watchable() const override { return store_.oldest_watchable(); }
  std::shared_ptr<Watching> watch(std::string prefix, Revision after, Notice notice) override {
    return store_.watch(std::move(prefix), after, std::move(notice));
  }
  Complaints check() const override { return store_.check(); }
  std::int64_t epoch() const override { return store_.epoch(); }
  StoreFigures figures() const override { return store_.figures(); }

 private:
  Store& store_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool begun_ = false, may_end_ = false;
};

TEST(Backup, IsMadeOneAtATimeWhileOthersAreAnswered) {
  const BackupFolder folder;
  TestServer keeper;  // of a store
  SlowStore store(keeper.store());
  const auto server = ApiServer::make(store, folder.options());
  ASSERT_TRUE(server);
  const auto admin = connect_locally(**server, TestServer::user_named("admin"));
  const auto asked = [&](const std::string& file) {
    ApiCall call{.method = "POST", .path = std::string(kBackupPath), .body = asking_for(file)};
    auto answer = std::make_shared<std::promise<ApiAnswer>>();
    admin->send(std::move(call), [answer](ApiAnswer came) { answer->set_value(std::move(came)); });
    return answer->get_future();
  };
  auto first = asked("first.db");
  store.wait_until_one_has_begun();
  const ApiAnswer second = asked("second.db").get();
  EXPECT_EQ(second.status, 409);
  EXPECT_NE(second.body.find("another backup is being made"), std::string::npos) << second.body;
  ApiCall write{.method = "POST", .path = "/api/v1/namespaces/default/pods", .body = pod_named("p1")};
  EXPECT_EQ(send_and_wait(*admin, std::move(write)).status, 201);
  store.let_go();
  EXPECT_EQ(first.get().status, 201);
  EXPECT_EQ(asked("second.db").get().status, 201);
}

}  // namespace berth::backups_test
