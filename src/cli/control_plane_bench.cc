// The control plane as its users meet it: TLS, JSON, SQLite with every acknowledged write on disk; the processes of
// `berth up`, and a client that shares the machine with them, so that the figures are lower bounds.
//
//   cli_bench [--kubeconfig FILE] [--berth PROGRAM] [--benchmark_filter=...]
//
// With --kubeconfig the load goes to that server and whatever scheduler it has; what looks into our own processes is left out.
#include <benchmark/benchmark.h>

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
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cli/bench_cluster.h"
#include "cli/flood_bench.h"
#include "kube/mirror.h"
#include "manifest/json.h"

namespace berth {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNodes = 1000;

bool needs_own_processes(benchmark::State& state) {
  if (bench_settings().kubeconfig.empty()) return false;
  state.SkipWithError("looks into the processes that it starts itself");
  return true;
}

void create_with_64_clients(benchmark::State& state) {
  BenchCluster cluster({});
  const auto client = cluster.connect(64);
  std::int64_t round = 0;
  constexpr std::int64_t kPods = 5000;
  for (auto _ : state) create_pods(cluster, *client, "r" + std::to_string(round++) + "-", kPods, 1);
  state.SetItemsProcessed(state.iterations() * kPods);
}
BENCHMARK(create_with_64_clients)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);

void list_10000_pods(benchmark::State& state) {
  BenchCluster cluster({});
  const auto client = cluster.connect(64);
  create_pods(cluster, *client, "p", 10'000, 1);
  const ApiCall list = get_of(cluster.path_of("pods"));
  for (auto _ : state) benchmark::DoNotOptimize(send_and_wait(*client, list));
}
BENCHMARK(list_10000_pods)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(10);

void one_change_to_1000_watchers(benchmark::State& state) {
  BenchCluster cluster({});
  const auto client = cluster.connect(4);
  const auto watcher = cluster.connect(1000);
  std::atomic<Countdown*> expected = nullptr;
  std::vector<std::unique_ptr<ApiStream>> streams;
  constexpr int kWatchers = 1000;
  Countdown ready(kWatchers);
  const ApiCall watch = get_of(cluster.path_of("configmaps") + "?watch=true&fieldSelector=metadata.name%3Dc");
  send_and_wait(*client, post_of(cluster.path_of("configmaps"), R"({"metadata":{"name":"c"},"data":{"n":"0"}})"));
  for (int i = 0; i < kWatchers; ++i) {
    streams.push_back(watcher->stream(
        watch,
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
    change.path = cluster.path_of("configmaps", "c");
    change.content_type = "application/merge-patch+json";
    change.body = R"({"data":{"n":")" + std::to_string(number++) + "\"}}";
    send_and_wait(*client, change);
    told.wait();
    expected = nullptr;
  }
  streams.clear();
}
BENCHMARK(one_change_to_1000_watchers)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(30);

// A cluster that schedules, and a watch that notes when each pod was seen bound.
class Scheduling {
 public:
  explicit Scheduling(bool agent = true)
      : cluster_({.nodes = kNodes, .scheduler = true, .agent = agent}),
        client_(cluster_.connect(64)),
        alarm_(Alarm::start()) {
    MirrorOptions pods;
    pods.qualified = "pods";
    pods.name_space = cluster_.name_space();
    pods.field_selector = "spec.nodeName!=";
    Countdown synced(1);
    mirror_ = Mirror::start(
        *client_, *alarm_, pods, [this](const ObjectChange& change) { see(change); }, [&] { synced.note(); });
    synced.wait();
    // The first pods wait for a lease, for connections, for pages of memory.
    submit("warm-", 200, 1);
  }
  ~Scheduling() { mirror_.reset(); }

  const BenchCluster& cluster() const { return cluster_; }
  Transport& client() { return *client_; }
  // So many pods whose names begin with this.
  void expect(const std::string& prefix, std::int64_t pods) {
    const std::lock_guard hold(mutex_);
    prefix_ = prefix;
    bound_at_.clear();
    left_ = pods;
  }
  void wait_for_all() {
    std::unique_lock hold(mutex_);
    done_.wait(hold, [this] { return left_ == 0; });
  }
  void submit(const std::string& prefix, std::int64_t pods, int gpus) {
    expect(prefix, pods);
    create_pods(cluster_, *client_, prefix, pods, gpus);
    wait_for_all();
  }
  Clock::time_point bound_at(const std::string& name) { return bound_at_.at(name); }

 private:
  void see(const ObjectChange& change) {
    if (!change.after) return;
    const std::lock_guard hold(mutex_);
    const std::string name((*change.after)["metadata"]["name"].text());
    if (name.starts_with(prefix_) && bound_at_.try_emplace(name, Clock::now()).second && --left_ == 0)
      done_.notify_all();
  }

  BenchCluster cluster_;
  std::unique_ptr<Transport> client_;
  std::unique_ptr<Alarm> alarm_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::string prefix_;
  std::map<std::string, Clock::time_point> bound_at_;
  std::int64_t left_ = 0;
  std::unique_ptr<Mirror> mirror_;
};

// With an agent the nodes also report each pod as running, which the server takes in at the same time.
void submit_to_bound(benchmark::State& state) {
  Scheduling scheduling(state.range(0) != 0);
  constexpr std::int64_t kPods = 3000;
  for (auto _ : state) scheduling.submit("all-", kPods, 1);
  state.SetItemsProcessed(state.iterations() * kPods);
}
BENCHMARK(submit_to_bound)
    ->ArgName("agent")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);

// Pods come at an even pace, whether or not the ones before are bound.
void submit_to_bound_at_an_even_pace(benchmark::State& state) {
  Scheduling scheduling;
  const std::int64_t pods = 8 * state.range(0);
  const std::chrono::microseconds between(1'000'000 / state.range(0));
  std::vector<double> took_ms;
  const CommitTimes before = CommitTimes::read(scheduling.client());
  for (auto _ : state) {
    scheduling.expect("paced-", pods);
    std::vector<Clock::time_point> sent;
    const auto start = Clock::now();
    for (std::int64_t i = 0; i < pods; ++i) {
      std::this_thread::sleep_until(start + between * i);
      sent.push_back(Clock::now());
      scheduling.client().send(create_pod(scheduling.cluster(), "paced-" + std::to_string(i), 1),
                               [](const ApiAnswer&) {});
    }
    scheduling.wait_for_all();
    for (std::int64_t i = 0; i < pods; ++i) {
      const auto bound = scheduling.bound_at("paced-" + std::to_string(i));
      took_ms.push_back(std::chrono::duration<double, std::milli>(bound - sent[static_cast<std::size_t>(i)]).count());
    }
  }
  const CommitTimes commits = CommitTimes::read(scheduling.client()).since(before);
  state.counters["p50_ms"] = quantile(took_ms, 0.5);
  state.counters["p99_ms"] = quantile(took_ms, 0.99);
  if (commits.count() == 0) return;  // another server, which does not say
  state.counters["commit_p50_ms"] = commits.quantile_ms(0.5);
  state.counters["commit_p99_ms"] = commits.quantile_ms(0.99);
  state.counters["p99_bar_ms"] = 25 + 3 * commits.quantile_ms(0.99);
}
BENCHMARK(submit_to_bound_at_an_even_pace)
    ->ArgName("pods_a_second")
    ->Arg(100)
    ->Arg(500)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);

