// What a commit, a restart and a list cost, with records of 2.5 KB on the disk of the temporary folder.
#include "store/store.h"

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace berth {
namespace {

constexpr std::size_t kRecordBytes = 2'500;

// Gone, with what the store keeps beside its file, when the bench ends.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("berth-store-bench-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string store() const { return (path_ / "store.db").string(); }

 private:
  std::filesystem::path path_;
};

std::string pod(std::size_t number) {
  return "pods/namespace-" + std::to_string(number % 50) + "/pod-" + std::to_string(number);
}

std::unique_ptr<Store> filled(const std::string& path, std::size_t records) {
  auto store = *Store::open(path);
  for (std::size_t first = 0; first < records; first += 1'000) {
    store->transact_and_wait([&](Transaction& transaction) {
      for (std::size_t i = first; i < std::min(first + 1'000, records); ++i) {
        transaction.put(pod(i), std::string(kRecordBytes, 'x'));
      }
    });
  }
  return store;
}

// Each writer waits for its commit before it sends the next; all replace records among 10,000.
void commits(benchmark::State& bench) {
  const Folder folder;
  const auto store = filled(folder.store(), 10'000);
  const auto writers = static_cast<std::size_t>(bench.range(0));
  constexpr std::size_t kEach = 50;
  for (auto _ : bench) {
    std::vector<std::jthread> threads;
    for (std::size_t writer = 0; writer < writers; ++writer) {
      threads.emplace_back([&store, writer] {
        for (std::size_t i = 0; i < kEach; ++i) {
          store->transact_and_wait([&](Transaction& transaction) {
            transaction.put(pod((writer * 7'919 + i * 104'729) % 10'000), std::string(kRecordBytes, 'y'));
          });
        }
      });
    }
  }
  bench.SetItemsProcessed(bench.iterations() * static_cast<std::int64_t>(writers * kEach));
}
BENCHMARK(commits)->Arg(1)->Arg(64)->Unit(benchmark::kMillisecond)->UseRealTime();

void open_with_100000_records(benchmark::State& bench) {
  const Folder folder;
  filled(folder.store(), 100'000).reset();
  for (auto _ : bench) {
    auto store = *Store::open(folder.store());
    bench.PauseTiming();
    store.reset();
    bench.ResumeTiming();
  }
}
BENCHMARK(open_with_100000_records)->Unit(benchmark::kMillisecond)->UseRealTime();

void list_10000_of_100000(benchmark::State& bench) {
  const Folder folder;
  const auto store = filled(folder.store(), 100'000);
  for (auto _ : bench) benchmark::DoNotOptimize(store->list("pods/", "pods/namespace-2", 10'000));
}
BENCHMARK(list_10000_of_100000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace berth
