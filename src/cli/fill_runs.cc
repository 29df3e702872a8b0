#include "cli/fill_runs.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "cli/progress.h"

namespace berth {

Result<FillRuns> run_fills(const Trace& trace, const FillOptions& options, std::span<const Seed> seeds,
                           const std::string& source, bool record, const std::string& label) {
  std::vector<std::optional<Result<FillRun>>> results(seeds.size());
  FillRuns done;
  done.records.resize(seeds.size());
  std::atomic<std::size_t> next_seed = 0;
  std::atomic<std::int64_t> percents = 0;
  std::atomic<std::size_t> threads_running = 0;
  const auto work = [&] {
    for (std::size_t at = next_seed++; at < seeds.size(); at = next_seed++) {
      Session::Recorder recorder;
      if (record) recorder = [&records = done.records[at]](const Bytes& payload) { records.push_back(payload); };
      results[at] = run_fill(trace, options, seeds[at], source, std::move(recorder), [&](std::int64_t) { ++percents; });
    }
    --threads_running;
  };
  {
    Progress progress(label);
    std::vector<std::jthread> threads;
    const std::size_t count = std::min<std::size_t>(seeds.size(), std::max(1u, std::thread::hardware_concurrency()));
    threads_running = count;
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back(work);
    const auto all = static_cast<std::int64_t>(seeds.size()) * options.until_percent;
    while (threads_running > 0) {
      progress.show(percents, all);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  for (auto& result : results) {
    if (!*result) return result->error();
    done.runs.push_back(std::move(**result));
  }
  return done;
}

}  // namespace berth
