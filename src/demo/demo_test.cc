#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "demo/objects.h"
#include "demo/outcome.h"
#include "demo/player.h"
#include "local_api/eventually.h"
#include "local_api/test_server.h"
#include "manifest/json.h"
#include "manifest/timestamp.h"
#include "model/gpu.h"

namespace berth::demo_test {

AfternoonSpec small(std::uint64_t seed = 7) {
  return {.nodes = 20, .seed = Seed{seed}, .length = {12'000}, .speed = 60};
}

TEST(Afternoon, OfASeedIsAlwaysTheSameAndFitsItsHours) {
  for (const AfternoonSpec& spec : {small(), AfternoonSpec{}, AfternoonSpec{.nodes = 10, .length = {1000}, .speed = 60},
                                    AfternoonSpec{.nodes = 200, .seed = Seed{3}, .length = {600'000}, .speed = 60}}) {
    const Trace trace = make_afternoon(spec), again = make_afternoon(spec);
    const Duration length{spec.length.ms * spec.speed};
    EXPECT_EQ(static_cast<std::int64_t>(trace.nodes.size()), spec.nodes);
    ASSERT_EQ(trace.jobs.size(), again.jobs.size());
    EXPECT_GT(trace.jobs.size(), 5U);
    std::set<std::string> names;
    std::map<std::string, int> teams;
    double demand = 0, fleet = 0;
    for (const TraceNode& node : trace.nodes) fleet += node.gpus;
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
      const TraceJob& job = trace.jobs[i];
      EXPECT_EQ(job.name, again.jobs[i].name);
      EXPECT_TRUE(names.insert(job.name).second) << job.name;
      ++teams[job.queue];
      EXPECT_GE(job.submit, i == 0 ? kAfternoonBegins : trace.jobs[i - 1].submit);
      EXPECT_LE(job.submit + job.run, kAfternoonBegins + length);
      demand += static_cast<double>(job.pods * job.gpus * job.gpu_milli * job.run.ms) / 1000;
    }
    for (const auto& [team, jobs] : teams) EXPECT_NE(std::ranges::find(kTeams, team), kTeams.end()) << team;
    if (spec.nodes == 1000) {
      EXPECT_EQ(teams.size(), kTeams.size());
      // More than the half could take in which they arrive, less than there is in all.
      EXPECT_GT(demand, 0.5 * fleet * static_cast<double>(length.ms));
      EXPECT_LT(demand, 0.8 * fleet * static_cast<double>(length.ms));
    }
  }
}

TEST(Played, TimeStandsStillWhileNobodyPlays) {
  Played played;
  EXPECT_EQ(played.afternoon_time({5000}, 60), kAfternoonBegins);
  played.lives = {{{1000}, {3000}}, {{10'000}, {11'000}}};
  const std::pair<std::int64_t, std::int64_t> cases[] = {
      {500, 0}, {1000, 0}, {2000, 60'000}, {3000, 120'000}, {9000, 120'000}, {10'500, 150'000}, {99'000, 180'000}};
  for (const auto& [clock, since] : cases) {
    EXPECT_EQ(played.afternoon_time({clock}, 60).ms - kAfternoonBegins.ms, since) << clock;
  }
}

TEST(Played, IsReadBackFromItsConfigMapAndNonsenseIsRefused) {
  Played played;
  played.submitted = 17;
  played.lives = {{{1000}, {3000}}, {{10'000}, {11'000}}};
  const Value map = to_config_map(small(), played);
  const auto kept = played_in_config_map(map);
  ASSERT_TRUE(kept) << kept.error().to_string();
  EXPECT_EQ(kept->spec, small());
  EXPECT_EQ(kept->played, played);
  const std::pair<const char*, const char*> wrong[] = {
      {"nodes", "0"},       {"speed", "0"}, {"speed", "x"},      {"lengthMs", "0"}, {"lives", "5-3"},
      {"lives", "1-2,1-3"}, {"lives", "1"}, {"submitted", "-1"}, {"seed", ""},      {"lengthMs", "99999999999"}};
  for (const auto& [key, text] : wrong) {
    Value bad = map;
    bad.at("data").set(key, text);
    EXPECT_FALSE(played_in_config_map(bad)) << key << " " << text;
  }
  EXPECT_FALSE(played_in_config_map(Value()));
}

// Plays until all that is due at that time is there.
void play_until(Player& player, std::size_t jobs, Time clock) {
  EXPECT_TRUE(eventually([&] {
    const Complaints refused = player.step(clock);
    EXPECT_TRUE(refused.empty()) << refused.to_string();
    return player.played().submitted >= jobs || !refused.empty();
  }));
}

std::set<std::string> jobs_in(TestServer& server) {
  std::set<std::string> names;
  const auto list = parse_json(server.call("GET", "/apis/batch/v1/jobs").body);
  for (const Value& job : (*list)["items"].items()) names.insert(std::string(job["metadata"]["name"].text()));
  return names;
}

TEST(Player, GoesOnWhereAnotherWasKilledAndSubmitsEachJobOnce) {
  TestServer server;
  const auto transport = server.transport();
  const Trace trace = make_afternoon(small());
  std::size_t first_moment = 0;
  while (trace.jobs[first_moment].submit == kAfternoonBegins) ++first_moment;
  ASSERT_LT(first_moment + 10, trace.jobs.size());

  auto kept = open_afternoon(*transport, small());
  ASSERT_TRUE(kept) << kept.error().to_string();
  const auto first = Player::start(*transport, kept->spec, trace.jobs, kept->played);
  play_until(*first, first_moment, {1'000'000});
  EXPECT_EQ(first->afternoon_time(), kAfternoonBegins);
  play_until(*first, first_moment, {1'000'000});  // its clock begins
  play_until(*first, first_moment + 1, {1'004'000});
  const Time reached = first->afternoon_time();
  EXPECT_EQ(reached, kAfternoonBegins + Duration{240'000});
  // It is kept a little behind, and with it whatever was submitted meanwhile.
  EXPECT_TRUE(eventually([&] {
    static_cast<void>(first->step({1'004'600}));
    const auto now = open_afternoon(*transport, small());
    return now && now->played.submitted > first_moment;
  }));

  // Killed; another process, later, and a smaller number of jobs than were sent is known.
  kept = open_afternoon(*transport, small(99));
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->spec, small()) << "the afternoon that is there";
  kept->played.submitted = first_moment;
  const auto second = Player::start(*transport, kept->spec, trace.jobs, kept->played);
  play_until(*second, first_moment, {9'000'000});
  EXPECT_GE(second->afternoon_time(), kAfternoonBegins + Duration{200'000});
  play_until(*second, trace.jobs.size(), {9'060'000});
  EXPECT_EQ(jobs_in(server).size(), trace.jobs.size());
  second->finish({9'070'000});
  kept = open_afternoon(*transport, small());
  ASSERT_TRUE(kept);
  EXPECT_TRUE(kept->played.over);
  EXPECT_EQ(kept->played.lives.size(), 2U);
  EXPECT_EQ(kept->played.submitted, trace.jobs.size());
}

TEST(Player, SaysWhatTheServerRefusesForGood) {
  TestServer server;
  const auto transport = server.transport();
  ASSERT_TRUE(open_afternoon(*transport, small()));
  std::vector<TraceJob> jobs = make_afternoon(small()).jobs;
  jobs.front().queue = "nobodys-namespace";
  const auto player = Player::start(*transport, small(), jobs, {});
  Complaints refused;
  EXPECT_TRUE(eventually([&] {
    refused = player->step({1000});
    return !refused.empty();
  }));
  EXPECT_NE(refused.to_string().find("nobodys-namespace"), std::string::npos) << refused.to_string();
}

TEST(Outcome, IsReadFromWhatJobsAndPodsSayOfThemselves) {
  Trace trace;
  trace.nodes = {{.name = "n", .cpu_milli = 1000, .memory_bytes = 1, .gpus = 8, .gpu_model = "H100"}};
  for (const char* name : {"a", "b", "c"}) {
    TraceJob job;
    job.name = name;
    job.queue = "research";
    job.submit = kAfternoonBegins;
    job.run = seconds(60);
    job.pods = 2;
    job.gpus = 2;
    job.gpu_milli = kMilliPerGpu;
    trace.jobs.push_back(job);
  }
  const auto job = [](const std::string& name, std::int64_t created, const std::string& condition) {
    return parse_json(R"({"metadata":{"name":")" + name + R"(","namespace":"research","creationTimestamp":")" +
                      format_timestamp({created}) + R"("},"status":{"conditions":[{"type":")" + condition +
                      R"(","status":"True"}]}})")
        .value();
  };
  const auto pod = [](const std::string& of, std::int64_t started, std::int64_t ended) {
    return parse_json(R"({"metadata":{"namespace":"research","ownerReferences":[{"kind":"Job","name":")" + of +
                      R"("}]},"status":{"phase":"Succeeded","startTime":")" + format_timestamp({started}) +
                      R"(","containerStatuses":[{"state":{"terminated":{"finishedAt":")" + format_timestamp({ended}) +
                      R"("}}}]}})")
        .value();
  };
  Outcome outcome(trace.jobs);
  outcome.take_job(job("a", 100'000, "Complete"));
  outcome.take_pod(pod("a", 102'000, 110'000));
  outcome.take_pod(pod("a", 104'000, 112'000));
  outcome.take_job(job("b", 100'000, "Failed"));
  outcome.take_job(job("somebody-elses", 100'000, "Complete"));
  EXPECT_EQ(outcome.found(), 2U);
  EXPECT_EQ(outcome.complete(), 1U);
  EXPECT_EQ(outcome.failed(), 1U);
  EXPECT_EQ(outcome.open(), 0U);

  Played played;
  played.lives = {{{100'000}, {120'000}}};
  const ClusterRun run = outcome.run(trace, played, 60);
  EXPECT_EQ(run.jobs, 3);
  EXPECT_EQ(run.decisions, 1);
  EXPECT_EQ(run.never_started, 2);
  EXPECT_EQ(run.wait.mean_s, 240) << "four seconds, until the last pod of it ran";
  EXPECT_EQ(run.times[0].end, kAfternoonBegins + seconds(720));
  EXPECT_EQ(run.last_end, run.times[0].end);
  std::int64_t most = 0;
  for (const RunSample& sample : run.samples) most = std::max(most, sample.allocated_milli);
  EXPECT_EQ(most, 4000);
  const TeamUse use = use_by_team(run, trace);
  EXPECT_EQ(*std::ranges::max_element(use.gpu_milli[0]), 4000);
  EXPECT_EQ(*std::ranges::max_element(use.gpu_milli[1]), 0);
}

TEST(Objects, AreTakenByTheServer) {
  TestServer server;
  const auto transport = server.transport();
  ASSERT_TRUE(open_afternoon(*transport, small()));
  TraceJob job;
  job.name = "part";
  job.queue = "models";
  job.run = seconds(90);
  job.cpu_milli = 1500;
  job.memory_bytes = std::int64_t{3} << 30;
  job.gpus = 1;
  job.gpu_milli = 500;
  job.gpu_models = {"H100", "A100-80GB"};
  const Value object = job_object(job, 60);
  const ApiAnswer answer =
      server.call("POST", "/apis/batch/v1/namespaces/models/jobs?fieldValidation=Strict", to_json(object));
  ASSERT_TRUE(answer.ok()) << answer.body;
  const Value& pod = object["spec"]["template"];
  EXPECT_EQ(pod["metadata"]["annotations"]["berth.dev/run-for"].text(), "1500ms");
  EXPECT_EQ(pod["metadata"]["annotations"]["berth.dev/gpu-milli"].text(), "500");
  EXPECT_EQ(pod["metadata"]["annotations"]["berth.dev/gpu-models"].text(), "H100|A100-80GB");
}

}  // namespace berth::demo_test
