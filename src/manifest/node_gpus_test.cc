#include "manifest/node_gpus.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manifest/yaml.h"
#include "model/mig_layout.h"

namespace berth::node_gpus_test {

Value node(const std::string& labels, const std::string& allocatable) {
  const auto documents =
      parse_yaml("{metadata: {labels: {" + labels + "}}, status: {allocatable: {" + allocatable + "}}}");
  EXPECT_TRUE(documents && documents->size() == 1) << labels << allocatable;
  return documents->at(0);
}

const std::string kMps = "berth.dev/gpu-mode: mps, nvidia.com/gpu.count: '2', nvidia.com/gpu.product: H100";
const std::string kInTurns =
    "berth.dev/gpu-mode: timeslice, nvidia.com/gpu.count: '2', nvidia.com/gpu.replicas: '4', nvidia.com/gpu.product: ";
const std::string kCut = "berth.dev/gpu-mode: mig, nvidia.com/gpu.count: '2', nvidia.com/gpu.product: ";

TEST(NodeGpus, AreWholeOrCutByBerthOrByOthers) {
  struct Case {
    const char* what;
    std::string labels, allocatable;
    std::int32_t count;
    std::string model;
    Sharing sharing;
    std::vector<std::string> unused_slices;
  };
  const Case cases[] = {
      {"none", "", "cpu: '8'", 0, "", Sharing::kExclusive, {}},
      {"whole ones",
       "nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3",
       "nvidia.com/gpu: 8",
       8,
       "H100",
       Sharing::kExclusive,
       {}},
      {"said to be whole",
       "berth.dev/gpu-mode: exclusive",
       "nvidia.com/gpu: '1'",
       1,
       "unlabelled",
       Sharing::kExclusive,
       {}},
      {"cut by Berth",
       kCut + "NVIDIA-A100-SXM4-80GB",
       "nvidia.com/mig-1g.10gb: '14'",
       2,
       "A100-80GB",
       Sharing::kMig,
       {}},
      {"cut by Berth, and none is whole", kCut + "H100", "nvidia.com/gpu: '0'", 2, "H100", Sharing::kMig, {}},
      {"cut beforehand, and not alike",
       "nvidia.com/mig.strategy: mixed, nvidia.com/gpu.count: '2', nvidia.com/gpu.product: H100",
       "nvidia.com/mig-1g.10gb: '7', nvidia.com/mig-3g.40gb: '0', nvidia.com/mig-2g.20gb: 3",
       0,
       "",
       Sharing::kExclusive,
       {"nvidia.com/mig-1g.10gb", "nvidia.com/mig-2g.20gb"}},
      {"some whole, some cut beforehand",
       "nvidia.com/gpu.product: H100",
       "nvidia.com/gpu: '4', nvidia.com/mig-1g.10gb: '28'",
       4,
       "H100",
       Sharing::kExclusive,
       {"nvidia.com/mig-1g.10gb"}},
      {"slices under the name of GPUs are GPUs of another model",
       "nvidia.com/mig.strategy: single, nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3-MIG-1g.10gb",
       "nvidia.com/gpu: '56'",
       56,
       "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb",
       Sharing::kExclusive,
       {}},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    const NodeGpus gpus = read_node_gpus(node(each.labels, each.allocatable));
    EXPECT_EQ(gpus.count, each.count);
    EXPECT_EQ(gpus.model, each.model);
    EXPECT_EQ(gpus.sharing, each.sharing);
    EXPECT_EQ(gpus.unused_slices, each.unused_slices);
    EXPECT_TRUE(gpus.fixed_slices.empty());
    EXPECT_EQ(gpus.problem, "");
  }
}

// As the device plugin shows them with the strategy "mixed".
TEST(NodeGpus, MayBeCutBeforehand) {
  const std::string h100 = "nvidia.com/mig.strategy: mixed, nvidia.com/gpu.count: '2', nvidia.com/gpu.product: H100";
  for (const std::string& labels : {h100, h100 + ", berth.dev/gpu-mode: exclusive"}) {
    const NodeGpus gpus =
        read_node_gpus(node(labels,
                            "nvidia.com/gpu: '0', nvidia.com/mig-3g.40gb: '2', nvidia.com/mig-1g.10gb: '4', "
                            "nvidia.com/mig-1g.10gb.me: '2', nvidia.com/mig-2g.20gb: '0'"));
    EXPECT_EQ(gpus.problem, "");
    EXPECT_EQ(gpus.count, 2);
    EXPECT_EQ(gpus.model, "H100");
    EXPECT_EQ(gpus.memory_mib, 81'559);
    EXPECT_EQ(gpus.sharing, Sharing::kMig);
    EXPECT_TRUE(gpus.unused_slices.empty());
    const std::vector<std::string> each = {"3g.40gb", "1g.10gb", "1g.10gb", "1g.10gb+me"};
    EXPECT_EQ(gpus.fixed_slices, *lay_out(*find_gpu_hardware(*find_gpu_model("H100")), each));
    Value amounts = Value::map();
    set_shared_amounts(gpus, amounts);
    EXPECT_EQ(amounts.members().size(), 3U);
    EXPECT_EQ(amounts["nvidia.com/mig-1g.10gb"].text(), "4");
  }
}

Value node_that_may_be_cut_anew(const std::string& labels, const std::string& allocatable,
                                const std::string& annotations = "") {
  const std::string all = "{metadata: {labels: {" + labels + "}, annotations: {" + annotations +
                          "}}, status: {allocatable: {" + allocatable + "}}}";
  return parse_yaml(all)->front();
}

TEST(NodeGpus, AreCutAnewIntoTheLayoutsOfTheirNode) {
  const std::string labels = "nvidia.com/gpu.count: '2', nvidia.com/gpu.product: H100, berth.dev/gpu-recut: 60s";
  const NodeGpus usual = read_node_gpus(node_that_may_be_cut_anew(labels, "nvidia.com/mig-3g.40gb: '4'"));
  EXPECT_EQ(usual.problem, "");
  EXPECT_EQ(usual.recut, Duration{60'000});
  EXPECT_EQ(usual.offered, usual.fixed_slices);
  ASSERT_EQ(usual.layouts.size(), 6u);
  EXPECT_EQ(usual.layouts.front().name, "all-1g.10gb");
  EXPECT_EQ(usual.layouts.front().slices.size(), 7);
  const NodeGpus named = read_node_gpus(node_that_may_be_cut_anew(
      labels, "nvidia.com/mig-3g.40gb: '4'", "berth.dev/mig-layouts: 'all-3g.40gb, b=3g.40gb:1g.10gb'"));
  ASSERT_EQ(named.layouts.size(), 2u);
  EXPECT_EQ(named.layouts[1].name, "b");
  EXPECT_EQ(named.layouts[1].slices.size(), 2);
}

// Then the amounts come and go.
TEST(NodeGpus, AreCutIntoWhatIsAskedForWhileItIs) {
  const std::string labels = "nvidia.com/gpu.count: '2', nvidia.com/gpu.product: H100, berth.dev/gpu-recut: 60s";
  const std::string asked = R"(berth.dev/gpu-cut: '{"layout":"all-1g.10gb","asked":"2026-11-26T12:00:00.000000Z"}')";
  for (const char* const allocatable :
       {"", "nvidia.com/mig-3g.40gb: '4'", "nvidia.com/mig-1g.10gb: '3'", "nvidia.com/mig-1g.10gb: '14'"}) {
    const NodeGpus gpus = read_node_gpus(node_that_may_be_cut_anew(labels, allocatable, asked));
    EXPECT_EQ(gpus.problem, "");
    EXPECT_EQ(gpus.count, 2);
    EXPECT_EQ(gpus.fixed_slices.size(), 7) << allocatable;
    EXPECT_TRUE(gpus.unused_slices.empty());
    EXPECT_EQ(gpus.offered == gpus.fixed_slices, std::string(allocatable).contains("14"));
  }
}

TEST(NodeGpus, SayWhyTheyAreNotCutAnew) {
  struct Case {
    std::string labels, allocatable, annotations, problem;
  };
  const std::string two = "nvidia.com/gpu.count: '2', nvidia.com/gpu.product: H100, berth.dev/gpu-recut: ";
  const Case cases[] = {
      {two + "60s, berth.dev/gpu-mode: mig", "", "",
       "label berth.dev/gpu-recut: what its GPUs are is decided as pods ask (label berth.dev/gpu-mode), so nothing was "
       "cut beforehand that could be cut anew; take one of the two away"},
      {two + "2h", "nvidia.com/mig-3g.40gb: '4'", "",
       "label berth.dev/gpu-recut: how long it takes to cut its GPUs anew, an hour at most, as in 2m"},
      {two + "60s", "nvidia.com/gpu: '2'", "",
       "label berth.dev/gpu-recut: its GPUs are whole, and nothing was cut that could be cut anew; have them cut once "
       "(label nvidia.com/mig.config: all-1g.10gb), or take it away"},
      {two + "60s", "nvidia.com/mig-3g.40gb: '4'", "berth.dev/mig-layouts: serving",
       "annotation berth.dev/mig-layouts: nobody knows what 'serving' is; write into what it cuts each GPU, as in "
       "serving=3g.40gb:1g.10gb"},
      {two + "60s", "nvidia.com/mig-3g.40gb: '4'", "berth.dev/mig-layouts: 'a=7g.80gb:1g.10gb'",
       "annotation berth.dev/mig-layouts: 'a': a H100 has no room for a 1g.10gb beside 7g.80gb; leave it out"},
      {two + "60s", "nvidia.com/mig-3g.40gb: '4'", "berth.dev/mig-layouts: 'all-1g.10gb, all-1g.10gb'",
       "annotation berth.dev/mig-layouts: 'all-1g.10gb' stands there twice; names are unique"},
      {two + "60s", "nvidia.com/mig-3g.40gb: '4'", "berth.dev/mig-layouts: 'a b=3g.40gb'",
       "annotation berth.dev/mig-layouts: 'a b' is no name of a layout, as it has to be the value of a label; write "
       "such "
       "as all-1g.10gb, or serving=3g.40gb:1g.10gb"},
      {"nvidia.com/gpu.count: '2', nvidia.com/gpu.product: T4, berth.dev/gpu-recut: 60s", "", "",
       "label berth.dev/gpu-recut: GPUs of model 'T4' are not known to be cut into slices"},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(read_node_gpus(node_that_may_be_cut_anew(each.labels, each.allocatable, each.annotations)).problem,
              each.problem)
        << each.labels << each.annotations;
  }
}

TEST(NodeCut, IsReadAsItIsWritten) {
  const NodeCut cuts[] = {{},
                          {.stage = CutStage::kAsked, .layout = "all-1g.10gb", .at = Time{1'764'072'000'123}},
                          {.stage = CutStage::kDone, .layout = "b", .at = Time{1'764'072'000'000}},
                          {.stage = CutStage::kFailed,
                           .layout = "b",
                           .at = Time{1'764'072'000'000},
                           .failures = 3,
                           .why = "it \"failed\""}};
  for (const NodeCut& each : cuts) EXPECT_EQ(read_node_cut(to_text(each)), each) << to_text(each);
  for (const char* const wrong : {"x", "{}", "[]", R"({"layout":"a"})", R"({"layout":"a","asked":"soon"})"})
    EXPECT_EQ(read_node_cut(wrong), NodeCut()) << wrong;
}

TEST(NodeGpus, SayWhySlicesAreNotUsed) {
  struct Case {
    std::string labels, allocatable, why;
  };
  const std::string two = "nvidia.com/gpu.count: '2', nvidia.com/gpu.product: ";
  const Case cases[] = {
      {two + "H100", "nvidia.com/gpu: '1', nvidia.com/mig-1g.10gb: '7'",
       "status.allocatable has whole GPUs beside them (nvidia.com/gpu); cut all GPUs of a node alike, or none"},
      {"nvidia.com/gpu.product: H100", "nvidia.com/mig-1g.10gb: '7'",
       "label nvidia.com/gpu.count: how many GPUs are cut; 'none' is not a whole number; write a whole number "
       "from 1 to 64"},
      {two + "L40S", "nvidia.com/mig-1g.10gb: '2'",
       "label nvidia.com/gpu.product: GPUs of model 'L40S' are not known to be cut into slices"},
      {two + "H100", "nvidia.com/mig-1g.10gb: '7'",
       "status.allocatable nvidia.com/mig-1g.10gb: 7 on 2 GPUs; cut all GPUs of a node alike"},
      {two + "H100", "nvidia.com/mig-1g.10gb: '2000000000'",
       "status.allocatable nvidia.com/mig-1g.10gb: 2000000000 on 2 GPUs; cut all GPUs of a node alike"},
      {two + "H100", "nvidia.com/mig-1g.10gb.shared: '2'",
       "status.allocatable nvidia.com/mig-1g.10gb.shared: no GPU model that is known can be cut into it; "},
      {two + "A30", "nvidia.com/mig-1g.10gb: '2'", "a A30 has no slice '1g.10gb'; it has 4g.24gb, "},
      {two + "H100", "nvidia.com/mig-7g.80gb: '2', nvidia.com/mig-1g.10gb: '2'",
       "a H100 has no room for a 7g.80gb beside 1g.10gb; there is room for one of 4g.40gb, "},
  };
  for (const Case& each : cases) {
    const NodeGpus gpus = read_node_gpus(node(each.labels, each.allocatable));
    EXPECT_EQ(gpus.problem, "");
    EXPECT_TRUE(gpus.fixed_slices.empty());
    EXPECT_FALSE(gpus.unused_slices.empty());
    EXPECT_EQ(gpus.why_unused.substr(0, each.why.size()), each.why);
  }
}

TEST(NodeGpus, SayWhatMakesNoSense) {
  struct Case {
    std::string labels, allocatable, problem;
  };
  const Case cases[] = {
      {"berth.dev/gpu-mode: shared", "nvidia.com/gpu: '8'",
       "label berth.dev/gpu-mode: 'shared' is no mode; write exclusive, mig, mps, timeslice or vgpu, or several that "
       "take "
       "turns, as in exclusive.mig"},
      {"berth.dev/gpu-mode: mig.mig", "", "label berth.dev/gpu-mode: 'mig' is there twice; name each once"},
      {"berth.dev/gpu-mode: exclusive.", "nvidia.com/gpu: '8'",
       "label berth.dev/gpu-mode: '' is no mode; write exclusive, mig, mps, timeslice or vgpu, or several that take "
       "turns, "
       "as "
       "in exclusive.mig"},
      {"berth.dev/gpu-mode: exclusive.timeslice", "nvidia.com/gpu: '8'",
       "label berth.dev/gpu-mode: time-sliced GPUs are nothing else besides; write timeslice alone, or leave it out"},
      {"berth.dev/gpu-mode: mig.mps, nvidia.com/gpu.count: '2', nvidia.com/gpu.product: H100", "nvidia.com/gpu: '2'",
       "label berth.dev/gpu-mode: its GPUs are said to be cut into slices, and status.allocatable has whole ones "
       "(nvidia.com/gpu); a node's GPUs are all cut, or none is"},
      {"berth.dev/gpu-mode: exclusive.mig, nvidia.com/gpu.product: H100", "nvidia.com/gpu: '2'",
       "label nvidia.com/gpu.count: how many GPUs there are; 'none' is not a whole number; write a whole number from 1 "
       "to 64"},
      {"berth.dev/gpu-mode: exclusive.mig, nvidia.com/gpu.count: '2', nvidia.com/gpu.product: H100",
       "nvidia.com/gpu: '4'",
       "status.allocatable nvidia.com/gpu: it has more than the label nvidia.com/gpu.count says; let both say the "
       "same"},
      {"berth.dev/gpu-mode: exclusive.mig, nvidia.com/gpu.count: '2', nvidia.com/gpu.product: T4", "",
       "label berth.dev/gpu-mode: GPUs of model 'T4' are not known to be cut into slices"},
      {"berth.dev/gpu-mode: exclusive.mig, nvidia.com/gpu.count: '2', nvidia.com/gpu.product: H100, "
       "nvidia.com/gpu.sharing-strategy: mps",
       "",
       "label nvidia.com/gpu.sharing-strategy: it is 'mps', and the label berth.dev/gpu-mode says 'exclusive.mig'; let "
       "the device plugin share nothing in this way"},
      {kMps, "nvidia.com/gpu: '2'",
       "label berth.dev/gpu-mode: its GPUs are said to be shared by MPS, and status.allocatable has whole ones "
       "(nvidia.com/gpu); a node's GPUs are all shared, or none is"},
      {kInTurns + "H100", "nvidia.com/gpu: '8'",
       "label berth.dev/gpu-mode: its GPUs are said to be time-sliced, and status.allocatable has whole ones "
       "(nvidia.com/gpu); let the device plugin rename what it shares (renameByDefault: true), so that nobody takes a "
       "replica for a GPU"},
      {"berth.dev/gpu-mode: timeslice, nvidia.com/gpu.sharing-strategy: mps", "",
       "label nvidia.com/gpu.count: how many GPUs are time-sliced; 'none' is not a whole number; write a whole number "
       "from 1 to 64; label nvidia.com/gpu.replicas: as how many each GPU counts; 'none' is not a whole number; write "
       "a "
       "whole number from 2 to 32; label nvidia.com/gpu.sharing-strategy: it is 'mps', and the label "
       "berth.dev/gpu-mode says 'timeslice'; let both say the same"},
      {"nvidia.com/gpu.replicas: '4', nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3-SHARED", "nvidia.com/gpu: '32'",
       "label berth.dev/gpu-mode: its GPUs are shared (nvidia.com/gpu.replicas), and this label does not say how; "
       "write timeslice for replicas that best effort takes turns on"},
      {"berth.dev/gpu-mode: vgpu, nvidia.com/gpu.count: '2', nvidia.com/gpu.product: B200", "",
       "label berth.dev/gpu-mode: GPUs of model 'B200' are not known to have vGPUs"},
      {"berth.dev/gpu-mode: vgpu, nvidia.com/gpu.count: '2', nvidia.com/gpu.product: H100", "nvidia.com/gpu: '2'",
       "label berth.dev/gpu-mode: its GPUs are said to be shared as vGPUs, and status.allocatable has whole ones "
       "(nvidia.com/gpu); a node's GPUs are all shared, or none is"},
      {"nvidia.com/gpu.sharing-strategy: mps", "nvidia.com/gpu: '8'",
       "label berth.dev/gpu-mode: its GPUs are shared (nvidia.com/gpu.sharing-strategy), and this label does not say "
       "how; write timeslice for replicas that best effort takes turns on"},
      {"berth.dev/gpu-mode: exclusive", "nvidia.com/gpu.shared: 8",
       "label berth.dev/gpu-mode: its GPUs are shared (nvidia.com/gpu.shared), and this label does not say how; write "
       "timeslice for replicas that best effort takes turns on"},
      {kCut + "H100", "nvidia.com/gpu: '8'",
       "label berth.dev/gpu-mode: its GPUs are said to be cut into slices, and status.allocatable has whole ones "
       "(nvidia.com/gpu); a node's GPUs are all cut, or none is"},
      {kCut + "L40S", "", "label berth.dev/gpu-mode: GPUs of model 'L40S' are not known to be cut into slices"},
      {kCut + "", "", "label berth.dev/gpu-mode: GPUs of model 'unlabelled' are not known to be cut into slices"},
      {"", "nvidia.com/gpu: '65'", "status.allocatable nvidia.com/gpu: more than is believed of one machine"},
  };
  for (const Case& each : cases)
    EXPECT_EQ(read_node_gpus(node(each.labels, each.allocatable)).problem, each.problem) << each.labels;
  for (const char* const count : {"", ", nvidia.com/gpu.count: '0'", ", nvidia.com/gpu.count: '65'"}) {
    EXPECT_TRUE(read_node_gpus(node(std::string("berth.dev/gpu-mode: mig") + count, ""))
                    .problem.starts_with("label nvidia.com/gpu.count: how many GPUs are cut into slices; "))
        << count;
  }
}

TEST(NodeGpus, MayBeOneThingAfterTheOther) {
  const std::string modes = ", nvidia.com/gpu.count: '2', nvidia.com/gpu.product: H100";
  for (const char* const allocatable : {"", "nvidia.com/gpu: '2'", "nvidia.com/mig-1g.10gb: '14'"}) {
    const NodeGpus gpus = read_node_gpus(node("berth.dev/gpu-mode: exclusive.mig" + modes, allocatable));
    EXPECT_EQ(gpus.problem, "") << allocatable;
    EXPECT_EQ(gpus.count, 2) << allocatable;
    EXPECT_EQ(gpus.sharing, Sharing::kExclusive);
    EXPECT_EQ(gpus.other_modes, SharingSet::of(Sharing::kMig));
    EXPECT_EQ(gpus.shared_as(), Sharing::kMig);
    EXPECT_TRUE(gpus.unused_slices.empty());
    Value amounts = Value::map();
    set_shared_amounts(gpus, amounts);
    EXPECT_EQ(amounts["nvidia.com/gpu"].text(), "2");
    EXPECT_EQ(amounts["nvidia.com/mig-1g.10gb"].text(), "14");
  }
  const NodeGpus shares = read_node_gpus(node(
      "berth.dev/gpu-mode: mps.exclusive.mig, nvidia.com/gpu.sharing-strategy: mps" + modes, "nvidia.com/gpu: '2'"));
  EXPECT_EQ(shares.problem, "");
  EXPECT_EQ(modes_text(shares.sharing, shares.other_modes), "mps.exclusive.mig");
}

TEST(NodeGpus, MayBeSharedByMpsOrInTurns) {
  struct Case {
    std::string labels, allocatable;
    Sharing sharing;
    std::int32_t count, replicas;
  };
  const Case cases[] = {
      {kMps, "", Sharing::kMps, 2, 1},
      {"berth.dev/gpu-mode: vgpu, nvidia.com/gpu.count: '2', nvidia.com/gpu.product: H100",
       "nvidia.com/NVIDIA_H100XM-10C: '16'", Sharing::kVgpu, 2, 1},
      {kMps + ", nvidia.com/gpu.sharing-strategy: mps", "nvidia.com/gpu: '0', nvidia.com/gpu.shared: '20'",
       Sharing::kMps, 2, 1},
      {kInTurns + "NVIDIA-H100-80GB-HBM3", "", Sharing::kTimeslice, 2, 4},
      {kInTurns + "NVIDIA-H100-80GB-HBM3-SHARED, nvidia.com/gpu.sharing-strategy: time-slicing",
       "nvidia.com/gpu.shared: '8'", Sharing::kTimeslice, 2, 4},
      {kInTurns + "H100", "nvidia.com/gpu.shared: '7'", Sharing::kTimeslice, 1, 4},  // one of them is not well
      {kInTurns + "H100", "nvidia.com/gpu.shared: '80'", Sharing::kTimeslice, 2, 4},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.labels + " " + each.allocatable);
    const NodeGpus gpus = read_node_gpus(node(each.labels, each.allocatable));
    EXPECT_EQ(gpus.problem, "");
    EXPECT_EQ(gpus.sharing, each.sharing);
    EXPECT_EQ(gpus.count, each.count);
    EXPECT_EQ(gpus.replicas, each.replicas);
    EXPECT_EQ(gpus.model, "H100");
    EXPECT_EQ(gpus.memory_mib, 81'559);
  }
  EXPECT_EQ(read_node_gpus(node(kInTurns + "H100", "nvidia.com/gpu.shared: '3'")).count, 0);
  EXPECT_EQ(
      read_node_gpus(node("nvidia.com/gpu.sharing-strategy: none, nvidia.com/gpu.replicas: '1'", "nvidia.com/gpu: '8'"))
          .count,
      8);
}

TEST(NodeGpus, OfferOfEachSliceWhatFitsOfItAlone) {
  Value amounts = Value::map();
  set_shared_amounts({.count = 2, .model = "A30", .sharing = Sharing::kMig}, amounts);
  EXPECT_EQ(amounts.members().size(), 5U);
  EXPECT_EQ(amounts["nvidia.com/mig-1g.6gb"].text(), "8");
  EXPECT_EQ(amounts["nvidia.com/mig-1g.6gb.me"].text(), "2");
  EXPECT_EQ(amounts["nvidia.com/mig-2g.12gb"].text(), "4");
  EXPECT_EQ(amounts["nvidia.com/mig-4g.24gb"].text(), "2");
  Value none = Value::map();
  set_shared_amounts({.count = 2, .model = "A30"}, none);
  set_shared_amounts({.count = 2, .model = "A30", .sharing = Sharing::kMps}, none);
  EXPECT_TRUE(none.is_empty());
  Value vgpus = Value::map();
  set_shared_amounts(
      {.count = 2, .model = "T4", .sharing = Sharing::kExclusive, .other_modes = SharingSet::of(Sharing::kVgpu)},
      vgpus);
  EXPECT_EQ(vgpus.members().size(), 4U);
  EXPECT_EQ(vgpus["nvidia.com/gpu"].text(), "2");
  EXPECT_EQ(vgpus["nvidia.com/NVIDIA_T4-4C"].text(), "8");
  EXPECT_EQ(vgpus["nvidia.com/NVIDIA_T4-16C"].text(), "2");
  Value replicas = Value::map();
  set_shared_amounts({.count = 2, .model = "T4", .sharing = Sharing::kTimeslice, .replicas = 4}, replicas);
  EXPECT_EQ(replicas.members().size(), 1U);
  EXPECT_EQ(replicas["nvidia.com/gpu.shared"].text(), "8");
}

}  // namespace berth::node_gpus_test
