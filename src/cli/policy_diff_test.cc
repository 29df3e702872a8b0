// `berth policy diff` as it is typed.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "sim/files.h"

namespace berth::policy_diff_test {

class PolicyDiffCommand : public testing::Test {
 protected:
  PolicyDiffCommand() { std::filesystem::create_directories(folder_); }
  ~PolicyDiffCommand() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

  // The exit code, and what was printed.
  int run(std::vector<std::string> words) {
    words.insert(words.begin(), {"berth", "policy", "diff"});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int exit_code = run_command_line(static_cast<int>(argv.size()), argv.data());
    std::fflush(stdout);
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return exit_code;
  }

  std::string out_, err_;

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("berth-diff-" + std::to_string(reinterpret_cast<std::uintptr_t>(this)));
};

std::string queue(const std::string& name, const std::string& spec) {
  return "---\napiVersion: berth.dev/v1alpha1\nkind: Queue\nmetadata: {name: " + name + "}\nspec: {" + spec + "}\n";
}

// b has all four GPUs for two hours; a comes in the first minute.
constexpr const char* kJobs = "name,queue,submit_s,run_s,pods,gpus\none,b,0,7200,4,1\ntwo,a,60,600,2,1\n";

TEST_F(PolicyDiffCommand, TellsWhatDiffersAndWhatItWouldHaveChanged) {
  const std::string before = file("old.yaml", queue("a", "order: fifo, reclaim: never") + queue("b", "order: fifo"));
  const std::string after =
      file("new.yaml", queue("a", "order: fifo, guarantee: {h100: 2}") + queue("b", "order: fifo"));
  const std::string jobs = file("jobs.csv", kJobs);
  ASSERT_EQ(run({before, after, "--trace", jobs, "--gpus", "4", "--report", path("report")}), 0) << err_;
  for (const char* const line :
       {"3 changes:\n  queue a: guarantee h100: - -> 2\n  queue a: reclaim: never -> initial-share\n  flavor h100 is "
        "new\n",
        "2 jobs of 2 queues on 4 GPUs\n", "before    after\nmean wait                          60 min  5.5 min\n",
        "\na         1     2 h -> 0 s     2 h -> 0 s       1          0               0              0.0\n",
        "Shorter mean waits: a. Longer mean waits: b.\n"}) {
    EXPECT_NE(out_.find(line), std::string::npos) << line << "\n" << out_;
  }
  const auto page = read_file(path("report") + "/index.html");
  ASSERT_TRUE(page);
  EXPECT_NE(page->find("GPUs in use"), std::string::npos);
  EXPECT_NE(page->find("berth policy diff " + before + " " + after + " --trace " + jobs + " --gpus 4 --seed 42"),
            std::string::npos);

  ASSERT_EQ(run({before, after, "--trace", jobs, "--gpus", "4", "-o", "json"}), 0) << err_;
  const auto json = nlohmann::json::parse(out_);
  EXPECT_EQ(json["changes"].size(), 3U);
  EXPECT_EQ(json["queues"]["a"]["before"]["wait_s"]["mean"], 7140);
  EXPECT_EQ(json["queues"]["a"]["after"]["wait_s"]["mean"], 0);
  EXPECT_EQ(json["queues"]["b"]["after"]["starts"], 2);
  EXPECT_EQ(json["queues"]["b"]["after"]["lost_gpu_s"], 240);

  ASSERT_EQ(run({before, before, "--trace", jobs, "--gpus", "4"}), 0) << err_;
  EXPECT_NE(out_.find("The two policies are the same.\n"), std::string::npos);
  EXPECT_NE(out_.find("No queue's mean wait changes by a second or more.\n"), std::string::npos);
}

TEST_F(PolicyDiffCommand, ComplainsAboutAllThatIsWrongAtOnce) {
  const std::string wrong = file("old.yaml", queue("a", "guarantee: {h100: many}"));
  const std::string lost = file("new.yaml", queue("a", "parent: nowhere"));
  const std::string jobs = file("jobs.csv", "name,queue,submit_s,run_s,pods,gpus\none,b,0,ten,4,1\n");
  EXPECT_EQ(run({wrong, lost, "--trace", jobs, "--gpus", "4", "--seed", "1,2", "--checkpoint-every", "soon"}), 2);
  EXPECT_EQ(out_, "");
  for (const char* const part : {"old.yaml:5: Queue a: spec.guarantee[h100]: error:", "there is no queue 'nowhere'",
                                 "jobs.csv:2:", "--seed: a run has one seed", "--checkpoint-every:"}) {
    EXPECT_NE(err_.find(part), std::string::npos) << part << "\n" << err_;
  }
  const std::string good = file("good.yaml", queue("a", "order: fifo"));
  EXPECT_EQ(run({good, good, "--trace", file("jobs.csv", kJobs), "--gpus", "4"}), 2);
  EXPECT_NE(err_.find("good.yaml: jobs of the trace are in queue 'b', which is no queue of it; add it"),
            std::string::npos)
      << err_;
}

}  // namespace berth::policy_diff_test
