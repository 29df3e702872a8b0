// A plan of moves as it is typed and shown.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/command_line.h"
#include "cli/test_command.h"

namespace berth::defrag_test {

using Json = nlohmann::json;

constexpr const char* kInPieces =
    "policy spread\nnodes n 2 gpus=8\nqueue q\nsubmit a gpus=4 movable=yes\nsubmit c gpus=4\ncycle\nat +10m\n";

TEST_F(Cli, APlanOfMovesSaysWhoLosesWhatAndWhatComesFree) {
  const std::string scenario = file("pieces.txt", kInPieces);
  const CommandOutcome shown = berth_command({"defrag", "--plan", scenario});
  ASSERT_EQ(shown.exit_code, kExitDone) << shown.err;
  EXPECT_NE(shown.out.find("2,400"), std::string::npos) << shown.out;
  const CommandOutcome told = berth_command({"defrag", "--plan", scenario, "-o", "json"});
  ASSERT_EQ(told.exit_code, kExitDone) << told.err;
  const Json plan = Json::parse(told.out);
  EXPECT_EQ(plan["pods_before"], 0);
  EXPECT_EQ(plan["pods_after"], 1);
  EXPECT_EQ(plan["pods_at_best"], 1);
  ASSERT_EQ(plan["moves"].size(), 1u);
  EXPECT_EQ(plan["moves"][0]["workload"], "a");
  EXPECT_EQ(plan["moves"][0]["lost_gpu_s"], 2400);
  EXPECT_EQ(plan["unlocked_gpu_s"], 8 * 4 * 3600);
  EXPECT_EQ(plan["fragments"][0]["pods_that_fit"][2]["pods"], 2) << "pods of four";
}

TEST_F(Cli, NothingIsMovedByACommandThatPlans) {
  const CommandOutcome refused = berth_command({"defrag", file("pieces.txt", kInPieces)});
  EXPECT_EQ(refused.exit_code, kExitBadInput);
  EXPECT_EQ(refused.out, "");
  EXPECT_NE(refused.err.find("of a scenario only plans are made, nothing is moved; write berth defrag --plan"),
            std::string::npos)
      << refused.err;
  const CommandOutcome empty = berth_command({"defrag", "--plan", file("none.txt", "nodes n 1 gpus=8\n")});
  EXPECT_EQ(empty.exit_code, kExitDone) << empty.err;
  const CommandOutcome wrong = berth_command({"defrag", "--plan", file("wrong.txt", "queue q\nfrobnicate\n")});
  EXPECT_EQ(wrong.exit_code, kExitBadInput);
  EXPECT_NE(wrong.err.find("wrong.txt:2"), std::string::npos) << wrong.err;
}

// A node of four comes free only if one makes way for another who makes way.
TEST_F(Cli, MoreEffortFindsWhatTheFirstPlanDoesNot) {
  const std::string scenario = file("chain.txt",
                                    "nodes i 1 gpus=4 labels=at:i\nnodes j 1 gpus=4 labels=at:j\n"
                                    "nodes k 1 gpus=4 labels=at:k\nqueue q\n"
                                    "submit x gpus=3 select=at:j\nsubmit y gpus=3 select=at:k\n"
                                    "submit a gpus=3 movable=yes\nsubmit f gpus=1 select=at:i\n"
                                    "submit g gpus=1 select=at:k\nsubmit b gpus=1 movable=yes\ncycle\n"
                                    "end x\nsubmit z gpus=1 select=at:j\ncycle\nend f\nend g\nat +10m\n"
                                    "expect a running on=i1\n");
  const auto planned_with = [&](const std::string& effort) {
    const CommandOutcome told =
        berth_command({"defrag", "--plan", "--gpus", "4", "--effort", effort, scenario, "-o", "json"});
    EXPECT_EQ(told.exit_code, kExitDone) << told.err;
    return Json::parse(told.out);
  };
  EXPECT_EQ(planned_with("0")["pods_after"], 0);
  const Json more = planned_with("500");
  EXPECT_EQ(more["pods_after"], 1);
  EXPECT_EQ(more["effort"], 500);
  EXPECT_EQ(more["moves"].size(), 2u);
  EXPECT_EQ(planned_with("500"), more);
}

TEST_F(Cli, ASliceIsNamedByAProfileOfAModelThatIsCut) {
  const std::string scenario = file("cut.txt",
                                    "flavor h100 model=H100\nnodes n 1 gpus=1 flavor=h100 mode=mig\nqueue q\n"
                                    "submit a gpus=mig:1g.10gb movable=yes\ncycle\nexpect a running\n");
  const CommandOutcome shown = berth_command({"defrag", "--plan", "--slice", "3g.40gb", scenario});
  ASSERT_EQ(shown.exit_code, kExitDone) << shown.err;
  EXPECT_NE(shown.out.find("slices of 3g.40gb"), std::string::npos) << shown.out;
  const CommandOutcome refused = berth_command({"defrag", "--plan", "--slice", "9g.99gb", scenario});
  EXPECT_EQ(refused.exit_code, kExitBadInput);
  EXPECT_NE(refused.err.find("write a profile of the model"), std::string::npos) << refused.err;
}

TEST_F(Cli, AFleetInPiecesIsMadeWholeAndAGangStarts) {
  const CommandOutcome told = berth_command(
      {"simulate", "defrag", "--nodes", "30", "--hours", "9", "--gang", "4", "--seed", "3", "-o", "json"});
  ASSERT_EQ(told.exit_code, kExitDone) << told.err;
  const Json shown = Json::parse(told.out);
  EXPECT_EQ(shown["pods_at_best"], 4);
  EXPECT_GE(shown["pods_after"], 4 * 9 / 10);
  EXPECT_LT(shown["lost_gpu_s"], shown["unlocked_gpu_s"]);
  EXPECT_EQ(shown["gang"]["started"], true);
}

}  // namespace berth::defrag_test
