// `berth timeline` and `berth whatif` as they are typed.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/test_command.h"
#include "sim/files.h"
#include "sim/test_journal.h"

namespace berth::timeline_test {

using Json = nlohmann::json;

class CliTimeline : public Cli {
 protected:
  std::string journal(const std::string& scenario) const {
    const Bytes bytes = journal_of_scenario("test.txt", scenario);
    return file("run.journal", std::string(bytes.begin(), bytes.end()));
  }

  const std::string busy_ =
      "nodes n 1 gpus=8\nqueue lab guarantee=8\nqueue lab/red guarantee=8\nqueue lab/blue\n"
      "submit a queue=lab/red gpus=8 limit=2h\ncycle\nat 01:00\nsubmit b queue=lab/blue gpus=4\ncycle\n"
      "at 02:00\ncycle\nat 04:00\ncycle\n";
};

TEST_F(CliTimeline, ShowsWhoRanWhen) {
  const CommandOutcome shown = berth_command({"timeline", journal(busy_), "--width", "60"});
  EXPECT_EQ(shown.exit_code, kExitDone) << shown.err;
  EXPECT_EQ(shown.out,
            "0 to 4h, 2 workloads on 8 GPUs; a character is about 7m4s\n"
            "\n"
            "workload  queue     GPUs  |0      |1h      |2h     |3h\n"
            "a         lab/red      8  ################!\n"
            "b         lab/blue     4          .........#################\n"
            "\n"
            "GPUs in use            8  #################\n"
            "                       6  #################\n"
            "                       5  ##################################\n"
            "                       3  ##################################\n"
            "                       2  ##################################\n"
            "\n"
            ". waits  # runs  ! ended by its limit\n");
}

TEST_F(CliTimeline, HasNoMoreLinesOfUseThanGpus) {
  const std::string few = "nodes n 1 gpus=2\nsubmit a gpus=1 run=1h\ncycle\nat 02:00\ncycle\n";
  const std::string shown = berth_command({"timeline", journal(few), "--width", "60"}).out;
  const std::string use = shown.substr(shown.find("GPUs in use"));
  EXPECT_EQ(std::ranges::count(use.substr(0, use.find("\n\n")), '\n'), 1) << shown;
  EXPECT_NE(use.find(" 1  ###"), std::string::npos) << shown;
}

TEST_F(CliTimeline, KeepsToTheWidth) {
  const std::string path = journal(busy_);
  for (const std::string width : {"60", "80", "160"}) {
    std::istringstream lines(berth_command({"timeline", path, "--width", width}).out);
    std::size_t longest = 0;
    for (std::string line; std::getline(lines, line);) {
      longest = std::max(longest, line.size());
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
    EXPECT_LE(longest, std::stoul(width));
    EXPECT_GE(longest + 2, std::stoul(width)) << "the bars take what there is";
  }
}

TEST_F(CliTimeline, TakesAQueueAndAWindow) {
  const std::string path = journal(busy_);
  const auto names = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"timeline", path, "-o", "json"});
    std::string text;
    const Json json = Json::parse(berth_command(words).out);
    for (const Json& each : json["workloads"]) text += each["name"].get<std::string>() + " ";
    return text;
  };
  EXPECT_EQ(names({}), "a b ");
  EXPECT_EQ(names({"--queue", "lab/blue"}), "b ");
  EXPECT_EQ(names({"--queue", "lab"}), "a b ") << "and those below it";
  EXPECT_EQ(names({"--until", "30m"}), "a ");
  EXPECT_EQ(names({"--from", "3h"}), "b ");
  EXPECT_EQ(names({"--limit", "1"}), "a ");
}

TEST_F(CliTimeline, TellsMachinesExactly) {
  const Json json = Json::parse(berth_command({"timeline", journal(busy_), "-o", "json"}).out);
  EXPECT_EQ(json["from_ms"], 0);
  EXPECT_EQ(json["until_ms"], 14'400'000);
  EXPECT_EQ(json["since_1970"], false);
  const Json& a = json["workloads"][0];
  EXPECT_EQ(a["queue"], "lab/red");
  EXPECT_EQ(a["is"], "ended by its limit");
  EXPECT_EQ(a["attempts"], Json::parse(R"([{"start_ms":0,"told_to_stop_ms":null,"end_ms":7200000,"ended":"over-run",
      "why":null,"gpu_milli":8000,"nodes":[{"node":"n1","gpu_milli":8000}]}])"));
  const Json& b = json["workloads"][1];
  EXPECT_EQ(b["submitted_ms"], 3'600'000);
  EXPECT_EQ(b["attempts"][0]["start_ms"], 7'200'000);
  EXPECT_EQ(b["attempts"][0]["end_ms"], nullptr);
  EXPECT_EQ(json["use"], Json::parse(R"([{"at_ms":0,"gpu_milli":8000},{"at_ms":7200000,"gpu_milli":4000}])"));
}

