#include "sim/journal_file.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/property_seeds.h"
#include "model/gpu.h"
#include "sim/cluster_run.h"
#include "sim/files.h"
#include "sim/replay.h"

namespace berth::journal_file_test {

Trace small_trace(Rng& rng) {
  Trace trace;
  for (int i = 0; i < 3; ++i) {
    trace.nodes.push_back(
        {.name = "node-" + std::to_string(i), .cpu_milli = 16'000, .memory_bytes = 64, .gpus = 4, .gpu_model = "T4"});
  }
  for (int i = 0; i < 12; ++i) {
    TraceJob job;
    job.name = "job-" + std::to_string(i);
    job.submit = Time{rng.between(0, 20) * 1000};
    job.run = seconds(rng.between(1, 15));
    job.pods = rng.between(1, 3);
    job.cpu_milli = 1000;
    job.gpus = static_cast<int>(rng.between(1, 4));
    job.gpu_milli = job.gpus == 1 ? 500 : kMilliPerGpu;
    trace.jobs.push_back(job);
  }
  return trace;
}

// The bytes of a run's journal, with one section a seed.
Bytes recorded(const Trace& trace, std::vector<Seed> seeds, std::vector<std::uint64_t>& hashes) {
  ChainWriter chain;
  Bytes file;
  const auto append = [&](const Bytes& bytes) { file.insert(file.end(), bytes.begin(), bytes.end()); };
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    append(chain.begin_section(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(seeds.size())));
    const RunOptions options{.order = Order::kFifo, .seed = seeds[i]};
    hashes.push_back(run_cluster(trace, options, "trace", [&](const Bytes& payload) { append(chain.append(payload)); })
                         .value()
                         .state_hash);
  }
  return file;
}

Duration run_of_job(const Trace& trace, const std::string& name) {
  return std::ranges::find(trace.jobs, name, &TraceJob::name)->run;
}

TEST(RecordedAtProperty, IsTheRunUpToThatMoment) {
  for (const Seed seed : property_seeds(20)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    std::vector<std::uint64_t> hashes;
    const Trace trace = small_trace(rng);
    const Bytes file = recorded(trace, {seed}, hashes);
    const auto all = recorded_at("journal", file, {});
    ASSERT_TRUE(all.has_value()) << all.error().to_string();
    EXPECT_EQ(all->engine.state.hash(), hashes.front());
    EXPECT_EQ(all->workloads.size(), 12u);
    EXPECT_TRUE(all->find("job-3").has_value());
    EXPECT_FALSE(all->find("job-99").has_value());
    std::uint64_t records = 0;
    for (std::int64_t second = 0; second < 60; second += 5) {
      const auto then = recorded_at("journal", file, Time{second * 1000});
      ASSERT_TRUE(then.has_value());
      EXPECT_LE(then->now, Time{second * 1000});
      EXPECT_GE(then->records, records);
      EXPECT_LE(then->workloads.size(), all->workloads.size());
      then->engine.state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
        EXPECT_LE(workload.submitted, Time{second * 1000});
        if (workload.attempts == 0) return;
        const Time end = workload.started + run_of_job(trace, then->workloads[id.index()]);
        EXPECT_EQ(workload.phase == Phase::kEnded, end <= Time{second * 1000}) << then->workloads[id.index()];
      });
      records = then->records;
    }
    EXPECT_GT(all->run_times.count(), 0u);
  }
}

TEST(RecordedAt, EndsWhereAJournalThatIsStillWrittenEnds) {
  Rng rng(Seed{5});
  std::vector<std::uint64_t> hashes;
  const Bytes file = recorded(small_trace(rng), {Seed{5}}, hashes);
  std::uint64_t records = 0;
  for (std::size_t size = 0; size < file.size(); size += 7) {
    const auto there = recorded_at("journal", std::span(file).first(size), {});
    if (!there) {
      EXPECT_EQ(records, 0u) << "once something is recorded it can be read";
      continue;
    }
    EXPECT_GE(there->records, records);
    records = there->records;
    EXPECT_FALSE(replay_journal("journal", std::span(file).first(size)).has_value());
  }
  EXPECT_GT(records, 50u);
  Bytes changed = file;
  changed[changed.size() / 2] ^= 1;
  EXPECT_FALSE(recorded_at("journal", changed, {}).has_value()) << "what was changed is no end";
}

TEST(ReplayJournalProperty, MakesTheSameDecisionsAgain) {
  for (const Seed seed : property_seeds(50)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    std::vector<std::uint64_t> hashes;
    const Bytes file = recorded(small_trace(rng), {seed, Seed{seed.value + 1}}, hashes);
    const auto replay = replay_journal("journal", file);
    ASSERT_TRUE(replay.has_value()) << replay.error().to_string();
    ASSERT_EQ(replay->runs, 2u);
    ASSERT_EQ(replay->state_hash, state_hash_of(hashes));
    ASSERT_EQ(replay->bytes, file.size());
    ASSERT_EQ(replay->starts, 24u);
  }
}

TEST(ReplayJournal, FindsAChangedByteWhereverItIs) {
  Rng rng(Seed{1});
  std::vector<std::uint64_t> hashes;
  const Bytes file = recorded(small_trace(rng), {Seed{1}}, hashes);
  for (std::size_t at = 0; at < file.size(); ++at) {
    Bytes changed = file;
    changed[at] ^= 0x20;
    ASSERT_FALSE(replay_journal("journal", changed).has_value()) << "byte " << at;
  }
}

