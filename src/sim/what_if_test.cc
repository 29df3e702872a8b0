#include "sim/what_if.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "journal/codec.h"
#include "sim/scenario_run.h"
#include "sim/what_if_told.h"

namespace berth {
namespace {

const std::string kBusy =
    "nodes n 2 gpus=8\n"
    "queue q order=fifo-skip limit=32\n"
    "submit a queue=q gpus=8 limit=2h\n"
    "submit b queue=q gpus=6 limit=3h\n"
    "cycle\n"
    "submit w queue=q pods=2 gpus=8 limit=1h\n"
    "submit v queue=q gpus=4 limit=1h\n"
    "cycle\n";

Recorded recorded(const std::string& text) {
  auto end = end_of_scenario("test.txt", text);
  EXPECT_TRUE(end.has_value()) << (end ? "" : end.error().to_string());
  Recorded there;
  there.engine.state = std::move(end->state);
  there.now = end->now;
  there.workloads = std::move(end->workloads);
  return there;
}

Changes changes(const Recorded& there, const std::string& text) {
  std::vector<std::string> names = there.workloads;
  const auto read = read_changes("changes", text, there, names);
  EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().to_string());
  return read ? *read : Changes();
}

TEST(WhatIf, EqualsByteForByteDoingIt) {
  const char* const cases[] = {"add nodes m 2 gpus=8\n",
                               "set queue q limit=12\n",
                               "drain node n1\n",
                               "end a\n",
                               "cancel w\n",
                               "set workload v priority=5\n",
                               "fail node n2\n",
                               "submit x queue=q gpus=2 limit=10m\n",
                               "hold queue q\n",
                               "queue r guarantee=8\nsubmit y queue=r gpus=8 limit=10m\n",
                               "queue s/t limit=4\n",
                               "add nodes m 1 gpus=8\ncancel v\nset queue q limit=40 order=fifo\n"};
  const Recorded there = recorded(kBusy);
  const std::uint64_t before = there.engine.state.hash();
  for (const std::string text : cases) {
    SCOPED_TRACE(text);
    RunAhead ahead(there.engine.state, there.now, [](const State&, WorkloadId) { return seconds(3600); });
    for (const Event& event : changes(there, text).facts) ahead.apply(event);
    ahead.decide();
    const Recorded done = recorded(kBusy + text + "cycle\ncycle\ncycle\n");
    EXPECT_EQ(ahead.state().hash(), done.engine.state.hash());
    EXPECT_EQ(there.engine.state.hash(), before);
  }
}

TEST(WhatIf, TellsWhenEachWouldStart) {
  const Recorded there = recorded(kBusy);
  const WhatIf done = what_if(there, changes(there, "add nodes m 1 gpus=8\nend b\n"), {});
  ASSERT_EQ(done.before.waiting.size(), 2u);
  EXPECT_EQ(done.before.starts_at_once, 0);
  EXPECT_EQ(done.after.starts_at_once, 1);
  EXPECT_EQ(done.after.waiting[0].starts, there.now);
  ASSERT_TRUE(done.before.waiting[0].starts);
  EXPECT_GT(*done.before.waiting[0].starts, there.now);
}

TEST(WhatIf, TellsWhatComesWithTheChanges) {
  const Recorded there = recorded(kBusy);
  const WhatIf done = what_if(there,
                              changes(there,
                                      "queue r guarantee=8\nadd nodes m 1 gpus=8\n"
                                      "submit y queue=r gpus=8 limit=10m\nsubmit z queue=r gpus=9\n"),
                              {});
  EXPECT_EQ(done.queues, (std::vector<std::string>{"q", "r"}));
  ASSERT_EQ(done.after.submitted.size(), 2u);
  EXPECT_EQ(done.submitted[0].name, "y");
  EXPECT_EQ(done.submitted[0].queue, "r");
  EXPECT_EQ(done.after.submitted[0].starts, there.now);
  EXPECT_FALSE(done.after.submitted[1].starts);
  EXPECT_TRUE(done.before.submitted.empty());
  EXPECT_EQ(done.before.queues[1].gpu_milli_ms, 0);
  EXPECT_GT(done.after.queues[1].gpu_milli_ms, 0);
}

// Two small ones on one node leave the other whole; one on each do not.
TEST(WhatIf, PlacesByAnotherPolicy) {
  const std::string text =
      "nodes n 2 gpus=8\nqueue q\nsubmit x queue=q gpus=8 pods=2 limit=1h\ncycle\nsubmit a queue=q gpus=2 "
      "limit=3h\nsubmit b queue=q "
      "gpus=2 limit=3h\nsubmit c queue=q gpus=8 limit=1h\n";
  const Recorded there = recorded(text);
  const WhatIf done = what_if(there, changes(there, "policy spread\n"), {});
  const auto start_of_c = [](const Outlook& outlook) { return outlook.waiting.at(2).starts.value(); };
  EXPECT_LT(start_of_c(done.before), start_of_c(done.after));
  std::vector<std::string> names;
  const auto wrong = read_changes("changes", "policy sprad\npolicy fgd\n", there, names);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().to_string().find("changes:1:8: there is no policy 'sprad'"), std::string::npos)
      << wrong.error().to_string();
  const auto unknown = read_changes("changes", "policy fgd\n", there, names);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().to_string().find("changes:1: 'fgd' measures by typical pods"), std::string::npos)
      << unknown.error().to_string();
}

