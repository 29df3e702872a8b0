// The commands about policies as they are typed: lint, policy show and policy convert.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/test_command.h"

namespace berth::policy_commands_test {

using Json = nlohmann::json;
using PolicyCommands = Cli;

TEST_F(PolicyCommands, LintSaysWhatIsWrongAndFailsOnErrors) {
  const std::string queue = "apiVersion: berth.dev/v1alpha1\nkind: Queue\nmetadata: {name: a}\nspec: ";
  const std::string wrong = file("wrong.yaml", queue + "{guarantee: {h100: 24}, limit: {h100: 16}}\n");
  const std::string doubtful = file("doubtful.yaml", queue + "{guarantee: {h100: 8}, lendingLimit: {h100: 9}}\n");
  const std::string fine = file("fine.yaml", queue + "{guarantee: {h100: 16}}\n");
  const std::string bound = file("bound.yaml", queue + "{limit: {h100: 16}}\n");
  const std::string own = file("own.yaml", queue + "{guarantee: {h100: 8}, dedicated: [{key: node, value: nn-1}]}\n");
  const std::string objects = file("nodes.yaml",
                                   "apiVersion: v1\nkind: Node\nmetadata: {name: n-1, labels: {nvidia.com/gpu.product: "
                                   "NVIDIA-H100-80GB-HBM3}}\nstatus: {capacity: {nvidia.com/gpu: 8}}\n");
  const std::string scenario = file("s.txt", "# Larger than its node.\nnodes n 1 gpus=8\nsubmit w gpus=16\n");
  struct Case {
    std::vector<std::string> words;
    int exit_code;
    std::string says;
  };
  const Case cases[] = {
      {{"lint", fine}, 0, "0 errors, 0 warnings, 0 notes"},
      {{"lint", wrong}, 1, wrong + ":4: Queue a: spec.limit.h100: error: the limit of a, 16 h100 GPUs, is below its"},
      {{"lint", doubtful}, 0, "0 errors, 1 warning, 0 notes"},
      {{"lint", doubtful, "--strict"}, 1, "[lending-above-guarantee]"},
      {{"lint", fine, "--nodes", "1xH100x8"}, 1, "a is promised 16 h100 GPUs, more than the 8 that the nodes have"},
      {{"lint", fine, "--nodes", "2xH100x8"}, 0, "0 errors"},
      {{"lint", fine, "--nodes", "2xH100x8,1xL4x4"}, 0, "1 node with L4 GPUs belongs to no flavor"},
      {{"lint", fine, "--nodes", "2xL4x8"}, 1, "error: no node has GPUs of the flavor 'h100'; the guarantee of 16"},
      {{"lint", bound, "--nodes", "2xL4x8"}, 0, "warning: no node has GPUs of the flavor 'h100'; the limit of 16"},
      {{"lint", fine, "--nodes", file("nodes.csv", nodes_text)}, 1, "more than the 8 that the nodes have"},
      {{"lint", own, "--nodes", file("nodes.csv", nodes_text)},
       0,
       "warning: there is no node 'nn-1', of which a is to"},
      {{"lint", own, "--nodes", "1xH100x8"}, 0, "0 warnings"},
      {{"lint", own, "--nodes", objects}, 0, "; name a node that there is, such as n-1"},
      {{"lint", scenario}, 1, scenario + ":3: error: no node is large enough for a pod of w (16 GPUs each)"},
      {{"lint", scenario, fine}, 1, "1 error, 0 warnings, 0 notes"},
      {{"lint", fine, "-o", "json"}, 0, "[]"},
      {{"lint", path("nothing")}, 2, ""},
      {{"lint", fine, "--nodes", "2xH10Ox8"}, 2, ""},
      {{"lint", file("bad.yaml", "a: [")}, 2, ""},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.words.back() + " " + each.says);
    const CommandOutcome outcome = berth_command(each.words);
    EXPECT_EQ(outcome.exit_code, each.exit_code) << outcome.err;
    EXPECT_TRUE(outcome.out.contains(each.says)) << outcome.out;
    EXPECT_EQ(outcome.err.empty(), each.exit_code != 2);
  }
  const auto json = Json::parse(berth_command({"lint", wrong, "-o", "json"}).out);
  ASSERT_EQ(json.size(), 1U);
  EXPECT_EQ(json[0]["rule"], "limit-below-guarantee");
  EXPECT_EQ(json[0]["line"], 4);
}

