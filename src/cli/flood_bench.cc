// What one user's requests take while others flood the server, and while they flood another server on the same machine:
// the second says what of it is the machine's. The flood is a process of its own with a small claim on the processor: its
// clients would sit on other machines.
#include "cli/flood_bench.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/bench_cluster.h"

namespace berth {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Given {
  std::atomic<std::int64_t> lists, tables, creates, watches, refused;
};

class Flooder {
 public:
  Flooder(const std::string& kubeconfig, const std::string& name_space, int number, int share, Given& given)
      : name_space_(name_space),
        number_(number),
        given_(given),
        lists_(connect_with(kubeconfig, std::max(32 / share, 1))),
        creates_(connect_with(kubeconfig, std::max(64 / share, 2))),
        watches_(connect_with(kubeconfig, std::max(32 / share, 1))),
        streams_(static_cast<std::size_t>(std::max(32 / share, 1))) {
    for (int i = 0; i < std::max(32 / share, 1); ++i) list(i % 4 == 3);
    for (int i = 0; i < std::max(64 / share, 2); ++i) create();
  }

  // One of its watches ends, and another begins.
  void turn_watch() {
    std::unique_ptr<ApiStream>& stream = streams_[turns_++ % streams_.size()];
    stream.reset();
    stream = watches_->stream(
        get_of(api_path("pods", name_space_) + "?watch=true"),
        [this, told = false](std::string_view) mutable {
          if (!std::exchange(told, true)) ++given_.watches;
        },
        [this](const ApiAnswer& answer) { count(answer, given_.refused); });
  }

 private:
  void count(const ApiAnswer& answer, std::atomic<std::int64_t>& served) { ++(answer.ok() ? served : given_.refused); }
  void list(bool as_table) {
    ApiCall call = get_of(api_path("pods", name_space_));
    if (as_table) call.accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    lists_->send(std::move(call), [this, as_table](const ApiAnswer& answer) {
      count(answer, as_table ? given_.tables : given_.lists);
      list(as_table);
    });
  }
  void create() {
    const std::string name = "flood-" + std::to_string(number_) + "-" + std::to_string(created_++);
    creates_->send(post_of(api_path("configmaps", name_space_), R"({"metadata":{"name":")" + name + "\"}}"),
                   [this](const ApiAnswer& answer) {
                     count(answer, given_.creates);
                     create();
                   });
  }

  const std::string name_space_;
  const int number_;
  Given& given_;
  std::atomic<std::int64_t> created_ = 0;
  std::size_t turns_ = 0;
  const std::unique_ptr<Transport> lists_, creates_, watches_;
  std::vector<std::unique_ptr<ApiStream>> streams_;
};

// A request every 20 ms, whether or not the ones before were answered: reads and writes in turn.
class Bystander {
 public:
  Bystander(const BenchCluster& cluster, const std::string& kubeconfig)
      : cluster_(cluster), client_(connect_with(kubeconfig, 8)) {}

  struct Took {
    std::vector<double> reads_ms, writes_ms;
  };

  void ask(int requests, Took& took) {
    Countdown answered(requests);
    std::mutex mutex;
    const auto start = Clock::now();
    for (int i = 0; i < requests; ++i) {
      std::this_thread::sleep_until(start + milliseconds(20) * i);
      const bool writes = i % 2 == 1;
      const std::string name = "mine-" + std::to_string(written_);
      if (writes) ++written_;
      client_->send(writes ? post_of(cluster_.path_of("configmaps"), R"({"metadata":{"name":")" + name + "\"}}")
                           : get_of(cluster_.path_of("pods", "p" + std::to_string(i))),
                    [&, writes, sent = Clock::now()](const ApiAnswer& answer) {
                      const double ms = std::chrono::duration<double, std::milli>(Clock::now() - sent).count();
                      if (!answer.ok()) std::fprintf(stderr, "bystander: %s\n", text_of_failure(answer).c_str());
                      {
                        const std::lock_guard hold(mutex);
                        (writes ? took.writes_ms : took.reads_ms).push_back(ms);
                      }
                      answered.note();
                    });
    }
    answered.wait();
  }

 private:
  const BenchCluster& cluster_;
  const std::unique_ptr<Transport> client_;
  int written_ = 0;
};

