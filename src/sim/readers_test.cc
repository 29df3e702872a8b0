#include "sim/readers.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"
#include "model/gpu.h"
#include "sim/files.h"
#include "sim/test_data.h"
#include "sim/trace_invariants.h"

namespace berth::readers_test {

constexpr std::int64_t kMib = std::int64_t{1} << 20;
constexpr std::int64_t kGib = std::int64_t{1} << 30;

// All that is wrong, without the list of known GPU models at the end of a line.
template <class Entry>
std::string complaints(const Result<std::vector<Entry>>& entries) {
  if (entries) return "no complaint";
  std::string text = entries.error().to_string();
  for (std::size_t at = 0; (at = text.find(" Known: GB200", at)) != std::string::npos;)
    text.erase(at, text.find('\n', at) - at);
  return text;
}

std::string nodes_complaints(std::string_view text) { return complaints(read_nodes("nodes.csv", text)); }
std::string jobs_complaints(std::string_view text) { return complaints(read_jobs("jobs.csv", text)); }

constexpr std::string_view kPodHeader =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n";

TEST(OpenbNodes, BecomeNodes) {
  const auto nodes =
      read_nodes("nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\na,32000,2048,0,whatever\nb,64000,4096,4,V100M32\n");
  ASSERT_TRUE(nodes.has_value()) << nodes.error().to_string();
  ASSERT_EQ(nodes->size(), 2U);
  EXPECT_EQ((*nodes)[0].name, "a");
  EXPECT_EQ((*nodes)[0].cpu_milli, 32000);
  EXPECT_EQ((*nodes)[0].memory_bytes, 2 * kGib);
  EXPECT_EQ((*nodes)[0].gpus, 0);
  EXPECT_EQ((*nodes)[0].gpu_model, "");
  EXPECT_EQ((*nodes)[1].gpus, 4);
  EXPECT_EQ((*nodes)[1].gpu_model, "V100M32");
}

TEST(OpenbNodes, AreDoubted) {
  EXPECT_EQ(nodes_complaints("sn,cpu_milli,memory_mib,gpu,model\n"
                             "a,-1,2048,1,H10O\n"
                             "a,32000,2 Gi,65,T4\n"
                             ",1,1,1000000000000,T4\n"),
            "nodes.csv:2:3: cpu_milli: '-1' is out of range; write thousandths of a core from 0 to 50000000\n"
            "nodes.csv:2:13: model: unknown GPU type 'H10O'; did you mean H100?\n"
            "nodes.csv:3:1: sn: 'a' is also in line 2; write a name that no other row has\n"
            "nodes.csv:3:9: memory_mib: '2 Gi' is not a whole number; write MiB from 0 to 1073741824\n"
            "nodes.csv:3:14: gpu: '65' is out of range; write a number of GPUs from 0 to 64\n"
            "nodes.csv:4:1: sn: there is no name; write one that no other row has\n"
            "nodes.csv:4:6: gpu: '1000000000000' is out of range; write a number of GPUs from 0 to 64\n");
}

TEST(OpenbPods, BecomeJobsOfOnePod) {
  const auto jobs = read_jobs("jobs.csv", std::string(kPodHeader) +
                                              "web,2000,64,0,0,,LS,Running,0,60,0\n"
                                              "notebook,4000,64,1,250,T4|V100M32|T4,BE,Failed,5,9,6\n"
                                              "train,32000,64,8,1000,,LS,Running,7,7,8\n"
                                              "odd,1,1,2,500,,LS,Running,7,7,8\n");
  ASSERT_TRUE(jobs.has_value()) << jobs.error().to_string();
  ASSERT_EQ(jobs->size(), 4U);
  const TraceJob& web = (*jobs)[0];
  EXPECT_EQ(web.name, "web");
  EXPECT_EQ(web.pods, 1);
  EXPECT_EQ(web.cpu_milli, 2000);
  EXPECT_EQ(web.memory_bytes, 64 * kMib);
  EXPECT_EQ(web.gpus, 0);
  EXPECT_EQ(web.gpu_milli, 0);
  EXPECT_EQ(web.run, seconds(60));
  const TraceJob& notebook = (*jobs)[1];
  EXPECT_EQ(notebook.gpus, 1);
  EXPECT_EQ(notebook.gpu_milli, 250);
  EXPECT_EQ(notebook.gpu_models, (std::vector<std::string>{"T4", "V100M32"}));
  EXPECT_EQ(notebook.submit, Time{5000});
  EXPECT_EQ(notebook.run, seconds(4));
  EXPECT_EQ((*jobs)[2].gpus, 8);
  EXPECT_EQ((*jobs)[2].gpu_milli, 1000);
  EXPECT_EQ((*jobs)[3].gpu_milli, 1000);
}

TEST(OpenbPods, MayLackColumnsAtTheEnd) {
  const auto jobs = read_jobs("jobs.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,1,1000\n");
  ASSERT_TRUE(jobs.has_value()) << jobs.error().to_string();
  EXPECT_EQ((*jobs)[0].submit, Time{});
  EXPECT_EQ((*jobs)[0].run, Duration{});
}

TEST(OpenbPods, AreDoubted) {
  std::string pods(kPodHeader);
  for (const char* row : {"a,2000,64,1,1.5,,LS,Running,0,60,0\n", "b,2000,64,1,0,,LS,Running,0,60,0\n",
                          "c,2000,64,0,500,,LS,Running,0,60,0\n", "d,2000,64,1,500,T4|T5,LS,Running,60,59,0\n",
                          "e,2000,64,1,1001,,LS,Running,-60,59,0\n"}) {
    pods += row;
  }
  EXPECT_EQ(jobs_complaints(pods),
            "jobs.csv:2:13: gpu_milli: '1.5' is not a whole number; write thousandths of a GPU from 1 to 1000\n"
            "jobs.csv:3:13: gpu_milli: '0' is out of range; write thousandths of a GPU from 1 to 1000\n"
            "jobs.csv:4:13: gpu_milli: '500' of a pod without GPUs; write 0\n"
            "jobs.csv:5:20: gpu_spec: unknown GPU type 'T5'; did you mean T4?\n"
            "jobs.csv:5:37: deletion_time: '59' is before creation_time; write seconds from 60 on\n"
            "jobs.csv:6:13: gpu_milli: '1001' is out of range; write thousandths of a GPU from 1 to 1000\n"
            "jobs.csv:6:30: creation_time: '-60' is out of range; write seconds from 0 to 5000000000\n");
}

TEST(Formats, MissingColumnsAreNamedAtOnce) {
  EXPECT_EQ(jobs_complaints("name,cpu_milli,memory_mib,num_gpu\na,1,1,1\n"),
            "jobs.csv:1:1: openb pods: column 'gpu_milli' is missing; the header has 'name', 'cpu_milli', "
            "'memory_mib', 'num_gpu'; an openb "
            "pod list needs name, cpu_milli, memory_mib, num_gpu, gpu_milli\n");
  EXPECT_EQ(jobs_complaints("name,cpu_milli,memory_mib,gpumilli\na,1,1,1\n"),
            "jobs.csv:1:1: openb pods: columns 'num_gpu', 'gpu_milli' are missing; the header has 'name', 'cpu_milli', "
            "'memory_mib', 'gpumilli'; "
            "an openb pod list needs name, cpu_milli, memory_mib, num_gpu, gpu_milli\n"
            "jobs.csv:1:27: openb pods: column 'gpumilli' is unknown; did you mean 'gpu_milli'? Known: name, "
            "cpu_milli, memory_mib, num_gpu, "
            "gpu_milli, gpu_spec, creation_time, deletion_time, qos, pod_phase, scheduled_time\n");
}

TEST(Formats, NothingOfAFileReachesTheTerminalRaw) {
  const std::string complaint = jobs_complaints("name,cpu_milli,\"a\nb\"\n1,2,3\n");
  EXPECT_NE(complaint.find("the header has 'name', 'cpu_milli', 'a\\x0ab';"), std::string::npos) << complaint;
}

TEST(Formats, ATypingMistakeDropsNoConstraint) {
  EXPECT_NE(jobs_complaints("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spek\na,1,1,1,1000,T4\n")
                .find("did you mean 'gpu_spec'?"),
            std::string::npos);
  EXPECT_EQ(jobs_complaints("name,cpu_milli,memory_mib,num_gpu,gpu_milli,zone\na,1,1,1,1000,x\n"), "no complaint");
}

TEST(Formats, AreToldApart) {
  EXPECT_EQ(jobs_complaints("sn,cpu_milli,memory_mib,gpu,model\na,1,1,0,\n"),
            "jobs.csv:1:1: this is an openb node list; write the name of a job list here\n");
  EXPECT_EQ(nodes_complaints("timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,1.0,1,1.0,a\n"),
            "nodes.csv:1:1: this is a Philly job list; write the name of a node list here\n");
  EXPECT_EQ(
      nodes_complaints("x;y\n1;2\n"),
      "nodes.csv:1:1: no column of a node list is in the header; a node list needs name, cpu, memory, gpus; an openb "
      "node list needs "
      "sn, cpu_milli, memory_mib, gpu, model; a Philly machine list needs machineId, number of GPUs, single GPU mem\n");
  EXPECT_EQ(nodes_complaints("; MaxProcs: 5\n"),
            "nodes.csv:1:1: a Standard Workload Format file lists no machines; write them in a file of their own "
            "(name,cpu,memory,gpus,gpu_model)\n");
  EXPECT_NE(jobs_complaints("name,cpu,memory,gpus\na,1,1,1\n").find("columns 'submit_s', 'run_s' are missing"),
            std::string::npos);
}

TEST(Formats, WhatIsCutOrBinaryIsNeverShorter) {
  EXPECT_EQ(jobs_complaints("name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,1,1000\nb,1,1"),
            "jobs.csv:3:5: the last line is cut: 3 fields where the header has 5 columns; the first missing one is "
            "'num_gpu'; was the file "
            "written to its end?\n");
  EXPECT_EQ(
      jobs_complaints("name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,1,1000\nb,1,1,1,10"),
      "jobs.csv:3: the last line has no line end: was the file written to its end? If so, end it with a line end\n");
  EXPECT_EQ(jobs_complaints(std::string_view("\x7f"
                                             "ELF\0\0",
                                             6)),
            "jobs.csv:1:1: this is not text: byte '\\x7f'; write the file as UTF-8 text\n");
  EXPECT_EQ(jobs_complaints(""),
            "jobs.csv: the file is empty; write a header with the column names and a row for each entry\n");
  EXPECT_EQ(jobs_complaints("name,submit_s,run_s,gpus\n"),
            "jobs.csv:2: a header and no rows; write a row for each entry\n");
}

TEST(Formats, AHundredComplaintsAreKeptAndAllAreCounted) {
  std::string text = "name,submit_s,run_s,gpus\n";
  for (int i = 0; i < 150; ++i) text += "j" + std::to_string(i) + ",x,1,1\n";
  const auto jobs = read_jobs("jobs.csv", text);
  ASSERT_FALSE(jobs.has_value());
  EXPECT_EQ(jobs.error().count(), 150U);
  EXPECT_EQ(jobs.error().kept().size(), 100U);
}

TEST(PhillyJobs, AreCountedFromTheEarliest) {
  const auto jobs = read_jobs("jobs.csv",
                              "timestamp,duration,num_gpus,gpu_time,cluster\n"
                              "2020-03-01 00:00:01,66.25,1,66.0,red\n"
                              "2020-02-28 23:59:59,3600.0,128,3600.0,blue\n\n");
  ASSERT_TRUE(jobs.has_value()) << jobs.error().to_string();
  ASSERT_EQ(jobs->size(), 2U);
  EXPECT_EQ((*jobs)[0].name, "job-1");
  EXPECT_EQ((*jobs)[0].queue, "red");
  EXPECT_EQ((*jobs)[0].submit, Time{86'402'000});  // a leap year's extra day and two seconds
  EXPECT_EQ((*jobs)[0].run, Duration{66'250});
  EXPECT_EQ((*jobs)[0].gpus, 1);
  EXPECT_EQ((*jobs)[0].gpu_milli, 1000);
  EXPECT_EQ((*jobs)[1].name, "job-2");
  EXPECT_EQ((*jobs)[1].submit, Time{});
  EXPECT_EQ((*jobs)[1].gpus, 128);
  EXPECT_EQ((*jobs)[1].pods, 1);
}

TEST(PhillyJobs, AreDoubted) {
  const std::string no_moment = " is no moment; write one between 1970 and 2099 like 2017-10-09 07:01:55\n";
  for (const std::string moment :
       {"2019-02-29 00:00:00", "2020-13-01 00:00:00", "2020-00-01 00:00:00", "2020-01-00 00:00:00",
        "2020-04-31 00:00:00", "2020-01-01 24:00:00", "2020-01-01 00:60:00", "2020-01-01 00:00:60",
        "1969-12-31 23:59:59", "2100-01-01 00:00:00", "2020-01-01T00:00:00", "2020-1-1 0:0:0", "", "0"}) {
    EXPECT_EQ(jobs_complaints("timestamp,duration,num_gpus,gpu_time,cluster\n" + moment + ",1.0,1,1.0,a\n"),
              "jobs.csv:2:1: timestamp: '" + moment + "'" + no_moment);
  }
  EXPECT_EQ(jobs_complaints("timestamp,duration,num_gpus,gpu_time,cluster\n"
                            "2020-01-01 00:00:00,-5.0,0,1.0,a\n"
                            "2020-01-01 00:00:00,1.23456,1000000000000,1.0,a\n"
                            "2020-01-01 00:00:00,1e3,1,1.0,a\n"
                            "2020-01-01 00:00:00,99999999999999999999,1,1.0,a\n"),
            "jobs.csv:2:21: duration: '-5.0' is negative; write seconds such as 90 or 12.5\n"
            "jobs.csv:2:26: num_gpus: '0' is out of range; write a number of GPUs from 1 to 1000000\n"
            "jobs.csv:3:21: duration: '1.23456' is finer than a millisecond; write at most three decimals\n"
            "jobs.csv:3:29: num_gpus: '1000000000000' is out of range; write a number of GPUs from 1 to 1000000\n"
            "jobs.csv:4:21: duration: '1e3' is not a number of seconds; write seconds such as 90 or 12.5\n"
            "jobs.csv:5:21: duration: '99999999999999999999' is out of range; write seconds below 5000000000\n");
}

TEST(PhillyMachines, AreOfTheGenericModel) {
  const auto nodes = read_nodes("nodes.csv", "machineId, number of GPUs, single GPU mem\nbox1,2, 12GB\nbox2,8, 24GB\n");
  ASSERT_TRUE(nodes.has_value()) << nodes.error().to_string();
  ASSERT_EQ(nodes->size(), 2U);
  EXPECT_EQ((*nodes)[1].name, "box2");
  EXPECT_EQ((*nodes)[1].gpus, 8);
  EXPECT_EQ((*nodes)[1].gpu_model, "gpu");
  EXPECT_EQ((*nodes)[1].cpu_milli, 0);
  EXPECT_EQ((*nodes)[1].memory_bytes, 0);
  EXPECT_EQ(nodes_complaints("machineId, number of GPUs, single GPU mem\nbox1,2, 12\n"),
            "nodes.csv:2:9: single GPU mem: '12' is no size of a GPU's memory; write gigabytes such as 24GB\n");
}

//                                     1 2   3  4   5 6  7 8  9   10 11 12 13 14 15 16 17 18
constexpr std::string_view kSwfJob = "1 10 5 60 4 -1 -1 8 120 -1 1 7 1 -1 2 -1 -1 -1\n";

TEST(Swf, LinesBecomeJobs) {
  const std::string text = "; Version: 2.2\n;MaxProcs:  64 \n" + std::string(kSwfJob) +
                           "  2 11 -1 -1 0 -1 -1 4 120 -1 5 7 1 -1 2 -1 -1 -1\r\n"  // cancelled before it ran
                           "3 12 -1 -1 -1 -1 -1 -1 120 -1 0 7 1 -1 2 -1 -1 -1\n"    // failed before it ran
                           "4 13 0 0.5 3 1.5 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
                           "5 13 0 10 3 -1 -1 -1 -1 -1 2 1 1 1 1 -1 -1 -1\n"   // a part of job 6
                           "6 13 0 10 3 -1 -1 -1 -1 -1 5 1 1 1 0 -1 -1 -1\n";  // cancelled while it ran
  const auto swf = read_swf("a.swf", text);
  ASSERT_TRUE(swf.has_value()) << swf.error().to_string();
  EXPECT_EQ(swf->left_out, 3);
  ASSERT_EQ(swf->jobs.size(), 3U);
  EXPECT_EQ(swf->jobs[0].name, "job-1");
  EXPECT_EQ(swf->jobs[0].submit, Time{10'000});
  EXPECT_EQ(swf->jobs[0].run, seconds(60));
  EXPECT_EQ(swf->jobs[0].gpus, 8);
  EXPECT_EQ(swf->jobs[0].gpu_milli, 1000);
  EXPECT_EQ(swf->jobs[0].pods, 1);
  EXPECT_EQ(swf->jobs[0].queue, "queue-2");
  EXPECT_EQ(swf->jobs[0].user, "user-7");
  EXPECT_EQ(swf->jobs[1].name, "job-4");
  EXPECT_EQ(swf->jobs[1].gpus, 3);
  EXPECT_EQ(swf->jobs[1].run, Duration{500});
  EXPECT_EQ(swf->jobs[1].queue, "");
  EXPECT_EQ(swf->jobs[1].user, "");
  EXPECT_EQ(swf->jobs[2].queue, "queue-0");
  EXPECT_EQ(swf_max_procs(text), 64);
  EXPECT_EQ(swf_max_procs(kSwfJob), std::nullopt);
  EXPECT_EQ(swf_max_procs("; MaxProcs: many\n"), std::nullopt);
  EXPECT_EQ(read_jobs("a.swf", text).value().size(), 3U);
  EXPECT_EQ(read_jobs("a.swf", kSwfJob).value().size(), 1U);
  EXPECT_EQ(swf_jobs_left_out("a.swf", text), 3);
  EXPECT_EQ(swf_jobs_left_out("a.swf", kSwfJob), 0);
  EXPECT_EQ(swf_jobs_left_out("a.swf", text + "broken\n"), 0);
  EXPECT_EQ(swf_jobs_left_out("a.csv", "name,submit_s,run_s,gpus\na,0,0,1\n"), 0);
  EXPECT_EQ(swf_jobs_left_out("a.json", "{}"), 0);
}

TEST(Swf, LinesAreDoubted) {
  EXPECT_EQ(jobs_complaints(std::string(kSwfJob) + "01 0 5 60 4 -1 -1 8 120 -1 1 7 1 -1 2 -1 -1 -1\n"
                                                   "2 -1 5 60 4 -1 -1 8 120 -1 1 7 1 -1 2 -1 -1 -1\n"
                                                   "3 0 5 -1 4 -1 -1 8 120 -1 1 7 1 -1 2 -1 -1 -1\n"
                                                   "4 0 5 60 -1 -1 -1 0 120 -1 1 7 1 -1 2 -1 -1 -1\n"
                                                   "5 0 5 60 4 -1 -1 8 120 -1 1 7 1 x 2 -1 -1 -1\n"
                                                   "6 0 5 60 4 -1 -1 8 120 -1 9 7 1 1 2 -1 -1 -1 -1\n"
                                                   "7 0 5 60 4"),
            "jobs.csv:2:1: job number: '1' is also in line 1; write a name that no other row has\n"
            "jobs.csv:3:3: submit time: '-1' is negative; write seconds such as 90 or 12.5\n"
            "jobs.csv:4:7: run time: '-1' is negative; write seconds such as 90 or 12.5\n"
            "jobs.csv:5:19: requested processors: neither these nor the allocated ones are known; write how many the "
            "job had\n"
            "jobs.csv:6:33: field 14: 'x' is not a number; write -1 if it is not known\n"
            "jobs.csv:7: 19 numbers; write 18, and -1 for those that are not known\n"
            "jobs.csv:8: the last line is cut: 5 numbers; write 18, and -1 for those that are not known\n");
  EXPECT_EQ(jobs_complaints("1 10 5 60 1 -1 -1 1000001 120 -1 1 7 1 -1 2 -1 -1 -1\n"),
            "jobs.csv:1:19: requested processors: '1000001' is out of range; write a number of processors from -1 to "
            "1000000\n");
  for (const std::string_view last : {kSwfJob.substr(0, kSwfJob.size() - 1), std::string_view("; the e")}) {
    EXPECT_EQ(
        jobs_complaints(std::string(kSwfJob) + std::string(last)),
        "jobs.csv:2: the last line has no line end: was the file written to its end? If so, end it with a line end\n")
        << last;
  }
  EXPECT_EQ(jobs_complaints(std::string(kSwfJob) + " "), "no complaint");
  EXPECT_EQ(jobs_complaints("; nothing\n"),
            "jobs.csv: no job in it ran (0 left out); write a line of 18 numbers for each job\n");
}

TEST(OwnTables, BecomeNodesAndJobs) {
  const auto nodes =
      read_nodes("nodes.csv", "name,cpu,memory,gpus,gpu_model\nn1,64,512Gi,8,H100-SXM5-80GB\nn2,1500m,1G,0,\n");
  ASSERT_TRUE(nodes.has_value()) << nodes.error().to_string();
  EXPECT_EQ((*nodes)[0].cpu_milli, 64'000);
  EXPECT_EQ((*nodes)[0].memory_bytes, 512 * kGib);
  EXPECT_EQ((*nodes)[0].gpu_model, "H100");
  EXPECT_EQ((*nodes)[1].cpu_milli, 1500);
  EXPECT_EQ((*nodes)[1].memory_bytes, 1'000'000'000);

  const auto jobs = read_jobs("jobs.csv",
                              "name,queue,user,submit_s,run_s,pods,gpus,cpu,memory,gpu_models\n"
                              "j1,research,ann,0.5,3600,2,8,32,256Gi,H100|A100-SXM4-80GB\n"
                              "j2,,,12.345,0,,500m,,,\n"
                              "j3,,,0,0,,0,1,,\n"
                              "j4,,,0,0,,0.5,1,,\n");
  ASSERT_TRUE(jobs.has_value()) << jobs.error().to_string();
  const TraceJob& j1 = (*jobs)[0];
  EXPECT_EQ(j1.queue, "research");
  EXPECT_EQ(j1.user, "ann");
  EXPECT_EQ(j1.submit, Time{500});
  EXPECT_EQ(j1.run, seconds(3600));
  EXPECT_EQ(j1.pods, 2);
  EXPECT_EQ(j1.gpus, 8);
  EXPECT_EQ(j1.gpu_milli, 1000);
  EXPECT_EQ(j1.cpu_milli, 32'000);
  EXPECT_EQ(j1.memory_bytes, 256 * kGib);
  EXPECT_EQ(j1.gpu_models, (std::vector<std::string>{"H100", "A100-80GB"}));
  const TraceJob& j2 = (*jobs)[1];
  EXPECT_EQ(j2.queue, "");
  EXPECT_EQ(j2.submit, Time{12'345});
  EXPECT_EQ(j2.pods, 1);
  EXPECT_EQ(j2.gpus, 1);
  EXPECT_EQ(j2.gpu_milli, 500);
  EXPECT_EQ(j2.cpu_milli, 0);
  EXPECT_EQ((*jobs)[2].gpus, 0);
  EXPECT_EQ((*jobs)[2].gpu_milli, 0);
  EXPECT_EQ((*jobs)[3].gpu_milli, 500);
}

TEST(OwnTables, AreDoubted) {
  EXPECT_EQ(nodes_complaints("name,cpu,memory,gpus,gpu_modle\nn1,1,1Gi,1,H100\n"),
            "nodes.csv:1:22: nodes: column 'gpu_modle' is unknown; did you mean 'gpu_model'? Known: name, cpu, memory, "
            "gpus, gpu_model\n"
            "nodes.csv:2:10: gpu_model: a node with GPUs has no model; write one such as H100, or gpu where the kind "
            "does not matter\n");
  EXPECT_EQ(
      nodes_complaints("name,cpu,memory,gpus,gpu_model\nn1,2M,2Pi,1,\nn2,64cores,64GB,0,H100\n"),
      "nodes.csv:2:4: cpu: '2M' is too large; write at most 50k\n"
      "nodes.csv:2:7: memory: '2Pi' is too large; write at most 1Pi\n"
      "nodes.csv:2:13: gpu_model: a node with GPUs has no model; write one such as H100, or gpu where the kind does "
      "not matter\n"
      "nodes.csv:3:4: cpu: '64cores' is not a quantity; write 1500m, 1.5 or 2\n"
      "nodes.csv:3:12: memory: '64GB' is not a quantity; write 64G or 64Gi\n"
      "nodes.csv:3:19: gpu_model: 'H100' of a node without GPUs; leave it empty, or write how many GPUs it has\n");
  EXPECT_EQ(jobs_complaints("name,submit_s,run_s,pods,gpus,gpu_models\n"
                            "a,0,0,0,1.5,\n"
                            "b,0,0,1,1e12,\n"
                            "c,0,0,100000,1000,\n"
                            "d,0,0,1,0,T4\n"
                            "e,0,0,1,-1,\n"
                            "f,0,0,1,1,T4||P100\n"
                            "\"x\x01\",0,0,1,1,\n"),
            "jobs.csv:8:3: this is not text: byte '\\x01'; write the file as UTF-8 text\n");
  EXPECT_EQ(jobs_complaints("name,submit_s,run_s,pods,gpus,gpu_models\n"
                            "a,0,0,0,1.5,\n"
                            "b,0,0,1,1e12,\n"
                            "c,0,0,100000,1000,\n"
                            "d,0,0,1,0,T4\n"
                            "e,0,0,1,-1,\n"
                            "f,0,0,1,1,T4||P100\n"
                            "\"x\ty\",0,0,1,1,\n"),
            "jobs.csv:2:9: gpus: '1.5' is neither a count (2) nor thousandths of one GPU (500m)\n"
            "jobs.csv:2:7: pods: '0' is out of range; write a number of pods from 1 to 1000000\n"
            "jobs.csv:3:9: gpus: '1e12' is too large; write at most 1000000\n"
            "jobs.csv:4:14: gpus: 100000 pods with 1000 GPUs each are too many; write at most 16777216 for all pods\n"
            "jobs.csv:5:11: gpu_models: 'T4' of a job without GPUs; leave it empty\n"
            "jobs.csv:6:9: gpus: '-1' is neither a count (2) nor thousandths of one GPU (500m)\n"
            "jobs.csv:7:14: gpu_models: unknown GPU type '';\n"
            "jobs.csv:8:1: name: 'x\\x09y' has control characters; take them out\n");
}

TEST(Formats, WhatOnlyFollowsFromAComplaintIsNone) {
  EXPECT_EQ(nodes_complaints("name,cpu,memory,gpus,gpu_model\nn1,1,1Gi,65,H100\n"),
            "nodes.csv:2:10: gpus: '65' is out of range; write a number of GPUs from 0 to 64\n");
  EXPECT_EQ(jobs_complaints("name,submit_s,run_s,gpus,gpu_models\na,0,0,-1,T4\n"),
            "jobs.csv:2:7: gpus: '-1' is neither a count (2) nor thousandths of one GPU (500m)\n");
  EXPECT_EQ(jobs_complaints(std::string(kPodHeader) + "a,1,1,1,1000,,LS,Running,60,,0\n"
                                                      "b,1,1,65,1000,,LS,Running,60,90,0\n"),
            "jobs.csv:2:29: deletion_time: '' is not a whole number; write seconds from 0 to 5000000000\n"
            "jobs.csv:3:7: num_gpu: '65' is out of range; write a number of GPUs from 0 to 64\n");
}

TEST(OwnTables, NamesHaveNoControlCharacters) {
  const auto name = [](std::string_view text) {
    return jobs_complaints("name,submit_s,run_s,gpus\n" + std::string(text) + ",0,0,1\n");
  };
  EXPECT_EQ(name("x\xc2\x9b"), "jobs.csv:2:1: name: 'x\\xc2\\x9b' has control characters; take them out\n");
  EXPECT_EQ(name("\xc2\x80x"), "jobs.csv:2:1: name: '\\xc2\\x80x' has control characters; take them out\n");
  EXPECT_EQ(name("x\xc2\xa0y"), "no complaint");
}

TEST(OwnTables, TotalGpusHaveABound) {
  std::string text = "name,cpu,memory,gpus,gpu_model\n";
  for (int i = 0; i < 262'145; ++i) text += "n" + std::to_string(i) + ",1,1,64,gpu\n";
  EXPECT_EQ(nodes_complaints(text),
            "nodes.csv:262146:13: gpus: with this node there are more than 16777216 GPUs; write fewer nodes\n");
}

constexpr std::string_view kJson = R"({
  "nodes": [{"name": "n1", "cpu": 64, "memory": "512Gi", "gpus": 8, "gpu_model": "H100"}],
  "jobs": [
    {"name": "j\u0031", "submit_s": 0.5, "run_s": 60, "gpus": "500m", "gpu_models": ["H100", "T4", "H100"]},
    {"name": "j2", "submit_s": 1, "run_s": 2, "gpus": 0, "pods": 3, "cpu": "1500m", "memory": 1e9, "queue": "q", "user": "u", "gpu_models": []}
  ]
})";

TEST(OwnJson, BecomesNodesAndJobs) {
  const auto nodes = read_nodes("a.json", kJson);
  ASSERT_TRUE(nodes.has_value()) << nodes.error().to_string();
  ASSERT_EQ(nodes->size(), 1U);
  EXPECT_EQ((*nodes)[0].name, "n1");
  EXPECT_EQ((*nodes)[0].cpu_milli, 64'000);
  EXPECT_EQ((*nodes)[0].memory_bytes, 512 * kGib);
  EXPECT_EQ((*nodes)[0].gpus, 8);
  EXPECT_EQ((*nodes)[0].gpu_model, "H100");
  const auto jobs = read_jobs("a.json", kJson);
  ASSERT_TRUE(jobs.has_value()) << jobs.error().to_string();
  ASSERT_EQ(jobs->size(), 2U);
  EXPECT_EQ((*jobs)[0].name, "j1");
  EXPECT_EQ((*jobs)[0].submit, Time{500});
  EXPECT_EQ((*jobs)[0].gpu_milli, 500);
  EXPECT_EQ((*jobs)[0].gpu_models, (std::vector<std::string>{"H100", "T4"}));
  EXPECT_EQ((*jobs)[1].pods, 3);
  EXPECT_EQ((*jobs)[1].cpu_milli, 1500);
  EXPECT_EQ((*jobs)[1].memory_bytes, 1'000'000'000);
  EXPECT_EQ((*jobs)[1].queue, "q");
  EXPECT_EQ((*jobs)[1].user, "u");
  EXPECT_EQ((*jobs)[1].gpus, 0);
  EXPECT_EQ(read_nodes("a.json", "\xef\xbb\xbf [{\"name\": \"n\", \"cpu\": \"1\", \"memory\": \"1\", \"gpus\": 0}]\n")
                .value()
                .size(),
            1U);
}

TEST(OwnJson, IsDoubted) {
  struct Case {
    std::string_view text;
    std::string_view complaints;
  };
  const Case cases[] = {
      {"{\"jobs\": []}", "jobs.csv:1:10: the list of jobs is empty; write an object for each\n"},
      {"{\"nodes\": []}", "jobs.csv:1:1: there is no key 'jobs'; write {\"jobs\": [...]}\n"},
      {"{\"jbos\": [],\n \"jobs\": {}}",
       "jobs.csv:1:2: key 'jbos' is unknown; did you mean 'jobs'? Known: nodes, jobs\n"
       "jobs.csv:2:10: jobs: this is an object; write a list of objects\n"},
      {"[1,\n  {\"name\": \"a\", \"gpu\": 1}]",
       "jobs.csv:1:2: jobs: this is a number; write an object with name, submit_s, run_s, gpus, pods, cpu, memory, "
       "queue, user, gpu_models\n"
       "jobs.csv:2:17: key 'gpu' is unknown; did you mean 'gpus'? Known: name, submit_s, run_s, gpus, pods, cpu, "
       "memory, queue, user, "
       "gpu_models\n"},
      {"[\n {\"name\": \"a\", \"gpus\": 1}]",
       "jobs.csv:2:2: jobs: missing 'submit_s', 'run_s'; an entry needs name, submit_s, run_s, gpus\n"},
      {"[{\"name\": \"a\", \"name\": \"b\", \"submit_s\": \"0\", \"run_s\": null, \"gpus\": true}]",
       "jobs.csv:1:16: key 'name' is there twice; keep one of them\n"
       "jobs.csv:1:41: submit_s: this is a string; write a number\n"
       "jobs.csv:1:55: run_s: this is null; write a number\n"
       "jobs.csv:1:69: gpus: this is true or false; write a number or a string\n"},
      {"[{\"name\": 1, \"submit_s\": 0, \"run_s\": 0, \"gpus\": 1, \"gpu_models\": [1]}]",
       "jobs.csv:1:11: name: this is a number; write a string\njobs.csv:1:67: gpu_models: this is a number; write a "
       "list of strings\n"},
      {"[{\"name\": \"a\", \"submit_s\": 0, \"run_s\": -1, \"gpus\": 1.5},\n{\"name\": \"a\", \"submit_s\": 0, "
       "\"run_s\": 1, \"gpus\": \"1\"}]",
       "jobs.csv:1:40: run_s: '-1' is negative; write seconds such as 90 or 12.5\n"
       "jobs.csv:1:52: gpus: '1.5' is neither a count (2) nor thousandths of one GPU (500m)\n"
       "jobs.csv:2:10: name: 'a' is also in line 1; write a name that no other row has\n"},
      {"[{\"name\": \"a\", \"submit_s\": 00, \"run_s\": 1, \"gpus\": 1}]",
       "jobs.csv:1:28: submit_s: '00' is not a number\n"},
      {"[{\"name\": \"a\", \"submit_s\": 0, \"run_s\": 1, \"gpus\": 1}] x",
       "jobs.csv:1:55: this is not JSON: it is cut here, or something follows its end\n"},
      {"[{\"name\": \"a\", \"submit_s\": 0, \"run_s\": 1, \"gpus\": 1}] []",
       "jobs.csv:1:55: there is more after the end of the JSON; take it away\n"},
      {"{\"jobs\": [{\"name\": \"a\", \"submit_s\": 0, \"run_s\": 1, \"gpus\": 1}], \"jobs\": []}",
       "jobs.csv:1:65: key 'jobs' is there twice; keep one of them\n"},
      {"[{\"name\": \"a\", \"submit_s\": 0, \"run_s\": 1, \"gpus\": 1, \"gpu_models\": [\"\"]}]",
       "jobs.csv:1:69: gpu_models: '' is no GPU type; write one such as H100, or an empty list where any will do\n"},
      {"[{\"name\": \"a\", \"submit_s\": 0, \"run_s\": 1, \"gpus\": 1, \"gpu_models\": [\"\", \"H100\"]}]",
       "jobs.csv:1:69: gpu_models: '' is no GPU type; write one such as H100, or an empty list where any will do\n"},
  };
  for (const Case& c : cases) EXPECT_EQ(jobs_complaints(c.text), c.complaints) << c.text;
}

TEST(OwnJson, TheListThatIsNotAskedForIsJsonAndAListOfObjects) {
  const std::string jobs = R"("jobs": [{"name": "a", "submit_s": 0, "run_s": 1, "gpus": 1}])";
  const auto with_nodes = [&jobs](std::string_view nodes) {
    const std::string first = jobs_complaints(R"({"nodes": )" + std::string(nodes) + ", " + jobs + "}");
    const std::string last = jobs_complaints("{" + jobs + R"(, "nodes": )" + std::string(nodes) + "}");
    EXPECT_EQ(first == "no complaint", last == "no complaint") << nodes;
    return first;
  };
  for (const std::string_view good : {"[]", "[{}]", R"([{"a": [1, -2.5e3, "x", true, false, null, {"b": {}}]}, {}])"})
    EXPECT_EQ(with_nodes(good), "no complaint");
  EXPECT_EQ(with_nodes("7"), "jobs.csv:1:11: nodes: this is a number; write a list of objects\n");
  EXPECT_EQ(with_nodes("[{}, 7]"), "jobs.csv:1:16: nodes: this is a number; write an object for each\n");
  for (const std::string_view bad :
       {R"([{"garbage": nope,,}])", R"([{"a": nul}])", R"([{"a": tru}])", R"([{"a": 01}])", R"([{"a": 1.}])",
        R"([{"a": "\x"}])", R"([{"\x": 1}])", R"([{"a" 1}])", "[{},]", "[{},,{}]", "[{} {}]", R"([{"a": [1 2]}])",
        R"([{"a": 1,}])", R"([{"a": }])", "[}", "[{]", "", "x"}) {
    EXPECT_NE(with_nodes(bad), "no complaint") << bad;
  }
  const std::string deep = R"([{"a": )" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}]";
  EXPECT_EQ(with_nodes(deep), "jobs.csv:1:81: lists and objects in each other, more than 64 deep\n");
}

TEST(OwnJson, CutAnywhereIsAComplaint) {
  for (std::size_t size = 0; size < kJson.size(); ++size) {
    EXPECT_FALSE(read_jobs("a.json", kJson.substr(0, size)).has_value()) << size;
  }
}

TEST(OwnTables, AreWrittenAndReadBackTheSame) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng(Seed{seed});
    const auto word = [&rng](std::string_view prefix) {
      constexpr std::string_view kLetters = "ab ,\"'|;-_\xc3\xa4";
      std::string text(prefix);
      for (std::uint64_t left = rng.below(6); left > 0; --left) {
        const std::size_t at = rng.below(kLetters.size() - 1);
        text += at == kLetters.size() - 2 ? std::string("\xc3\xa4") : std::string(1, kLetters[at]);
      }
      return text + "x";
    };
    std::vector<TraceNode> nodes;
    std::vector<TraceJob> jobs;
    for (int i = 0; i < 20; ++i) {
      const auto& catalogue = gpu_catalogue();
      const std::string model(catalogue[rng.below(catalogue.size())].short_name);
      TraceNode node;
      node.name = word("n" + std::to_string(i) + ":");
      node.cpu_milli = rng.between(0, kCpuMilliMax);
      node.memory_bytes = rng.between(0, kMemoryMibMax) << (rng.below(2) == 0 ? 20 : 3);
      node.gpus = static_cast<int>(rng.between(0, kGpusPerNodeMax));
      if (node.gpus > 0) node.gpu_model = model;
      nodes.push_back(node);
      TraceJob job;
      job.name = word("j" + std::to_string(i) + ":");
      if (rng.below(2) == 0) job.queue = word("q");
      if (rng.below(2) == 0) job.user = word("u");
      job.submit = Time{rng.between(0, 1000 * kSecondsMax - 1)};
      job.run = Duration{rng.between(0, 100'000)};
      job.pods = rng.between(1, 16);
      job.gpus = static_cast<int>(rng.below(2) == 0 ? rng.between(0, 2) : rng.between(0, kJobGpusMax));
      job.gpu_milli = job.gpus == 0 ? 0 : job.gpus == 1 ? static_cast<int>(rng.between(1, 1000)) : 1000;
      job.cpu_milli = rng.between(0, kCpuMilliMax);
      job.memory_bytes = rng.between(0, kMemoryMibMax << 20);
      if (job.gpus > 0 && rng.below(2) == 0) job.gpu_models = {model, model == "T4" ? "P4" : "T4"};
      jobs.push_back(job);
    }
    const auto nodes_again = read_nodes("nodes.csv", write_nodes_csv(nodes));
    ASSERT_TRUE(nodes_again.has_value()) << nodes_again.error().to_string() << "seed " << seed;
    ASSERT_TRUE(std::ranges::equal(nodes, *nodes_again,
                                   [](const TraceNode& a, const TraceNode& b) {
                                     return a.name == b.name && a.cpu_milli == b.cpu_milli &&
                                            a.memory_bytes == b.memory_bytes && a.gpus == b.gpus &&
                                            a.gpu_model == b.gpu_model;
                                   }))
        << "seed " << seed;
    const auto jobs_again = read_jobs("jobs.csv", write_jobs_csv(jobs));
    ASSERT_TRUE(jobs_again.has_value()) << jobs_again.error().to_string() << "seed " << seed;
    ASSERT_TRUE(std::ranges::equal(jobs, *jobs_again,
                                   [](const TraceJob& a, const TraceJob& b) {
                                     return a.name == b.name && a.queue == b.queue && a.user == b.user &&
                                            a.submit == b.submit && a.run == b.run && a.pods == b.pods &&
                                            a.cpu_milli == b.cpu_milli && a.memory_bytes == b.memory_bytes &&
                                            a.gpus == b.gpus && a.gpu_milli == b.gpu_milli &&
                                            a.gpu_models == b.gpu_models;
                                   }))
        << "seed " << seed;
  }
}

// The recorded traces, where they are at hand.

template <class Entry>
std::int64_t sum_of_gpus(const std::vector<Entry>& entries) {
  std::int64_t gpus = 0;
  for (const Entry& entry : entries) gpus += entry.gpus;
  return gpus;
}

TEST(RecordedTraces, OpenbNodes) {
  const auto folder = test_data_folder();
  if (!folder) GTEST_SKIP() << "no recorded traces here";
  struct Case {
    std::string name;
    std::size_t nodes;
  };
  for (const Case& c : {Case{"openb_node_list_gpu_node.csv", 1213}, Case{"openb_node_list_all_node.csv", 1523}}) {
    const auto nodes = read_nodes(c.name, read_file(*folder + "/openb/" + c.name).value());
    ASSERT_TRUE(nodes.has_value()) << nodes.error().to_string();
    EXPECT_EQ(nodes->size(), c.nodes);
    EXPECT_EQ(sum_of_gpus(*nodes), 6212);
    EXPECT_EQ(broken_invariant(*nodes), "");
  }
}

TEST(RecordedTraces, OpenbPods) {
  const auto folder = test_data_folder();
  if (!folder) GTEST_SKIP() << "no recorded traces here";
  struct Case {
    std::string variant;
    std::size_t pods;
    std::int64_t gpus;
  };
  const Case cases[] = {
      {"cpu0", 7064, 7433},       {"cpu037", 7336, 7433},     {"cpu050", 7439, 7433},      {"cpu072", 7608, 7433},
      {"cpu100", 7853, 7433},     {"cpu200", 8832, 7433},     {"cpu235", 9240, 7433},      {"cpu250", 9420, 7433},
      {"cpu300", 10094, 7433},    {"default", 8152, 7433},    {"gpushare20", 8152, 7549},  {"gpushare40", 8152, 7382},
      {"gpushare60", 8152, 7196}, {"gpushare80", 8152, 7159}, {"gpuspec05", 8152, 7433},   {"gpuspec10", 8152, 7433},
      {"gpuspec25", 8152, 7433},  {"multigpu20", 8324, 8433}, {"multigpu40", 8746, 10789},
  };
  for (const Case& c : cases) {
    const std::string name = "openb_pod_list_" + c.variant + ".csv";
    const auto pods = read_jobs(name, read_file(*folder + "/openb/" + name).value());
    ASSERT_TRUE(pods.has_value()) << pods.error().to_string();
    EXPECT_EQ(pods->size(), c.pods) << c.variant;
    EXPECT_EQ(sum_of_gpus(*pods), c.gpus) << c.variant;
    EXPECT_EQ(broken_invariant(*pods), "") << c.variant;
  }
}

TEST(RecordedTraces, Philly) {
  const auto folder = test_data_folder();
  if (!folder) GTEST_SKIP() << "no recorded traces here";
  const auto jobs = read_jobs("jobs.csv", read_file(*folder + "/philly/jobs.csv").value());
  ASSERT_TRUE(jobs.has_value()) << jobs.error().to_string();
  EXPECT_EQ(jobs->size(), 82'247U);
  EXPECT_EQ(sum_of_gpus(*jobs), 107'235);
  EXPECT_EQ(broken_invariant(*jobs), "");
  std::vector<std::string> queues;
  for (const TraceJob& job : *jobs) queues.push_back(job.queue);
  std::ranges::sort(queues);
  EXPECT_EQ(std::ranges::unique(queues).begin() - queues.begin(), 15);
  EXPECT_EQ(std::ranges::min_element(*jobs, {}, &TraceJob::submit)->submit, Time{});
  const auto nodes = read_nodes("machines.csv", read_file(*folder + "/philly/machines.csv").value());
  ASSERT_TRUE(nodes.has_value()) << nodes.error().to_string();
  EXPECT_EQ(nodes->size(), 552U);
  EXPECT_EQ(sum_of_gpus(*nodes), 2490);
  EXPECT_EQ(broken_invariant(*nodes), "");
}

}  // namespace berth::readers_test
