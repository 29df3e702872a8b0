// The commands as they are typed: what is printed where, and with which exit code.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/shell.h"
#include "cli/test_command.h"
#include "sim/files.h"
#include "sim/test_data.h"

namespace berth::cli_test {

using Json = nlohmann::json;

TEST_F(Cli, BadInputIsComplainedAboutOnStderrWithExitCodeTwoAndNothingOnStdout) {
  const std::string pods_header = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n";
  const std::string nodes_header = "sn,cpu_milli,memory_mib,gpu,model\n";
  const std::string good_nodes = nodes_header + "n1,64000,262144,8,T4\n";
  const std::string good_pods = pods_header + "p1,1000,1024,1,500,\n";
  struct Case {
    const char* what;
    std::string nodes;
    std::string pods;
    const char* complaint;  // stderr has it
  };
  const Case cases[] = {
      {"a wrong quantity", good_nodes, pods_header + "p1,1000,1024,1,1.5,\n", "pods.csv:2:16: gpu_milli: '1.5'"},
      {"a missing column", good_nodes, "name,cpu_milli,memory_mib,num_gpu\np1,1,1,1\n", "'gpu_milli' is missing"},
      {"a negative time", good_nodes,
       "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
       "p1,1000,1024,1,500,,LS,Running,-5,7,0\n",
       "pods.csv:2:"},
      {"a duplicate id", good_nodes, pods_header + "p1,1,1,1,500,\np1,1,1,1,500,\n", "pods.csv:3:1: "},
      {"an unknown GPU type", nodes_header + "n1,64000,262144,8,T44\n", good_pods, "nodes.csv:2:"},
      {"an unknown GPU type asked for", good_nodes, pods_header + "p1,1000,1024,1,500,H10O\n", "did you mean H100"},
      {"a half-written last line", good_nodes, pods_header + "p1,1,1,1,500,\np2,1,1", "pods.csv:3"},
      {"an empty file", good_nodes, "", "the file is empty"},
      {"a header alone", good_nodes, pods_header, "pods.csv"},
      {"binary bytes", good_nodes, std::string("\x7f\x45\x4c\x46\x00\x01\x02", 7), "pods.csv:1"},
      {"a million million GPUs", nodes_header + "n1,64000,262144,1000000000000,T4\n", good_pods, "nodes.csv:2:17"},
  };
  for (const Case& bad : cases) {
    SCOPED_TRACE(bad.what);
    const CommandOutcome outcome = berth_command({"simulate", "fill", "--nodes", file("nodes.csv", bad.nodes), "--pods",
                                                  file("pods.csv", bad.pods), "--seeds", "1", "--output", "json"});
    EXPECT_EQ(outcome.exit_code, kExitBadInput);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(bad.complaint), std::string::npos) << outcome.err;
  }
}

TEST_F(Cli, AnEmptyLastLineIsNoMistake) {
  const CommandOutcome outcome = berth_command({"simulate", "run", "--nodes", file("nodes.csv", nodes_text + "\n"),
                                                "--jobs", file("jobs.csv", jobs_text + "\n"), "-o", "json"});
  EXPECT_EQ(outcome.exit_code, kExitDone) << outcome.err;
}

TEST_F(Cli, TheFirstHundredComplaintsAreShownAndAllAreCounted) {
  std::string pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n";
  for (int i = 0; i < 250; ++i) pods += "p" + std::to_string(i) + ",x,1,1,500\n";
  const CommandOutcome outcome =
      berth_command({"simulate", "fill", "--nodes", file("nodes.csv", nodes_text), "--pods", file("pods.csv", pods)});
  EXPECT_EQ(outcome.exit_code, kExitBadInput);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 101);
  EXPECT_NE(outcome.err.find("... and 150 more\n"), std::string::npos);
}

