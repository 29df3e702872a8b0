#include "sim/timeline.h"
#include "base/time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "cycle/run_cycle.h"
#include "sim/files.h"
#include "sim/test_journal.h"
#include "sim/timeline_recorder.h"

namespace berth::timeline_test {

Timeline timeline(const std::string& text, std::optional<Time> until = {}) {
  const auto made = timeline_of("journal", journal_of_scenario("test.txt", text), until);
  EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().to_string());
  return made ? made->timeline : Timeline();
}

const Timeline::Row& row_of(const Timeline& timeline, const std::string& name) {
  const auto found = std::ranges::find(timeline.rows, name, &Timeline::Row::name);
  EXPECT_NE(found, timeline.rows.end()) << name;
  return *found;
}

// "0s-(60s)-90s evicted reclaim on n1:8" for each attempt: told to stop at 60s, gone at 90s.
std::string attempts_in_words(const Timeline& timeline, const std::string& name) {
  std::string text;
  const auto at = [](Time time) { return std::to_string(time.ms / 1000) + "s"; };
  for (const TimelineAttempt& attempt : attempts_of(row_of(timeline, name))) {
    text += (text.empty() ? "" : "; ") + at(attempt.start) + "-";
    if (attempt.told_to_stop) text += "(" + at(*attempt.told_to_stop) + ")-";
    if (attempt.end) text += at(*attempt.end) + " " + std::string(name_of(attempt.how));
    if (attempt.why != EvictionRule::kNone) text += " " + std::string(name_of(attempt.why));
    text += " on";
    for (const Timeline::Place& place : attempt.places) {
      text += " " + timeline.nodes[place.node] + ":" + std::to_string(place.gpu_milli / 1000);
    }
  }
  return text;
}

const std::string kBase = "nodes n 1 gpus=8\nqueue q order=fifo-skip\n";
const std::string kElastic =
    "nodes n 2 gpus=4\nqueue a\nqueue b\nqueue owner guarantee=2\nsubmit w queue=a pods=2 max=4 gpus=1 resize=live\n"
    "submit x queue=b pods=4 gpus=1\ncycle\nat +10m\nsubmit p queue=owner pods=2 gpus=1\nsettle\nat +10m\nend w\n"
    "cycle\n";
const std::string kGrace =
    "nodes n 1 gpus=4\nqueue guest\nqueue owner guarantee=2 reclaim_within=60s\nsubmit w queue=guest gpus=4 grace=30s\n"
    "cycle\nat 00:10\nsubmit p queue=owner gpus=2\ncycle\nat +30s\ncycle\n";
const std::string kMoves =
    "policy spread\nnodes n 2 gpus=8\nqueue q order=fifo-skip\nsubmit a gpus=4 movable=yes grace=30s\n"
    "submit c gpus=4\ncycle\nat 00:10\nsubmit p gpus=8\ncycle\nat +30s\ncycle\n";