// What waits in it waits on, and what runs goes on.
TEST(WhatIf, AQueueThatIsRemovedStartsNothing) {
  const Recorded there = recorded(
      "nodes n 2 gpus=8\nqueue q\nqueue r\nsubmit a queue=q gpus=8 limit=1h\n"
      "submit x queue=r gpus=8 limit=2h\ncycle\nsubmit b queue=q gpus=8 limit=1h\ncycle\n");
  EXPECT_EQ(changes(there, "remove queue q\n").facts.size(), 1u);
  const WhatIf done = what_if(there, changes(there, "remove queue q\n"), {});
  ASSERT_EQ(done.before.waiting.size(), 1u);
  EXPECT_TRUE(done.before.waiting[0].starts);
  EXPECT_FALSE(done.after.waiting[0].starts);
  EXPECT_EQ(done.after.evictions, 0);
}

TEST(WhatIf, ARemovedNodeIsOneThatFails) {
  const Recorded there = recorded(kBusy);
  RunAhead removed(there.engine.state, there.now, [](const State&, WorkloadId) { return seconds(3600); });
  RunAhead failed(there.engine.state, there.now, [](const State&, WorkloadId) { return seconds(3600); });
  for (const Event& event : changes(there, "remove node n1\n").facts) removed.apply(event);
  for (const Event& event : changes(there, "fail node n1\n").facts) failed.apply(event);
  EXPECT_EQ(removed.state().hash(), failed.state().hash());
  EXPECT_NE(removed.state().hash(), there.engine.state.hash());
}

// But for the timelines, and for those to whom it makes no difference.
TEST(WhatIf, TravelsInAnObject) {
  const Recorded there = recorded(kBusy);
  const WhatIf done = what_if(there, changes(there, "add nodes m 1 gpus=8\nsubmit y queue=q gpus=2 limit=1h\n"), {});
  const Value told = what_if_as_value(done, 10);
  const WhatIf back = what_if_in(told);
  EXPECT_EQ(what_if_as_value(back, 10), told);
  EXPECT_EQ(back.same + std::ssize(back.waiting), std::ssize(done.waiting));
  EXPECT_GT(std::ssize(back.waiting), 0);
  EXPECT_EQ(back.before.queues[0].gpu_milli_ms, done.before.queues[0].gpu_milli_ms);
  EXPECT_EQ(back.after.submitted[0].starts, done.after.submitted[0].starts);
  EXPECT_EQ(what_if_in(what_if_as_value(done, 0)).left_out, std::ssize(back.waiting));
  EXPECT_TRUE(done.has_timelines());
  EXPECT_FALSE(back.has_timelines());
}

TEST(WhatIf, RefusesWhatIsNoFactOrMakesNoSense) {
  const std::pair<const char*, const char*> cases[] = {
      {"cycle\n", "is no change"},
      {"at 10:00\n", "is no change"},
      {"expect w waits\n", "is no change"},
      {"queue q\n", "there is a queue 'q' already"},
      {"remove queue p\n", "'p'"},
      {"remove w\n", "cannot be removed; write remove node n3 or remove queue research"},
      {"seed 7\n", "is no change"},
      {"queue s/t\nremove queue s\n", "has others below it; remove these before"},
      {"set queue p limit=8\n", "'p'"},
      {"drain node n9\n", "'n9'"},
      {"end w\n", "makes no sense there"},
      {"add nodes n 2 gpus=8\n", "n1"},
      {"submit w queue=q gpus=1\n", "'w'"},
  };
  const Recorded there = recorded(kBusy);
  for (const auto& [text, complaint] : cases) {
    std::vector<std::string> names;
    const auto read = read_changes("changes", text, there, names);
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_TRUE(read.error().to_string().contains(complaint)) << text << read.error().to_string();
  }
}

TEST(WhatIf, SaysWhoseLineItIsThatAQueueHas) {
  Recorded there = recorded(kBusy);
  const QueueId q(there.engine.state.queues().size() - 1);
  there.engine.state.apply(QueueAdded{{.name = "q/team", .parent = q, .order = {}, .quota = {}}});
  std::vector<std::string> names = there.workloads;
  const auto read = read_changes("changes", "set queue q/team limit=12\n", there, names);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().to_string(),
            "changes:1:11: the work of queue 'q/team' waits in the line of 'q', and amounts, weights and orders are of "
            "lines; set "
            "them for that one\n");
}

TEST(WhatIf, OfSeveralOfOneNameTheLastIsMeant) {
  Recorded there = recorded(kBusy);
  there.workloads = {"job", "b", "job", "v"};
  const std::vector<Event> read = changes(there, "cancel job\n").facts;
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(std::get<WorkloadCancelled>(read.front()).workload, WorkloadId(2));
}

}  // namespace
}  // namespace berth
