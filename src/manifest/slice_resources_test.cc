#include "manifest/slice_resources.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "model/gpu_hardware.h"

namespace berth::slice_resources_test {

TEST(SliceResources, EveryProfileHasOneOfItsOwn) {
  std::map<std::string, std::string> profiles;
  for (const GpuHardware& hardware : gpu_hardware()) {
    for (const MigProfile& profile : hardware.mig_profiles) {
      const std::string resource = slice_resource(profile.name);
      EXPECT_TRUE(is_slice_resource(resource)) << resource;
      EXPECT_EQ(profile_of(resource), std::string(profile.name)) << resource;
      EXPECT_EQ(profiles.try_emplace(resource, profile.name).first->second, profile.name);
    }
  }
  EXPECT_EQ(slice_resource("1g.24gb+me.all"), "nvidia.com/mig-1g.24gb.me.all");
  EXPECT_FALSE(is_slice_resource("nvidia.com/gpu"));
}

TEST(SliceResources, AnUnknownOneIsToldWhatIsNear) {
  struct Case {
    const char* resource;
    const char* wrong;
  };
  const Case cases[] = {
      {"nvidia.com/mig-1g.10g", "no GPU model that is known can be cut into it; did you mean nvidia.com/mig-1g.10gb?"},
      {"nvidia.com/mig-1g.10gb+me",
       "no GPU model that is known can be cut into it; did you mean nvidia.com/mig-1g.10gb.me?"},
      {"nvidia.com/mig-halves",
       "no GPU model that is known can be cut into it; write a profile as in nvidia.com/mig-1g.10gb"},
  };
  for (const Case& each : cases) EXPECT_EQ(profile_of(each.resource).error(), each.wrong);
}

TEST(SliceResources, OnePodAsksOneOrWholeGpus) {
  struct Case {
    std::map<std::string, std::int64_t> slices;
    std::int64_t gpus;
    const char* wrong;
  };
  const std::string one = "nvidia.com/mig-1g.10gb", other = "nvidia.com/mig-2g.20gb";
  const Case cases[] = {
      {{}, 8, ""},
      {{{one, 1}}, 0, ""},
      {{{one, 3}},
       0,
       "a pod asks one slice, and it asks 3 of nvidia.com/mig-1g.10gb; ask 1 each by 3 pods, as of a Job with "
       "parallelism: 3"},
      {{{one, 1}, {other, 1}},
       0,
       "a pod asks one slice, and it asks nvidia.com/mig-1g.10gb and nvidia.com/mig-2g.20gb; ask them by several pods"},
      {{{one, 1}},
       1,
       "a pod asks whole GPUs or one slice, and it asks nvidia.com/gpu and nvidia.com/mig-1g.10gb; ask them by two "
       "pods"},
  };
  for (const Case& each : cases) EXPECT_EQ(why_not_in_one_pod(each.slices, each.gpus), each.wrong);
}

}  // namespace berth::slice_resources_test