TEST_F(CliTimeline, RefusesWhatItCannotShow) {
  const std::string path = journal(busy_);
  struct Case {
    std::vector<std::string> words;
    const char* complaint;
  };
  const Case cases[] = {
      {{"--queue", "lab/blu"}, "did you mean lab/blue?"},
      {{"--queue", "nope"}, "'nope' is no queue of this cluster; there are: lab, lab/red, lab/blue"},
      {{"--from", "4h"}, "is not before 4h"},
      {{"--from", "noon"}, "--from: 'noon' is no moment"},
      {{"--until", "noon"}, "--until: 'noon' is no moment"},
      {{"--width", "20"}, "from 60 to 1000"},
      {{"--limit", "0"}, "--limit"},
      {{"--page", path}, "is the same file as the input"},
  };
  for (const Case& c : cases) {
    std::vector<std::string> words = {"timeline", path};
    words.insert(words.end(), c.words.begin(), c.words.end());
    const CommandOutcome outcome = berth_command(words);
    EXPECT_NE(outcome.exit_code, kExitDone) << c.complaint;
    EXPECT_EQ(outcome.out, "") << c.complaint;
    EXPECT_TRUE(outcome.err.contains(c.complaint)) << outcome.err;
  }
}

TEST_F(CliTimeline, ThePageHasABarForEachStretch) {
  const CommandOutcome outcome = berth_command({"timeline", journal(busy_), "--page", path("page.html")});
  EXPECT_EQ(outcome.exit_code, kExitDone) << outcome.err;
  const Result<std::string> page = read_file(path("page.html"));
  ASSERT_TRUE(page);
  // Half of the time a ran; b waited for a quarter of it and has run for the other half.
  EXPECT_TRUE(page->contains("<rect class=\"runs s0\" x=\"0\" y=\"0.12\" width=\"500\" height=\"0.76\">")) << *page;
  EXPECT_TRUE(page->contains("<path class=\"waits s1\" d=\"M250 1.50H500\">"));
  EXPECT_TRUE(page->contains("<rect class=\"runs s1\" x=\"500\" y=\"1.12\" width=\"500\" height=\"0.76\">"));
  EXPECT_TRUE(page->contains("a, lab/red: runs from 0 to 2h, 8 GPUs on n1"));
  EXPECT_TRUE(page->contains("ended by its limit") || page->contains("over-run at 2h"));
}

TEST_F(CliTimeline, WhatIfSaysWhoIsCancelled) {
  const std::string run = journal(
      "nodes n 1 gpus=8\nqueue q\nsubmit a queue=q gpus=8 limit=2h\ncycle\n"
      "submit w queue=q gpus=8 limit=1h\ncycle\n");
  const std::string shown = berth_command({"whatif", run, "--change", "cancel w"}).out;
  EXPECT_TRUE(shown.contains("cancelled                       0         1\n")) << shown;
  EXPECT_TRUE(shown.contains("  cancelled\n")) << shown;
  EXPECT_TRUE(shown.contains("not in 30 days                  0         0\n")) << shown;
  const Json json = Json::parse(berth_command({"whatif", run, "--change", "cancel w", "-o", "json"}).out);
  EXPECT_EQ(json["after"]["cancelled"], 1);
  EXPECT_EQ(json["workloads"][0]["after"]["cancelled"], true);
  EXPECT_EQ(json["workloads"][0]["before"]["cancelled"], false);
}

