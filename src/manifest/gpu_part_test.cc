#include "manifest/gpu_part.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/yaml.h"

namespace berth::gpu_part_test {

// What its containers ask; of vGPUs "RESOURCE" or "RESOURCE RESOURCE", and so many of the first.
struct Asked {
  std::int64_t whole = 0, shared = 0;
  bool slices = false;
  std::string_view vgpus = {};
  std::int64_t count = 1;

  GpuResources resources() const {
    GpuResources made{.whole = whole, .shared = shared, .slices = slices};
    const std::size_t blank = std::min(vgpus.find(' '), vgpus.size());
    if (!vgpus.empty()) made.vgpus[std::string(vgpus.substr(0, blank))] = count;
    if (blank < vgpus.size()) made.vgpus[std::string(vgpus.substr(blank + 1))] = 1;
    return made;
  }
};

ReadGpuPart read(const std::string& annotations, const GpuResources& asked = {}) {
  const auto documents = parse_yaml("{" + annotations + "}");
  EXPECT_TRUE(documents && documents->size() == 1) << annotations;
  return read_gpu_part(documents->at(0), asked);
}

TEST(GpuPart, IsAskedInTheWordsOfOthersToo) {
  struct Case {
    const char* annotations;
    Asked asked;
    GpuPart part;
  };
  const Case cases[] = {
      {"", {}, {}},
      {"", {.whole = 8}, {}},
      {"berth.dev/gpu-milli: '250'", {.whole = 1}, {.milli = 250}},
      {"gpu-fraction: '0.5'", {}, {.milli = 500}},
      {"gpu-fraction: '1'", {}, {.milli = 1000}},
      {"gpu-fraction: '0.001'", {}, {.milli = 1}},
      {"gpu-fraction: '.25', gpu-fraction-num-devices: '1'", {}, {.milli = 250}},
      {"gpu-memory: '20000'", {}, {.memory_mib = 20'000}},
      {"gpu-fraction: '0.03', berth.dev/gpu-sharing: mps", {}, {.milli = 30, .sharing = Sharing::kMps}},
      {"gpu-memory: '1', berth.dev/gpu-sharing: mps", {}, {.memory_mib = 1, .sharing = Sharing::kMps}},
      {"berth.dev/gpu-milli: '30', berth.dev/gpu-sharing: mps", {.whole = 1}, {.milli = 30, .sharing = Sharing::kMps}},
      {"berth.dev/coverage: best-effort", {.shared = 1}, {.sharing = Sharing::kTimeslice}},
      {"berth.dev/latency: critical", {.whole = 1}, {}},
      {"", {.vgpus = "nvidia.com/NVIDIA_A100X-10C"}, {.milli = 250, .sharing = Sharing::kVgpu, .vgpu = "A100X-10C"}},
      {"", {.vgpus = "nvidia.com/GRID_T4-16C"}, {.milli = 1000, .sharing = Sharing::kVgpu, .vgpu = "T4-16C"}},
      {"",
       {.vgpus = "nvidia.com/NVIDIA_RTX_6000_Ada-8C"},
       {.milli = 166, .sharing = Sharing::kVgpu, .vgpu = "RTX-6000-Ada-8C"}},
  };
  for (const Case& each : cases) {
    const ReadGpuPart got = read(each.annotations, each.asked.resources());
    EXPECT_EQ(got.part, each.part) << each.annotations;
    EXPECT_TRUE(got.problems.empty()) << each.annotations << ": " << got.problems.front().to_string();
  }
}

TEST(GpuPart, SaysAllThatIsWrongWithItAndWhatToWrite) {
  struct Case {
    const char* annotations;
    Asked asked;
    std::vector<std::string> problems;
  };
  const std::string fraction = "annotation gpu-fraction: ", memory = "annotation gpu-memory: ";
  const std::string no_part =
      " is no part of one GPU; write one from 0.001 to 1 in thousandths, as in 0.5, and ask whole GPUs by "
      "nvidia.com/gpu";
  const std::string alone = "a pod asks a part of one GPU by this annotation alone, and it asks ";
  const std::string apart = ", too; leave that out, or ask them by two pods";
  const std::string beside = "a pod asks a replica of a GPU or something else, and it asks nvidia.com/gpu.shared and ";
  const std::string best_effort =
      "a replica (nvidia.com/gpu.shared) has no memory and no time of its own, so it is for best effort; write the "
      "annotation berth.dev/coverage: best-effort, or ask nvidia.com/gpu";
  const std::string ten = "nvidia.com/NVIDIA_A100X-10C",
                    one_or_other = "a pod asks a vGPU or something else, and it asks ";
  const Case cases[] = {
      {"",
       {.vgpus = ten, .count = 2},
       {"a pod asks one vGPU, and it asks 2 of " + ten + "; ask 1 each by 2 pods, as of a Job with parallelism: 2"}},
      {"",
       {.vgpus = "nvidia.com/NVIDIA_A100X-10C nvidia.com/NVIDIA_A100X-20C"},
       {"a pod asks one vGPU, and it asks " + ten + " and nvidia.com/NVIDIA_A100X-20C; ask them by several pods"}},
      {"", {.whole = 1, .vgpus = ten}, {one_or_other + ten + " and nvidia.com/gpu; ask them by two pods"}},
      {"gpu-fraction: '0.5'", {.vgpus = ten}, {one_or_other + ten + " and a part; ask them by two pods"}},
      {"",
       {.vgpus = "nvidia.com/NVIDIA_A100X-11C"},
       {"it asks nvidia.com/NVIDIA_A100X-11C: no GPU model that is known has such vGPUs of the C-series, for "
        "computing; "
        "did you mean nvidia.com/NVIDIA_A100X-10C?"}},
      {"",
       {.vgpus = "nvidia.com/GRID_A100-1-5C"},
       {"it asks nvidia.com/GRID_A100-1-5C: vGPUs on slices of a GPU are not handed out; ask the slice, as in "
        "nvidia.com/mig-1g.10gb, or a vGPU of a GPU that is not cut, as in nvidia.com/NVIDIA_A100X-10C"}},
      {"gpu-fraction: '0'", {}, {fraction + "'0'" + no_part}},
      {"gpu-fraction: '1.001'", {}, {fraction + "'1.001'" + no_part}},
      {"gpu-fraction: '0.3333'", {}, {fraction + "'0.3333'" + no_part}},
      {"gpu-fraction: 500m", {}, {fraction + "'500m'" + no_part}},
      {"gpu-fraction: '-0.5'", {}, {fraction + "'-0.5'" + no_part}},
      {"gpu-fraction: ''", {}, {fraction + "''" + no_part}},
      {"gpu-memory: '0'", {}, {memory + "MiB of one GPU: '0' is out of range; write a whole number from 1 to 1048576"}},
      {"gpu-memory: 20Gi",
       {},
       {memory + "MiB of one GPU: '20Gi' is not a whole number; write a whole number from 1 to 1048576"}},
      {"gpu-fraction: '0.5', gpu-memory: '1000'",
       {},
       {memory + "a pod asks one part of one GPU, and it has the annotation gpu-fraction, too; write one of them"}},
      {"gpu-fraction: '0.5', berth.dev/gpu-milli: '500'",
       {.whole = 1},
       {"annotation berth.dev/gpu-milli: a pod asks one part of one GPU, and it has the annotation gpu-fraction, too; "
        "write one of them",
        fraction + alone + "nvidia.com/gpu" + apart}},
      {"gpu-memory: '1000'", {.slices = true}, {memory + alone + "a slice" + apart}},
      {"berth.dev/gpu-milli: '500'",
       {.whole = 2},
       {"annotation berth.dev/gpu-milli: a part of a GPU goes with limits of exactly nvidia.com/gpu: 1; the pod asks "
        "for 2"}},
      {"gpu-fraction: '2', gpu-fraction-num-devices: '2'",
       {},
       {fraction + "'2'" + no_part,
        "annotation gpu-fraction-num-devices: a pod asks a part of one GPU, and it asks parts of '2'; ask them by "
        "several pods, as of a Job with parallelism"}},
      {"berth.dev/gpu-sharing: timeslice",
       {},
       {"annotation berth.dev/gpu-sharing: 'timeslice' is no way in which parts are shared; write mps, leave it out "
        "for parts by agreement, and ask replicas and slices by their resources (nvidia.com/gpu.shared, "
        "nvidia.com/mig-1g.10gb)"}},
      {"berth.dev/gpu-sharing: mps",
       {.whole = 1},
       {"annotation berth.dev/gpu-sharing: a share of MPS is a part of one GPU; say how much by the annotation "
        "gpu-fraction, as in 0.25, or by gpu-memory"}},
      {"berth.dev/gpu-sharing: mps, gpu-fraction: '0.029'",
       {},
       {"annotation berth.dev/gpu-sharing: a share of MPS is 0.03 of a GPU or more, and it asks 0.029"}},
      {"", {.shared = 1}, {best_effort}},
      {"berth.dev/coverage: guaranteed",
       {.shared = 2},
       {"several replicas give a pod no more than one, and it asks 2 of nvidia.com/gpu.shared; ask 1, or ask them by "
        "several pods",
        best_effort}},
      {"", {.whole = 1, .shared = 1}, {beside + "nvidia.com/gpu; ask them by two pods"}},
      {"", {.shared = 1, .slices = true}, {beside + "a slice; ask them by two pods"}},
      {"gpu-fraction: '0.5'", {.shared = 1}, {beside + "a part; ask them by two pods"}},
      {"berth.dev/latency: low", {}, {"annotation berth.dev/latency: 'low' is no latency; write critical"}},
      {"berth.dev/latency: critical, berth.dev/coverage: best-effort",
       {.shared = 1},
       {"annotation berth.dev/latency: latency-critical work takes no turns; ask nvidia.com/gpu or a slice"}},
  };
  for (const Case& each : cases) {
    std::vector<std::string> problems;
    for (const GpuPartProblem& problem : read(each.annotations, each.asked.resources()).problems) {
      problems.push_back(problem.to_string());
    }
    EXPECT_EQ(problems, each.problems) << each.annotations;
  }
}

TEST(GpuPart, IsSoMuchOfAGpuAsItHasMemoryOrReplicas) {
  struct Case {
    GpuPart part;
    std::int64_t device_mib;
    std::int32_t replicas;
    std::optional<std::int32_t> milli;
  };
  const Case cases[] = {
      {{.milli = 250}, 0, 1, 250},
      {{.memory_mib = 20'000}, 80'000, 1, 250},
      {{.memory_mib = 1}, 80'000, 1, 1},
      {{.memory_mib = 79'999}, 80'000, 1, 999},
      {{.memory_mib = 80'000}, 80'000, 1, 1000},
      {{.memory_mib = 80'001}, 80'000, 1, std::nullopt},
      {{.memory_mib = 20'000}, 0, 1, std::nullopt},
      {{.memory_mib = 800, .sharing = Sharing::kMps}, 80'000, 1, 30},
      {{.sharing = Sharing::kTimeslice}, 80'000, 4, 250},
      {{.sharing = Sharing::kTimeslice}, 0, 3, 333},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(each.part.milli_of(each.device_mib, each.replicas), each.milli) << each.part.memory_mib;
  }
}

}  // namespace berth::gpu_part_test
