// An API server for tests of any room: a store in a folder of its own, a clock that stands where the test put it, and
// calls as anybody. Removes its folder at the end.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/api_server.h"
#include "kube/transport.h"
#include "manifest/value.h"
#include "store/store.h"

namespace berth {

class TestServer {
 public:
  explicit TestServer(ApiServerOptions options = {}, StoreOptions store_options = {});
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  // Waits for the answer. "admin" is in system:masters; any other user is only system:authenticated. A body that begins
  // with a patch of a list is a JSON patch, other patches are merge patches.
  ApiAnswer call(std::string_view method, std::string path, std::string body = {}, const std::string& user = "admin");
  ApiAnswer call(ApiCall call, const std::string& user = "admin");

  // A transport that lives as long as the server.
  std::unique_ptr<Transport> transport(const std::string& user = "admin");
  std::unique_ptr<Transport> transport(User user);
  static User user_named(const std::string& name);

  Time now() const { return {now_ms_.load()}; }
  void set_now(Time now) { now_ms_ = now.ms; }
  void advance(Duration by) { now_ms_ += by.ms; }

  Store& store() { return *store_; }
  ApiServer& server() { return *server_; }
  const std::filesystem::path& folder() const { return folder_; }
  std::string log_folder() const { return (folder_ / "logs").string(); }
  // Ends the server and opens the same store again with a new one.
  void restart();

 private:
  void open();

  std::filesystem::path folder_;
  ApiServerOptions options_;
  StoreOptions store_options_;
  std::atomic<std::int64_t> now_ms_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<ApiServer> server_;
};

}  // namespace berth
