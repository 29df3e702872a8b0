#include "agent/pod_run.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agent/simulated_nodes.h"
#include "manifest/json.h"

namespace berth::pod_run_test {

Value pod(const std::string& annotations, const std::string& spec) {
  const auto value = parse_json(R"({"metadata":{"name":"p","namespace":"d","uid":"u","annotations":)" + annotations +
                                R"(},"spec":)" + spec + "}");
  return value.value_or(Value());
}

TEST(PodRun, ReadsHowLongAndHowItEnds) {
  struct Case {
    const char* what;
    Value pod;
    std::int64_t run_ms;
    int exit_code;
    std::int64_t deadline_ms;
    bool again;
  };
  const std::vector<Case> cases = {
      {"nothing said", pod("{}", R"({"restartPolicy":"Never"})"), 5000, 0, -1, false},
      {"a time", pod(R"({"berth.dev/run-for":"90s"})", R"({"restartPolicy":"Never"})"), 90'000, 0, -1, false},
      {"no time", pod(R"({"berth.dev/run-for":"soon"})", R"({"restartPolicy":"Never"})"), 5000, 0, -1, false},
      {"a failure", pod(R"({"berth.dev/exit-code":"3"})", R"({"restartPolicy":"OnFailure"})"), 5000, 3, -1, true},
      {"a success", pod("{}", R"({"restartPolicy":"OnFailure"})"), 5000, 0, -1, false},
      {"a service", pod("{}", R"({"restartPolicy":"Always","activeDeadlineSeconds":60})"), 5000, 0, 60'000, true},
  };
  for (const Case& c : cases) {
    const PodRun run = read_pod_run(c.pod, seconds(5));
    EXPECT_EQ(run.run_time.ms, c.run_ms) << c.what;
    EXPECT_EQ(run.exit_code, c.exit_code) << c.what;
    EXPECT_EQ(run.deadline.ms, c.deadline_ms) << c.what;
    EXPECT_EQ(starts_again(run), c.again) << c.what;
  }
}

TEST(PodRun, PausesLongerBeforeEachRunUpToFiveMinutes) {
  std::vector<std::int64_t> seconds;
  for (std::int64_t restarts = 1; restarts <= 7; ++restarts) seconds.push_back(pause_before(restarts).ms / 1000);
  EXPECT_EQ(seconds, (std::vector<std::int64_t>{10, 20, 40, 80, 160, 300, 300}));
}

TEST(PodRun, TheStatusSaysEachStep) {
  const Value one =
      pod(R"({"berth.dev/exit-code":"2"})", R"({"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]})");
  const PodRun run = read_pod_run(one, seconds(5));
  const Value running = running_status(one, run, Time{1000}, Time{2000})["status"];
  EXPECT_EQ(running["phase"].text(), "Running");
  EXPECT_TRUE(running["containerStatuses"].items()[0]["ready"].truth());
  const Value ended = ended_status(one, run, Time{1000}, Time{9000})["status"];
  EXPECT_EQ(ended["phase"].text(), "Failed");
  EXPECT_EQ(ended["containerStatuses"].items()[0]["state"]["terminated"]["exitCode"].integer(), 2);
  EXPECT_EQ(ended["containerStatuses"].items()[0]["state"]["terminated"]["finishedAt"].text(), "1970-01-01T00:00:09Z");
  const Value stopped = deadline_status(one, run, Time{1000}, Time{9000})["status"];
  EXPECT_EQ(stopped["reason"].text(), "DeadlineExceeded");
}

TEST(PodRun, TakesItsTimeToStopWithinItsGrace) {
  const auto stop_after = [](const std::string& annotations, const std::string& metadata) {
    return read_pod_run(
               *parse_json(R"({"metadata":{"annotations":{)" + annotations + "}" + metadata + R"(},"spec":{}})"),
               seconds(5))
        .stop_after;
  };
  EXPECT_EQ(stop_after("", ""), Duration{500});
  EXPECT_EQ(stop_after(R"("berth.dev/stop-after":"20s")", ""), seconds(20));
  EXPECT_EQ(stop_after(R"("berth.dev/stop-after":"20s")", R"(,"deletionGracePeriodSeconds":3)"), seconds(3));
}

TEST(SimulatedFleet, IsReadFromAShortText) {
  const auto nodes = nodes_from_text("2xH100x8,1xA100-80GBx4,1xcpu,1xH100x8");
  ASSERT_TRUE(nodes) << nodes.error().to_string();
  ASSERT_EQ(nodes->size(), 5u);
  EXPECT_EQ((*nodes)[0]["metadata"]["name"].text(), "h100-0001");
  EXPECT_EQ((*nodes)[4]["metadata"]["name"].text(), "h100-0003");
  EXPECT_EQ((*nodes)[0]["status"]["capacity"]["nvidia.com/gpu"].text(), "8");
  EXPECT_EQ((*nodes)[2]["metadata"]["labels"]["nvidia.com/gpu.product"].text(), "A100-80GB");
  EXPECT_TRUE((*nodes)[3]["status"]["capacity"]["nvidia.com/gpu"].is_null());
}

TEST(SimulatedFleet, HasNodesThatAreCut) {
  const auto nodes = nodes_from_text("1xH100x8,2xH100x2/mig");
  ASSERT_TRUE(nodes) << nodes.error().to_string();
  ASSERT_EQ(nodes->size(), 3u);
  const Value& cut = (*nodes)[2];
  EXPECT_EQ(cut["metadata"]["name"].text(), "h100-mig-0002");
  EXPECT_EQ(cut["metadata"]["labels"]["berth.dev/gpu-mode"].text(), "mig");
  EXPECT_EQ(cut["metadata"]["labels"]["nvidia.com/gpu.count"].text(), "2");
  EXPECT_EQ(cut["metadata"]["labels"]["nvidia.com/mig.strategy"].text(), "mixed");
  const Value& capacity = cut["status"]["capacity"];
  EXPECT_TRUE(capacity["nvidia.com/gpu"].is_null());
  EXPECT_EQ(capacity["nvidia.com/mig-1g.10gb"].text(), "14");
  EXPECT_EQ(capacity["nvidia.com/mig-1g.10gb.me"].text(), "2");
  EXPECT_EQ(capacity["nvidia.com/mig-7g.80gb"].text(), "2");
}

TEST(SimulatedFleet, HasNodesThatWereCutBeforehand) {
  const auto nodes = nodes_from_text("1xH100x2/mig,2xH100x2/mig:3g.40gb:1g.10gb:1g.10gb+me:1g.10gb,1xA30x1/mig:1g.6gb");
  ASSERT_TRUE(nodes) << nodes.error().to_string();
  ASSERT_EQ(nodes->size(), 4u);
  const Value& cut = (*nodes)[2];
  EXPECT_EQ(cut["metadata"]["name"].text(), "h100-slices-0002");
  EXPECT_TRUE(cut["metadata"]["labels"]["berth.dev/gpu-mode"].is_null());
  EXPECT_EQ(cut["metadata"]["labels"]["nvidia.com/gpu.count"].text(), "2");
  EXPECT_EQ(cut["metadata"]["labels"]["nvidia.com/mig.strategy"].text(), "mixed");
  const Value& capacity = cut["status"]["capacity"];
  EXPECT_EQ(capacity["nvidia.com/mig-3g.40gb"].text(), "2");
  EXPECT_EQ(capacity["nvidia.com/mig-1g.10gb"].text(), "4");
  EXPECT_EQ(capacity["nvidia.com/mig-1g.10gb.me"].text(), "2");
  EXPECT_TRUE(capacity["nvidia.com/mig-2g.20gb"].is_null());
  EXPECT_EQ((*nodes)[3]["status"]["capacity"]["nvidia.com/mig-1g.6gb"].text(), "1");
  const auto wrong = nodes_from_text("1xH100x1/mig:7g.80gb:1g.10gb,1xH100x1/mig:");
  ASSERT_FALSE(wrong);
  const std::string text = wrong.error().to_string();
  EXPECT_NE(text.find("'1xH100x1/mig:7g.80gb:1g.10gb': a H100 has no room for a 1g.10gb beside 7g.80gb; leave it out"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("'1xH100x1/mig:': a H100 has no slice ''; it has 7g.80gb, "), std::string::npos) << text;
}

TEST(SimulatedFleet, HasNodesThatAreShared) {
  const auto nodes = nodes_from_text("1xH100x2/mps,2xT4x4/timeslice:8,1xA100-40GBx2/vgpu");
  ASSERT_TRUE(nodes) << nodes.error().to_string();
  ASSERT_EQ(nodes->size(), 4u);
  const Value& vgpus = (*nodes)[3];
  EXPECT_EQ(vgpus["metadata"]["name"].text(), "a100-40gb-vgpu-0001");
  EXPECT_EQ(vgpus["metadata"]["labels"]["berth.dev/gpu-mode"].text(), "vgpu");
  EXPECT_EQ(vgpus["metadata"]["labels"]["nvidia.com/gpu.count"].text(), "2");
  EXPECT_TRUE(vgpus["status"]["capacity"]["nvidia.com/gpu"].is_null());
  EXPECT_EQ(vgpus["status"]["capacity"]["nvidia.com/NVIDIA_A100X-10C"].text(), "8");
  EXPECT_FALSE(nodes_from_text("1xB200x8/vgpu"));
  const Value& mps = (*nodes)[0];
  EXPECT_EQ(mps["metadata"]["name"].text(), "h100-mps-0001");
  EXPECT_EQ(mps["metadata"]["labels"]["berth.dev/gpu-mode"].text(), "mps");
  EXPECT_EQ(mps["metadata"]["labels"]["nvidia.com/gpu.sharing-strategy"].text(), "mps");
  EXPECT_EQ(mps["metadata"]["labels"]["nvidia.com/gpu.count"].text(), "2");
  EXPECT_TRUE(mps["status"]["capacity"]["nvidia.com/gpu"].is_null());
  const Value& in_turns = (*nodes)[2];
  EXPECT_EQ(in_turns["metadata"]["name"].text(), "t4-timeslice-0002");
  EXPECT_EQ(in_turns["metadata"]["labels"]["nvidia.com/gpu.replicas"].text(), "8");
  EXPECT_EQ(in_turns["metadata"]["labels"]["nvidia.com/gpu.sharing-strategy"].text(), "time-slicing");
  EXPECT_EQ(in_turns["status"]["capacity"]["nvidia.com/gpu.shared"].text(), "32");
}

TEST(SimulatedFleet, HasNodesThatTurn) {
  const auto nodes = nodes_from_text("2xH100x2/exclusive.mig,1xT4x4/mps.exclusive");
  ASSERT_TRUE(nodes) << nodes.error().to_string();
  const Value& turns = (*nodes)[1];
  EXPECT_EQ(turns["metadata"]["name"].text(), "h100-exclusive.mig-0002");
  EXPECT_EQ(turns["metadata"]["labels"]["berth.dev/gpu-mode"].text(), "exclusive.mig");
  EXPECT_EQ(turns["metadata"]["labels"]["nvidia.com/gpu.count"].text(), "2");
  EXPECT_EQ(turns["metadata"]["labels"]["nvidia.com/mig.strategy"].text(), "mixed");
  EXPECT_EQ(turns["status"]["capacity"]["nvidia.com/gpu"].text(), "2");
  EXPECT_EQ(turns["status"]["capacity"]["nvidia.com/mig-7g.80gb"].text(), "2");
  EXPECT_EQ((*nodes)[2]["status"]["capacity"]["nvidia.com/gpu"].text(), "4");
  EXPECT_TRUE((*nodes)[2]["metadata"]["labels"]["nvidia.com/gpu.sharing-strategy"].is_null());
  for (const char* const wrong : {"1xT4x1/exclusive.mig", "1xH100x1/exclusive.timeslice", "1xH100x1/mig.mig",
                                  "1xH100x1/exclusive", "1xH100x1/exclusive.mig/numa:2:restricted"}) {
    EXPECT_FALSE(nodes_from_text(wrong)) << wrong;
  }
}

TEST(SimulatedFleet, TellsHowGpusAreBesideCpus) {
  const auto nodes = nodes_from_text(
      "1xH100x8/numa:2:restricted/kept:12:100Gi,1xH100x8/kept:1500m,1xH100x8/mps/kept:1,"
      "1xH100x8/mps/spare/overcommit:1.5:1.2,1xcpu/overcommit:2");
  ASSERT_TRUE(nodes) << nodes.error().to_string();
  const Value& first = (*nodes)[0]["metadata"];
  EXPECT_EQ(first["labels"]["berth.dev/numa-zones"].text(), "2");
  EXPECT_EQ(first["labels"]["berth.dev/numa-policy"].text(), "restricted");
  EXPECT_EQ(first["annotations"]["berth.dev/kept-per-gpu"].text(), "cpu=12,memory=100Gi");
  EXPECT_TRUE((*nodes)[1]["metadata"]["labels"]["berth.dev/numa-policy"].is_null());
  EXPECT_EQ((*nodes)[1]["metadata"]["annotations"]["berth.dev/kept-per-gpu"].text(), "cpu=1500m");
  EXPECT_EQ((*nodes)[2]["metadata"]["labels"]["berth.dev/gpu-mode"].text(), "mps");
  EXPECT_EQ((*nodes)[3]["metadata"]["name"].text(), "h100-spare-mps-0001");
  EXPECT_EQ((*nodes)[3]["metadata"]["labels"]["berth.dev/spare"].text(), "true");
  EXPECT_EQ((*nodes)[3]["metadata"]["annotations"]["berth.dev/overcommit"].text(), "cpu=1.5,memory=1.2");
  EXPECT_EQ((*nodes)[4]["metadata"]["annotations"]["berth.dev/overcommit"].text(), "cpu=2");
  EXPECT_EQ((*nodes)[4]["status"]["capacity"]["kubernetes.io/batch-cpu"].text(), "128000");
  EXPECT_EQ((*nodes)[4]["status"]["capacity"]["kubernetes.io/batch-memory"].text(), "256Gi");
  const struct {
    const char* text;
    const char* mistake;
  } cases[] = {
      {"1xH100x8/numa:9:restricted", "how many NUMA zones (/numa:2:single-numa-node): '9' is out of range"},
      {"1xH100x8/numa:2:single", "'single' is no policy of a kubelet; write /numa:2: and none, best-effort"},
      {"1xH100x8/numa:2", "'' is no policy of a kubelet"},
      {"1xH100x8/mps/numa:2:restricted", "zones are counted of whole GPUs, and these are shared by MPS"},
      {"1xH100x8/spare:2", "'spare:2' is no way to share GPUs"},
      {"1xH100x8/kept:12:many", "what is kept for each GPU (/kept:12:100Gi): "},
      {"1xH100x8/overcommit:11", "(/overcommit:1.5:1.2): write 1 to 10 of each"},
      {"1xH100x8/overcommit", "(/overcommit:1.5:1.2): write 1 to 10 of each"},
      {"1xcpu/overcommit:2/kept:1", "what stands behind the slash is of GPUs; leave it out"},
      {"1xH100x8/kept:17", "for 8 GPUs that is more than is allocatable; write at most cpu=16,memory=128Gi"},
  };
  for (const auto& each : cases) {
    const auto refused = nodes_from_text(each.text);
    ASSERT_FALSE(refused) << each.text;
    EXPECT_NE(refused.error().to_string().find(each.mistake), std::string::npos) << refused.error().to_string();
  }
}

TEST(SimulatedFleet, TellsEveryMistakeOfAShortText) {
  const auto nodes = nodes_from_text(
      "4,0xH100x8,2xH10Ox8,1xH100x65,1xL40Sx4/mig,2xcpu/mig,1xT4x1/shared,1xT4x1/timeslice,1xT4x1/timeslice:33,"
      "1xT4x1/mps:4");
  ASSERT_FALSE(nodes);
  EXPECT_EQ(nodes.error().count(), 10u);
  for (const char* const each :
       {"'1xT4x1/shared': 'shared' is no way to share GPUs; write /mig, /mig:3g.40gb:1g.10gb, /mps, /vgpu or "
        "/timeslice:4",
        "'1xT4x1/timeslice': as how many each GPU counts (/timeslice:4): '' is not a whole number",
        "'1xT4x1/timeslice:33': as how many each GPU counts (/timeslice:4): '33' is out of range; write a whole number "
        "from 2 to 32",
        "'1xT4x1/mps:4': 'mps:4' is no way to share GPUs", "'2xcpu/mig': what stands behind the slash is of GPUs"})
    EXPECT_NE(nodes.error().to_string().find(each), std::string::npos) << each << " in " << nodes.error().to_string();
  EXPECT_NE(nodes.error().to_string().find("'1xL40Sx4/mig': GPUs of this type are not known to be cut into slices"),
            std::string::npos);
  const std::string text = nodes.error().to_string();
  EXPECT_NE(text.find("write COUNTxMODELxGPUS or COUNTxcpu, as in 4xH100x8,2xcpu"), std::string::npos) << text;
  EXPECT_NE(text.find("did you mean H100?"), std::string::npos) << text;
}

TEST(SimulatedFleet, IsReadFromNodeObjects) {
  const auto nodes = nodes_from_manifest(
      "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {capacity: {cpu: 8, memory: 16Gi, pods: 10}}\n", "f");
  ASSERT_TRUE(nodes) << nodes.error().to_string();
  EXPECT_EQ((*nodes)[0]["metadata"]["labels"]["kubernetes.io/hostname"].text(), "a");
  const auto as_nvidia_says = nodes_from_manifest(
      "apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}}\n"
      "status: {capacity: {cpu: 8, memory: 16Gi, pods: 10, nvidia.com/gpu: 8}}\n",
      "f");
  EXPECT_TRUE(as_nvidia_says) << as_nvidia_says.error().to_string();
  const auto bad =
      nodes_from_manifest("apiVersion: v1\nkind: Pod\n---\napiVersion: v1\nkind: Node\nmetadata: {name: a}\n", "f");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().count(), 2u) << bad.error().to_string();
  const std::string cut =
      "apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {berth.dev/gpu-mode: mig, nvidia.com/gpu.product: A30, "
      "nvidia.com/gpu.count: '4'}}\nstatus: {capacity: {cpu: 8";
  const auto good = nodes_from_manifest(cut + "}}\n", "f");
  ASSERT_TRUE(good) << good.error().to_string();
  EXPECT_EQ((*good)[0]["status"]["capacity"]["nvidia.com/mig-2g.12gb"].text(), "8");
  const auto both = nodes_from_manifest(cut + ", nvidia.com/gpu: 4}}\n", "f");
  ASSERT_FALSE(both);
  EXPECT_NE(both.error().to_string().find("a node's GPUs are all cut, or none is"), std::string::npos);
}

}  // namespace berth::pod_run_test