TEST_F(Cli, WrongUsageSaysWhatToWriteInstead) {
  const std::string nodes = file("nodes.csv", nodes_text);
  const std::string jobs = file("jobs.csv", jobs_text);
  struct Case {
    std::vector<std::string> words;
    const char* complaint;
  };
  const Case cases[] = {
      {{"simulate", "run"}, "name a file of jobs"},
      {{"simulate", "run", "--jobs", jobs}, "--nodes FILE, or --gpus N"},
      {{"simulate", "run", "--jobs", jobs, "--gpus", "1000000000000"}, "write a whole number from 1 to 2000000"},
      {{"simulate", "run", "--jobs", jobs, "--gpus", "4", "--nodes", nodes}, "leave out --nodes or --gpus"},
      {{"simulate", "run", "--generate", "100", "--jobs", jobs}, "leave out --jobs"},
      {{"simulate", "run", "--generate", "9"}, "from 10 to 125000"},
      {{"simulate", "run", "--jobs", jobs, "--gpus", "4", "--order", "lifo"}, "did you mean fifo"},
      {{"simulate", "run", "--jobs", jobs, "--gpus", "4", "--seed", "1..3"}, "one seed"},
      {{"simulate", "fill", "--nodes", nodes, "--pods", jobs, "--until", "1.3x"}, "--until: '1.3x'"},
      {{"simulate", "fill", "--nodes", nodes, "--pods", jobs, "--seeds", "5..1"}, "--seeds: '5..1'"},
      {{"simulate", "fill", "--nodes", nodes, "--pods", jobs, "--output", "xml"}, "xml"},
      {{"simulate", "fill", "--nodes", path("none.csv"), "--pods", jobs}, "there is no such file"},
      {{"frobnicate"}, "'frobnicate' is no command; there are: "},
      {{"simulate", "fil"}, "did you mean fill?"},
      {{"replay", path("none")}, "there is no such file"},
  };
  for (const Case& wrong : cases) {
    const CommandOutcome outcome = berth_command(wrong.words);
    EXPECT_EQ(outcome.exit_code, kExitBadInput) << wrong.complaint;
    EXPECT_EQ(outcome.out, "") << wrong.complaint;
    EXPECT_NE(outcome.err.find(wrong.complaint), std::string::npos) << outcome.err;
  }
}

TEST_F(Cli, FillPrintsCheckpointsSeedsAndAHash) {
  const CommandOutcome outcome =
      berth_command({"simulate", "fill", "--nodes", file("nodes.csv", nodes_text), "--pods",
                     file("jobs.csv", jobs_text), "--seeds", "42..44", "--until", "1.3", "--output", "json"});
  ASSERT_EQ(outcome.exit_code, kExitDone) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["seeds"], Json({42, 43, 44}));
  EXPECT_EQ(json["state_hash"].get<std::string>().size(), 16u);
  for (const char* percent : {"100", "130"}) {
    for (const char* value : {"allocation_pct", "fragmented_pct"}) {
      EXPECT_TRUE(json["checkpoints"][percent][value]["mean"].is_number()) << percent << value;
      EXPECT_TRUE(json["checkpoints"][percent][value]["sd"].is_number()) << percent << value;
    }
  }
}

TEST_F(Cli, RunPrintsWaitsAndTheSameCommandPrintsTheSame) {
  const std::vector<std::string> words{"simulate", "run",
                                       "--nodes",  file("nodes.csv", nodes_text),
                                       "--jobs",   file("jobs.csv", jobs_text),
                                       "--order",  "fifo",
                                       "--output", "json"};
  const CommandOutcome first = berth_command(words);
  ASSERT_EQ(first.exit_code, kExitDone) << first.err;
  const Json json = Json::parse(first.out);
  for (const char* times : {"wait_s", "completion_s"}) {
    for (const char* value : {"mean", "p50", "p90", "p99"})
      EXPECT_TRUE(json[times][value].is_number()) << times << value;
  }
  EXPECT_TRUE(json["utilisation_pct"].is_number());
  EXPECT_EQ(json["jobs"], 3);
  EXPECT_EQ(json["never_started"], 0);
  EXPECT_EQ(berth_command(words).out, first.out);
}

TEST_F(Cli, CompareSharesAPoolThreeWays) {
  const std::string jobs = file("jobs.csv",
                                "name,queue,submit_s,run_s,gpus\n"
                                "a,red,0,100,2\nb,red,0,100,2\nc,blue,10,50,2\nd,blue,10,5,3\n");
  const std::string floors = file("floors.csv", "queue,gpus\nred,2\nblue,2\n");
  const std::vector<std::string> words{"simulate", "compare", "--jobs", jobs, "--gpus", "4", "--floors", floors};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return berth_command(more);
  };
  const CommandOutcome table = with({"--report", path("out")});
  ASSERT_EQ(table.exit_code, kExitDone) << table.err;
  EXPECT_NE(table.out.find("3 jobs of 2 queues on 4 GPUs; order fifo, reclaim initial-share, patience 0 s, cooldown 0 "
                           "s, no checkpoints"),
            std::string::npos)
      << table.out;
  EXPECT_NE(table.out.find("no queue waits longer than in its partition"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("1 job is larger than its queue's partition"), std::string::npos) << table.out;
  const std::string html = *read_file(path("out/index.html"));
  for (const char* title : {"Jain index", "GPUs in use", "GPUs waited for", "Jobs that stand apart"}) {
    EXPECT_NE(html.find(title), std::string::npos) << title;
  }
  EXPECT_NE(html.find("berth simulate compare --jobs"), std::string::npos);
  const Json json = Json::parse(with({"-o", "json", "--checkpoint-every", "4s"}).out);
  EXPECT_EQ(json["arrangements"]["floors"]["lost_gpu_s"], 4);
  EXPECT_EQ(json["arrangements"]["partitions"]["evictions"], 0);
  EXPECT_EQ(json["queues"]["red"]["one line"]["wait_s"]["mean"], 0);
  EXPECT_EQ(json["waiting_longer_than_in_their_partitions"], Json::array());
  EXPECT_EQ(json["apart"][0]["largest_gpus"], 3);
  EXPECT_EQ(json["checkpoint_every_s"], 4);
  EXPECT_TRUE(with({"-o", "markdown"}).out.find("| queue | floor |") != std::string::npos);

  struct Case {
    std::vector<std::string> words;
    std::string complaint;
  };
  const Case cases[] = {
      {{"--patience", "5"}, "--patience: "},
      {{"--cooldown", "5"}, "--cooldown: "},
      {{"--checkpoint-every", "1ms"}, "--checkpoint-every: is too often; write one second or more"},
      {{"--reclaim", "always"}, "--reclaim: 'always' is not known; write initial-share, final-share or never"},
      {{"--order", "lifo"}, "did you mean fifo"},
      {{"--seed", "1..2"}, "--seed: a run has one seed"},
  };
  for (const Case& wrong : cases) {
    const CommandOutcome outcome = with(wrong.words);
    EXPECT_EQ(outcome.exit_code, kExitBadInput) << wrong.complaint;
    EXPECT_EQ(outcome.out, "") << wrong.complaint;
    EXPECT_NE(outcome.err.find(wrong.complaint), std::string::npos) << outcome.err;
  }
  const CommandOutcome no_gpus = berth_command({"simulate", "compare", "--jobs", jobs});
  EXPECT_EQ(no_gpus.exit_code, kExitBadInput);
  EXPECT_NE(no_gpus.err.find("--gpus: say how many there are"), std::string::npos) << no_gpus.err;
}

TEST_F(Cli, AJournalIsReproducedByteForByteAndEveryChangedByteIsFound) {
  const std::string journal = path("run.journal");
  const CommandOutcome run = berth_command({"simulate", "run", "--nodes", file("nodes.csv", nodes_text), "--jobs",
                                            file("jobs.csv", jobs_text), "--journal", journal, "-o", "json"});
  ASSERT_EQ(run.exit_code, kExitDone) << run.err;
  const CommandOutcome replayed = berth_command({"replay", journal});
  EXPECT_EQ(replayed.exit_code, kExitDone) << replayed.err;
  EXPECT_NE(replayed.out.find(Json::parse(run.out)["state_hash"].get<std::string>()), std::string::npos);

  const std::string sound = *read_file(journal);
  for (std::size_t at = 0; at < sound.size(); at += 7) {
    std::string changed = sound;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    const CommandOutcome found = berth_command({"replay", file("changed.journal", changed)});
    EXPECT_EQ(found.exit_code, kExitFailed) << "byte " << at;
    EXPECT_EQ(found.out, "") << "byte " << at;
  }
  EXPECT_EQ(berth_command({"replay", file("cut.journal", sound.substr(0, sound.size() / 2))}).exit_code, kExitFailed);
}

TEST_F(Cli, AJournalOfSeveralSeedsIsReplayedToTheSameHash) {
  const std::string journal = path("fill.journal");
  const CommandOutcome fill =
      berth_command({"simulate", "fill", "--nodes", file("nodes.csv", nodes_text), "--pods",
                     file("jobs.csv", jobs_text), "--seeds", "1..5", "--journal", journal, "-o", "json"});
  ASSERT_EQ(fill.exit_code, kExitDone) << fill.err;
  const CommandOutcome replayed = berth_command({"replay", journal});
  EXPECT_EQ(replayed.exit_code, kExitDone) << replayed.err;
  EXPECT_NE(replayed.out.find(Json::parse(fill.out)["state_hash"].get<std::string>()), std::string::npos);
}

TEST_F(Cli, AReportIsOnePageThatAsksNothingOfTheNetwork) {
  const CommandOutcome outcome =
      berth_command({"simulate", "run", "--generate", "20", "--seed", "3", "--report", path("out")});
  ASSERT_EQ(outcome.exit_code, kExitDone) << outcome.err;
  const std::string html = *read_file(path("out/index.html"));
  for (const char* title :
       {"Allocation", "Utilisation", "Fragmentation", "Queue length", "Waits by queue", "Waits over time"}) {
    EXPECT_NE(html.find(title), std::string::npos) << title;
  }
  EXPECT_EQ(html.find("src=\"http"), std::string::npos);
  EXPECT_EQ(html.find("href=\"http"), std::string::npos);
}

TEST_F(Cli, WhatIsGeneratedRunsFromFilesAsItRunsFromMemory) {
  ASSERT_EQ(berth_command({"generate", "--nodes", "12", "--seed", "5", "-o", path("fleet")}).exit_code, kExitDone);
  const CommandOutcome from_files = berth_command({"simulate", "run", "--nodes", path("fleet/nodes.csv"), "--jobs",
                                                   path("fleet/jobs.csv"), "--seed", "5", "-o", "json"});
  const CommandOutcome from_memory =
      berth_command({"simulate", "run", "--generate", "12", "--seed", "5", "-o", "json"});
  ASSERT_EQ(from_files.exit_code, kExitDone) << from_files.err;
  EXPECT_EQ(Json::parse(from_files.out), Json::parse(from_memory.out));
}

TEST_F(Cli, AScenarioThatDoesNotHoldSaysWhereAndFails) {
  const std::string good = file("good.txt", "nodes n 1 gpus=8\nsubmit w gpus=8\ncycle\nexpect w running\n");
  const std::string bad = file("bad.txt", "nodes n 1 gpus=8\nsubmit w gpus=8\ncycle\nexpect w waits\n");
  const std::string unknown = file("unknown.txt", "nodes n 1 gpus=8\nfrobnicate w\n");
  EXPECT_EQ(berth_command({"scenario", good}).exit_code, kExitDone);
  const CommandOutcome failed = berth_command({"scenario", good, bad});
  EXPECT_EQ(failed.exit_code, kExitFailed);
  EXPECT_NE(failed.err.find(bad + ":4"), std::string::npos) << failed.err;
  const CommandOutcome refused = berth_command({"scenario", unknown});
  EXPECT_EQ(refused.exit_code, kExitBadInput);
  EXPECT_NE(refused.err.find(unknown + ":2"), std::string::npos) << refused.err;
}

TEST_F(Cli, ThePublishedTableIsDoubtedLikeEveryInput) {
  std::filesystem::create_directories(path("expected"));
  const std::string csv = "expected/analysis_allo_discrete.csv";
  const std::string header = "workload,sc_policy,100,130\n";
  const std::string good =
      "w,06-FGD,90,91\nw,05-BestFit,90,91\nw,04-GpuPacking,90,91\nw,03-GpuClustering,90,91\n"
      "w,02-DotProd,90,91\n";
  struct Case {
    std::string text;
    const char* complaint;
  };
  const Case cases[] = {
      {header + good + "w,01-Random,abc,91\n", "csv:7:13: 100: 'abc' is not a percentage"},
      {header + good + "w,01-Random,90,1e999\n", "csv:7:16: 130: '1e999' is not a percentage"},
      {header + good + "w,01-Random,90,nan\n", "csv:7:16: 130: 'nan' is not a percentage"},
      {header + good + "w,01-Random,90x,91\n", "csv:7:13: 100: '90x' is not a percentage"},
      {header + good, "csv: workload 'w' has no row of policy '01-Random'; add it"},
      {header + "w,99-Other,90,91\n", "csv: has no row of a known policy"},
      {"workload,sc_policy,100\nw,06-FGD,90\n", "csv:1: column '130' is missing"},
  };
  for (const Case& bad : cases) {
    file(csv, bad.text);
    const CommandOutcome outcome = berth_command({"simulate", "table", "--data", path("")});
    EXPECT_EQ(outcome.exit_code, kExitBadInput) << bad.complaint;
    EXPECT_EQ(outcome.out, "") << bad.complaint;
    EXPECT_NE(outcome.err.find(bad.complaint), std::string::npos) << outcome.err;
  }
}

TEST_F(Cli, WhatACommandThrowsIsOneLineAndExitCodeOne) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(guarded([]() -> int { throw std::bad_alloc(); }), kExitFailed);
  EXPECT_EQ(testing::internal::GetCapturedStderr().find("berth: std::bad_alloc; take a smaller input"), 0u);
}

TEST_F(Cli, WhatDoesNotReachStdoutIsAFailure) {
  std::fflush(stdout);
  const int stdout_before = dup(STDOUT_FILENO);
  const int full = open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  dup2(full, STDOUT_FILENO);
  testing::internal::CaptureStderr();
  const int exit_code = guarded([] { return std::puts("a result"), kExitDone; });
  const std::string err = testing::internal::GetCapturedStderr();
  // What is still in the buffer goes nowhere.
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  std::fflush(stdout);
  std::clearerr(stdout);
  dup2(stdout_before, STDOUT_FILENO);
  for (const int each : {stdout_before, full, nowhere}) close(each);
  EXPECT_EQ(exit_code, kExitFailed);
  EXPECT_EQ(err.find("stdout: cannot be written"), 0u) << err;
}

TEST_F(Cli, ARunWhoseReportCannotBeWrittenPrintsNothing) {
  const CommandOutcome outcome = berth_command({"simulate", "run", "--generate", "10", "--report", "/dev/null/x"});
  EXPECT_EQ(outcome.exit_code, kExitBadInput);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("cannot be written"), std::string::npos) << outcome.err;
}

TEST_F(Cli, ADemoTouchesNoFolderButItsOwn) {
  std::filesystem::create_directories(path("theirs"));
  const std::string theirs = file("theirs/precious.txt", "x");
  const std::string folder = theirs.substr(0, theirs.rfind('/'));
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"demo", "--fresh", "--data", folder}, "something else than a demo"},
      {{"demo", "--data", theirs}, "folder"},
      {{"demo", "--data", folder, "--minutes", "500"}, "--minutes times --speed must be 1 to 600"},
      {{"demo", "--data", folder, "--minutes", "0.01"}, "is no afternoon"},
      {{"demo", "--data", folder, "--nodes", "9"}, "--nodes"},
      {{"demo", "--data", folder, "--listen", "nowhere"}, "nowhere"},
  };
  for (const auto& [words, complaint] : cases) {
    const CommandOutcome outcome = berth_command(words);
    EXPECT_EQ(outcome.exit_code, kExitBadInput) << complaint;
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(complaint), std::string::npos) << outcome.err;
  }
  EXPECT_TRUE(std::filesystem::exists(theirs));
}

TEST_F(Cli, NothingThatIsTypedIsIgnored) {
  const std::string jobs = file("jobs.csv", jobs_text);
  const std::string nodes = file("nodes.csv", nodes_text);
  struct Case {
    std::vector<std::string> words;
    const char* complaint;
  };
  const Case cases[] = {
      {{"--jobs", jobs, "--gpus", "20", "--load", "50"}, "--load: is about a generated fleet; write --generate N"},
      {{"--jobs", jobs, "--nodes", nodes, "--days", "1"}, "--days: is about a generated fleet"},
      {{"--jobs", jobs, "--nodes", nodes, "--jobs-per-day", "0"}, "--jobs-per-day: is about a generated fleet"},
      {{"--jobs", jobs, "--nodes", nodes, "--gpus", ""}, "--gpus: the value is empty"},
      {{"--jobs", jobs, "--gpus", "20", "--nodes", ""}, "--nodes: the value is empty"},
      {{"--jobs", jobs, "--gpus", "20", "--generate", ""}, "--generate: the value is empty"},
      {{"--jobs", jobs, "--gpus", "20", "--seeds", "x"}, "--seeds: 'x'"},
      {{"--jobs", jobs, "--gpus", "20", "--seed", "x"}, "--seed: 'x'"},
      {{"--jobs", jobs, "--gpus", "20", "--seeds", "1..2"}, "--seeds: a run has one seed"},
      {{"--jobs", jobs, "--gpus", "20", "--seeds", "1", "--seed", "2"}, "excludes"},
  };
  for (const Case& wrong : cases) {
    std::vector<std::string> words{"simulate", "run"};
    words.insert(words.end(), wrong.words.begin(), wrong.words.end());
    const CommandOutcome outcome = berth_command(words);
    EXPECT_EQ(outcome.exit_code, kExitBadInput) << wrong.complaint;
    EXPECT_EQ(outcome.out, "") << wrong.complaint;
    EXPECT_NE(outcome.err.find(wrong.complaint), std::string::npos) << outcome.err;
  }
}

