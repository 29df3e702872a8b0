#include "local_api/test_server.h"

#include <stdlib.h>  // mkdtemp

#include <future>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "local_api/local_transport.h"

namespace berth {
namespace {

// 2026-11-21T07:00:00Z
constexpr std::int64_t kBegin_ms = 1'795'244'400'000;
constexpr std::uint64_t kSeed = 20'261'121;

std::filesystem::path new_folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "berth-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a folder like " + pattern);
  return pattern;
}

}  // namespace

TestServer::TestServer(ApiServerOptions options, StoreOptions store_options)
    : folder_(new_folder()),
      options_(std::move(options)),
      store_options_(std::move(store_options)),
      now_ms_(kBegin_ms) {
  if (!options_.now) options_.now = [this] { return now(); };
  if (options_.seed == 0) options_.seed = kSeed;
  if (options_.log_folder.empty()) options_.log_folder = log_folder();
  std::filesystem::create_directories(options_.log_folder);
  open();
}

TestServer::~TestServer() {
  server_.reset();
  store_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void TestServer::open() {
  auto store = Store::open((folder_ / "objects.db").string(), store_options_);
  if (!store) throw std::runtime_error(store.error().to_string());
  store_ = *std::move(store);
  auto server = ApiServer::make(*store_, options_);
  if (!server) throw std::runtime_error(server.error().to_string());
  server_ = *std::move(server);
}

void TestServer::restart() {
  server_.reset();
  store_.reset();
  ++options_.seed;  // the same names again would be somebody else's
  open();
}

User TestServer::user_named(const std::string& name) {
  User user{.name = name, .uid = {}, .groups = {"system:authenticated"}, .extra = {}};
  if (name == "admin") user.groups.insert(user.groups.begin(), kMasters);
  if (name == "system:berth-node-agent") user.groups.insert(user.groups.begin(), "system:nodes");
  return user;
}

std::unique_ptr<Transport> TestServer::transport(const std::string& user) { return transport(user_named(user)); }

std::unique_ptr<Transport> TestServer::transport(User user) { return connect_locally(*server_, std::move(user)); }

ApiAnswer TestServer::call(std::string_view method, std::string path, std::string body, const std::string& user) {
  ApiCall call;
  call.method = std::string(method);
  call.path = std::move(path);
  if (method == "PATCH") {
    call.content_type = body.starts_with('[') ? "application/json-patch+json" : "application/merge-patch+json";
  }
  call.body = std::move(body);
  return this->call(std::move(call), user);
}

ApiAnswer TestServer::call(ApiCall call, const std::string& user) {
  const auto answered = std::make_shared<std::promise<ApiAnswer>>();
  auto future = answered->get_future();
  transport(user)->send(std::move(call), [answered](ApiAnswer answer) { answered->set_value(std::move(answer)); });
  return future.get();
}

}  // namespace berth
