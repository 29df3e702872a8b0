// The control plane as its users meet it: TLS, JSON, SQLite with every acknowledged write on disk. Server, scheduler and
// clients share this process and its cores, so the figures are lower bounds.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agent/simulated_nodes.h"
#include "apiserver/api_server.h"
#include "cli/control_plane.h"
#include "kube/curl_transport.h"
#include "kube/mirror.h"
#include "manifest/json.h"
#include "service/live_scheduler.h"
#include "store/store.h"
#include "web_server/server.h"

namespace berth {
namespace {

using Clock = std::chrono::steady_clock;

// Waits until `count` things have been noted.
class Countdown {
 public:
  explicit Countdown(std::int64_t count) : left_(count) {}
  void note() {
    const std::lock_guard hold(mutex_);
    if (--left_ == 0) done_.notify_all();
  }
  void wait() {
    std::unique_lock hold(mutex_);
    done_.wait(hold, [this] { return left_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  std::int64_t left_;
};

// A server on a free port, with a folder that is removed at the end.
class ControlPlane {
 public:
  ControlPlane() : path_(std::filesystem::temp_directory_path() / ("berth-bench-" + random_token(6))), folder_(path_) {
    static_cast<void>(folder_.make());
    open();
  }
  ~ControlPlane() {
    close();
    std::filesystem::remove_all(path_);
  }

  void open() {
    store_ = std::move(Store::open(folder_.store()).value());
    ApiServerOptions options;
    options.now = system_wall_clock();
    api_ = std::move(ApiServer::make(*store_, std::move(options)).value());
    const ServerIdentity identity = load_or_make_identity(folder_, {"127.0.0.1", 0}).value();
    WebServerOptions web;
    web.certificate = identity.server.certificate;
    web.private_key = identity.server.private_key;
    web.client_ca = identity.authority.certificate;
    web_ = std::move(WebServer::start(web, [this](HttpRequest request, std::shared_ptr<Responder> responder) {
                       api_->handle(std::move(request), std::move(responder));
                     }).value());
    static_cast<void>(write_kubeconfigs(folder_, identity, url_of({"127.0.0.1", web_->port()})));
  }
  void close() {
    web_.reset();
    api_.reset();
    store_.reset();
  }

  std::unique_ptr<Transport> connect(int connections) {
    KubeconfigQuestion question;
    question.path = folder_.kubeconfig();
    CurlOptions options;
    options.connections_max = connections;
    options.in_flight_max = static_cast<std::size_t>(connections);
    return std::move(connect_by_curl(load_kubeconfig(question).value(), options).value());
  }

 private:
  std::filesystem::path path_;
  DataFolder folder_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<ApiServer> api_;
  std::unique_ptr<WebServer> web_;
};

// About 2.5 KB as stored, as a training pod has it.
ApiCall create_pod(const std::string& name, int gpus) {
  std::string environment;
  for (int i = 0; i < 12; ++i) {
    environment += (i > 0 ? "," : "") + std::string(R"({"name":"SETTING_)") + std::to_string(i) +
                   R"(","value":"some-value-of-usual-length-)" + std::to_string(i) + "\"}";
  }
  ApiCall call;
  call.method = "POST";
  call.path = api_path("pods", "default");
  call.body = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
              R"(","labels":{"app":"bench"}},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":)"
              R"("registry/train:1","command":["python","train.py"],"env":[)" +
              environment + R"(],"resources":{"limits":{"nvidia.com/gpu":")" + std::to_string(gpus) +
              R"(","cpu":"1","memory":"1Gi"}}}]}})";
  return call;
}

void create_pods(Transport& client, const std::string& prefix, std::int64_t count, int gpus) {
  Countdown answered(count);
  for (std::int64_t i = 0; i < count; ++i) {
    client.send(create_pod(prefix + std::to_string(i), gpus), [&](const ApiAnswer& answer) {
      if (!answer.ok()) std::fprintf(stderr, "create: %d %s\n", answer.status, answer.body.c_str());
      answered.note();
    });
  }
  answered.wait();
}

