// Small replies over kept connections, and one event to a thousand watchers: what kubectl's and the agents' habits cost.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "web_server/raw_client.h"
#include "web_server/server.h"

namespace berth {
namespace {

constexpr std::string_view kGet = "GET /api/v1/pods/x HTTP/1.1\r\nHost: x\r\n\r\n";

void small_replies(benchmark::State& state) {
  const std::string body(1000, 'x');
  const auto server = WebServer::start(
      {}, [&](const HttpRequest&, const std::shared_ptr<Responder>& responder) { responder->reply({.body = body}); });
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 64; ++i) clients.push_back(std::make_unique<RawClient>((*server)->port()));
  for (auto _ : state) {
    for (const auto& client : clients) client->send(kGet);
    for (const auto& client : clients) benchmark::DoNotOptimize(client->read_reply());
  }
  state.SetItemsProcessed(state.iterations() * 64);
}
BENCHMARK(small_replies)->UseRealTime()->Unit(benchmark::kMillisecond);

void one_event_to_a_thousand_streams(benchmark::State& state) {
  std::mutex mutex;
  std::vector<std::shared_ptr<HttpStream>> streams;
  const auto server = WebServer::start({}, [&](const HttpRequest&, const std::shared_ptr<Responder>& responder) {
    auto stream = responder->start_stream(200, "application/json");
    const std::lock_guard lock(mutex);
    streams.push_back(std::move(stream));
  });
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 1000; ++i) {
    clients.push_back(std::make_unique<RawClient>((*server)->port()));
    clients.back()->send(kGet);
    clients.back()->read_to("\r\n\r\n");
  }
  const auto event = std::make_shared<const std::string>(2500, 'x');
  for (auto _ : state) {
    {
      const std::lock_guard lock(mutex);
      for (const auto& stream : streams) stream->write(event);
    }
    for (const auto& client : clients) benchmark::DoNotOptimize(client->read_chunk());
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(one_event_to_a_thousand_streams)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth
