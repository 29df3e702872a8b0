// A command as it is typed, and a folder for its files. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.h"

namespace berth {

struct CommandOutcome {
  int exit_code = 0;
  std::string out;
  std::string err;
};

inline CommandOutcome berth_command(std::vector<std::string> words) {
  words.insert(words.begin(), "berth");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  CommandOutcome outcome;
  outcome.exit_code = run_command_line(static_cast<int>(argv.size()), argv.data());
  std::fflush(stdout);
  outcome.out = testing::internal::GetCapturedStdout();
  outcome.err = testing::internal::GetCapturedStderr();
  return outcome;
}

class Cli : public testing::Test {
 protected:
  Cli() { std::filesystem::create_directories(folder_); }
  ~Cli() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  const std::string nodes_text = "name,cpu,memory,gpus,gpu_model\nn1,64,512Gi,8,H100\nn2,64,512Gi,4,T4\n";
  const std::string jobs_text =
      "name,queue,submit_s,run_s,pods,gpus,cpu,memory,gpu_models\n"
      "a,red,0,100,1,8,8,64Gi,H100\n"
      "b,blue,1,50,2,1,1,1Gi,\n"
      "c,red,2,10,1,500m,1,1Gi,T4|H100\n";

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("berth-cli-" + std::to_string(reinterpret_cast<std::uintptr_t>(this)));
};

}  // namespace berth