TEST_F(Cli, AWordIsQuotedForTheShellWhereItNeedsIt) {
  EXPECT_EQ(shell_quoted("out/jobs-1.csv"), "out/jobs-1.csv");
  EXPECT_EQ(shell_quoted("my jobs.csv"), "'my jobs.csv'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted("$(x)"), "'$(x)'");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_command("berth", {{"--jobs", "a b"}, {"--gpus", ""}, {"--seed", "1"}}),
            "berth --jobs 'a b' --seed 1");
}

TEST_F(Cli, AReportHasTheWholeCommand) {
  const CommandOutcome run = berth_command({"simulate", "run", "--generate", "10", "--load", "50", "--jobs-per-day",
                                            "40", "--seed", "3", "--report", path("out")});
  ASSERT_EQ(run.exit_code, kExitDone) << run.err;
  EXPECT_NE(read_file(path("out/index.html"))
                ->find("berth simulate run --generate 10 --load 50 --jobs-per-day 40 --order fifo-skip --policy fgd "
                       "--seed 3"),
            std::string::npos);
}

TEST_F(Cli, AJournalNeverTakesThePlaceOfAnInput) {
  const std::string nodes = file("nodes.csv", nodes_text);
  const std::string jobs = file("jobs.csv", jobs_text);
  std::filesystem::create_symlink(jobs, path("link.csv"));
  for (const std::string& journal : {nodes, jobs, path("link.csv"), path("./jobs.csv")}) {
    for (const char* command : {"run", "fill"}) {
      const CommandOutcome outcome =
          berth_command({"simulate", command, "--nodes", nodes, "--jobs", jobs, "--journal", journal});
      EXPECT_EQ(outcome.exit_code, kExitBadInput) << command << " " << journal;
      EXPECT_NE(outcome.err.find("is the same file as the input"), std::string::npos) << outcome.err;
      EXPECT_EQ(*read_file(nodes), nodes_text);
      EXPECT_EQ(*read_file(jobs), jobs_text);
    }
  }
}

TEST_F(Cli, AJournalThatWasThereOutlivesBadInput) {
  const std::string journal = file("old.journal", "an older run");
  // What a trace has too much of is only known when all of it was read.
  std::string vast = "name,cpu,memory,gpus,gpu_model\n";
  for (int i = 0; i < 5000; ++i) vast += "n" + std::to_string(i) + ",64,1Pi,8,H100\n";
  for (const std::string& nodes : {file("bad.csv", "name\n"), file("vast.csv", vast)}) {
    for (const char* command : {"run", "fill"}) {
      const CommandOutcome outcome = berth_command(
          {"simulate", command, "--nodes", nodes, "--jobs", file("jobs.csv", jobs_text), "--journal", journal});
      EXPECT_EQ(outcome.exit_code, kExitBadInput) << command << " " << nodes;
      EXPECT_EQ(*read_file(journal), "an older run") << command << " " << nodes;
    }
  }
}

TEST_F(Cli, AScenarioInWhichNothingIsExpectedIsRefused) {
  const CommandOutcome outcome = berth_command({"scenario", file("none.txt", "nodes n 1 gpus=8\ncycle\n")});
  EXPECT_EQ(outcome.exit_code, kExitBadInput);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("none.txt: nothing is expected; write at least one expect"), std::string::npos)
      << outcome.err;
}

}  // namespace berth::cli_test