void create_with_64_clients(benchmark::State& state) {
  ControlPlane plane;
  const auto client = plane.connect(64);
  std::int64_t round = 0;
  constexpr std::int64_t kPods = 5000;
  for (auto _ : state) create_pods(*client, "r" + std::to_string(round++) + "-", kPods, 1);
  state.SetItemsProcessed(state.iterations() * kPods);
}
BENCHMARK(create_with_64_clients)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);

void list_10000_pods(benchmark::State& state) {
  ControlPlane plane;
  const auto client = plane.connect(64);
  create_pods(*client, "p", 10'000, 1);
  ApiCall list;
  list.path = api_path("pods", "default");
  for (auto _ : state) benchmark::DoNotOptimize(send_and_wait(*client, list));
}
BENCHMARK(list_10000_pods)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(10);

void one_change_to_1000_watchers(benchmark::State& state) {
  ControlPlane plane;
  const auto client = plane.connect(64);
  const auto watcher = plane.connect(1000);
  std::atomic<Countdown*> expected = nullptr;
  std::vector<std::unique_ptr<ApiStream>> streams;
  constexpr int kWatchers = 1000;
  Countdown ready(kWatchers);
  ApiCall call;
  call.path = api_path("configmaps", "default") + "?watch=true";
  ApiCall first;
  first.method = "POST";
  first.path = api_path("configmaps", "default");
  first.body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"n":"0"}})";
  send_and_wait(*client, first);
  for (int i = 0; i < kWatchers; ++i) {
    streams.push_back(watcher->stream(
        call,
        [&, began = false](std::string_view) mutable {
          if (std::exchange(began, true)) {
            if (Countdown* const now = expected) now->note();
          } else {
            ready.note();
          }
        },
        [](const ApiAnswer&) {}));
  }
  ready.wait();
  std::int64_t number = 1;
  for (auto _ : state) {
    Countdown told(kWatchers);
    expected = &told;
    ApiCall change;
    change.method = "PATCH";
    change.path = api_path("configmaps", "default", "c");
    change.content_type = "application/merge-patch+json";
    change.body = R"({"data":{"n":")" + std::to_string(number++) + "\"}}";
    send_and_wait(*client, change);
    told.wait();
    expected = nullptr;
  }
  streams.clear();
}
BENCHMARK(one_change_to_1000_watchers)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(30);

// Nodes that are ready and do nothing: agents would finish pods while they are counted.
void register_nodes(Transport& client, int count) {
  const std::vector<Value> nodes = nodes_from_text(std::to_string(count) + "xH100x8").value();
  for (const Value& node : nodes) {
    ApiCall create;
    create.method = "POST";
    create.path = api_path("nodes", "");
    create.body = to_json(node);
    send_and_wait(client, create);
    Value status;
    status.at("status").set("capacity", node["status"]["capacity"]);
    status.at("status").set("allocatable", node["status"]["capacity"]);
    status.at("status").at("conditions").push_back(Value::map_of({{"type", "Ready"}, {"status", "True"}}));
    status.at("spec").set("taints", Value::list());
    ApiCall patch;
    patch.method = "PATCH";
    patch.content_type = "application/merge-patch+json";
    patch.path = api_path("nodes", "", node["metadata"]["name"].text(), "status");
    patch.body = to_json(status);
    send_and_wait(client, patch);
    patch.path = api_path("nodes", "", node["metadata"]["name"].text());
    patch.body = R"({"spec":{"taints":null}})";
    send_and_wait(client, patch);
  }
}

// A scheduler on 1,000 nodes, and a watch that notes when each pod was seen bound.
class Scheduling {
 public:
  Scheduling() : client_(plane_.connect(64)), alarm_(Alarm::start()), own_(plane_.connect(64)) {
    register_nodes(*client_, 1000);
    LiveSchedulerOptions options;
    options.now = system_wall_clock();
    options.identity = "bench";
    options.log = [](const std::string&) {};
    scheduler_ = LiveScheduler::start(*own_, *alarm_, std::move(options), [] {});
    MirrorOptions pods;
    pods.qualified = "pods";
    Countdown synced(1);
    mirror_ = Mirror::start(
        *client_, *alarm_, pods, [this](const ObjectChange& change) { see(change); }, [&] { synced.note(); });
    synced.wait();
    while (!scheduler_->progress().synced) std::this_thread::yield();
  }
  ~Scheduling() { mirror_.reset(); }