TEST(Timeline, HasEachAttemptWithItsEndItsPlacesAndWhy) {
  struct Case {
    const char* what;
    std::string text;
    const char* workload;
    const char* attempts;
  };
  const Case cases[] = {
      {"done", kBase + "at 01:00\nsubmit a gpus=4\ncycle\nat 03:00\nend a\ncycle\n", "a", "3600s-10800s done on n1:4"},
      {"it runs still", kBase + "submit a gpus=4\ncycle\nat 02:00\ncycle\n", "a", "0s- on n1:4"},
      {"it waited first", kBase + "submit a gpus=8\ncycle\nsubmit b gpus=8\ncycle\nat 01:00\nend a\ncycle\n", "b",
       "3600s- on n1:8"},
      {"it waits", kBase + "submit a gpus=8\ncycle\nsubmit b gpus=8\ncycle\nat 01:00\ncycle\n", "b", ""},
      {"cancelled", kBase + "submit a gpus=4\ncycle\nat 02:00\ncancel a\ncycle\n", "a", "0s-7200s cancelled on n1:4"},
      {"at its limit", kBase + "submit a gpus=4 limit=1h\ncycle\nat 02:00\ncycle\n", "a", "0s-3600s over-run on n1:4"},
      {"its node failed",
       kBase + "submit a gpus=4\ncycle\nat 01:00\nfail node n1\ncycle\nat 02:00\nrestore node n1\ncycle\n", "a",
       "0s-3600s evicted node on n1:4; 7200s- on n1:4"},
      {"with a grace", kGrace, "w", "0s-(600s)-630s evicted reclaim on n1:4"},
      {"who waited for that", kGrace, "p", "630s- on n1:2"},
      {"half of a GPU", kBase + "submit a gpus=500m\ncycle\nat 01:00\nend a\ncycle\n", "a", "0s-3600s done on n1:0"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    EXPECT_EQ(attempts_in_words(timeline(c.text), c.workload), c.attempts);
  }
}

TEST(Timeline, WhoIsMovedHasTwoAttemptsAndNoWaitBetween) {
  const Timeline there = timeline(kMoves);
  std::string moved = attempts_in_words(there, "a");
  EXPECT_TRUE(moved.contains("(600s)-630s moved defragment on ")) << moved;
  EXPECT_TRUE(moved.contains("; 630s- on ")) << moved;
}

TEST(Timeline, StepsAreRowsOfTheirOwnBesideTheirMinimum) {
  const Timeline there = timeline(kElastic);
  std::vector<std::string> steps;
  for (const Timeline::Row& row : there.rows) {
    if (!row.step_of) continue;
    EXPECT_EQ(there.rows[*row.step_of].name, "w");
    steps.push_back(row.name);
    EXPECT_EQ(attempts_of(row).size(), 1u);
    EXPECT_EQ(attempts_of(row)[0].end, Time{600'000});
  }
  EXPECT_EQ(steps.size(), 2u);
  EXPECT_EQ(attempts_of(row_of(there, "w"))[0].end, Time{1'200'000});
  const auto all = choose_rows(there, {there.begin, there.end}, 3, [](const auto&) { return true; });
  EXPECT_EQ(all.left_out, 2u) << "a minimum and its steps are not torn apart";
  ASSERT_EQ(all.rows.size(), 3u);
}

TEST(Timeline, AGangThatIsRepairedRunsOnWithLess) {
  const Timeline there = timeline(
      "nodes n 3 gpus=8\nsubmit w pods=3 gpus=8\ncycle\nat 00:05\nfail node n2\ncycle\nat 00:08\nrestore node n2\n"
      "cycle\nat 00:20\nend w\ncycle\n");
  const Timeline::Row& row = row_of(there, "w");
  ASSERT_EQ(attempts_of(row).size(), 1u);
  const auto lacks = std::ranges::find(row.changes, Doing::kLacks, &Timeline::Change::doing);
  ASSERT_NE(lacks, row.changes.end());
  EXPECT_EQ(lacks->at, Time{300'000});
  EXPECT_EQ(lacks->gpu_milli(), 16'000);
  EXPECT_EQ(std::next(lacks)->doing, Doing::kRuns);
  EXPECT_EQ(std::next(lacks)->at, Time{480'000});
  EXPECT_EQ(gpu_time_held(there, row, {Time{0}, Time{kHourMs}}), Wide{1000} * (24 * 300 + 16 * 180 + 24 * 720) * 1000);
  ASSERT_EQ(there.capacity.size(), 3u);
  EXPECT_EQ(there.capacity[1].gpu_milli, 16'000);
}

TEST(Timeline, EndsWhereItIsLookedAt) {
  const std::string text = "repair 0s\n" + kBase +
                           "submit a gpus=4\ncycle\nat 02:00\nend a\nsubmit b gpus=1\ncycle\nat 03:00\nend b\ncycle\n";
  const Timeline before = timeline(text, Time{kHourMs});
  EXPECT_EQ(before.end, Time{kHourMs});
  EXPECT_EQ(attempts_in_words(before, "a"), "0s- on n1:4");
  EXPECT_EQ(before.rows.size(), 1u);
  const Timeline whole = timeline(text, Time{100 * kHourMs});
  EXPECT_EQ(whole.end, Time{3 * kHourMs}) << "nothing is known of what comes later";
  EXPECT_EQ(attempts_in_words(whole, "a"), "0s-7200s done on n1:4");
}

TEST(Timeline, TheUseOfGpusIsWhatAllHeld) {
  const Timeline there = timeline(
      kBase + "submit a gpus=4\ncycle\nat 01:00\nsubmit b gpus=2\ncycle\nat 02:00\nend a\ncycle\nat 04:00\ncycle\n");
  const TimeWindow window{Time{kHourMs / 2}, Time{3 * kHourMs}};
  std::string use;
  for (const HeldGpus& each : use_of_gpus(there, window, [](const auto&) { return true; })) {
    use += std::to_string(each.at.ms / 60'000) + ":" + std::to_string(each.gpu_milli) + " ";
  }
  EXPECT_EQ(use, "30:4000 60:6000 120:2000 ");
}

TEST(Timeline, ThoseWhoHeldOrAwaitedMostAreChosen) {
  const Timeline there =
      timeline(kBase +
               "submit a gpus=4\nsubmit b gpus=1\nsubmit c gpus=8\nsubmit d gpus=2\ncycle\nat 01:00\n"
               "cycle\n");
  const auto chosen = choose_rows(there, {there.begin, there.end}, 2, [](const auto&) { return true; });
  ASSERT_EQ(chosen.rows.size(), 2u);
  EXPECT_EQ(there.rows[chosen.rows[0]].name, "a") << "in the order of their submission";
  EXPECT_EQ(there.rows[chosen.rows[1]].name, "c") << "it waits";
  EXPECT_EQ(chosen.left_out, 2u);
  EXPECT_EQ(chosen.of_all, Wide{7000} * kHourMs);
  EXPECT_EQ(chosen.of_left_out, Wide{3000} * kHourMs);
}

TEST(Timeline, ADailyReservationComesAgain) {
  const Timeline there = timeline(
      "nodes n 1 gpus=8\nqueue research\nreserve r queue=research gpus=8 from=09:00 for=1h daily\nat +60h\ncycle\n");
  ASSERT_EQ(there.reserved.size(), 1u);
  EXPECT_EQ(there.reserved[0].queue, "research");
  EXPECT_EQ(there.reserved[0].gpus, 8);
  std::string times;
  for (const TimeWindow& each : times_of(there.reserved[0], {Time{kHourMs * 19 / 2}, Time{60 * kHourMs}})) {
    times += std::to_string(each.from.ms / 60'000) + "-" + std::to_string(each.to.ms / 60'000) + " ";
  }
  EXPECT_EQ(times, "570-600 1980-2040 3420-3480 ");
}

// A scheduler's lives, each an engine of its own, told to one recorder.
class Lives {
 public:
  void begin() {
    engine_ = Engine();
    tell(RunConfigured{.seed = Seed{1}});
    tell(FlavorAdded{{"h100", "H100", 81'559}});
    tell(QueueAdded{{.name = "q", .parent = {}, .order = Order::kFifoSkip}});
    tell(NodesAdded{{{.name = "n1", .flavor = FlavorId(0), .gpus = 8, .cpu_milli = 64'000, .memory_bytes = 1 << 30}}});
  }
  static WorkloadSubmitted submitted(const std::string& name, Time at) {
    const PodRequest request{.gpus = 8, .gpu_milli = kMilliPerGpu};
    return {.name = name, .queue = QueueId(0), .at = at, .shape = {.ways = {{{.request = request}}}}};
  }
  void find(const std::string& name, Time at, Time started) {
    tell(WorkloadFound{submitted(name, at), {{NodeId(0), GpuSet::from_bits(0xff)}}, started});
  }
  void tell(const Event& event) {
    const auto refusal = engine_.state.refusal(event);
    ASSERT_FALSE(refusal) << *refusal;
    engine_.state.apply(event);
    recorder_.take(engine_.state, event);
  }
  void cycle(Time now) {
    const Plan plan = run_cycle(engine_, now, Effort::unbounded());
    recorder_.take(engine_.state, CycleAsked{now, Effort::unbounded()});
    if (plan.changes_nothing()) return;
    engine_.state.adopt(plan);
    recorder_.take(engine_.state, plan);
  }
  Timeline timeline(Time end) {
    TimelineRecorder copy = recorder_;
    return std::move(copy).finish(end);
  }

 private:
  Engine engine_;
  TimelineRecorder recorder_;
};

TEST(Timeline, OfASchedulerThatBeginsAnewGoesOn) {
  const Time zero{kFirstDate.ms + 10 * kHourMs};
  const auto at = [&](std::int64_t s) { return zero + seconds(s); };
  Lives lives;
  lives.begin();
  lives.tell(Lives::submitted("a", at(0)));
  lives.tell(Lives::submitted("b", at(5)));
  lives.tell(Lives::submitted("c", at(6)));
  lives.cycle(at(10));
  lives.tell(NodeFailed{NodeId(0)});
  lives.cycle(at(20));
  lives.tell(NodeRestored{NodeId(0)});
  lives.cycle(at(30));
  lives.begin();
  lives.find("a", at(0), at(30));
  lives.tell(Lives::submitted("b", at(5)));
  lives.cycle(at(70));
  lives.tell(WorkloadEnded{WorkloadId(0)});
  lives.cycle(at(100));
  const Timeline there = lives.timeline(at(200));
  ASSERT_EQ(there.rows.size(), 3u);
  EXPECT_EQ(there.begin, at(10));
  const auto a = attempts_of(row_of(there, "a"));
  ASSERT_EQ(a.size(), 2u) << "the second has run through both lives";
  EXPECT_EQ(a[0].end, at(20)) << "a fact without a moment happened at the next cycle";
  EXPECT_EQ(a[1].start, at(30));
  EXPECT_EQ(a[1].end, at(100));
  EXPECT_EQ(a[1].how, AttemptEnd::kDone);
  const auto b = attempts_of(row_of(there, "b"));
  ASSERT_EQ(b.size(), 1u);
  EXPECT_EQ(b[0].start, at(100));
  EXPECT_EQ(row_of(there, "c").changes.back().doing, Doing::kGone);
  EXPECT_EQ(row_of(there, "c").changes.back().at, at(70));
  EXPECT_EQ(there.nodes.size(), 1u);
}

TEST(Timeline, WhoStandsInForALostPodIsNobodyOfHisOwn) {
  const Time zero{kFirstDate.ms + 10 * kHourMs};
  const auto at = [&](std::int64_t s) { return zero + seconds(s); };
  Lives lives;
  lives.begin();
  lives.tell(Lives::submitted("default/a/1", at(0)));
  lives.cycle(at(10));
  lives.tell(Lives::submitted("default/a/1", at(20)));
  lives.tell(Lives::submitted("default/b/2", at(21)));
  lives.cycle(at(22));
  lives.tell(WorkloadCancelled{WorkloadId(1)});
  lives.tell(WorkloadCancelled{WorkloadId(2)});
  lives.cycle(at(30));
  const Timeline there = lives.timeline(at(40));
  ASSERT_EQ(there.rows.size(), 2u);
  EXPECT_EQ(there.rows[0].changes.back().doing, Doing::kRuns);
  EXPECT_EQ(there.rows[1].name, "default/b/2") << "he was cancelled";
}

// Whatever happens, what is noted of each is what the state says of him.
TEST(TimelineProperty, OverlooksNothingInTheScenarios) {
  std::int64_t looked = 0;
  for (const auto& entry : std::filesystem::directory_iterator("scenarios")) {
    const Result<std::string> text = read_file(entry.path().string());
    ASSERT_TRUE(text);
    if (!run_scenario(entry.path().string(), *text).passed()) continue;
    SCOPED_TRACE(entry.path().string());
    const Bytes file = journal_of_scenario(entry.path().string(), *text);
    TimelineRecorder recorder;
    std::vector<std::string> names;
    const auto watch = [&](const State& state, const JournalRecord& record) {
      recorder.take(state, record);
      TimelineRecorder copy = recorder;
      const Timeline timeline = std::move(copy).finish({});
      state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
        ASSERT_LT(id.index(), timeline.rows.size());
        const Timeline::Row& row = timeline.rows[id.index()];
        const Timeline::Change& last = row.changes.back();
        const bool is_repaired = state.find_repairing(id) != nullptr;
        ++looked;
        EXPECT_EQ(is_there(last.doing), is_there(workload.phase)) << row.name;
        EXPECT_EQ(is_over(last.doing), workload.phase >= Phase::kEnded) << row.name;
        EXPECT_EQ(last.doing == Doing::kStops, workload.phase == Phase::kStopping) << row.name;
        EXPECT_EQ(last.doing == Doing::kMoves, workload.phase == Phase::kMigrating) << row.name;
        EXPECT_EQ(last.doing == Doing::kStarts, workload.phase == Phase::kStarting) << row.name;
        EXPECT_EQ(last.doing == Doing::kLacks, is_repaired) << row.name;
        if (is_there(workload.phase) && !is_repaired && workload.phase != Phase::kMigrating) {
          EXPECT_EQ(last.gpu_milli(), workload.gpu_milli) << row.name;
        }
        if (workload.phase == Phase::kRunning) {
          EXPECT_EQ(attempts_of(row).back().start, workload.started) << row.name;
        }
        EXPECT_TRUE(std::ranges::is_sorted(row.changes, {}, &Timeline::Change::at)) << row.name;
      });
    };
    ASSERT_TRUE(recorded_at("journal", file, {}, watch).has_value());
  }
  EXPECT_GT(looked, 5000);
}

}  // namespace berth::timeline_test
