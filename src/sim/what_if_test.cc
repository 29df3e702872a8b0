#include "sim/what_if.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "journal/codec.h"
#include "sim/scenario_run.h"
#include "sim/what_if_told.h"

namespace berth::what_if_test {

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
                               "submit x queue=q gpus=2 only=20:00-21:00\n",
                               "submit x queue=q gpus=1 array=2 at_most=1\n",
                               "submit x queue=q gpus=1 singleton=s user=ann begin=02:00\n",
                               "fail pod a/0 exit=3\n",
                               "end pod a/0\n",
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

// ---- words that mean what they mean in a scenario ---------------------------------------------------------------------

std::vector<std::optional<Time>> starts_of_submitted(const Recorded& there, const std::string& text) {
  std::vector<std::optional<Time>> starts;
  for (const Outlook::One& one : what_if(there, changes(there, text), {}).after.submitted) starts.push_back(one.starts);
  return starts;
}

std::string complaint_about(const Recorded& there, const std::string& text) {
  std::vector<std::string> names = there.workloads;
  const auto read = read_changes("changes", text, there, names);
  return read ? "nothing" : read.error().to_string();
}

const Time kNoon{12 * 3'600'000};

// The first hours of the cluster are somebody's, and not those of who comes.
TEST(WhatIf, WhoComesWithHoursOfItsOwnStartsInThese) {
  const std::string cluster = "nodes n 2 gpus=8\nqueue q\nat 12:00\n";
  const std::string hours = "submit s queue=q gpus=1 only=13:00-14:00\ncycle\n";
  for (const std::string& there : {cluster + hours, cluster + "cycle\n"}) {
    SCOPED_TRACE(there);
    const auto starts = starts_of_submitted(recorded(there),
                                            "submit x queue=q gpus=1 only=20:00-21:00\n"
                                            "submit y queue=q gpus=1 only=15:00-16:00\n"
                                            "submit z queue=q gpus=1 only=20:00-21:00\n");
    EXPECT_EQ(starts, (std::vector<std::optional<Time>>{kNoon + seconds(8 * 3600), kNoon + seconds(3 * 3600),
                                                        kNoon + seconds(8 * 3600)}));
  }
}

TEST(WhatIf, WhoComesInASeriesTakesNoTurnsWithAnother) {
  const Recorded there = recorded(
      "nodes n 2 gpus=8\nqueue q\nat 12:00\nsubmit s queue=q gpus=1 array=3 at_most=1\n"
      "submit z queue=q gpus=1 singleton=z user=ann\ncycle\n");
  const auto starts = starts_of_submitted(there,
                                          "submit x queue=q gpus=1 array=2 at_most=1 limit=1h\n"
                                          "submit y queue=q gpus=1 singleton=new user=bob\n");
  EXPECT_EQ(starts[0], kNoon);
  EXPECT_GT(starts[1], kNoon) << "one of its own after the other";
  EXPECT_LE(starts[1], kNoon + seconds(3600));
  EXPECT_EQ(starts[2], kNoon);
}

TEST(WhatIf, OnALiveClusterADateIsThatDate) {
  const Recorded there = recorded("nodes n 1 gpus=8\nqueue q\nat +497222h\ncycle\n");
  constexpr Time kNewYear{1'798'761'600'000};  // 2027-01-01
  ASSERT_LT(there.now, kNewYear);
  const auto begins = [&](const std::string& at) {
    const Changes read = changes(there, "submit x queue=q gpus=1 begin=" + at + "\n");
    return read.facts.empty() ? Time() : std::get<WorkloadSubmitted>(read.facts.front()).not_before;
  };
  EXPECT_EQ(begins("2027-01-01T00:00:00Z"), kNewYear);
  EXPECT_EQ(begins("+10m"), there.now + seconds(600));
  EXPECT_NE(complaint_about(there, "submit x queue=q gpus=1 begin=2026-01-01T00:00:00Z\n")
                .find("is before now, which is 2026-09-21 14:00"),
            std::string::npos)
      << complaint_about(there, "submit x queue=q gpus=1 begin=2026-01-01T00:00:00Z\n");
}

const std::string kOfPods =
    "nodes n 1 gpus=8\nqueue q\nsubmit g queue=q pods=2 gpus=4 on_exit=3:abort\ncycle\n"
    "submit w queue=q gpus=8 limit=1h\ncycle\n";

TEST(WhatIf, APodThatEndsLeavesItsRoom) {
  const Recorded there = recorded(kOfPods);
  EXPECT_NE(starts_of_submitted(there, "cancel w\nsubmit x queue=q gpus=4 limit=1h\n")[0], there.now);
  EXPECT_EQ(starts_of_submitted(there, "cancel w\nend pod g/0\nsubmit x queue=q gpus=4 limit=1h\n")[0], there.now);
  const WhatIf done = what_if(there, changes(there, "end pod g/1\nend pod g/0\n"), {});
  EXPECT_EQ(done.after.waiting[0].starts, there.now) << "with the last of them it has ended";
  EXPECT_NE(complaint_about(there, "end pod g/0\nend pod g/0\n")
                .find("changes:2: makes no sense there: pod 0 of 'g' does not run; name one that does"),
            std::string::npos)
      << complaint_about(there, "end pod g/0\nend pod g/0\n");
}

TEST(WhatIf, AnExitCodeSaysWhatFollows) {
  const Recorded there = recorded(kOfPods);
  EXPECT_EQ(what_if(there, changes(there, "fail pod g/0 exit=3\n"), {}).after.waiting[0].starts, there.now);
  EXPECT_NE(what_if(there, changes(there, "fail pod g/0 exit=4\n"), {}).after.waiting[0].starts, there.now);
}

TEST(WhatIf, APodAboveTheMinimumFailsAndDoesNotEnd) {
  const Recorded there = recorded("nodes n 1 gpus=8\nqueue q\nsubmit g queue=q pods=2 max=4 gpus=1\ncycle\n");
  const std::vector<Event> facts = changes(there, "fail pod g/3 exit=7\n").facts;
  ASSERT_EQ(facts.size(), 1u);
  const auto& failed = std::get<PodFailed>(facts[0]);
  EXPECT_EQ(failed.workload, *there.find("g+2"));
  EXPECT_EQ(failed.pod, 0u);
  EXPECT_EQ(failed.exit_code, 7);
  EXPECT_EQ(complaint_about(there, "end pod g/3\nfail pod g/4\n"),
            "changes:1: pod 3 of 'g' is a step: it ends with the others; write end g\n"
            "changes:2: makes no sense there: pod 4 of 'g' does not run; name one that does\n");
}

// Nodes that come together are numbered in an order of the run's seed.
TEST(WhatIf, ANodeThatComesIsMeantByItsName) {
  const Recorded there = recorded(kBusy);
  const std::vector<Event> facts = changes(there, "add nodes m 8 gpus=8\ndrain node m3\n").facts;
  State then = there.engine.state.fork();
  for (const Event& event : facts) then.apply(event);
  EXPECT_EQ(then.node(std::get<NodeDrained>(facts.back()).node).name, "m3");
}

TEST(WhatIf, WhoIsCancelledIsNotSaidToWaitForEver) {
  const Recorded there = recorded(kBusy);
  const WhatIf done = what_if(there, changes(there, "cancel w\n"), {});
  EXPECT_FALSE(done.before.waiting[0].cancelled);
  EXPECT_TRUE(done.after.waiting[0].cancelled);
  EXPECT_FALSE(done.after.waiting[1].cancelled);
  EXPECT_EQ(done.before.queues[0].cancelled, 0);
  EXPECT_EQ(done.after.queues[0].waiting, 2);
  EXPECT_EQ(done.after.queues[0].cancelled, 1);
  EXPECT_EQ(done.after.timeline.end, there.now + kShareWindow) << "nobody waits for it until the horizon";
  const WhatIf back = what_if_in(what_if_as_value(done, 10));
  EXPECT_TRUE(back.after.waiting.at(0).cancelled);
  EXPECT_FALSE(back.before.waiting.at(0).cancelled);
  EXPECT_EQ(back.after.queues[0].cancelled, 1);
}

TEST(WhatIf, WhoWaitsNoLongerThanItSaysIsCancelledInBothFutures) {
  const Recorded there = recorded(
      "nodes n 1 gpus=8\nqueue q\nsubmit a queue=q gpus=8 limit=50h\ncycle\n"
      "submit w queue=q gpus=8 limit=1h max_wait=1m then=cancel\ncycle\n");
  const WhatIf done = what_if(there, changes(there, "submit x queue=q gpus=8\n"), {});
  EXPECT_TRUE(done.before.waiting[0].cancelled);
  EXPECT_TRUE(done.after.waiting[0].cancelled);
  EXPECT_TRUE(done.before.waiting[0].starts_as(done.after.waiting[0]));
}

TEST(WhatIf, ElasticWorkThatShrinksIsNotEvicted) {
  const Recorded there = recorded(
      "nodes n 1 gpus=8\nqueue q\nqueue owner guarantee=4\nsubmit g queue=q pods=2 max=8 gpus=1\ncycle\nat 01:00\n");
  const WhatIf done = what_if(there, changes(there, "submit x queue=owner gpus=4 limit=1h\n"), {});
  EXPECT_LE(done.after.submitted[0].starts, there.now + seconds(60));
  EXPECT_EQ(done.after.evictions, 0);
  EXPECT_EQ(done.after.lost_gpu_s, 8 * 3600) << "and yet it restarts, once, though four steps go";
  const WhatIf all = what_if(there, changes(there, "set queue owner guarantee=8\nsubmit x queue=owner gpus=8\n"), {});
  EXPECT_EQ(all.after.evictions, 1) << "it is one, with all its steps";
  EXPECT_EQ(all.after.lost_gpu_s, 8 * 3600);
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

TEST(WhatIf, CountsWhomAChangeItselfStops) {
  const Recorded there =
      recorded("nodes n 1 gpus=8\nqueue q\nsubmit a queue=q gpus=8 limit=10h\ncycle\nat 03:00\ncycle\n");
  const std::int64_t lost = 3 * 3600 * 8;
  for (const char* const change : {"fail node n1\n", "remove node n1\n", "fail pod a/0\n"}) {
    const WhatIf done = what_if(there, changes(there, change), {});
    EXPECT_EQ(done.before.evictions, 0) << change;
    EXPECT_EQ(done.after.evictions, 1) << change;
    EXPECT_EQ(done.after.lost_gpu_s, lost) << change;
    ASSERT_EQ(done.evicted.size(), 1u) << change;
    EXPECT_EQ(done.evicted[0].who.name, "a") << change;
    EXPECT_EQ(done.evicted[0].who.queue, "q") << change;
    EXPECT_EQ(done.evicted[0].before, Outlook::Evicted()) << change;
    EXPECT_EQ(done.evicted[0].after, (Outlook::Evicted{1, lost, "node"})) << change;
  }
}

TEST(WhatIf, NamesWhoIsEvictedAlsoOfThoseWhoCome) {
  const Recorded there = recorded(
      "nodes n 1 gpus=8\nqueue own guarantee=8\nqueue q\nsubmit a queue=q gpus=8 limit=10h\ncycle\nat 01:00\ncycle\n");
  const WhatIf done = what_if(there, changes(there, "submit w queue=own gpus=8 limit=1h\n"), {});
  ASSERT_EQ(done.evicted.size(), 1u);
  EXPECT_EQ(done.evicted[0].who.name, "a");
  EXPECT_EQ(done.evicted[0].after, (Outlook::Evicted{1, 3600 * 8, "reclaim"}));
  const Value told = what_if_as_value(done, 10);
  const WhatIf back = what_if_in(told);
  ASSERT_EQ(back.evicted.size(), 1u);
  EXPECT_EQ(back.evicted[0].who.name, "a");
  EXPECT_EQ(back.evicted[0].after, done.evicted[0].after);
  EXPECT_EQ(what_if_as_value(back, 10), told);
  EXPECT_EQ(what_if_in(what_if_as_value(done, 0)).evicted_left_out, 1);
}

TEST(WhatIf, TakesTheNamesThatPeopleCallJobsBy) {
  Recorded there = recorded(kBusy);
  there.workloads = {"default/a/0a", "default/b/0b", "default/w/0c", "default/v/0d"};
  const auto workload_of = [&](const char* change) {
    const std::vector<Event> facts = changes(there, change).facts;
    if (facts.size() != 1) return WorkloadId();
    if (const auto* const ended = std::get_if<WorkloadEnded>(&facts[0])) return ended->workload;
    if (const auto* const failed = std::get_if<PodFailed>(&facts[0])) return failed->workload;
    return std::get<WorkloadCancelled>(facts[0]).workload;
  };
  for (const char* change : {"end a\n", "end default/a\n", "end job/a\n", "end default/a/0a\n", "fail pod a/0\n",
                             "fail pod default/a/0\n", "fail pod default/a/0a/0\n"}) {
    EXPECT_EQ(workload_of(change), WorkloadId(0)) << change;
  }
  EXPECT_EQ(workload_of("cancel v\n"), WorkloadId(3));
  EXPECT_EQ(changes(there, "submit w queue=q gpus=1\ncancel w\n").facts.size(), 2u) << "the one that comes here";
  there.workloads[1] = "";
  std::vector<std::string> names = there.workloads;
  const auto nobody = read_changes("changes", "end nobody\n", there, names);
  ASSERT_FALSE(nobody.has_value());
  EXPECT_EQ(nobody.error().to_string(),
            "changes:1:5: there is no workload 'nobody'; known: default/a/0a, default/w/0c, default/v/0d\n");
}

TEST(WhatIf, OfSeveralOfOneNameTheLastIsMeant) {
  Recorded there = recorded(kBusy);
  there.workloads = {"job", "b", "job", "v"};
  const std::vector<Event> read = changes(there, "cancel job\n").facts;
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(std::get<WorkloadCancelled>(read.front()).workload, WorkloadId(2));
}

}  // namespace berth::what_if_test
