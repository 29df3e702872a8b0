// The scenarios of the project, and that what is expected can also be missed.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "sim/files.h"
#include "sim/scenario_run.h"

namespace berth::scenario_test {

// Tests run in the root of the checkout.
const char* const kScenarios = "scenarios";

TEST(Scenario, HoldsInEveryFileOfTheProject) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(kScenarios)) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  EXPECT_GE(paths.size(), 18u);
  for (const std::string& path : paths) {
    const Result<std::string> text = read_file(path);
    ASSERT_TRUE(text) << text.error().to_string();
    EXPECT_TRUE(text->starts_with("# ")) << path << ": the first line says why the scenario exists";
    EXPECT_LE(std::count(text->begin(), text->end(), '\n'), 40) << path << ": longer than one screen";
    const ScenarioOutcome outcome = run_scenario(path, *text);
    EXPECT_TRUE(outcome.passed()) << outcome.failures.to_string();
    EXPECT_GT(outcome.expectations, 0) << path << " expects nothing";
    EXPECT_EQ(run_scenario(path, *text).state_hash, outcome.state_hash) << path;
  }
}

TEST(Scenario, HoldsInTheGuide) {
  const Result<std::string> guide = read_file("docs/scenarios.md");
  ASSERT_TRUE(guide) << guide.error().to_string();
  const std::string fence = "```scenario\n";
  int examples = 0;
  for (std::size_t at = guide->find(fence); at != std::string::npos; at = guide->find(fence, at)) {
    at += fence.size();
    const std::string text = guide->substr(at, guide->find("```", at) - at);
    const ScenarioOutcome outcome = run_scenario("docs/scenarios.md", text);
    EXPECT_TRUE(outcome.passed()) << outcome.failures.to_string();
    ++examples;
  }
  EXPECT_GE(examples, 1);
}

