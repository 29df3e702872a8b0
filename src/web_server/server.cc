#include "web_server/server.h"

#include "web_server/connection.h"  // before Boost: it configures Asio

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/wording.h"
#include "web_server/tls.h"

namespace berth {

namespace net = boost::asio;
using tcp = net::ip::tcp;
using Error = boost::system::error_code;

bool Shared::add(const std::shared_ptr<Connection>& connection) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || connections_.size() >= options.connections_max) return false;
  connections_.emplace(connection.get(), connection);
  return true;
}

void Shared::remove(const Connection* connection) {
  const std::lock_guard lock(mutex_);
  connections_.erase(connection);
}

std::vector<std::shared_ptr<Connection>> Shared::stop() {
  std::vector<std::shared_ptr<Connection>> open;
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  for (const auto& entry : connections_) {
    if (auto connection = entry.second.lock()) open.push_back(std::move(connection));
  }
  return open;
}

void Shared::shed_readers() {
  if (bytes_waiting <= options.all_bytes_waiting_max) return;
  const std::lock_guard lock(mutex_);
  while (bytes_waiting > options.all_bytes_waiting_max) {
    std::shared_ptr<Connection> slowest;
    std::size_t most = 0;
    for (const auto& entry : connections_) {
      auto connection = entry.second.lock();
      const std::size_t waiting = connection ? connection->bytes_waiting() : 0;
      if (waiting <= most) continue;
      most = waiting;
      slowest = std::move(connection);
    }
    if (!slowest) return;
    slowest->break_off();
  }
}

namespace {

class ListeningServer : public WebServer {
 public:
  explicit ListeningServer(std::shared_ptr<Shared> shared)
      : shared_(std::move(shared)),
        busy_(shared_->io.get_executor()),
        acceptor_(net::make_strand(shared_->io)),
        retry_(acceptor_.get_executor()) {}

  ~ListeningServer() override {
    net::post(acceptor_.get_executor(), [this] {
      stopping_ = true;
      Error ignored;
      acceptor_.close(ignored);
      retry_.cancel();
    });
    for (const auto& connection : shared_->stop()) connection->close();
    busy_.reset();
    for (std::thread& thread : threads_) thread.join();
  }

  Error listen(const tcp::endpoint& end) {
    Error error;
    acceptor_.open(end.protocol(), error);
    if (!error) acceptor_.set_option(net::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(end, error);
    if (!error) acceptor_.listen(net::socket_base::max_listen_connections, error);
    if (!error) port_ = acceptor_.local_endpoint(error).port();
    return error;
  }

  void serve() {
    accept();
    for (int i = 0; i < shared_->options.threads; ++i) {
      threads_.emplace_back([shared = shared_] { shared->io.run(); });
    }
  }

  std::uint16_t port() const override { return port_; }

 private:
  void accept() {
    acceptor_.async_accept(net::make_strand(shared_->io), [this](Error error, tcp::socket socket) {
      if (stopping_) return;
      if (error) return accept_later();
      const auto executor = socket.get_executor();
      auto connection = std::make_shared<Connection>(shared_, std::move(socket));
      if (shared_->add(connection)) net::post(executor, [connection] { connection->start(); });
      accept();
    });
  }

  // Out of file descriptors, mostly: trying again at once would only burn the processor until one is free.
  void accept_later() {
    retry_.expires_after(std::chrono::milliseconds(100));
    retry_.async_wait([this](Error) {
      if (!stopping_) accept();
    });
  }

  const std::shared_ptr<Shared> shared_;
  // While every connection waits for its handler there is nothing to run; the threads stay to close them all the same.
  net::executor_work_guard<net::io_context::executor_type> busy_;
  tcp::acceptor acceptor_;
  net::steady_timer retry_;
  bool stopping_ = false;  // of the acceptor's strand
  std::uint16_t port_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace

Result<std::unique_ptr<WebServer>> WebServer::start(WebServerOptions options, HttpHandler handler) {
  Error error;
  const net::ip::address address = net::ip::make_address(options.address, error);
  if (error) {
    return Complaints({"address"},
                      quote(options.address) + " is no IP address; give one such as 127.0.0.1, ::1 or 0.0.0.0");
  }
  if (options.threads < 1 || options.threads > 256) return Complaints({"threads"}, "give 1 to 256");
  if (options.idle_s < 1 || options.request_s < 1) return Complaints({"idle_s, request_s"}, "give 1 s or more");
  if (options.certificate.empty() && !address.is_loopback()) {
    return Complaints({"address"}, quote(options.address) +
                                       " can be reached by other machines, and plain HTTP carries " +
                                       "tokens in the clear; give certificate and private_key, or listen on 127.0.0.1");
  }
  if (options.certificate.empty() && !options.client_ca.empty()) {
    return Complaints({"client_ca"}, "needs TLS; give certificate and private_key too");
  }
  const tcp::endpoint end(address, options.port);
  auto shared = std::make_shared<Shared>(std::move(options), std::move(handler));
  if (!shared->options.certificate.empty()) {
    Result<TlsContext> context = make_tls_context(shared->options);
    if (!context) return context.error();
    shared->tls.emplace(context->release());
  }
  auto server = std::make_unique<ListeningServer>(shared);
  if (const Error refused = server->listen(end)) {
    return Complaints({shared->options.address + ":" + std::to_string(end.port())},
                      "cannot listen: " + refused.message() +
                          "; give an address of this machine and a free port that " +
                          "this user may open, or port 0 for any");
  }
  server->serve();
  return server;
}

}  // namespace berth