TEST_F(PolicyCommands, PolicyConvertWritesObjectsThatMeanTheSame) {
  for (const char* const name : {"kueue", "volcano", "quotas"}) {
    SCOPED_TRACE(name);
    const std::string path = std::string("examples/policies/") + name + ".yaml";
    const CommandOutcome converted = berth_command({"policy", "convert", path});
    EXPECT_EQ(converted.exit_code, 0) << converted.err;
    const std::string own = file("own.yaml", converted.out);
    // Names of kinds differ, and amounts stay.
    const auto rows = [](std::string text) {
      for (std::size_t at = text.find(" (cohort)"); at != std::string::npos; at = text.find(" (cohort)"))
        text.erase(at, 9);
      std::string out;
      for (const char c : text) {
        if (c != ' ') out += c;
      }
      return out;
    };
    EXPECT_EQ(rows(berth_command({"policy", "show", own}).out), rows(berth_command({"policy", "show", path}).out));
  }
  const CommandOutcome volcano = berth_command({"policy", "convert", "examples/policies/volcano.yaml"});
  EXPECT_TRUE(volcano.err.contains("which GPUs the flavor gpu means is not said")) << volcano.err;
}

TEST_F(PolicyCommands, PolicyShowPrintsTheTreeAndWhatIsNotFollowed) {
  const CommandOutcome kueue = berth_command({"policy", "show", "examples/policies/kueue.yaml"});
  EXPECT_EQ(kueue.exit_code, 0) << kueue.err;
  EXPECT_EQ(
      kueue.out,
      "QUEUE              FLAVOR   RESOURCE   GUARANTEE   POOL   BORROWING   LENDING   LIMIT   WEIGHT   POLICIES\n"
      "company (cohort)   h100     gpu        48          8      to limit    all       48      1        "
      "order=fifo-skip reclaim=never preempt=never\n"
      "  research         h100     gpu        24          -      any         12        -       1        "
      "order=fifo-skip reclaim=never\n"
      "  product          h100     gpu        16          -      8           all       -       1        "
      "order=fifo reclaim=never preempt=never backfill=none submitters=product\n");
  for (const char* const name : {"kueue", "volcano", "quotas"}) {
    const std::string path = std::string("examples/policies/") + name + ".yaml";
    EXPECT_EQ(berth_command({"lint", path, "--nodes", "8xH100x8", "--strict"}).exit_code, 0) << name;
    const auto json = Json::parse(berth_command({"policy", "show", path, "-o", "json"}).out);
    EXPECT_FALSE(json["queues"].empty());
    EXPECT_TRUE(json["notFollowed"].empty());
  }
  const std::string odd =
      file("odd.yaml",
           "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: a}\n"
           "spec:\n  weight: 2\n  reclaimable: false\n---\n{kind: Deployment, apiVersion: apps/v1}\n");
  const CommandOutcome ignoring = berth_command({"policy", "show", odd});
  EXPECT_EQ(ignoring.exit_code, 0);
  EXPECT_TRUE(ignoring.out.contains("\n2 things are not followed:\n  " + odd + ":6: Queue a: spec.reclaimable: what a"))
      << ignoring.out;
  const CommandOutcome scenario = berth_command({"policy", "show", "scenarios/lint_sum_above_parent.txt"});
  EXPECT_TRUE(scenario.out.contains("\n  research/nlp      gpu      gpu        12 ")) << scenario.out;
  const std::string wrong = file("wrong.yaml", "{kind: ClusterQueue, apiVersion: kueue.x-k8s.io/v1}\n");
  EXPECT_EQ(berth_command({"policy", "show", wrong}).exit_code, 2);
}

}  // namespace berth::policy_commands_test