  Transport& client() { return *client_; }
  void expect(std::int64_t pods) {
    const std::lock_guard hold(mutex_);
    bound_at_.clear();
    left_ = pods;
  }
  void wait_for_all() {
    std::unique_lock hold(mutex_);
    done_.wait(hold, [this] { return left_ == 0; });
  }
  Clock::time_point bound_at(const std::string& name) { return bound_at_.at(name); }

 private:
  void see(const ObjectChange& change) {
    if (!change.after || (*change.after)["spec"]["nodeName"].text().empty()) return;
    const std::lock_guard hold(mutex_);
    const std::string name((*change.after)["metadata"]["name"].text());
    if (bound_at_.try_emplace(name, Clock::now()).second && --left_ == 0) done_.notify_all();
  }

  ControlPlane plane_;
  std::unique_ptr<Transport> client_;
  std::unique_ptr<Alarm> alarm_;
  std::unique_ptr<Transport> own_;
  std::unique_ptr<LiveScheduler> scheduler_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::map<std::string, Clock::time_point> bound_at_;
  std::int64_t left_ = 0;
  std::unique_ptr<Mirror> mirror_;
};

void submit_to_bound(benchmark::State& state) {
  Scheduling scheduling;
  constexpr std::int64_t kPods = 3000;
  for (auto _ : state) {
    scheduling.expect(kPods);
    create_pods(scheduling.client(), "all-", kPods, 1);
    scheduling.wait_for_all();
  }
  state.SetItemsProcessed(state.iterations() * kPods);
}
BENCHMARK(submit_to_bound)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);

// Pods come at an even pace, whether or not the ones before are bound.
void submit_to_bound_at_500_a_second(benchmark::State& state) {
  Scheduling scheduling;
  constexpr std::int64_t kPods = 4000;
  std::vector<double> took_ms;
  for (auto _ : state) {
    scheduling.expect(kPods);
    std::vector<Clock::time_point> sent;
    const auto start = Clock::now();
    for (std::int64_t i = 0; i < kPods; ++i) {
      std::this_thread::sleep_until(start + std::chrono::microseconds(2000 * i));
      sent.push_back(Clock::now());
      scheduling.client().send(create_pod("paced-" + std::to_string(i), 1), [](const ApiAnswer&) {});
    }
    scheduling.wait_for_all();
    for (std::int64_t i = 0; i < kPods; ++i) {
      const auto bound = scheduling.bound_at("paced-" + std::to_string(i));
      took_ms.push_back(std::chrono::duration<double, std::milli>(bound - sent[static_cast<std::size_t>(i)]).count());
    }
  }
  std::ranges::sort(took_ms);
  state.counters["p50_ms"] = took_ms[took_ms.size() / 2];
  state.counters["p99_ms"] = took_ms[took_ms.size() * 99 / 100];
}
BENCHMARK(submit_to_bound_at_500_a_second)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);

double resident_bytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  long total = 0, resident = 0;
  if (file == nullptr || std::fscanf(file, "%ld %ld", &total, &resident) != 2) resident = 0;
  if (file != nullptr) std::fclose(file);
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// Creates 100,000 pods (memory as the slope between 20,000 and 100,000), then times the start of a server on them.
void restart_with_100000_pods(benchmark::State& state) {
  ControlPlane plane;
  auto client = plane.connect(64);
  create_pods(*client, "a", 20'000, 1);
  const double before = resident_bytes();
  create_pods(*client, "b", 80'000, 1);
  state.counters["server_bytes_per_pod"] = (resident_bytes() - before) / 80'000;
  client.reset();
  for (auto _ : state) {
    state.PauseTiming();
    plane.close();
    state.ResumeTiming();
    plane.open();
    ApiCall get;
    get.path = api_path("pods", "default", "b1");
    send_and_wait(*plane.connect(1), get);
  }
}
BENCHMARK(restart_with_100000_pods)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);

}  // namespace
}  // namespace berth
