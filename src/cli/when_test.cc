// What a journal answers when it is asked for a start.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/test_command.h"
#include "client/asking.h"
#include "manifest/timestamp.h"
#include "sim/kept_forecasts.h"
#include "sim/test_journal.h"

namespace berth::when_test {

using Json = nlohmann::json;

// Thirty jobs of 100 s each, one after the other.
std::string line_of_jobs() {
  std::string jobs = "name,queue,submit_s,run_s,pods,gpus,cpu,memory,gpu_models\n";
  for (int i = 0; i < 30; ++i) jobs += "j" + std::to_string(i) + ",red,0,100,1,1,0,0,\n";
  return jobs;
}

TEST_F(Cli, WhenSaysWhenSomebodyWillStart) {
  const std::string journal = path("run.journal");
  const CommandOutcome run = berth_command({"simulate", "run", "--jobs", file("jobs.csv", line_of_jobs()), "--gpus",
                                            "1", "--order", "fifo", "--journal", journal});
  ASSERT_EQ(run.exit_code, kExitDone) << run.err;

  const CommandOutcome waits = berth_command({"when", journal, "j25", "--until", "35m", "-o", "json"});
  ASSERT_EQ(waits.exit_code, kExitWaits) << waits.err;
  const Json told = Json::parse(waits.out);
  EXPECT_EQ(told["workload"], "j25");
  EXPECT_EQ(told["waits"], true);
  for (const char* quantile : {"p50_ms", "p90_ms"}) EXPECT_EQ(told[quantile], 2'500'000) << quantile;
  EXPECT_LT(told["p10_ms"], 2'500'000) << "of 21 that have ended none was shorter than 100 s; one of the next may be";
  EXPECT_GT(told["p10_ms"], 2'300'000);
  EXPECT_EQ(told["promised_ms"], nullptr) << "nobody has a limit";
  EXPECT_EQ(told["ahead"], 3);
  EXPECT_EQ(told["running"], 1);
  EXPECT_EQ(told["samples"], 30);

  const CommandOutcome said = berth_command({"when", journal, "j25", "--until", "35m"});
  EXPECT_NE(said.out.find("j25 starts in 6m (p50), between in 5m (p10) and in 6m (p90)\n"), std::string::npos)
      << said.out;

  const CommandOutcome runs = berth_command({"when", journal, "j3", "--until", "35m", "-o", "json"});
  EXPECT_EQ(runs.exit_code, kExitDone) << runs.err;
  EXPECT_EQ(Json::parse(runs.out)["waits"], false);
  const CommandOutcome nobody = berth_command({"when", journal, "j99"});
  EXPECT_EQ(nobody.exit_code, kExitBadInput) << nobody.out;
  EXPECT_EQ(berth_command({"when", journal, "j25", "-o", "yaml"}).exit_code, kExitBadInput);
  for (const std::vector<std::string>& asked : std::vector<std::vector<std::string>>{
           {"when", journal, "j25"}, {"timeline", journal}, {"replay", journal, "--explain", "j25"}}) {
    std::vector<std::string> at_noon = asked;
    at_noon.insert(at_noon.end(), {"--until", "noon"});
    const CommandOutcome mistyped = berth_command(at_noon);
    EXPECT_EQ(mistyped.exit_code, kExitBadInput) << asked.front();
    EXPECT_NE(mistyped.err.find("'noon' is no moment"), std::string::npos) << mistyped.err;
  }
}

// It has room, and somebody who was told to stop is still there.
TEST_F(Cli, WhenSaysWhenSomebodyStartsForWhomOthersLeave) {
  const Bytes bytes = journal_of_scenario(
      "test.txt",
      "nodes n 1 gpus=8\nqueue q\nqueue owner guarantee=8\nsubmit a queue=q gpus=8 grace=30s\ncycle\n"
      "at 01:00\nsubmit w queue=owner gpus=8\ncycle\ncycle\n");
  const std::string journal = file("run.journal", std::string(bytes.begin(), bytes.end()));
  const CommandOutcome said = berth_command({"when", journal, "w"});
  EXPECT_EQ(said.exit_code, kExitWaits) << said.err;
  EXPECT_TRUE(
      said.out.contains("w starts in 30s (p50), between in 30s (p10) and in 30s (p90)\n"
                        "it has room, and waits until others have left it, 1 run\n"))
      << said.out;
  const Json told = Json::parse(berth_command({"when", journal, "w", "-o", "json"}).out);
  EXPECT_EQ(told["waits"], true);
  EXPECT_EQ(told["has_room"], true);
  EXPECT_EQ(told["ahead"], 0);
  EXPECT_EQ(told["p50_ms"], 3'630'000);
}

// Who can never start is told from who does not start soon.
TEST_F(Cli, WhenSaysWhoNeverStartsAndWhy) {
  const Bytes bytes = journal_of_scenario("test.txt",
                                          "nodes n 1 gpus=8\nqueue q\nqueue held limit=4\nsubmit big queue=q gpus=16\n"
                                          "submit w queue=held gpus=8\ncycle\n");
  const std::string run = std::string(bytes.begin(), bytes.end());
  const std::string journal = file("run.journal", run);
  const CommandOutcome never = berth_command({"when", journal, "big"});
  EXPECT_EQ(never.exit_code, kExitWaits) << never.err;
  EXPECT_TRUE(never.out.starts_with("big never starts, whoever ends: Invalid: ")) << never.out;
  const Json told = Json::parse(berth_command({"when", journal, "big", "-o", "json"}).out);
  EXPECT_EQ(told["never"], true);
  EXPECT_TRUE(told["reason"].get<std::string>().starts_with("Invalid: "));
  const CommandOutcome not_now = berth_command({"when", journal, "w"});
  EXPECT_TRUE(not_now.out.starts_with("w starts not in 60 days (p50)")) << not_now.out;
  EXPECT_TRUE(not_now.out.contains("\nnow QuotaLimit: ")) << not_now.out;
  EXPECT_EQ(Json::parse(berth_command({"when", journal, "w", "-o", "json"}).out)["never"], false);
  // What a scheduler keeps ready has no reasons.
  const Time now = system_wall_clock()();
  std::filesystem::create_directories(path("journal"));
  file("journal/000001.journal", run);
  file("journal/forecasts", to_text({.asked_at = now,
                                     .oldest = now,
                                     .until = now + KeptForecasts::kHorizon,
                                     .rows = {{.workload = "big", .queue = "q", .samples = 3},
                                              {.workload = "w", .queue = "held", .samples = 3}}}));
  EXPECT_TRUE(berth_command({"when", path("journal"), "big"}).out.starts_with("big never starts"))
      << "from its journal";
  EXPECT_TRUE(berth_command({"when", path("journal"), "w"}).out.contains("later than in 59d23h59m"))
      << "from what is kept";
}

TEST_F(Cli, ReplayExplainsWhoRunsAndWhoIsOver) {
  const Bytes bytes = journal_of_scenario(
      "test.txt",
      "nodes n 1 gpus=8\nqueue q\nqueue owner guarantee=8\nsubmit a queue=q gpus=8\nsubmit c queue=q gpus=8\ncycle\n"
      "at 01:00\nsubmit w queue=owner gpus=8 limit=4h\ncycle\ncycle\nat 02:00\ncancel c\ncycle\nat 08:00\ncycle\n");
  const std::string journal = file("run.journal", std::string(bytes.begin(), bytes.end()));
  struct Case {
    const char *name, *until, *said;
  };
  const Case cases[] = {
      {"a", "30m",
       "a runs since 0s after the beginning, on n1\nborrowed: owners whose floor it is in may take it back\n"},
      {"w", "90m", "w runs since 1h after the beginning, on n1\nguaranteed against everyone outside its queue\n"},
      {"a", "90m", "a waits\nevicted at 1h after the beginning by reclaim for w, lost 28,800 GPU-seconds\n"},
      {"c", "3h", "c was cancelled at 2h after the beginning\n"},
      {"w", "8h", "w was ended by its run limit at 5h after the beginning\n"},
  };
  for (const Case& c : cases) {
    const CommandOutcome outcome = berth_command({"replay", journal, "--until", c.until, "--explain", c.name});
    EXPECT_TRUE(outcome.out.contains(std::string("\n\n") + c.said)) << outcome.out << outcome.err;
  }
}

TEST_F(Cli, AFileThatIsNoJournalIsSaidToBeNone) {
  const CommandOutcome outcome = berth_command({"replay", file("jobs.csv", "name,queue\n")});
  EXPECT_EQ(outcome.exit_code, kExitFailed);
  EXPECT_TRUE(outcome.err.contains("this is not a Berth journal; name a file that --journal or berth snapshot wrote"))
      << outcome.err;
}

TEST_F(Cli, ASnapshotAnswersAsTheJournalDidThen) {
  const std::string journal = path("000001.journal"), snapshot = path("s/then.snapshot");
  std::filesystem::create_directories(path("s"));
  ASSERT_EQ(berth_command({"simulate", "run", "--jobs", file("jobs.csv", line_of_jobs()), "--gpus", "1", "--order",
                           "fifo", "--journal", journal})
                .exit_code,
            kExitDone);
  const CommandOutcome made = berth_command({"snapshot", journal, "--until", "35m", "--to", snapshot});
  ASSERT_EQ(made.exit_code, kExitDone) << made.err;
  EXPECT_NE(made.out.find("35m after the beginning after "), std::string::npos) << made.out;
  EXPECT_NE(made.out.find("1 run, 8 wait"), std::string::npos) << made.out;
  EXPECT_FALSE(std::filesystem::exists(snapshot + ".new"));
  for (const std::vector<std::string>& question :
       std::vector<std::vector<std::string>>{{"when", "FILE", "j25"},
                                             {"when", "FILE", "j25", "-o", "json"},
                                             {"whatif", "FILE", "--change", "add nodes m 2 gpus=8"},
                                             {"replay", "FILE", "--explain", "j25"},
                                             {"replay", "FILE", "--until", "10m", "--explain", "j7"}}) {
    std::vector<std::string> of_journal = question, of_snapshot = question;
    of_journal[1] = journal;
    of_snapshot[1] = snapshot;
    if (question.back() != "j7") of_journal.insert(of_journal.end(), {"--until", "35m"});
    const CommandOutcome there = berth_command(of_journal), here = berth_command(of_snapshot);
    EXPECT_EQ(here.out, there.out) << question[0];
    EXPECT_EQ(here.exit_code, there.exit_code) << question[0];
    EXPECT_FALSE(here.out.empty()) << here.err;
  }
  // The newest of a folder; all of what is in it is made again.
  const CommandOutcome again = berth_command({"snapshot", path(""), "--to", snapshot});
  EXPECT_EQ(again.exit_code, kExitDone) << again.err;
  const CommandOutcome replayed = berth_command({"replay", snapshot});
  EXPECT_EQ(replayed.exit_code, kExitDone) << replayed.err;
  EXPECT_EQ(berth_command({"snapshot", journal, "--to", journal}).exit_code, kExitBadInput);
  EXPECT_EQ(berth_command({"snapshot", path("none"), "--to", snapshot}).exit_code, kExitBadInput);
  EXPECT_EQ(berth_command({"snapshot", journal, "--to", path("nowhere/s")}).exit_code, kExitBadInput);
  // Of another version it is refused by all.
  std::string other;
  {
    std::ifstream in(snapshot, std::ios::binary);
    other.assign(std::istreambuf_iterator<char>(in), {});
  }
  other[8] = 9;
  const std::string changed = file("other.snapshot", other);
  for (const char* const command : {"replay", "timeline"})
    EXPECT_NE(berth_command({command, changed}).err.find("a snapshot of version 9"), std::string::npos) << command;
  EXPECT_NE(berth_command({"when", changed, "j25"}).err.find("a snapshot of version 9"), std::string::npos);
}

TEST_F(Cli, WhenSaysWhatASchedulerThatRunsKeepsReady) {
  const Time now = system_wall_clock()();
  const auto table = [&](Time asked_at) {
    return ForecastTable{.asked_at = asked_at,
                         .oldest = asked_at + seconds(-30),
                         .until = asked_at + seconds(36'000),
                         .running = 9,
                         .ended_runs = 1'234,
                         .rows = {{.workload = "ml/train",
                                   .queue = "research",
                                   .position = 4,
                                   .ahead = {"ml/a", "ml/b"},
                                   .samples = 12,
                                   .p10 = asked_at + seconds(630),
                                   .p50 = asked_at + seconds(1230)}}};
  };
  std::filesystem::create_directories(path("journal"));
  file("journal/forecasts", to_text(table(now + seconds(-2))));
  const CommandOutcome said = berth_command({"when", path("journal"), "train"});
  EXPECT_EQ(said.exit_code, kExitWaits) << said.err;
  EXPECT_NE(said.out.find("ml/train starts in 20m (p50), between in 10m (p10) and later than in 9h59m (p90)\n"
                          "number 4 in the line of queue research: ahead are ml/a, ml/b and 1 more, 9 run\n"
                          "foretold 2s"),
            std::string::npos)
      << said.out;
  EXPECT_NE(said.out.find("by running ahead 12 times in 30s, with run times of 1,234 that had ended"),
            std::string::npos);
  ForecastTable first = table(now + seconds(-2));
  first.rows.front().samples = 1;
  file("journal/forecasts", to_text(first));
  EXPECT_TRUE(berth_command({"when", path("journal"), "train"}).out.contains("by running ahead 1 time in 30s"));
  file("journal/forecasts", to_text(table(now + seconds(-2))));
  const CommandOutcome json = berth_command({"when", path("journal"), "ml/train", "-o", "json"});
  const Json told = Json::parse(json.out);
  EXPECT_GE(told["age_ms"], 2'000);
  EXPECT_LT(told["age_ms"], 20'000);
  EXPECT_EQ(told["position"], 4);
  EXPECT_EQ(told["p90_ms"], nullptr);
  EXPECT_EQ(told["p50_ms"], (now + seconds(1228)).ms);
  // Of one that has ended, of somebody else, or of another moment the journal is asked; here is none.
  EXPECT_EQ(berth_command({"when", path("journal"), "nobody"}).exit_code, kExitBadInput);
  EXPECT_EQ(berth_command({"when", path("journal"), "train", "--samples", "10"}).exit_code, kExitBadInput);
  file("journal/forecasts", to_text(table(now + seconds(-100))));
  EXPECT_EQ(berth_command({"when", path("journal"), "train"}).exit_code, kExitBadInput);
}

}  // namespace berth::when_test