TEST(Scenario, SaysWhatItFoundInsteadOfWhatWasExpected) {
  // One node runs `a`; `b` waits for it, `c` could never run, `e` has ended and `x` was cancelled.
  const std::string world =
      "flavor h100 model=H100\nflavor l4 model=L4\nnodes n 1 gpus=8 flavor=h100 cpu=64\nqueue q order=fifo-skip\n"
      "submit e gpus=8\ncycle\nend e\nsubmit x gpus=1\ncancel x\nat 08:00\nsubmit a pods=2 gpus=4 cpu=2 run=1h\n"
      "submit b gpus=8\nsubmit c gpus=1 flavor=l4\ncycle\n";
  struct Case {
    const char* text;
    const char* failure;
  };
  const Case cases[] = {
      {"expect b running",
       "expected b running, found it waiting: Capacity, no node has 8 GPUs free (the only one has none free)"},
      {"expect e running", "expected e running, found it done"},
      {"expect x running", "expected x running, found it cancelled"},
      {"expect a running=3", "expected a running with 3 pods, found 2 pods"},
      {"nodes m 1\nexpect a running on=m1", "expected a on m1, found it on n1"},
      {"nodes m 1\nexpect a running on=n1,m1", "expected a on m1, n1, found it on n1"},
      {"expect a running flavor=l4", "expected a on l4, found h100"},
      {"at 09:30\nexpect e running started=09:00", "expected e running, found it done"},
      {"at +1m\nexpect a running started=08:01", "expected a started 08:01, found 08:00"},
      {"expect a waits", "expected a waiting, found it running: 2 pods on n1 (h100), started 08:00"},
      {"expect e waits", "expected e waiting, found it done"},
      {"expect b waits reason=Behind",
       "expected b waiting: Behind, found it waiting: Capacity, no node has 8 GPUs free (the only one has none free)"},
      {"expect c waits reason=Invalid",
       "expected c waiting: Invalid, found it waiting: GpuType, no node has L4-24GB GPUs (the only one has other "
       "GPUs)"},
      {"submit f\nexpect f waits reason=Capacity", "expected f waiting: Capacity, found it waiting: not tried yet"},
      {"expect b waits has=closed",
       "expected b waiting with the words 'closed', found it waiting: Capacity, no node has 8 GPUs free"},
      {"expect c waits ahead=none", "expected nobody ahead of c, found b"},
      {"expect b waits ahead=c,a", "expected c, a ahead of b, found nobody"},
      {"expect b impossible",
       "expected b impossible, found that it could run on idle nodes; it is waiting: Capacity, "},
      {"expect a impossible", "expected a impossible, found it running: 2 pods"},
      {"expect c impossible reason=Invalid", "expected c impossible: Invalid, found GpuType; it is waiting: GpuType, "},
      {"expect a evicted", "expected a evicted, found it running: 2 pods on n1 (h100), started 08:00"},
      {"expect b evicted rule=node", "expected b evicted, found it waiting: Capacity, "},
      {"fail node n1\nrestore node n1\ncycle\nexpect a evicted", "expected a evicted, found it running: "},
      {"expect a done", "expected a done, found it running: 2 pods on n1 (h100), started 08:00"},
      {"expect x done", "expected x done, found it cancelled"},
      {"expect e cancelled", "expected e cancelled, found it done"},
      {"expect a repairing", "expected a repairing, found it running: 2 pods on n1 (h100), started 08:00"},
      {"fail pod a/0\nexpect a running",
       "expected a running, found it repairing until 08:10: it lacks 1 of its 2 pods since 0s, and keeps the others "
       "for "
       "another 10m; there is room for those it lacks, it will be tried"},
      {"fail pod a/0\nexpect a repairing until=08:09", "expected a repairing until 08:09, found 08:10"},
      {"fail pod a/0\nexpect a repairing lost=1",
       "expected a repairing with a loss of 1 GPU-second, found 0 GPU-seconds"},
      {"fail pod a/0\nexpect a evicted", "expected a evicted, found it repairing until 08:10: "},
      {"fail pod a/0\nexpect a waits ahead=none", "expected a in its line, found it repairing until 08:10: "},
      {"fail pod a/0\ncheckpoint a",
       "expected a running, so that it could report a checkpoint, found it repairing until 08:10: "},
      {"fail pod b/0", "expected pod 0 of b running, so that it could fail, found that it does not"},
      {"fail node n1\nexpect none evicted since start",
       "expected none evicted since the start, found 1 eviction, the first of a at 08:00"},
      {"expect a running\nfail node n1\nexpect a evicted\nexpect none evicted since last",
       "expected none evicted since the last expectations, found 1 eviction, the first of a at 08:00"},
      {"expect usage q = 7", "expected usage of q 7, found 8"},
      {"expect usage q = l4:1", "expected usage of q l4:1, found l4:0"},
      {"expect usage q = h100:8,h100.cpu:500m", "expected usage of q h100.cpu:500m, found h100.cpu:4"},
      {"expect usage q = h100.memory:1Gi", "expected usage of q h100.memory:1Gi, found h100.memory:0"},
      {"expect fragments 9g.99gb=0", "no GPU here can be cut into '9g.99gb'; name a profile of one of the flavors"},
      {"expect fragments 8gpu=1", "expected whole free GPUs for pods of 8: room for 1, found 0"},
      {"expect mig n1/0 = none", "expected slices on n1/0, found GPUs that are not cut; its node needs mode=mig"},
      {"nodes m 1 gpus=2 flavor=h100 mode=mig\nexpect mig m1/2 = none",
       "expected slices on m1/2, found GPUs 0 to 1 there"},
      {"nodes m 1 gpus=2 flavor=h100 mode=mig\nsubmit s gpus=mig:1g.10gb\ncycle\nexpect mig m1/0 = 2g.20gb@0",
       "expected the slices of m1/0: 2g.20gb@0, found 1g.10gb@6"},
      {"lint expect nothing",
       "expected the linter to say nothing, found s.txt:13: error: no node has GPUs of a flavor that "
       "c accepts (l4); it waits for ever; name a flavor that nodes have"},
      {"lint expect \"larger\" at=q", "expected the linter to say 'larger' of q, found s.txt:13: error: no node has"},
      {"end b", "expected b running, so that it could end, found it waiting: Capacity, "},
      {"cancel e", "expected e running or waiting, so that it could be cancelled, found it done"},
      {"set workload e priority=1", "expected e running or waiting, so that it could be changed, found it done"},
      {"queue r\nset workload a queue=r",
       "expected a waiting, so that it could be moved, found it running: 2 pods on n1 (h100), started 08:00; cancel it "
       "and submit it to r"},
      {"hold queue q\nexpect b running",
       "expected b running, found it waiting: QueueHeld, queue q is held: nothing of it starts before it is released"},
  };
  const std::string line_before = "s.txt:" + std::to_string(std::count(world.begin(), world.end(), '\n'));
  for (const Case& c : cases) {
    const ScenarioOutcome outcome = run_scenario("s.txt", world + c.text);
    EXPECT_FALSE(outcome.refused) << c.text;
    ASSERT_EQ(outcome.failures.count(), 1u) << c.text << "\n" << outcome.failures.to_string();
    const Complaint& failure = outcome.failures.kept()[0];
    EXPECT_TRUE(failure.text.starts_with(c.failure))
        << c.text << "\n  found:    " << failure.text << "\n  expected: " << c.failure;
    const std::string all = world + c.text;
    EXPECT_EQ(failure.place, (Place{"s.txt", 1 + std::count(all.begin(), all.end(), '\n'), 0})) << c.text;
  }
  EXPECT_TRUE(run_scenario("s.txt", world).passed());
}