TEST_F(CliTimeline, WhatIfSaysWhoIsEvictedAndWhatHeLoses) {
  const std::string run =
      journal("nodes n 1 gpus=8\nqueue q\nsubmit a queue=q gpus=8 limit=10h\ncycle\nat 03:00\ncycle\n");
  const CommandOutcome outcome =
      berth_command({"whatif", run, "--change", "fail node n1", "--page", path("page.html")});
  EXPECT_TRUE(outcome.out.contains("  by node, 24 GPU-hours\n")) << outcome.out;
  const Result<std::string> page = read_file(path("page.html"));
  ASSERT_TRUE(page);
  EXPECT_TRUE(page->contains("Who is evicted otherwise"));
  EXPECT_TRUE(page->contains("by node, 24 GPU-hours"));
  const Json json = Json::parse(berth_command({"whatif", run, "--change", "fail node n1", "-o", "json"}).out);
  EXPECT_EQ(json["evicted"],
            Json::parse(R"([{"name":"a","queue":"q","before":{"evictions":0,"lost_gpu_s":0,"rule":null},
      "after":{"evictions":1,"lost_gpu_s":86400,"rule":"node"}}])"));
  const std::string unchanged = berth_command({"whatif", run, "--change", "set queue q limit=16"}).out;
  EXPECT_FALSE(unchanged.contains("evicted")) << unchanged;
}

TEST_F(CliTimeline, WhatIfTellsASecondFromNow) {
  const std::string run = journal(
      "nodes n 1 gpus=8\nqueue q\nqueue owner guarantee=8\nsubmit a queue=q gpus=8 grace=30s\ncycle\n"
      "at 01:00\nsubmit w queue=owner gpus=8\ncycle\n");
  const std::string shown = berth_command({"whatif", run, "--change", "add nodes m 1 gpus=8", "--all"}).out;
  EXPECT_TRUE(shown.contains("in 30s")) << shown;
}

TEST_F(CliTimeline, WhatIfComplainsWhereItWasTyped) {
  const std::string run = journal(busy_);
  const std::string typed = file("two.txt", "# c\n\nbogus\ndrain node n9\n");
  const std::string err =
      berth_command({"whatif", run, "--change", "hold queue lab", "--change", "hold queue nobody", "--changes", typed})
          .err;
  EXPECT_TRUE(err.contains("--change:2:12: there is no queue 'nobody'")) << err;
  EXPECT_TRUE(err.contains("two.txt:3:1: 'bogus' is no change")) << err;
  EXPECT_TRUE(err.contains("two.txt:4:12: there is no node 'n9'")) << err;
}

TEST_F(CliTimeline, WhatIfTellsMachinesAndAPageTheSame) {
  const std::string text =
      "nodes n 1 gpus=8\nqueue red guarantee=8\nqueue blue\nsubmit a queue=red gpus=8 limit=2h\ncycle\n"
      "submit b queue=blue gpus=4 limit=1h\nsubmit c queue=red gpus=8 limit=1h\ncycle\nat 01:00\ncycle\n";
  const std::string run = journal(text);
  const CommandOutcome outcome =
      berth_command({"whatif", run, "--change", "add nodes m 1 gpus=4", "-o", "json", "--page", path("page.html")});
  ASSERT_EQ(outcome.exit_code, kExitDone) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["at_ms"], 3'600'000);
  EXPECT_EQ(json["before"]["start_at_once"], 0);
  EXPECT_EQ(json["after"]["start_at_once"], 1);
  ASSERT_EQ(json["workloads"].size(), 2u);
  EXPECT_EQ(json["workloads"][0]["name"], "b");
  EXPECT_EQ(json["workloads"][0]["after"]["starts_ms"], 3'600'000);
  EXPECT_GT(json["workloads"][0]["before"]["starts_ms"], 3'600'000);
  ASSERT_EQ(json["after"]["queues"].size(), 2u);
  EXPECT_EQ(json["after"]["queues"][1]["queue"], "blue");
  EXPECT_EQ(json["after"]["queues"][1]["mean_wait_ms"], 0);
  EXPECT_GT(json["before"]["queues"][0]["gpu_ms_in_a_day"], 0);
  const Result<std::string> page = read_file(path("page.html"));
  ASSERT_TRUE(page);
  EXPECT_TRUE(page->contains("Who starts when, as it is"));
  EXPECT_TRUE(page->contains("Who starts when, and then"));
  EXPECT_TRUE(page->contains("add nodes m 1 gpus=4"));
  const CommandOutcome table = berth_command({"whatif", run, "--change", "add nodes m 1 gpus=4"});
  EXPECT_TRUE(table.out.contains("GPU-hours in a day")) << table.out;
  EXPECT_EQ(berth_command({"whatif", run, "--change", "drain node n1", "--page", run}).exit_code, kExitBadInput);
}

}  // namespace berth::timeline_test
