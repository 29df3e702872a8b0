#include "manifest/node_host.h"

#include <gtest/gtest.h>

#include <string>

#include "manifest/yaml.h"

namespace berth::node_host_test {

Value node(const std::string& labels, const std::string& annotations) {
  const auto documents = parse_yaml("{metadata: {labels: " + labels + ", annotations: " + annotations + "}}");
  return documents->front();
}

constexpr std::int64_t kGib = std::int64_t{1} << 30;

TEST(NodeHost, IsReadFromLabelsAndAnAnnotation) {
  const NodeHost host = read_node_host(node("{berth.dev/numa-zones: '2', berth.dev/numa-policy: restricted}",
                                            "{berth.dev/kept-per-gpu: 'cpu=1500m,memory=100Gi'}"),
                                       8, Sharing::kExclusive, {128'000, 1024 * kGib});
  EXPECT_EQ(host.problem, "");
  EXPECT_EQ(host.kept_per_gpu, (HostAmounts{1500, 100 * kGib}));
  EXPECT_EQ(host.numa_zones, 2);
  EXPECT_EQ(host.numa_policy, NumaPolicy::kRestricted);
}

TEST(NodeHost, SaysWhichGpusAreNear) {
  const NodeHost host =
      read_node_host(node("{}", "{berth.dev/gpu-links: 'nvlink=2,pcie=4'}"), 8, Sharing::kExclusive, {128'000, kGib});
  EXPECT_EQ(host.links, (GpuLinks{.pcie = 4, .nvlink = 2}));
}

TEST(NodeHost, SaysHowManyTimesItPromisesWhatItHas) {
  const NodeHost host = read_node_host(node("{}", "{berth.dev/overcommit: 'cpu=1.5,memory=1.25'}"), 0,
                                       Sharing::kExclusive, {128'000, 1024 * kGib});
  EXPECT_EQ(host.problem, "");
  EXPECT_EQ(host.extra, (HostAmounts{64'000, 256 * kGib}));
}

TEST(NodeHost, SaysWhatToWriteInstead) {
  struct Case {
    const char* what;
    const char* labels;
    const char* annotations;
    std::int32_t gpus;
    Sharing sharing;
    const char* problem;  // it begins with; empty: none
  };
  const Case cases[] = {
      {"nothing", "{}", "{}", 8, Sharing::kExclusive, ""},
      {"pairs", "{}", "{berth.dev/gpu-links: nvlink=2}", 8, Sharing::kExclusive, ""},
      {"switches where no GPUs are", "{}", "{berth.dev/gpu-links: pcie=4}", 0, Sharing::kExclusive, ""},
      {"switches that are not whole", "{}", "{berth.dev/gpu-links: pcie=3}", 8, Sharing::kExclusive,
       "annotation berth.dev/gpu-links: 8 GPUs are not whole groups of 3; write a size that divides them"},
      {"pairs that are not whole", "{}", "{berth.dev/gpu-links: 'pcie=6,nvlink=4'}", 12, Sharing::kExclusive,
       "annotation berth.dev/gpu-links: groups of 6 are not whole groups of 4; write sizes of which one divides the "
       "other"},
      {"switches of two zones", "{berth.dev/numa-zones: '4', berth.dev/numa-policy: restricted}",
       "{berth.dev/gpu-links: pcie=4}", 8, Sharing::kExclusive,
       "annotation berth.dev/gpu-links: 8 GPUs in 4 NUMA zones are not whole groups of 4; write a size that divides "
       "those of each zone"},
      {"another link", "{}", "{berth.dev/gpu-links: 'usb=4'}", 8, Sharing::kExclusive,
       "annotation berth.dev/gpu-links: 'usb=4' says of no GPUs that they are near each other; write how many are "
       "below one PCIe switch, how many are joined by NVLink, or both, such as pcie=4,nvlink=2"},
      {"one link twice", "{}", "{berth.dev/gpu-links: 'pcie=4,pcie=2'}", 8, Sharing::kExclusive,
       "annotation berth.dev/gpu-links: 'pcie=4,pcie=2' says of no GPUs"},
      {"all that there is", "{}", "{berth.dev/kept-per-gpu: cpu=16}", 8, Sharing::kExclusive, ""},
      {"more", "{}", "{berth.dev/kept-per-gpu: cpu=16001m}", 8, Sharing::kExclusive,
       "annotation berth.dev/kept-per-gpu: for 8 GPUs that is more than is allocatable; write at most "
       "cpu=16,memory=128Gi"},
      {"more memory", "{}", "{berth.dev/kept-per-gpu: 'cpu=1,memory=2Ti'}", 1, Sharing::kMps,
       "annotation berth.dev/kept-per-gpu: for 1 GPU that is more than is allocatable; write at most "
       "cpu=128,memory=1Ti"},
      {"anything where no GPUs are", "{berth.dev/numa-zones: '2', berth.dev/numa-policy: restricted}",
       "{berth.dev/kept-per-gpu: cpu=500}", 0, Sharing::kExclusive, ""},
      {"GPUs of GPUs", "{}", "{berth.dev/kept-per-gpu: 'gpu=1'}", 8, Sharing::kExclusive,
       "annotation berth.dev/kept-per-gpu: 'gpu=1' is no amount to keep; write cpu=12,memory=100Gi, for each GPU"},
      {"an empty part", "{}", "{berth.dev/kept-per-gpu: 'cpu=1,'}", 8, Sharing::kExclusive,
       "annotation berth.dev/kept-per-gpu: '' is no amount to keep"},
      {"no amount", "{}", "{berth.dev/kept-per-gpu: cpu}", 8, Sharing::kExclusive,
       "annotation berth.dev/kept-per-gpu: cpu: "},
      {"no factor", "{}", "{berth.dev/overcommit: 'cpu=0.5'}", 8, Sharing::kExclusive,
       "annotation berth.dev/overcommit: 'cpu=0.5' does not say how many times what it has a node promises; write 1 to "
       "10 for CPUs, memory or both, such as cpu=1.5,memory=1.2"},
      {"whether it is a spare", "{berth.dev/spare: 'true'}", "{}", 8, Sharing::kExclusive, ""},
      {"that it is none", "{berth.dev/spare: 'false'}", "{}", 0, Sharing::kExclusive, ""},
      {"neither", "{berth.dev/spare: 'yes'}", "{}", 8, Sharing::kExclusive,
       "label berth.dev/spare: 'yes' is neither true nor false"},
      {"zones without a policy", "{berth.dev/numa-zones: '2'}", "{}", 8, Sharing::kExclusive, ""},
      {"too many zones", "{berth.dev/numa-zones: '9'}", "{}", 8, Sharing::kExclusive,
       "label berth.dev/numa-zones: '9' is out of range"},
      {"a policy without zones", "{berth.dev/numa-policy: restricted}", "{}", 8, Sharing::kExclusive,
       "label berth.dev/numa-policy: how many zones there are is not said; write the label berth.dev/numa-zones, too"},
      {"no policy, aloud", "{berth.dev/numa-policy: none}", "{}", 8, Sharing::kMps, ""},
      {"an unknown policy", "{berth.dev/numa-zones: '2', berth.dev/numa-policy: strict}", "{}", 8, Sharing::kExclusive,
       "label berth.dev/numa-policy: 'strict' is no policy of a kubelet; write none, best-effort, restricted or "
       "single-numa-node"},
      {"of shared GPUs", "{berth.dev/numa-zones: '2', berth.dev/numa-policy: restricted}", "{}", 8, Sharing::kMps,
       "label berth.dev/numa-policy: zones are counted of whole GPUs, and these are shared by MPS; set the kubelet's "
       "policy to none, and leave the label out"},
  };
  for (const Case& c : cases) {
    const NodeHost host = read_node_host(node(c.labels, c.annotations), c.gpus, c.sharing, {128'000, 1024 * kGib});
    const std::string expected = c.problem;
    if (expected.empty()) {
      EXPECT_EQ(host.problem, "") << c.what;
    } else {
      EXPECT_TRUE(host.problem.starts_with(expected)) << c.what << ": " << host.problem;
      EXPECT_EQ(host.links, GpuLinks()) << c.what;
      if (expected.find("numa-policy") != std::string::npos) {
        EXPECT_EQ(host.numa_policy, NumaPolicy::kNone) << c.what;
      }
    }
    EXPECT_EQ(host.spare, std::string(c.labels).find("true") != std::string::npos) << c.what;
    if (c.gpus == 0) {
      EXPECT_EQ(host.kept_per_gpu, HostAmounts()) << c.what;
    }
  }
}

}  // namespace berth::node_host_test