void tell(benchmark::State& state, const std::string& what, std::vector<double> quiet, std::vector<double> flooded) {
  for (const int percent : {50, 99}) {
    const double part = percent / 100.0, without = quantile(quiet, part), with = quantile(flooded, part);
    const std::string name = what + "_p" + std::to_string(percent);
    state.counters[name + "_ms"] = without;
    state.counters[name + "_flooded_ms"] = with;
    state.counters[name + "_ratio"] = with / without;
  }
}

void bystander_of_a_flood(benchmark::State& state) {
  if (!bench_settings().kubeconfig.empty()) {
    state.SkipWithError("needs an authority that makes users");
    return;
  }
  BenchCluster cluster({});
  std::optional<BenchCluster> other;
  if (state.range(1) != 0) other.emplace(BenchCluster::Wish{});
  BenchCluster& flooded_cluster = other ? *other : cluster;
  create_pods(cluster, *cluster.connect(64), "p", 10'000, 1);
  if (other) create_pods(*other, *other->connect(64), "p", 10'000, 1);
  std::vector<std::string> words = {"/proc/self/exe", std::string(kFloodWord), flooded_cluster.name_space()};
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    words.push_back(flooded_cluster.admit("flooder-" + std::to_string(i)));
  }
  Bystander bystander(cluster, cluster.admit("bystander"));
  Bystander::Took warm, quiet, flooded;
  bystander.ask(100, warm);
  constexpr int kRequests = 500, kNiceness = 10;
  const auto admin = cluster.connect(1);
  CommitTimes commits;  // of the last round
  for (auto _ : state) {
    const CommitTimes at_first = CommitTimes::read(*admin);
    bystander.ask(kRequests, quiet);
    commits = CommitTimes::read(*admin).since(at_first);
    state.counters["commit_p50_ms"] = commits.quantile_ms(0.5);
    state.counters["commit_p99_ms"] = commits.quantile_ms(0.99);
    const BenchProcess flood(words, cluster.log_of("flood"), kNiceness);
    bystander.ask(100, warm);  // until it has begun in earnest
    const CommitTimes before = CommitTimes::read(*admin);
    bystander.ask(kRequests, flooded);
    commits = CommitTimes::read(*admin).since(before);
  }
  state.counters["commit_p50_flooded_ms"] = commits.quantile_ms(0.5);
  state.counters["commit_p99_flooded_ms"] = commits.quantile_ms(0.99);
  tell(state, "read", quiet.reads_ms, flooded.reads_ms);
  tell(state, "write", quiet.writes_ms, flooded.writes_ms);
}
BENCHMARK(bystander_of_a_flood)
    ->ArgNames({"flooders", "elsewhere"})
    ->ArgsProduct({{1, 50}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(3);

}  // namespace

int flood(const std::string& name_space, const std::vector<std::string>& kubeconfigs) {
  Given given{};
  std::vector<std::unique_ptr<Flooder>> flooders;
  for (const std::string& each : kubeconfigs) {
    const int number = static_cast<int>(flooders.size());
    flooders.push_back(
        std::make_unique<Flooder>(each, name_space, number, static_cast<int>(kubeconfigs.size()), given));
  }
  const auto start = Clock::now();
  for (std::int64_t turn = 0;; ++turn) {
    std::this_thread::sleep_for(milliseconds(5));
    flooders[static_cast<std::size_t>(turn) % flooders.size()]->turn_watch();
    if (turn % 200 != 0) continue;
    const double s = std::chrono::duration<double>(Clock::now() - start).count();
    std::fprintf(stderr, "%.1f s: %lld lists, %lld tables, %lld creates, %lld watches, %lld refused\n", s,
                 static_cast<long long>(given.lists), static_cast<long long>(given.tables),
                 static_cast<long long>(given.creates), static_cast<long long>(given.watches),
                 static_cast<long long>(given.refused));
  }
}

}  // namespace berth
