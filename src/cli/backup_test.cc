// Backup, restore and doctor as they are typed, against a server that is a process of its own and is killed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "cli/connection.h"
#include "cli/store_files.h"
#include "client/asking.h"
#include "manifest/json.h"
#include "sim/files.h"
#include "store/store.h"

namespace berth::backup_test {

namespace fs = std::filesystem;

struct Said {
  int exit_code = 0;
  std::string out;
  std::string err;
};

int run_words(std::vector<std::string> words) {
  words.insert(words.begin(), "berth");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return run_command_line(static_cast<int>(argv.size()), argv.data());
}

Said typed(const std::vector<std::string>& words) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Said said;
  said.exit_code = run_words(words);
  std::fflush(stdout);
  said.out = testing::internal::GetCapturedStdout();
  said.err = testing::internal::GetCapturedStderr();
  return said;
}

// `berth apiserver` on a folder. Ends as crashes end.
class ServerProcess {
 public:
  explicit ServerProcess(const std::string& data) : kubeconfig_(data + "/kubeconfig") {
    fs::remove(kubeconfig_);
    pid_ = fork();
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int log = open((data + ".log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    _exit(run_words({"apiserver", "--data", data, "--listen", "127.0.0.1:0"}));
  }
  ~ServerProcess() { kill_it(); }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // False: it ended instead.
  bool answers() {
    while (!fs::exists(kubeconfig_)) {
      if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
        pid_ = 0;
        return false;
      }
      usleep(5'000);
    }
    return true;
  }
  void kill_it() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  const std::string& kubeconfig() const { return kubeconfig_; }

 private:
  const std::string kubeconfig_;
  pid_t pid_ = 0;
};

class BackupCommands : public testing::Test {
 private:
  const fs::path folder_ =
      fs::temp_directory_path() / ("berth-backup-" + std::to_string(reinterpret_cast<std::uintptr_t>(this)));

 protected:
  BackupCommands() { fs::create_directories(folder_); }
  ~BackupCommands() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  const std::string data = path("data");

  // A store with one object.
  std::string store_with(const std::string& file, const std::string& key) const {
    const auto store = Store::open(path(file));
    (*store)->transact_and_wait([&](Transaction& transaction) { transaction.put(key, "{}"); });
    return path(file);
  }
  std::string backup_of(const std::string& store_path, const std::string& file) const {
    const auto store = Store::open(store_path);
    EXPECT_TRUE((*store)->backup(path(file)));
    return path(file);
  }
};

int create_map(Transport& cluster, const std::string& name) {
  ApiCall call{.method = "POST", .path = "/api/v1/namespaces/default/configmaps"};
  call.body = R"({"metadata":{"name":")" + name + R"("},"data":{"of":")" + name + R"("}})";
  return send_and_wait(cluster, std::move(call)).status;
}

Value configmaps(Transport& cluster, const std::string& query = "") {
  ApiCall call;
  call.path = "/api/v1/configmaps" + query;
  const auto list = parse_json(send_and_wait(cluster, std::move(call)).body);
  return list ? *list : Value();
}

std::int64_t revision_of(const Value& list) {
  return std::stoll("0" + std::string(list["metadata"]["resourceVersion"].text()));
}

TEST_F(BackupCommands, TakeAClusterBackToTheBackupAndItsRevisionsForward) {
  Value then;
  std::int64_t reached = 0;
  {
    ServerProcess server(data);
    ASSERT_TRUE(server.answers()) << *read_file(data + ".log");
    const auto cluster = connect({.kubeconfig = server.kubeconfig()});
    ASSERT_TRUE(cluster);
    for (int i = 0; i < 20; ++i) ASSERT_EQ(create_map(*cluster->transport, "before-" + std::to_string(i)), 201);
    std::atomic<bool> enough = false;
    std::atomic<int> written = 0;
    std::thread writer([&] {
      for (int i = 0; !enough || i < 10; ++i) {
        if (create_map(*cluster->transport, "during-" + std::to_string(i)) == 201) ++written;
      }
    });
    while (written < 3) usleep(1'000);
    const Said said = typed({"backup", "story", "--kubeconfig", server.kubeconfig()});
    enough = true;
    writer.join();
    ASSERT_EQ(said.exit_code, kExitDone) << said.err;
    ASSERT_TRUE(said.out.starts_with(data + "/backups/story.db\nrevision ")) << said.out;
    const std::string revision = std::to_string(std::stoll(said.out.substr(said.out.find("revision ") + 9)));
    then = configmaps(*cluster->transport, "?resourceVersion=" + revision + "&resourceVersionMatch=Exact");
    ASSERT_GE(then["items"].items().size(), 23U);
    for (int i = 0; i < 20; ++i) ASSERT_EQ(create_map(*cluster->transport, "after-" + std::to_string(i)), 201);
    reached = revision_of(configmaps(*cluster->transport));
    ASSERT_GT(reached, std::stoll(revision));

    const Said busy = typed({"restore", data + "/backups/story.db", "--data", data, "--replace"});
    EXPECT_EQ(busy.exit_code, kExitFailed);
    EXPECT_NE(busy.err.find("in use by a running server"), std::string::npos) << busy.err;
    const Said again = typed({"backup", "story", "--kubeconfig", server.kubeconfig()});
    EXPECT_EQ(again.exit_code, kExitConflict);
    EXPECT_NE(again.err.find("is there already; name another\n"), std::string::npos) << again.err;
    server.kill_it();
  }
  const std::string authority = *read_file(data + "/pki/ca.crt");
  const Said kept = typed({"restore", data + "/backups/story.db", "--data", data});
  EXPECT_EQ(kept.exit_code, kExitFailed);
  EXPECT_NE(kept.err.find("--replace"), std::string::npos) << kept.err;
  const Said restored = typed({"restore", data + "/backups/story.db", "--data", data, "--replace"});
  ASSERT_EQ(restored.exit_code, kExitDone) << restored.err;
  EXPECT_NE(restored.out.find("What was there before: " + data + "/store.db.before-"), std::string::npos);

  ServerProcess server(data);
  ASSERT_TRUE(server.answers()) << *read_file(data + ".log");
  const auto cluster = connect({.kubeconfig = server.kubeconfig()});
  ASSERT_TRUE(cluster);
  const Value now = configmaps(*cluster->transport);
  EXPECT_EQ(now["items"], then["items"]);
  EXPECT_GT(revision_of(now), reached);
  EXPECT_EQ(create_map(*cluster->transport, "after-0"), 201);
  EXPECT_EQ(*read_file(data + "/pki/ca.crt"), authority);
}

TEST_F(BackupCommands, KeepWhatWasThereAsAStoreThatOpens) {
  const std::string backup = backup_of(store_with("first.db", "a/n/1"), "backup");
  fs::create_directories(data);
  store_with("data/store.db", "b/n/2");
  std::set<std::string> old_stores;
  for (int round = 0; round < 3; ++round) {  // within one second, as far as names go
    const auto done = put_back(backup, data + "/store.db", true, Time{1'795'244'400'000});
    ASSERT_TRUE(done) << done.error().to_string();
    EXPECT_TRUE(old_stores.insert(done->old_path).second) << done->old_path;
  }
  const std::string oldest = data + "/store.db.before-20261121T070000Z";
  ASSERT_TRUE(old_stores.contains(oldest));
  EXPECT_TRUE(fs::exists(oldest + "-mark"));
  EXPECT_FALSE(fs::exists(data + "/store.db-mark"));
  EXPECT_TRUE((*Store::open(oldest))->find("b/n/2"));
  const auto store = Store::open(data + "/store.db");
  ASSERT_TRUE(store) << store.error().to_string();
  EXPECT_TRUE((*store)->find("a/n/1"));
  EXPECT_FALSE((*store)->find("b/n/2"));
}

TEST_F(BackupCommands, LeaveEverythingWhenTheBackupIsNone) {
  fs::create_directories(data);
  store_with("data/store.db", "a/n/1");
  const std::string text = path("notes.txt");
  std::ofstream(text) << std::string(20'000, 'x');
  for (const std::string& backup : {text, path("missing.db")}) {
    const Said said = typed({"restore", backup, "--data", data, "--replace"});
    EXPECT_EQ(said.exit_code, kExitFailed);
    EXPECT_NE(said.err.find(backup), std::string::npos) << said.err;
    EXPECT_EQ(said.out, "");
  }
  EXPECT_TRUE((*Store::open(data + "/store.db"))->find("a/n/1"));
  EXPECT_FALSE(fs::exists(data + "/store.db.restoring"));
}

TEST_F(BackupCommands, SayAllThatStandsInTheWayAtOnce) {
  fs::create_directories(data);
  store_with("data/store.db", "a/n/1");
  const Said said = typed({"restore", path("missing.db"), "--data", data});
  EXPECT_EQ(said.exit_code, kExitFailed);
  EXPECT_NE(said.err.find("missing.db: is not there"), std::string::npos) << said.err;
  EXPECT_NE(said.err.find("--replace"), std::string::npos) << said.err;
}

TEST_F(BackupCommands, DoWithoutAServer) {
  fs::create_directories(data);
  store_with("data/store.db", "a/n/1");
  const Said said = typed({"backup", "quiet_1", "--data", data});
  ASSERT_EQ(said.exit_code, kExitDone) << said.err;
  EXPECT_TRUE(said.out.starts_with(data + "/backups/quiet_1.db\nrevision 1, ")) << said.out;
  const Said elsewhere = typed({"restore", data + "/backups/quiet_1.db", "--data", path("other")});
  ASSERT_EQ(elsewhere.exit_code, kExitDone) << elsewhere.err;
  EXPECT_EQ(elsewhere.out.find("What was there before"), std::string::npos) << elsewhere.out;
  EXPECT_TRUE((*Store::open(path("other/store.db")))->find("a/n/1"));
}

TEST_F(BackupCommands, SayWhatToTypeInstead) {
  fs::create_directories(data);
  struct Case {
    std::vector<std::string> words;
    int exit_code;
    const char* complaint;
  };
  const Case cases[] = {
      {{"backup", "a/b", "--data", data}, kExitBadInput, "'a/b.db' is no name of a backup"},
      {{"backup", "a", "--data", data}, kExitBadInput, "there is no store"},
      {{"backup", "a", "--data", data, "--kubeconfig", "k"}, kExitBadInput, "say one of them"},
      {{"backup", "a", "--kubeconfig", path("none")}, kExitBadInput, "none"},
      {{"restore"}, kExitBadInput, "BACKUP"},
      {{"doctor", "--data", path("nowhere")}, kExitBadInput, "is no folder"},
      {{"doctor", "--data", data, "-o", "yaml"}, kExitBadInput, "yaml"},
  };
  for (const Case& c : cases) {
    const Said said = typed(c.words);
    EXPECT_EQ(said.exit_code, c.exit_code) << said.err;
    EXPECT_NE(said.err.find(c.complaint), std::string::npos) << said.err;
    EXPECT_EQ(said.out, "");
  }
}

// "ok", "warn" or "fail"; empty if it was not checked.
std::string result_of(const std::string& json, const std::string& check) {
  const auto report = parse_json(json);
  if (!report) return json;
  for (const Value& each : (*report)["checks"].items()) {
    if (each["check"].text() == check) return std::string(each["result"].text());
  }
  return "";
}

TEST_F(BackupCommands, DoctorLooksAtAServedFolderAndAtOneThatIsNot) {
  {
    ServerProcess server(data);
    ASSERT_TRUE(server.answers()) << *read_file(data + ".log");
    fs::create_directories(data + "/logs/some-uid");
    const Said said = typed({"doctor", "--data", data, "-o", "json"});
    EXPECT_EQ(said.exit_code, kExitFailed);  // no scheduler
    for (const auto& [check, result] : std::vector<std::pair<std::string, std::string>>{{"permissions", "ok"},
                                                                                        {"store", "ok"},
                                                                                        {"journal", "ok"},
                                                                                        {"server", "ok"},
                                                                                        {"scheduler", "fail"},
                                                                                        {"nodes", "warn"},
                                                                                        {"waiting pods", "ok"},
                                                                                        {"bound pods", "ok"},
                                                                                        {"log folders", "warn"}}) {
      EXPECT_EQ(result_of(said.out, check), result) << check << "\n" << said.out;
    }
    const Said backup = typed({"backup", "a", "--data", data});
    EXPECT_EQ(backup.exit_code, kExitBadInput);
    EXPECT_NE(backup.err.find("--kubeconfig"), std::string::npos) << backup.err;
    server.kill_it();
  }
  const Said quiet = typed({"doctor", "--data", data});
  EXPECT_EQ(quiet.exit_code, kExitDone) << quiet.out;
  EXPECT_NE(quiet.out.find("sound: "), std::string::npos) << quiet.out;
  EXPECT_NE(quiet.out.find("none runs on this folder"), std::string::npos) << quiet.out;
  const Said asked = typed({"doctor", "--data", data, "--kubeconfig", data + "/kubeconfig", "-o", "json"});
  EXPECT_EQ(asked.exit_code, kExitFailed);
  EXPECT_EQ(result_of(asked.out, "server"), "fail") << asked.out;

  chmod((data + "/pki/ca.key").c_str(), 0644);
  fs::resize_file(data + "/store.db", 4'096);
  const Said broken = typed({"doctor", "--data", data, "-o", "json"});
  EXPECT_EQ(broken.exit_code, kExitFailed);
  EXPECT_EQ(result_of(broken.out, "permissions"), "fail") << broken.out;
  EXPECT_EQ(result_of(broken.out, "store"), "fail") << broken.out;
}

}  // namespace berth::backup_test