// All of the pods are bound and run; memory as the slope over the last 100,000.
void memory_of_100000_pods(benchmark::State& state) {
  if (needs_own_processes(state)) return;
  Scheduling scheduling;
  const BenchCluster& cluster = scheduling.cluster();
  constexpr std::int64_t kFirst = 5'000, kPods = 100'000;
  scheduling.submit("first-", kFirst, 0);
  const std::int64_t server = cluster.server().resident_bytes(), scheduler = cluster.scheduler().resident_bytes();
  for (auto _ : state) scheduling.submit("all-", kPods, 0);
  state.counters["server_bytes_per_pod"] = static_cast<double>(cluster.server().resident_bytes() - server) / kPods;
  state.counters["scheduler_bytes_per_pod"] =
      static_cast<double>(cluster.scheduler().resident_bytes() - scheduler) / kPods;
  state.SetItemsProcessed(kPods);
}
BENCHMARK(memory_of_100000_pods)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);

// kill -9, and the time from starting the program until it has answered for a pod.
void restart_with_100000_pods(benchmark::State& state) {
  if (needs_own_processes(state)) return;
  BenchCluster cluster({});
  create_pods(cluster, *cluster.connect(64), "p", 100'000, 1);
  for (auto _ : state) {
    state.PauseTiming();
    cluster.kill_server();
    state.ResumeTiming();
    cluster.start_server();
    if (!send_and_wait(*cluster.connect(1), get_of(cluster.path_of("pods", "p1"))).ok()) {
      state.SkipWithError("a pod is lost");
    }
  }
}
BENCHMARK(restart_with_100000_pods)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  using berth::bench_settings;
  if (argc > 3 && std::string_view(argv[1]) == berth::kFloodWord) {
    return berth::flood(argv[2], {argv + 3, argv + argc});
  }
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  bench_settings().program = (self.parent_path().parent_path() / "berth").string();
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--kubeconfig" && i + 1 < argc) {
      bench_settings().kubeconfig = argv[++i];
    } else if (word == "--berth" && i + 1 < argc) {
      bench_settings().program = argv[++i];
    } else {
      rest.push_back(argv[i]);
    }
  }
  int count = static_cast<int>(rest.size());
  benchmark::Initialize(&count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(count, rest.data())) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
