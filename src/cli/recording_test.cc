#include "cli/recording.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/test_command.h"
#include "journal/chain.h"
#include "manifest/timestamp.h"
#include "sim/session.h"

namespace berth::recording_test {

constexpr Time kMorning{1'795'752'000'000};

// What a scheduler has written that began at that moment, and still runs: 10 s later the job came, and 10 s after that it started.
std::string journal_of_life(const std::string& job, Time begin) {
  ChainWriter chain;
  Bytes file;
  const auto append = [&](const Bytes& bytes) { file.insert(file.end(), bytes.begin(), bytes.end()); };
  append(chain.begin_section(0, 1));
  Session session([&](const Bytes& payload) { append(chain.append(payload)); });
  const auto decide = [&](Time now) { session.decide(now, [](const Plan&) {}); };
  session.apply(RunConfigured{.seed = Seed{1}});
  session.apply(FlavorAdded{{"h100", "H100", 81'559}});
  session.apply(QueueAdded{{.name = "q", .parent = {}, .order = Order::kFifoSkip}});
  session.apply(
      NodesAdded{{{.name = "n1", .flavor = FlavorId(0), .gpus = 8, .cpu_milli = 64'000, .memory_bytes = 1 << 30}}});
  session.apply(TimePassed{begin + seconds(-1800)});  // as of those who are found
  decide(begin);
  const PodRequest request{.gpus = 8, .gpu_milli = kMilliPerGpu};
  session.apply(WorkloadSubmitted{
      .name = job, .queue = QueueId(0), .at = begin + seconds(10), .shape = {.ways = {{{.request = request}}}}});
  decide(begin + seconds(20));
  return {file.begin(), file.end()};
}

class Lives : public Cli {
 protected:
  // Of the folder, or of a file in it: how it was at the moment.
  CommandOutcome replayed(const std::string& what, const std::string& moment) const {
    return berth_command({"replay", path(what), "--until", moment});
  }
  const std::string first_ = file("000001.journal", journal_of_life("default/a/0a", kMorning));
  const std::string second_ = file("000002.journal", journal_of_life("default/b/0b", kMorning + seconds(3600)));
};

TEST_F(Lives, OfThemTheMomentIsLookedForWhereItIsTold) {
  const auto at = [](std::int64_t s) { return format_timestamp(kMorning + seconds(s)); };
  struct Case {
    std::string what, moment, said, remark;
  };
  const Case cases[] = {
      {"", "15s", "default/b/0b", ""},  // after the beginning of the newest
      {"", "20s", "1 run, 0 wait", ""},
      {"000001.journal", "15s", "default/a/0a", ""},
      {"", at(15), "default/a/0a", ""},
      {"", at(20), at(20) + " after ", ""},
      {"", at(1800), at(20) + " after ", "000001.journal: nothing is recorded after " + at(20)},  // between two lives
      {"", at(3599), "1 run, 0 wait", "nothing is recorded after"},
      {"", at(3600), at(3600) + " after ", ""},
      {"", at(3615), "default/b/0b", ""},
      {"", "2h", at(3620) + " after ", "000002.journal: nothing is recorded after " + at(3620)},
  };
  for (const Case& c : cases) {
    const CommandOutcome outcome = replayed(c.what, c.moment);
    EXPECT_EQ(outcome.exit_code, kExitDone) << c.moment << outcome.err;
    EXPECT_TRUE(outcome.out.contains(c.said)) << c.what << c.moment << outcome.out;
    EXPECT_TRUE(c.remark.empty() ? outcome.err.empty() : outcome.err.contains(c.remark)) << c.moment << outcome.err;
  }
  const CommandOutcome before = replayed("", at(-1));
  EXPECT_EQ(before.exit_code, kExitFailed);
  EXPECT_TRUE(before.err.contains("000001.journal: begins at " + at(0) + ", after that moment; name a later one"))
      << before.err;
}

TEST_F(Lives, OfThemTheNewestIsMadeAgainWhole) {
  const CommandOutcome outcome = berth_command({"replay", path("")});
  EXPECT_EQ(outcome.exit_code, kExitDone) << outcome.err;
  EXPECT_TRUE(outcome.out.contains("000002.journal: reproduced byte for byte")) << outcome.out;
}

TEST_F(Lives, AreLookedForWhereTheyAre) {
  std::filesystem::create_directories(path("plane/journal"));
  std::filesystem::create_directories(path("empty"));
  const std::pair<std::string, std::string> cases[] = {
      {path("plane"), "the folder of a whole control plane; its journals are in " + path("plane/journal")},
      {path("empty"), "has no journal; name a file"},
      {path("none"), "there is no such file"},
  };
  for (const auto& [folder, complaint] : cases) {
    for (const char* const command : {"timeline", "replay", "snapshot"}) {
      const CommandOutcome outcome = berth_command({command, folder});
      EXPECT_EQ(outcome.exit_code, kExitBadInput) << command;
      EXPECT_TRUE(outcome.err.contains(complaint)) << command << outcome.err;
    }
  }
}

TEST_F(Lives, AreAskedTheSameByAllCommands) {
  const std::string date = format_timestamp(kMorning + seconds(15)), length = "15s";
  for (const auto& [moment, job] : {std::pair{date, "default/a"}, std::pair{length, "default/b"}}) {
    const CommandOutcome taken =
        berth_command({"snapshot", path(""), "--until", moment, "--to", path("then.snapshot")});
    EXPECT_EQ(taken.exit_code, kExitDone) << taken.err;
    const CommandOutcome when = berth_command({"when", path(""), job, "--until", moment});
    EXPECT_TRUE(when.out.contains("starts at once")) << when.out << when.err;
    const CommandOutcome what_if =
        berth_command({"whatif", path(""), "--until", moment, "--change", "drain node n1", "--all"});
    EXPECT_TRUE(what_if.out.contains(job)) << what_if.out << what_if.err;
    const CommandOutcome there = berth_command({"replay", path("then.snapshot"), "--explain", job});
    EXPECT_TRUE(there.out.contains(std::string(job) + "/")) << there.out << there.err;
  }
  // A timeline begins where the first life does.
  for (const std::string& moment : {date, length}) {
    const CommandOutcome timeline = berth_command({"timeline", path(""), "--until", moment});
    EXPECT_TRUE(timeline.out.contains("default/a ")) << timeline.out << timeline.err;
    EXPECT_FALSE(timeline.out.contains("default/b")) << timeline.out;
  }
  EXPECT_TRUE(berth_command({"timeline", path("")}).out.contains("default/b "));
  const CommandOutcome before =
      berth_command({"timeline", path(""), "--until", format_timestamp(kMorning + seconds(-1))});
  EXPECT_TRUE(before.err.contains("begins at ")) << before.err;
}

TEST_F(Lives, ATimelineSaysWhereItBeginsIfThatIsLater) {
  const auto from = [&](std::int64_t s) {
    return berth_command({"timeline", path(""), "--from", format_timestamp(kMorning + seconds(s))});
  };
  const CommandOutcome before = from(-3600);
  EXPECT_EQ(before.exit_code, kExitDone) << before.err;
  EXPECT_TRUE(before.out.contains("default/a ")) << before.out;
  const std::string said =
      ": nothing is recorded before " + format_timestamp(kMorning + seconds(-1800)) + "; from then on\n";
  EXPECT_TRUE(before.err.contains(said)) << before.err;
  EXPECT_EQ(from(5).err, "");
  EXPECT_EQ(berth_command({"timeline", path("")}).err, "");
}

TEST_F(Lives, OfOneThatGoesOnASnapshotIsWhole) {
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--until", "15s"}}) {
    std::vector<std::string> words = {"snapshot", first_, "--to", path("s")};
    words.insert(words.end(), more.begin(), more.end());
    ASSERT_EQ(berth_command(words).exit_code, kExitDone);
    const CommandOutcome again = berth_command({"replay", path("s")});
    EXPECT_EQ(again.exit_code, kExitDone) << again.err;
    EXPECT_TRUE(again.out.contains("s: reproduced byte for byte\n")) << again.out;
    EXPECT_TRUE(again.out.contains(", 1 run, ")) << again.out;
  }
  const CommandOutcome journal = berth_command({"replay", first_});
  EXPECT_EQ(journal.exit_code, kExitFailed) << "of a journal itself nobody knows whether something is missing";
  EXPECT_TRUE(journal.err.contains("the journal is cut off here; up to here it is sound")) << journal.err;
}

TEST(FindRecorded, TakesWhatPeopleCallAJob) {
  Recorded recorded;
  recorded.workloads = {"job-1",           "default/w/0c5e",  "default/w/9f1a", "ml/w/77aa",
                        "default/b-66hbj", "default/b-extra", "job-1"};
  struct Case {
    const char* name;
    std::optional<std::size_t> found;
  };
  const Case cases[] = {
      {"job-1", 6},                   // of several of one name the last
      {"default/w/0c5e", 1},          // its whole name
      {"w", 3},                       // in any namespace
      {"default/w", 2},               // in that one
      {"job/w", 3},                   // as kubectl says
      {"b", 5},                       // a pod of a Job: five letters behind its name
      {"default/b", 5},               // the same
      {"c", std::nullopt},            // nobody
      {"default", std::nullopt},      // a namespace is no job
      {"default/b-6", std::nullopt},  // no beginning of a name
  };
  for (const Case& c : cases) {
    const Result<WorkloadId> found = find_recorded(recorded, c.name);
    ASSERT_EQ(found.has_value(), c.found.has_value()) << c.name;
    if (found) {
      EXPECT_EQ(found->index(), *c.found) << c.name;
    }
  }
}

TEST(FindRecorded, NamesWhatIsNear) {
  Recorded recorded;
  recorded.workloads = {"training"};
  const Result<WorkloadId> found = find_recorded(recorded, "trainin");
  ASSERT_FALSE(found.has_value());
  EXPECT_TRUE(found.error().to_string().contains("did you mean training?")) << found.error().to_string();
}

TEST(FindRecorded, NamesTheGangOfOneOfIts) {
  Recorded recorded;
  recorded.workloads = {"default/js/5ad9", "default/js-a/77aa", "default/x-2b9"};
  const auto said = [&](const std::string& name) { return find_recorded(recorded, name).error().to_string(); };
  const std::string instead =
      ": nobody of this name was submitted until then; who starts together is called as the gang is: write ";
  EXPECT_EQ(said("job/js-b-0"), "job/js-b-0" + instead + "js\n");
  EXPECT_EQ(said("pod/js-0"), "pod/js-0" + instead + "js\n");
  EXPECT_EQ(said("job/js-a-0"), "job/js-a-0" + instead + "js-a\n");
  EXPECT_FALSE(said("job/jsx").contains("gang"));
  EXPECT_EQ(find_recorded(recorded, "jobset/js")->index(), 0U);
}

TEST(FindRecorded, NamesWhoThereIsWhereNothingIsNear) {
  Recorded recorded;
  EXPECT_EQ(find_recorded(recorded, "nobody").error().to_string(),
            "nobody: nobody was submitted until then; name a later moment\n");
  recorded.workloads = {"b", "a", "b"};
  EXPECT_EQ(find_recorded(recorded, "nobody").error().to_string(),
            "nobody: nobody of this name was submitted until then; there are: a, b\n");
}

}  // namespace berth::recording_test