// A journal that is sound as a chain, and yet does not say what this program does.
TEST(ReplayJournal, FindsWhatTheChainCannot) {
  const Event configured = RunConfigured{Seed{1}, PlacementPolicy::kBestFit};
  const Event queue = QueueAdded{{"q", QueueId(), Order::kFifo}};
  const Event node = NodesAdded{{{.name = "n", .flavor = {}, .gpus = 0, .gpu_memory_mib = 0, .cpu_milli = 1000}}};
  const Event job = WorkloadSubmitted{"j", QueueId(0), Time{}, kRunNotDeclared, 0, {{{{{.cpu_milli = 1000}, 1}}}}};
  const CycleAsked cycle{Time{5}, Effort::unbounded()};
  Plan plan{.now = Time{5}, .revision = 4, .attempts = 1};
  plan.starts = {{WorkloadId(0), 0, {{NodeId(0), {}}}}};
  State state;
  for (const Event& event : {configured, queue, node, job}) state.apply(event);
  state.adopt(plan);
  const RunClosed closed{state.hash()};
  Plan later = plan;
  later.now = Time{6};
  struct Case {
    const char* what;
    std::vector<JournalRecord> records;
    const char* complaint;  // empty: replays
  };
  const Case cases[] = {
      {"as it was", {configured, queue, node, job, cycle, plan, closed}, ""},
      {"another plan",
       {configured, queue, node, job, cycle, later},
       "this program decides otherwise than the journal says"},
      {"no plan", {configured, queue, node, job, cycle, closed}, "the plan of the cycle before is missing"},
      {"a plan without a cycle",
       {configured, queue, node, job, plan},
       "a plan is recorded that this program would not have made"},
      {"another end",
       {configured, queue, node, job, cycle, plan, RunClosed{1}},
       "the final state differs from the journal's"},
      {"a cycle without effort",
       {configured, CycleAsked{Time{5}, Effort{0}}},
       "a cycle needs an effort of at least one attempt"},
      {"a fact that makes no sense", {configured, Event(NodeFailed{NodeId(0)})}, "there is no such node"},
  };
  for (const Case& c : cases) {
    ChainWriter chain;
    Bytes file = chain.begin_section(0, 1);
    for (const JournalRecord& record : c.records) {
      const Bytes bytes = chain.append(encode(record));
      file.insert(file.end(), bytes.begin(), bytes.end());
    }
    const auto replay = replay_journal("journal", file);
    const std::string complaint = replay ? "" : replay.error().kept().front().text;
    if (*c.complaint == '\0') {
      EXPECT_EQ(complaint, "") << c.what;
    } else {
      EXPECT_TRUE(complaint.ends_with(c.complaint)) << c.what << ": " << complaint;
    }
  }
}

TEST(JournalFile, IsWhatWasAppended) {
  const std::string path = testing::TempDir() + "berth-journal-" + std::to_string(::getpid());
  Result<JournalFile> journal = JournalFile::create(path);
  ASSERT_TRUE(journal.has_value());
  journal->begin_section(0, 1);
  journal->append(encode(Event(RunConfigured{Seed{1}, PlacementPolicy::kFgd})));
  State state;
  state.apply(RunConfigured{Seed{1}, PlacementPolicy::kFgd});
  journal->append(encode(RunClosed{state.hash()}));
  const Result<std::uint64_t> bytes = journal->close();
  const std::string file = read_file(path).value();
  std::filesystem::remove(path);
  ASSERT_TRUE(bytes.has_value());
  EXPECT_EQ(*bytes, file.size());
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(file.data());
  const auto replay = replay_journal(path, std::span(begin, file.size()));
  ASSERT_TRUE(replay.has_value()) << replay.error().to_string();
  EXPECT_EQ(replay->records, 2u);
}

TEST(JournalFile, AFullDiskIsAComplaint) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  for (const std::size_t records : {std::size_t{1}, std::size_t{10'000}}) {
    Result<JournalFile> journal = JournalFile::create("/dev/full");
    ASSERT_TRUE(journal.has_value());
    journal->begin_section(0, 1);
    for (std::size_t i = 0; i < records; ++i) journal->append(encode(RunClosed{i}));
    const Result<std::uint64_t> bytes = journal->close();
    ASSERT_FALSE(bytes.has_value());
    EXPECT_EQ(bytes.error().to_string(),
              "/dev/full: the journal is not whole: No space left on device; make room and run again\n");
  }
}

TEST(JournalFile, AFolderThatIsNotThereIsAComplaint) {
  const Result<JournalFile> journal = JournalFile::create("no-such-folder/journal");
  ASSERT_FALSE(journal.has_value());
  EXPECT_TRUE(journal.error().to_string().starts_with("no-such-folder/journal: cannot be written: "));
}

TEST(StateHashOf, OneRunIsItsOwn) {
  const std::uint64_t hashes[] = {3, 4};
  EXPECT_EQ(state_hash_of(std::span(hashes).first(1)), 3u);
  EXPECT_NE(state_hash_of(hashes), 3u);
}

}  // namespace berth::journal_file_test
