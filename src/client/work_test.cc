// What people see of jobs, pods, queues and nodes: objects in, rows and sentences out.
#include "client/work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/account.h"
#include "client/listing.h"
#include "client/node_map.h"
#include "client/other_queue_rows.h"
#include "client/queue_tree.h"
#include "client/reservation_rows.h"
#include "manifest/timestamp.h"
#include "manifest/yaml.h"

namespace berth::work_test {

const Time kNow = parse_timestamp("2026-11-21T10:00:00Z").value_or(Time{});

std::vector<Value> objects(std::string_view yaml) { return parse_yaml(yaml).value(); }

constexpr std::string_view kJob =
    "metadata: {name: train, namespace: ml, uid: u1, creationTimestamp: '2026-11-21T09:00:00Z',\n"
    "           labels: {berth.dev/queue: research}}\n"
    "spec:\n"
    "  completions: 2\n"
    "  parallelism: 2\n"
    "  template:\n"
    "    metadata: {annotations: {berth.dev/gpu-models: H100|A100}}\n"
    "    spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: '8'}}}]}\n";

// A pod of it; `more` is YAML of its spec and status.
std::string pod_of(const std::string& name, const std::string& more) {
  return "---\nmetadata: {name: " + name +
         ", namespace: ml, ownerReferences: [{kind: Job, controller: true, uid: u1}]}\n" + more + "\n";
}

std::string waiting(const std::string& name, const std::string& why) {
  return pod_of(name,
                "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', message: " + why + "}]}");
}

std::string placed(const std::string& name, const std::string& node, const std::string& phase) {
  return pod_of(name, "spec: {nodeName: " + node + "}\nstatus: {phase: " + phase + "}");
}

Work one(const std::string& job, const std::string& pods) {
  const std::vector<Work> work = read_work(objects(job), objects(pods));
  EXPECT_EQ(work.size(), 1U);
  return work.empty() ? Work() : work.front();
}

TEST(Work, TheStateOfAJobIsThatOfItsPodsUntilItHasEnded) {
  const std::string job(kJob);
  struct Case {
    const char* what;
    std::string job, pods;
    std::string state, reason;
    int ready;
  };
  const Case cases[] = {
      {"no pods yet", job, "", "waiting", "its pods are not made yet", 0},
      {"both wait", job, waiting("a", "full") + waiting("b", "full"), "waiting", "full", 0},
      {"one has a place", job, placed("a", "n1", "Pending") + waiting("b", "full"), "starting", "full", 0},
      {"one runs", job, placed("a", "n1", "Running") + waiting("b", "full"), "running", "full", 1},
      {"one is done", job, placed("a", "n1", "Succeeded") + placed("b", "n1", "Running"), "running", "", 2},
      {"all done, not yet marked so", job, placed("a", "n1", "Succeeded") + placed("b", "n1", "Succeeded"), "running",
       "", 2},
      {"suspended", job + "  suspend: true\n", "", "suspended", "its spec.suspend is true", 0},
      {"succeeded", job + "status: {succeeded: 2, conditions: [{type: Complete, status: 'True'}]}\n", "", "succeeded",
       "", 2},
      {"failed",
       job +
           "status: {conditions: [{type: Failed, status: 'True', reason: BackoffLimitExceeded, message: too often}]}\n",
       "", "failed", "BackoffLimitExceeded: too often", 0},
      {"a pod of another job", job, "metadata: {name: x, ownerReferences: [{kind: Job, controller: true, uid: u9}]}\n",
       "waiting", "its pods are not made yet", 0},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    const Work work = one(each.job, each.pods);
    EXPECT_EQ(name_of(work.state), each.state);
    EXPECT_EQ(work.reasons.empty() ? "" : work.reasons.front().first, each.reason);
    EXPECT_EQ(work.pods_ready, each.ready);
    EXPECT_EQ(work.gpu_milli(), 16'000);
    EXPECT_EQ(work.queue, "research");
    EXPECT_EQ(work.gang, 2);
  }
}

TEST(Work, AJobOfAJobSetStartsWithTheOthersOfItsSet) {
  const Work work = one(
      "metadata: {name: js-a-0, namespace: ml, uid: u1}\n"
      "spec: {parallelism: 5, completions: 5, template: {metadata: {labels: {berth.dev/pod-group: js}, annotations: "
      "{berth.dev/pod-group-size: '10'}}, spec: {containers: [{}]}}}\n",
      "");
  EXPECT_EQ(work.gang, 10);
  EXPECT_EQ(work.pods, 5);
}

TEST(Work, AJobSetHasThreeNames) {
  for (const std::string kind : {"jobset", "jobsets", "jobset.jobset.x-k8s.io"}) {
    EXPECT_EQ(parse_work_name(kind + "/js").value(), (WorkName{.kind = "jobset", .name = "js"}));
  }
}

TEST(Work, PodsOfAJobSetAreThoseOfAllItsJobs) {
  const auto pods = objects(
      "metadata: {name: a-0, labels: {jobset.sigs.k8s.io/jobset-uid: u1}}\n---\n"
      "metadata: {name: b-0, labels: {jobset.sigs.k8s.io/jobset-uid: u2}}\n---\n"
      "metadata: {name: a-1, labels: {jobset.sigs.k8s.io/jobset-uid: u1}}\n---\n"
      "metadata: {name: c}\n");
  std::vector<std::string> names;
  for (const Value& pod : pods_of_job_set(pods, "u1")) names.emplace_back(pod["metadata"]["name"].text());
  EXPECT_EQ(names, (std::vector<std::string>{"a-0", "a-1"}));
}

TEST(Work, APodWithoutAJobStandsForItself) {
  struct Case {
    const char* what;
    std::string pod;
    std::string row;
  };
  const std::string begin = "metadata: {name: p, namespace: ml, creationTimestamp: '2026-11-21T09:59:00Z'";
  const Case cases[] = {
      {"runs", begin + "}\nspec: {nodeName: n1}\nstatus: {phase: Running}\n", "pod/p default running 1/1 - n1 60s -"},
      {"gated", begin + "}\nspec: {schedulingGates: [{name: wait}]}\n",
       "pod/p default waiting 0/1 - - 60s scheduling gate wait"},
      {"of another scheduler", begin + "}\nspec: {schedulerName: kai-scheduler}\n",
       "pod/p default waiting 0/1 - - 60s schedulerName 'kai-scheduler' is not Berth's, which leaves the pod to..."},
      {"of Berth", begin + "}\nspec: {schedulerName: default-scheduler}\n",
       "pod/p default waiting 0/1 - - 60s the scheduler has not looked at it yet"},
      {"part of a GPU",
       begin + ", annotations: {berth.dev/gpu-milli: '500'}}\n"
               "spec: {containers: [{resources: {requests: {nvidia.com/gpu: '1'}}}]}\n",
       "pod/p default waiting 0/1 0.5 - 60s the scheduler has not looked at it yet"},
      {"a part by KAI's word", begin + ", annotations: {gpu-fraction: '0.5'}}\n",
       "pod/p default waiting 0/1 0.5 - 60s the scheduler has not looked at it yet"},
      {"a part by memory", begin + ", annotations: {gpu-memory: '20000'}}\n",
       "pod/p default waiting 0/1 20000Mi - 60s the scheduler has not looked at it yet"},
      {"a share", begin + ", annotations: {gpu-fraction: '0.25', berth.dev/gpu-sharing: mps}}\n",
       "pod/p default waiting 0/1 0.25/mps - 60s the scheduler has not looked at it yet"},
      {"a replica",
       begin + ", annotations: {berth.dev/coverage: best-effort}}\n"
               "spec: {containers: [{resources: {limits: {nvidia.com/gpu.shared: 1}}}]}\n",
       "pod/p default waiting 0/1 shared - 60s the scheduler has not looked at it yet"},
      {"a slice", begin + "}\nspec: {containers: [{resources: {limits: {nvidia.com/mig-1g.10gb.me: '1'}}}]}\n",
       "pod/p default waiting 0/1 1g.10gb+me - 60s the scheduler has not looked at it yet"},
      {"failed", begin + "}\nstatus: {phase: Failed, reason: Evicted, message: 'no\n  memory'}\n",
       "pod/p default failed 0/1 - - 60s no memory"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    const std::vector<Work> work = read_work({}, objects(each.pod));
    const Listing listing = list_work(work, false, kNow);
    ASSERT_EQ(listing.rows.size(), 1U);
    std::string row;
    for (std::size_t i = 0; i < listing.columns.size(); ++i) {
      if (listing.columns[i].shown_in != ShownIn::kWide) row += (row.empty() ? "" : " ") + listing.rows[0].cells[i];
    }
    EXPECT_EQ(row, each.row);
  }
}

TEST(Work, AJobOfVolcanosIsOnePieceOfAllItsTasks) {
  const std::string job =
      "metadata: {name: train, namespace: ml, uid: u1, creationTimestamp: '2026-11-21T09:00:00Z'}\n"
      "spec:\n"
      "  queue: research\n"
      "  minAvailable: 2\n"
      "  tasks:\n"
      "  - {name: master, replicas: 1, template: {spec: {containers: [{name: c}]}}}\n"
      "  - {name: worker, replicas: 2, template: {spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: "
      "'4'}}}]}}}\n";
  const auto state_of = [](const std::string& state) { return "status: {state: " + state + ", succeeded: 3}\n"; };
  const struct {
    const char* what;
    std::string status, pods;
    WorkState state;
    const char* reason;
  } cases[] = {
      {"not begun", "", "", WorkState::kWaiting, "its pods are not made yet"},
      {"a name is taken", state_of("{phase: Pending, reason: NameTaken, message: it is taken}"), "",
       WorkState::kWaiting, "it is taken"},
      {"one waits", state_of("{phase: Pending}"), waiting("a", "no room"), WorkState::kWaiting, "no room"},
      {"one runs", state_of("{phase: Running}"), placed("a", "n1", "Running"), WorkState::kRunning, ""},
      {"done", state_of("{phase: Completed}"), placed("a", "n1", "Succeeded"), WorkState::kSucceeded, ""},
      {"failed", state_of("{phase: Failed, message: too often}"), placed("a", "n1", "Failed"), WorkState::kFailed,
       "Failed: too often"},
      {"aborted", state_of("{phase: Aborted}"), "", WorkState::kFailed, "Aborted"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.what);
    const Work work = one(job + each.status, each.pods);
    EXPECT_EQ(work.name.to_string(), "vcjob/train");
    EXPECT_EQ(work.queue, "volcano/research");
    EXPECT_EQ(work.pods, 3);
    EXPECT_EQ(work.gang, 2);
    EXPECT_EQ(asked_in_words(work), "8 GPUs");
    EXPECT_EQ(asked_per_pod(work), "4 GPUs");
    EXPECT_EQ(work.state, each.state);
    EXPECT_EQ(work.reasons.empty() ? "" : work.reasons.front().first, each.reason);
  }
}

TEST(Work, NamesAreOfJobsUnlessTheySayOtherwise) {
  for (const auto& [text, meant] : std::vector<std::pair<std::string, std::string>>{{"x", "job/x"},
                                                                                    {"job/x", "job/x"},
                                                                                    {"jobs.batch/x", "job/x"},
                                                                                    {"vcjob/x", "vcjob/x"},
                                                                                    {"vj/x", "vcjob/x"},
                                                                                    {"pods/x", "pod/x"},
                                                                                    {"po/x", "pod/x"},
                                                                                    {"node/x", ""},
                                                                                    {"job/", ""},
                                                                                    {"", ""},
                                                                                    {"job/x/y", ""}}) {
    SCOPED_TRACE(text);
    const auto name = parse_work_name(text);
    EXPECT_EQ(name ? name->to_string() : "", meant);
  }
  const std::vector<Work> work = read_work(objects(kJob), {});
  EXPECT_EQ(nearest_work({.kind = "job", .name = "trains"}, work), "job/train");
  EXPECT_EQ(nearest_work({.kind = "pod", .name = "trains"}, work), "");
  const std::vector<Work> of_set =
      read_work(objects("metadata: {name: js-w-0, labels: {jobset.sigs.k8s.io/jobset-name: train}}\nspec: {}\n"), {});
  EXPECT_EQ(nearest_work({.kind = "jobset", .name = "trains"}, of_set), "jobset/train");
}

TEST(Listing, AlignsCharactersAndObeysNoTerminalCodes) {
  Listing listing;
  listing.columns = {{"NAME"}, {"SHORT", ShownIn::kNarrow}, {"WHOLE", ShownIn::kWide}};
  listing.rows = {{"job/ä", {"ää", "s", "w"}, Value::map_of({{"name", "a"}})},
                  {"job/b", {"b\x1b[31m", "t", "v"}, Value::map_of({{"name", "b"}})}};
  EXPECT_EQ(listing.to_text(OutputFormat::kTable), "NAME     SHORT\nää       s\nb?[31m   t\n");
  EXPECT_EQ(listing.to_text(OutputFormat::kWide), "NAME     WHOLE\nää       w\nb?[31m   v\n");
  EXPECT_EQ(listing.to_text(OutputFormat::kName), "job/ä\njob/b\n");
  EXPECT_EQ(listing.to_text(OutputFormat::kYaml), "items:\n- name: a\n- name: b\n");
  EXPECT_EQ(Listing().to_text(OutputFormat::kTable), "");
  EXPECT_EQ(Listing().to_text(OutputFormat::kJson), "{\n  \"items\": []\n}\n");
  EXPECT_EQ(shortened("äbcdefgh", 6), "äbc...");
  EXPECT_EQ(shortened("äbcdef", 6), "äbcdef");
  EXPECT_FALSE(parse_output_format("xml"));
}

TEST(NodeMap, DrawsWhoHoldsWhichDevice) {
  const auto nodes = objects(
      "metadata: {name: b, labels: {nvidia.com/gpu.product: H100}}\n"
      "status: {allocatable: {nvidia.com/gpu: '4'}, conditions: [{type: Ready, status: 'True'}]}\n"
      "---\nmetadata: {name: a}\nspec: {unschedulable: true}\nstatus: {}\n"
      "---\nmetadata: {name: c}\nstatus: {allocatable: {nvidia.com/gpu: '999'}}\n");
  const auto pod = [](const std::string& annotations, int gpus, const std::string& phase) {
    return "---\nmetadata: {annotations: {" + annotations +
           "}}\nspec: {nodeName: b, containers: [{resources: {limits: " + "{nvidia.com/gpu: '" + std::to_string(gpus) +
           "'}}}]}\nstatus: {phase: " + phase + "}\n";
  };
  struct Case {
    const char* what;
    std::string pods;
    std::string map, free;
  };
  const Case cases[] = {
      {"empty", "", "[....]", "4/4"},
      {"named devices", pod("berth.dev/gpus: '0,3'", 2, "Running"), "[#..#]", "2/4"},
      {"unnamed ones take what is left", pod("", 1, "Running") + pod("berth.dev/gpus: '0'", 1, "Running"), "[##..]",
       "2/4"},
      {"a part", pod("berth.dev/gpus: '2', berth.dev/gpu-milli: '300'", 1, "Running"), "[..+.]", "3/4"},
      {"a part as it was given", pod("berth.dev/gpus: '2:0.3', berth.dev/gpu-milli: '300'", 1, "Running"), "[..+.]",
       "3/4"},
      {"parts of one device make it whole",
       pod("berth.dev/gpus: '2', berth.dev/gpu-milli: '500'", 1, "Running") +
           pod("berth.dev/gpus: '2', berth.dev/gpu-milli: '500'", 1, "Pending"),
       "[..#.]", "3/4"},
      {"ended pods hold nothing", pod("berth.dev/gpus: '0'", 1, "Succeeded"), "[....]", "4/4"},
      {"more than there are", pod("berth.dev/gpus: '0,1,7,x'", 9, "Running"), "[##..]", "2/4"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    const Listing listing = list_nodes(nodes, each.pods.empty() ? std::vector<Value>() : objects(each.pods));
    ASSERT_EQ(listing.rows.size(), 3U);
    EXPECT_EQ(listing.rows[0].cells[0] + " " + listing.rows[0].cells[5], "a not-ready,cordoned");
    EXPECT_EQ(listing.rows[1].cells[2], each.map);
    EXPECT_EQ(listing.rows[1].cells[3], each.free);
    EXPECT_EQ(listing.rows[2].cells[2], "-");
  }
}

TEST(NodeMap, DrawsHowGpusAreCut) {
  const auto nodes = objects(
      "metadata: {name: n, labels: {nvidia.com/gpu.product: H100, berth.dev/gpu-mode: mig, nvidia.com/gpu.count: "
      "'4'}}\n"
      "status: {allocatable: {nvidia.com/mig-1g.10gb: '28'}, conditions: [{type: Ready, status: 'True'}]}\n");
  const auto pod = [](const std::string& given) {
    return "---\nmetadata: {annotations: {berth.dev/gpus: '" + given + "'}}\nspec: {nodeName: n}\n";
  };
  const Listing listing =
      list_nodes(nodes, objects(pod("0:7g.80gb@0") + pod("2:1g.10gb@6") + pod("2:3g.40gb@0") + pod("3:1g.10gb@7") +
                                pod("2:1g.10gb@1") + pod("9:1g.10gb@0") + pod("1") + pod("")));
  ASSERT_EQ(listing.rows.size(), 1U);
  const auto& cells = listing.rows[0].cells;
  EXPECT_EQ(cells[1], "H100/mig");
  EXPECT_EQ(cells[2], "[#.+.]") << "who says what cannot be holds nothing here";
  EXPECT_EQ(cells[3], "2/4");
  EXPECT_EQ(cells[8], "0:7g.80gb@0,2:3g.40gb@0,2:1g.10gb@6");
  EXPECT_EQ(listing.rows[0].facts["slices"].items().size(), 3U);
  EXPECT_EQ(listing.rows[0].facts["gpuMilliTaken"].items()[2].integer(), 454 + 121);
}

TEST(NodeMap, DrawsWhatIsTakenOfSlicesThatStay) {
  const auto nodes = objects(
      "metadata: {name: n, labels: {nvidia.com/gpu.product: H100, nvidia.com/gpu.count: '3'}}\n"
      "status: {allocatable: {nvidia.com/mig-1g.10gb: '3', nvidia.com/mig-3g.40gb: '3'}, conditions: [{type: Ready, "
      "status: 'True'}]}\n");
  const auto pod = [](const std::string& given) {
    return "---\nmetadata: {annotations: {berth.dev/gpus: '" + given + "'}}\nspec: {nodeName: n}\n";
  };
  const Listing listing =
      list_nodes(nodes, objects(pod("0:1g.10gb@3") + pod("0:3g.40gb@4") + pod("1:1g.10gb@3") + pod("1:1g.10gb@0")));
  const auto& cells = listing.rows[0].cells;
  EXPECT_EQ(cells[2], "[#+.]") << "what nobody has cut is no room";
  EXPECT_EQ(cells[8], "0:1g.10gb@3,0:3g.40gb@4,1:1g.10gb@3");
}

TEST(NodeMap, SaysWhatANodeThatTurnsIsNow) {
  const std::string labels =
      ", labels: {nvidia.com/gpu.product: H100, berth.dev/gpu-mode: exclusive.mig, "
      "nvidia.com/gpu.count: '2'}}\nstatus: {allocatable: {nvidia.com/gpu: '2'}}\n";
  const auto nodes = objects("metadata: {name: cut" + labels + "---\nmetadata: {name: idle" + labels +
                             "---\nmetadata: {name: whole" + labels);
  const auto pods = objects(
      "metadata: {annotations: {berth.dev/gpus: '1:3g.40gb@4'}}\nspec: {nodeName: cut}\n---\n"
      "metadata: {annotations: {berth.dev/gpus: '1'}}\nspec: {nodeName: whole, containers: [{resources: {limits: "
      "{nvidia.com/gpu: 1}}}]}\n");
  const Listing listing = list_nodes(nodes, pods);
  ASSERT_EQ(listing.rows.size(), 3U);
  EXPECT_EQ(listing.rows[0].cells[1], "H100/mig");
  EXPECT_EQ(listing.rows[0].cells[2], "[.+]");
  EXPECT_EQ(listing.rows[1].cells[1], "H100/exclusive.mig");
  EXPECT_EQ(listing.rows[1].cells[3], "2/2");
  EXPECT_EQ(listing.rows[2].cells[1], "H100");
  EXPECT_EQ(listing.rows[2].cells[2], "[.#]");
}

TEST(NodeMap, DrawsHowGpusAreShared) {
  const auto nodes = objects(
      "metadata: {name: a, labels: {nvidia.com/gpu.product: H100, berth.dev/gpu-mode: mps, nvidia.com/gpu.count: "
      "'3'}}\n---\n"
      "metadata: {name: b, labels: {nvidia.com/gpu.product: T4, berth.dev/gpu-mode: timeslice, nvidia.com/gpu.count: "
      "'3', nvidia.com/gpu.replicas: '3'}}\nstatus: {allocatable: {nvidia.com/gpu.shared: 9}}\n");
  const auto pod = [](const std::string& node, const std::string& given, const std::string& annotations,
                      const std::string& limits = "") {
    return "---\nmetadata: {annotations: {berth.dev/gpus: '" + given + "', " + annotations +
           "}}\nspec: {nodeName: " + node + ", containers: [{resources: {limits: {" + limits + "}}}]}\n";
  };
  const auto of_vgpus = objects(
      "metadata: {name: c, labels: {nvidia.com/gpu.product: T4, berth.dev/gpu-mode: vgpu, nvidia.com/gpu.count: "
      "'3'}}\n");
  std::string vgpus;
  for (const char* const given : {"0:0.25", "0:0.25", "1:0.25", "1:0.25", "1:0.25", "1:0.25"})
    vgpus += pod("c", given, "x: y", "nvidia.com/NVIDIA_T4-4C: 1");
  const Listing of_vms = list_nodes(of_vgpus, objects(vgpus));
  EXPECT_EQ(of_vms.rows[0].cells[1], "T4/vgpu");
  EXPECT_EQ(of_vms.rows[0].cells[2], "[+#.]");
  EXPECT_EQ(of_vms.rows[0].cells[8], "0:2xT4-4C,1:4xT4-4C");
  EXPECT_EQ(of_vms.rows[0].facts["slices"].items()[1].text(), "1:4xT4-4C");
  std::string pods = pod("a", "0:0.25", "gpu-memory: '20000', berth.dev/gpu-sharing: mps") +
                     pod("a", "1:1", "gpu-fraction: '1', berth.dev/gpu-sharing: mps");
  for (const char* const given : {"0:0.333", "0:0.333", "0:0.333", "2:0.333"})
    pods += pod("b", given, "berth.dev/coverage: best-effort", "nvidia.com/gpu.shared: 1");
  const Listing listing = list_nodes(nodes, objects(pods));
  ASSERT_EQ(listing.rows.size(), 2U);
  EXPECT_EQ(listing.rows[0].cells[1], "H100/mps");
  EXPECT_EQ(listing.rows[0].cells[2], "[+#.]");
  EXPECT_EQ(listing.rows[0].facts["gpuMilliTaken"].items()[0].integer(), 250);
  EXPECT_EQ(listing.rows[1].cells[1], "T4/timeslice");
  EXPECT_EQ(listing.rows[1].cells[2], "[#.+]");
  EXPECT_EQ(listing.rows[1].cells[3], "1/3");
}

TEST(NodeMap, DrawsWhatIsLeftOnGpus) {
  const auto nodes = objects(
      "metadata: {name: n, labels: {nvidia.com/gpu.product: H100}, annotations: {berth.dev/gpus-used: '{\"0\":{\"by\":"
      "[\"a\"]},\"1\":{\"by\":[\"a\",\"b\"],\"scrub\":2},\"2\":{\"by\":[\"a\"],\"scrub\":3},\"3\":{\"by\":[\"a\"],"
      "\"scrub\":1}}', berth.dev/gpus-scrubbed: '{\"2\":{\"scrub\":3,\"failed\":\"ECC\"},\"3\":{\"scrub\":1}}'}}\n"
      "status: {allocatable: {nvidia.com/gpu: 5}, conditions: [{type: Ready, status: 'True'}]}\n");
  const Listing listing = list_nodes(
      nodes, objects("metadata: {annotations: {berth.dev/gpus: '0'}}\nspec: {nodeName: n, containers: [{resources: "
                     "{limits: {nvidia.com/gpu: 1}}}]}\n"));
  ASSERT_EQ(listing.rows.size(), 1U);
  const auto& cells = listing.rows[0].cells;
  EXPECT_EQ(cells[2], "[#~!..]") << "what is left where somebody is concerns whoever comes after him";
  EXPECT_EQ(cells[3], "2/5");
  EXPECT_EQ(cells[9], "1: a,b; 2: quarantined (ECC)");
  EXPECT_EQ(listing.rows[0].facts["left"].items().size(), 2U);
}

TEST(QueueTree, ChildrenStandBelowTheirParentsAndNoneIsHidden) {
  const auto queues = objects(
      "metadata: {name: vision}\nspec: {parent: research, order: fifo, guarantee: {h100: 8}}\n"
      "status: {pending: 3, running: 1, used: {h100: 12, h100.cpu: 4}, borrowed: {h100: 4}}\n"
      "---\nmetadata: {name: research}\nspec: {stop: hold}\n"
      "---\nmetadata: {name: default}\nspec: {order: sjf}\n"
      "---\nmetadata: {name: lost}\nspec: {parent: nowhere}\n"
      "---\nmetadata: {name: u}\nspec: {parent: v}\n---\nmetadata: {name: v}\nspec: {parent: u}\n");
  EXPECT_EQ(list_queues(queues).to_text(OutputFormat::kTable),
            "NAME       PARENT     ORDER   GUARANTEE   USED                 BORROWED   PENDING   RUNNING   STATE\n"
            "default    -          sjf     -           -                    -          0         0         open\n"
            "lost       nowhere    -       -           -                    -          0         0         open\n"
            "research   -          -       -           -                    -          0         0         held\n"
            "  vision   research   fifo    h100:8      h100:12,h100.cpu:4   h100:4     3         1         open\n"
            "v          u          -       -           -                    -          0         0         open\n"
            "u          v          -       -           -                    -          0         0         open\n");
  EXPECT_EQ(queue_and_parents(queues, "vision").size(), 2U);
  EXPECT_LE(queue_and_parents(queues, "u").size(), queues.size() + 1);
}

TEST(QueueTree, SaysWhichWholeDomainsCouldBeGivenNow) {
  const auto queues = objects(
      "metadata: {name: a}\nspec: {cells: [{flavor: h100, level: topology.kubernetes.io/rack, count: 2}]}\n"
      "status: {cells: [{flavor: h100, level: topology.kubernetes.io/rack, gpus: 16, promised: 2, inUse: 1, lent: 0, "
      "free: 0, lacking: 1}]}\n"
      "---\nmetadata: {name: b}\nspec: {cells: [{level: node, count: 3}]}\n"
      "---\nmetadata: {name: c}\n");
  const Listing listing = list_queues(queues);
  EXPECT_EQ(listing.columns[4].title, "CELLS");
  EXPECT_EQ(listing.columns[4].shown_in, ShownIn::kBoth);
  EXPECT_EQ(listing.rows[0].cells[4], "1/2 h100 rack");
  EXPECT_EQ(listing.rows[1].cells[4], "?/3 node") << "the scheduler has not said it yet";
  EXPECT_EQ(listing.rows[2].cells[4], "-");
  const Value& cell = listing.rows[0].facts["cells"].items().at(0);
  EXPECT_EQ(cell["lacking"].integer(), 1);
  EXPECT_FALSE(cell["deliverable"].truth());
  EXPECT_EQ(list_queues({queues[2]}).columns[4].shown_in, ShownIn::kWide) << "where nobody has any";
}

TEST(Listing, ShowsReservations) {
  const auto reservations = objects(
      "---\nmetadata: {name: past}\nspec: {nodes: [n1, n2], from: '2026-11-20T22:00:00Z', for: 2h}\n"
      "status: {phase: Over}\n"
      "---\nmetadata: {name: lost}\nspec: {queue: x, gpus: 1, from: '2026-11-21T22:00:00Z', for: 2h}\n"
      "status: {phase: NotInForce, conditions: [{type: InForce, status: 'False', message: there is no queue 'x'}]}\n"
      "---\nmetadata: {name: new}\nspec: {nodes: [n1], from: '2026-11-23T22:00:00+01:00', for: 2h, daily: true}\n"
      "---\nmetadata: {name: now}\nspec: {queue: ml, gpus: 16, flavor: h100, from: '2026-11-20T09:00:00Z', for: 4h, "
      "daily: true}\n"
      "status: {phase: Lasting, from: '2026-11-22T09:00:00.000000Z', gpus: 12, short: 4, drainsAt: "
      "'2026-11-22T08:59:30.000000Z', nodes: [{name: n1, gpus: '0,1'}, {name: n2, gpus: '7'}], leaving: [ml/a, ml/b], "
      "conditions: [{type: InForce, status: 'True', message: it is}]}\n");
  const Listing listing = list_reservations(reservations);
  EXPECT_EQ(listing.to_text(OutputFormat::kTable),
            "NAME   FOR           WHAT      FROM                   LENGTH     STATE          HAS   SHORT   DRAINS\n"
            "now    ml            16 h100   2026-11-22T09:00:00Z   4h daily   lasting        12    4       "
            "2026-11-22T08:59:30Z\n"
            "new    maintenance   1 node    2026-11-23T21:00:00Z   2h daily   new            -     -       -\n"
            "past   maintenance   2 nodes   2026-11-20T22:00:00Z   2h         over           -     -       -\n"
            "lost   x             1 GPUs    2026-11-21T22:00:00Z   2h         not in force   -     -       -\n");
  EXPECT_NE(listing.to_text(OutputFormat::kWide).find("n1:0,1 n2:7   ml/a,ml/b   it is"), std::string::npos);
  const Value facts = listing.rows[0].facts;
  EXPECT_EQ(facts["has"].integer(), 12);
  EXPECT_EQ(facts["on"].items().size(), 2U);
}

TEST(Account, NamesSlicesAndWhereTheyAre) {
  const std::string spec = "spec: {nodeName: n1, containers: [{resources: {limits: {nvidia.com/mig-1g.10gb: '1'}}}]}\n";
  const auto pod = [&](const std::string& name, const std::string& more) {
    return "---\nmetadata: {name: " + name + ", namespace: ml, uid: u-" + name +
           ", creationTimestamp: " + "'2026-11-21T09:59:00Z'" + more + "}\n" + spec + "status: {phase: Running}\n";
  };
  const auto pods = objects(pod("p", ", annotations: {berth.dev/gpus: '0:1g.10gb@4'}"));
  const std::vector<Work> work = read_work({}, pods);
  ASSERT_EQ(work.size(), 1U);
  const Account account = account_of(work[0], {.own_pods = pods}, kNow);
  EXPECT_EQ(account.text,
            "pod/p of namespace ml: running, created 60s ago\n"
            "  queue   default\n"
            "  asks    a 1g.10gb slice\n"
            "  pods    1 of 1 run or are done\n"
            "  nodes   n1\n"
            "  gpus    n1: 0:1g.10gb@4\n");
  EXPECT_EQ(account.facts["slice"].text(), "1g.10gb");
  Work four = work[0];
  four.pods_at_once = 4;
  EXPECT_EQ(asked_in_words(four), "4 1g.10gb slices");
  EXPECT_EQ(asked_in_short(four), "4x1g.10gb");
}

TEST(Account, SaysWhatWouldStartItAtOnce) {
  const auto told = [](const std::string& name, const std::string& created, const std::string& message,
                       const std::string& more = "") {
    return "---\nmetadata: {name: " + name + ", namespace: ml, creationTimestamp: '" + created +
           "', ownerReferences: [{kind: Job, controller: true, uid: u1}]" + more +
           "}\nstatus: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', message: 'Capacity: no'}, "
           "{type: berth.dev/WouldStart, status: 'True', reason: SmallestChanges, lastProbeTime: "
           "'2026-11-21T09:59:57Z', message: " +
           message + "}]}\n";
  };
  const auto account = [](const std::string& pods) {
    return account_of(one(std::string(kJob), pods), {.own_pods = objects(pods)}, kNow);
  };
  const Account some = account(told("a", "2026-11-21T09:30:00Z", "\"pods: later\"") +
                               told("b", "2026-11-21T09:00:00Z",
                                    "\"pods: with 1 of its 2 pods\\nend: if ml/big ended\\nnodes: ?\\nbounds: ?\""));
  EXPECT_TRUE(
      some.text.contains("  starts  at once with 1 of its 2 pods\n"
                         "          at once if ml/big ended\n"
                         "          as tried 3s ago on copies of the cluster, and not all of kind nodes, bounds\n"))
      << some.text;
  EXPECT_EQ(some.facts["smallestChanges"]["asOf"].text(), "2026-11-21T09:59:57Z");
  ASSERT_EQ(some.facts["smallestChanges"]["changes"].items().size(), 2U);
  EXPECT_EQ(some.facts["smallestChanges"]["changes"].items()[1]["kind"].text(), "end");
  EXPECT_EQ(some.facts["smallestChanges"]["changes"].items()[1]["text"].text(), "if ml/big ended");
  EXPECT_EQ(some.facts["smallestChanges"]["notSearched"].items().size(), 2U);
  const Account none = account(told("a", "2026-11-21T09:30:00Z", "''"));
  EXPECT_TRUE(none.text.contains("  starts  at once by no small change, as tried 3s ago on copies of the cluster\n"))
      << none.text;
  EXPECT_TRUE(none.facts["smallestChanges"]["changes"].is_list());
  const Account leaving =
      account(told("a", "2026-11-21T09:30:00Z", "'pods: x'", ", deletionTimestamp: '2026-11-21T09:59:00Z'"));
  EXPECT_TRUE(leaving.facts["smallestChanges"].is_null());
}

TEST(Account, NamesPartsInTheWordsInWhichTheyAreAsked) {
  struct Case {
    const char* annotations;
    const char* limits;
    const char *one, *three, *in_short;
  };
  const Case cases[] = {
      {"gpu-fraction: '0.5'", "", "0.5 GPU", "1.5 GPUs", "1.5"},
      {"gpu-memory: '20000'", "", "20000 MiB of a GPU", "3 times 20000 MiB of a GPU", "3x20000Mi"},
      {"gpu-fraction: '0.25', berth.dev/gpu-sharing: mps", "", "0.25 GPU by MPS", "3 times 0.25 GPU by MPS",
       "3x0.25/mps"},
      {"gpu-memory: '8', berth.dev/gpu-sharing: mps", "", "8 MiB of a GPU by MPS", "3 times 8 MiB of a GPU by MPS",
       "3x8Mi/mps"},
      {"x: y", "nvidia.com/NVIDIA_T4-4C: 1", "a vGPU T4-4C", "3 vGPUs T4-4C", "3xT4-4C"},
      {"berth.dev/coverage: best-effort", "nvidia.com/gpu.shared: 1", "a replica of a GPU", "3 replicas of GPUs",
       "3xshared"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.annotations);
    Work work =
        read_pod_work(objects("metadata: {name: p, namespace: ml, annotations: {" + std::string(each.annotations) +
                              "}}\nspec: {containers: [{resources: {limits: {" + each.limits + "}}}]}\n")[0]);
    EXPECT_EQ(asked_in_words(work), each.one);
    EXPECT_NE(account_of(work, {}, kNow).text.find("  asks    " + std::string(each.one) + "\n"), std::string::npos);
    EXPECT_EQ(account_of(work, {}, kNow).facts["part"].text(), each.one);
    work.pods_at_once = 3;
    EXPECT_EQ(asked_in_words(work), each.three);
    EXPECT_EQ(asked_in_short(work), each.in_short);
  }
}

TEST(Account, SaysWhyAndWhoIsOlder) {
  const std::vector<Work> all = read_work(
      objects(std::string(kJob) +
              "---\nmetadata: {name: old, namespace: web, uid: u2, creationTimestamp: '2026-11-21T08:00:00Z',\n"
              "           labels: {berth.dev/queue: research}}\n"
              "spec: {template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: '4'}}}]}}}\n"
              "---\nmetadata: {name: young, namespace: ml, uid: u3, creationTimestamp: '2026-11-21T09:30:00Z',\n"
              "           labels: {berth.dev/queue: research}}\nspec: {}\n"
              "---\nmetadata: {name: elsewhere, namespace: ml, uid: u4, creationTimestamp: '2026-11-21T07:00:00Z'}\n"
              "spec: {}\n"),
      objects(waiting("a", "'no room'") + waiting("b", "'no room'")));
  const auto queues = objects(
      "metadata: {name: research}\nspec: {parent: top, order: fifo}\n"
      "---\nmetadata: {name: top}\nspec: {stop: hold}\n");
  const auto train = std::ranges::find(all, "train", [](const Work& work) { return work.name.name; });
  ASSERT_NE(train, all.end());
  const Account account = account_of(*train, {.others = all, .others_are_all = true, .queues = queues}, kNow);
  EXPECT_TRUE(account.waits);
  EXPECT_EQ(account.text,
            "job/train of namespace ml: waiting for 60m\n"
            "  queue   research, first come, first served (fifo), below top\n"
            "  asks    2 pods with 8 GPUs each, 16 GPUs together; only H100|A100\n"
            "  gang    2 pods start together or not at all\n"
            "  pods    0 of 2 run or are done\n"
            "  why     no room\n"
            "  hold    queue top is on hold, nothing of it starts; `kubectl patch queue top --type=merge -p "
            "'{\"spec\":{\"stop\":null}}'` lets it go\n"
            "  older   1 waits longer in its queue: job/old of web (4 GPUs, 120m)\n");
  EXPECT_EQ(account.facts["older"].items().size(), 1U);
  EXPECT_EQ(account.facts["reasons"].items().front()["pods"].integer(), 2);

  const Account blind = account_of(*train, {.others = {*train}}, kNow);
  EXPECT_NE(blind.text.find("nothing older waits in its queue (of namespace ml; the others may not be seen)"),
            std::string::npos)
      << blind.text;
  const Account running = account_of(one(std::string(kJob), placed("a", "n1", "Running")),
                                     {.others = all, .others_are_all = true, .queues = queues}, kNow);
  EXPECT_FALSE(running.waits);
  EXPECT_EQ(running.text.find("older"), std::string::npos);
}

// API objects tell whole seconds.
TEST(Account, ClaimsNoOrderOfWhatCameInOneSecond) {
  const auto job = [](const std::string& name, const std::string& second) {
    return "---\nmetadata: {name: " + name + ", namespace: ml, uid: u-" + name +
           ", creationTimestamp: '2026-11-21T09:00:" + second + "Z'}\nspec: {}\n";
  };
  const std::vector<Work> all = read_work(objects(job("aa", "05") + job("zz", "05") + job("mm", "04")), {});
  const auto told = [&](std::string_view name) {
    const auto work = std::ranges::find(all, name, [](const Work& each) { return std::string_view(each.name.name); });
    return account_of(*work, {.others = all, .others_are_all = true}, kNow);
  };
  for (const char* const name : {"aa", "zz"}) {
    const Account account = told(name);
    EXPECT_TRUE(
        account.text.contains("older   1 waits longer in its queue: job/mm (no GPU, 59m); 1 came in the same second\n"))
        << account.text;
    EXPECT_EQ(account.facts["cameInTheSameSecond"].integer(), 1);
  }
  const Account first = told("mm");
  EXPECT_TRUE(first.text.contains("older   nothing older waits in its queue\n")) << first.text;
  for (const char* const list : {"older", "nodes"}) {
    EXPECT_TRUE(first.facts[list].is_list() && first.facts[list].items().empty()) << list;
  }
}

TEST(Account, OfAPodItsOwnJobIsNoOther) {
  const auto pods = objects(
      "metadata: {name: train-x2b9k, namespace: ml, uid: u-p, creationTimestamp: '2026-11-21T09:00:01Z', labels: "
      "{berth.dev/queue: research}, ownerReferences: [{kind: Job, controller: true, uid: u1, name: train}]}\n");
  const std::vector<Work> all = read_work(objects(std::string(kJob)), {});
  const auto queues = objects("metadata: {name: research}\nstatus: {waiting: [ml/a, ml/b, ml/train]}\n");
  const Account account = account_of(read_pod_work(pods[0]),
                                     {.others = all, .others_are_all = true, .queues = queues, .own_pods = pods}, kNow);
  EXPECT_TRUE(account.text.contains("older   nothing older waits in its queue\n")) << account.text;
  EXPECT_TRUE(account.text.contains("place   number 3 of its line, after ml/a, ml/b\n")) << account.text;
}

TEST(Account, SaysHowFewPodsOfAnElasticJobAreEnough) {
  const auto told = [](const std::string& least) {
    const Work work =
        one("metadata: {name: el, namespace: ml, uid: u1, annotations: {kueue.x-k8s.io/job-min-parallelism: '" + least +
                "'}}\nspec: {parallelism: 4, completions: 4}\n",
            "");
    return account_of(work, {}, kNow).text;
  };
  EXPECT_TRUE(told("1").contains("gang    1 pod is enough to start; up to 3 more join as there is room\n"))
      << told("1");
  EXPECT_TRUE(told("2").contains("gang    2 pods start together or not at all; up to 2 more join as there is room\n"))
      << told("2");
  EXPECT_TRUE(told("4").contains("gang    4 pods start together or not at all\n")) << told("4");
}

TEST(Account, SaysOfWhatIsOverThatItWasToCome) {
  const Value event = objects(
      "involvedObject: {kind: Job, uid: u1}\nreason: Evicted\nlastTimestamp: '2026-11-21T09:58:00Z'\n"
      "message: 'reclaim: its room goes to ml/b; it stops by 2026-11-21T09:59:00Z; since its start'\n")[0];
  const auto told = [&](const char* now) {
    return account_of(one(std::string(kJob), ""), {.events = {event}}, *parse_timestamp(now)).text;
  };
  EXPECT_TRUE(told("2026-11-21T09:58:30Z").contains("; it stops by 2026-11-21T09:59:00Z; since"));
  EXPECT_TRUE(told("2026-11-21T10:00:00Z").contains("; it was to stop by 2026-11-21T09:59:00Z; since"));
}

TEST(Account, SaysItsPlaceItsTurnAndWhoTookWhat) {
  const Work train = one(std::string(kJob), waiting("a", "'no room'"));
  const auto queues = objects(
      "metadata: {name: research}\nspec: {order: fifo}\n"
      "status: {turn: '2nd of 2 at the top: after product (its share would be 1/8); its share would be 1/4',\n"
      "         waiting: [web/old, ml/train, web/young]}\n");
  const auto events = objects(
      "reason: Evicted\nmessage: 'reclaim: its room goes to web/old'\nlastTimestamp: '2026-11-21T09:00:00Z'\n"
      "involvedObject: {kind: Job, uid: u1}\n"
      "---\nreason: TakesRoom\nmessage: 'reclaim: takes the room of web/x'\nlastTimestamp: '2026-11-21T09:30:00Z'\n"
      "involvedObject: {kind: Job, uid: u1}\n"
      "---\nreason: Evicted\nmessage: another\ninvolvedObject: {kind: Job, uid: u9}\n"
      "---\nreason: SuccessfulCreate\nmessage: another\ninvolvedObject: {kind: Job, uid: u1}\n");
  const Account account = account_of(train, {.queues = queues, .events = events}, kNow);
  for (const char* const line : {"  place   number 2 of its line, after web/old\n",
                                 "  turn    queue research is 2nd of 2 at the top: after product (its share would be "
                                 "1/8); its share would be 1/4\n",
                                 "  took    30m ago, reclaim: takes the room of web/x\n  lost    60m ago, reclaim: "
                                 "its room goes to web/old\n"}) {
    EXPECT_NE(account.text.find(line), std::string::npos) << line << account.text;
  }
  EXPECT_EQ(account.text.find("another"), std::string::npos);
  EXPECT_EQ(account.facts["evictions"].items().size(), 2U);
  for (const auto& [waiting_now, place] :
       std::vector<std::pair<std::string, std::string>>{{"[ml/train, web/old]", "the first of its line"},
                                                        {"[web/a]", "not the first of its line, which is web/a"},
                                                        {"[web/a, web/b]", "not among the first 2 of its line"},
                                                        {"[ml/a, web/b]", "the first of its line"},
                                                        {"[web/b, ml/a]", "number 2 of its line, after web/b"}}) {
    const auto line = objects("metadata: {name: research}\nstatus: {waiting: " + waiting_now + "}\n");
    const auto pods = objects("metadata: {name: a, namespace: ml}\n");
    EXPECT_EQ(account_of(train, {.queues = line, .own_pods = pods}, kNow).facts["place"].text(), place);
  }
}

TEST(Shares, OfKueuesQueuesAreWhatTheirOwnStatusesSay) {
  const auto queues = as_queues(
      objects(
          "metadata: {name: a}\nspec: {cohortName: all, fairSharing: {weight: 2}, stopPolicy: Hold, resourceGroups: [\n"
          "  {flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 8}, {name: cpu, nominalQuota: "
          "'64'}]}]}]}\n"
          "status: {pendingWorkloads: 3, admittedWorkloads: 2, fairSharing: {weightedShare: 61}, flavorsUsage: [\n"
          "  {name: h100, resources: [{name: nvidia.com/gpu, total: '12', borrowed: '4'}, {name: cpu, total: '0', "
          "borrowed: '0'}, {name: rdma, total: '9'}]}]}\n"
          "---\nmetadata: {name: bare}\nspec: {}\n"),
      objects("metadata: {name: all}\nspec: {parentName: house}\n"));
  EXPECT_EQ(
      list_shares(queues).to_text(OutputFormat::kTable),
      "QUEUE               FLOOR   USED      INSIDE   BORROWED   LENT   WEIGHT   SHARE     PERCENT   WAITING   NEXT\n"
      "clusterqueue/bare   -       -         -        -          -      1        -         -         0         -\n"
      "cohort/all          -       -         -        -          -      1        -         -         0         -\n"
      "  clusterqueue/a    -       h100:12   -        h100:4     -      2        61/1000   6.1 %     3         -\n");
  EXPECT_NE(list_shares(queues).to_text(OutputFormat::kWide).find("h100:8,h100.cpu:64"), std::string::npos);
}

TEST(Shares, ExactAsAFractionAndOfWhatTheyAreMade) {
  const auto queues = objects(
      "metadata: {name: vision}\nspec: {parent: research, guarantee: {h100: 8}, weight: '2'}\n"
      "status: {pending: 3, used: {h100: 12}, guaranteed: {h100: 8}, borrowed: {h100: 4}, floor: {h100: 8},\n"
      "  lent: {l4: 1}, lenders: {speech: 'h100:4'},\n"
      "  share: 2/33, waiting: [ml/train], turn: the 2nd,\n"
      "  shareParts: [{resource: gpu, share: 2/33, above: {h100: 4, l4: 1}, capacity: {h100: 32, l4: 2},\n"
      "    flavorWeights: {h100: 2}}, {resource: cpu, share: 0/1, above: {h100.cpu: 0}, capacity: {h100.cpu: 64}}]}\n"
      "---\nmetadata: {name: research}\nspec: {}\n");
  EXPECT_EQ(list_shares(queues).to_text(OutputFormat::kTable),
            "QUEUE      FLOOR    USED      INSIDE   BORROWED   LENT   WEIGHT   SHARE   PERCENT   WAITING   NEXT\n"
            "research   -        -         -        -          -      1        -       -         0         -\n"
            "  vision   h100:8   h100:12   h100:8   h100:4     l4:1   2        2/33    6.1 %     3         ml/train\n");
  const std::string wide = list_shares(queues).to_text(OutputFormat::kWide);
  EXPECT_NE(wide.find("speech (h100:4)"), std::string::npos);
  EXPECT_EQ(wide.find("cpu: 0 of"), std::string::npos) << "of nothing nothing is made";
  EXPECT_EQ(share_in_words(queues.front()),
            (std::vector<std::string>{"gpu: 2 x (4 of 32 h100) + 1 of 2 l4 above its floor, weight 2, makes 2/33",
                                      "cpu: 0 of 64 h100 above its floor, weight 2, makes 0/1"}));
  const std::string json = list_shares(queues).to_text(OutputFormat::kJson);
  for (const char* const field : {"\"sharePercent\": \"6.1 %\"", "\"turn\": \"the 2nd\"", "\"flavorWeights\""}) {
    EXPECT_NE(json.find(field), std::string::npos) << field << json;
  }
  EXPECT_EQ(percent_of("23/161"), "14.3 %");
  EXPECT_EQ(percent_of("0/1"), "0.0 %");
  EXPECT_EQ(percent_of("much"), "much");
}

TEST(Work, GpusAreSaidAsPeopleSayThem) {
  for (const auto& [milli, words] : std::vector<std::pair<std::int64_t, std::string>>{
           {0, "no GPU"}, {500, "0.5 GPU"}, {1000, "1 GPU"}, {1050, "1.05 GPUs"}, {16'000, "16 GPUs"}}) {
    EXPECT_EQ(gpus_in_words(milli), words);
  }
}

}  // namespace berth::work_test