TEST(Scenario, GoesOnAfterAFailure) {
  const ScenarioOutcome outcome =
      run_scenario("s.txt", "submit a gpus=1\nexpect a done\ncycle\nexpect a running\nexpect a waits");
  EXPECT_EQ(outcome.failures.to_string(),
            "s.txt:2: expected a done, found it waiting: GpuType, there are no nodes\n"
            "s.txt:4: expected a running, found it waiting: GpuType, there are no nodes\n");
  EXPECT_EQ(outcome.statements, 5);
  EXPECT_EQ(outcome.expectations, 3);
}

TEST(Scenario, ThatCannotBeReadIsNotRun) {
  const ScenarioOutcome outcome = run_scenario("s.txt", "submit a\nexpect a done\nfoo");
  EXPECT_TRUE(outcome.refused);
  EXPECT_EQ(outcome.failures.to_string().find("s.txt:3:1: 'foo' is no statement; known: seed, policy, "), 0u);
}

TEST(Scenario, RemembersWorkloadsThatEndedLongAgo) {
  std::string text = "nodes n 1 gpus=8\n";
  for (int i = 0; i < 1100; ++i) {
    const std::string name = "w" + std::to_string(i);
    text += "submit " + name + " gpus=8 run=1m\ncycle\nat +1m\n";
  }
  text += "expect w0 done\nexpect w1099 done\n";
  const ScenarioOutcome outcome = run_scenario("s.txt", text);
  EXPECT_TRUE(outcome.passed()) << outcome.failures.to_string();
}

TEST(Scenario, ThatWouldTakeForEverEnds) {
  std::string text = "nodes n 50000 gpus=8\nsubmit a pods=50000 gpus=1\n";
  for (int i = 0; i < 3000; ++i) text += "cycle\nfail node n1\nrestore node n1\n";
  const ScenarioOutcome outcome = run_scenario("s.txt", text);
  EXPECT_FALSE(outcome.refused);
  ASSERT_EQ(outcome.failures.count(), 1u);
  EXPECT_EQ(outcome.failures.kept()[0].text,
            "this is more work than a scenario may ask for; take fewer nodes, pods or cycles");
}

TEST(Scenario, AClockTimeWithoutADateIsOfAnyDay) {
  const std::string world = "nodes n 1 gpus=8\nat 2026-11-21T08:00:00Z\nsubmit w gpus=8\ncycle\nat +50h\n";
  EXPECT_TRUE(run_scenario("s.txt", world + "expect w running started=08:00").passed());
  EXPECT_TRUE(run_scenario("s.txt", world + "expect w running started=2026-11-21T08:00:00Z").passed());
  EXPECT_FALSE(run_scenario("s.txt", world + "expect w running started=08:01").passed());
  EXPECT_FALSE(run_scenario("s.txt", world + "expect w running started=2026-11-22T08:00:00Z").passed());
}

TEST(Scenario, MayBeginWithAByteOrderMark) {
  const ScenarioOutcome outcome = run_scenario("s.txt", "\xef\xbb\xbfnodes n 1\nsubmit w\ncycle\nexpect w running\n");
  EXPECT_TRUE(outcome.passed()) << outcome.failures.to_string();
}

}  // namespace berth::scenario_test
