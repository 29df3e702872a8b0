// What a journal answers when it is asked for a start.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/test_command.h"
#include "client/asking.h"

namespace berth {
namespace {

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
  for (const char* quantile : {"p10_ms", "p50_ms", "p90_ms"}) EXPECT_EQ(told[quantile], 2'500'000) << quantile;
  EXPECT_EQ(told["promised_ms"], nullptr) << "nobody has a limit";
  EXPECT_EQ(told["ahead"], 3);
  EXPECT_EQ(told["running"], 1);
  EXPECT_EQ(told["samples"], 30);

  const CommandOutcome said = berth_command({"when", journal, "j25", "--until", "35m"});
  EXPECT_NE(said.out.find("j25 starts in 6m (p50), between in 6m (p10) and in 6m (p90)\n"), std::string::npos)
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

}  // namespace
}  // namespace berth
