#include "model/vgpu_profiles.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

namespace berth::vgpu_profiles_test {

Flavor flavor_of(std::string_view model) { return {.name = "f", .model = std::string(model), .memory_mib = 0}; }

TEST(VgpuProfiles, AreOfTheCatalogueAndFitTheDevice) {
  std::set<std::string> names;
  for (const GpuModel& model : gpu_catalogue()) {
    SCOPED_TRACE(model.short_name);
    const std::vector<VgpuProfile> profiles = vgpu_profiles(flavor_of(model.short_name));
    if (profiles.empty()) continue;
    EXPECT_EQ(profiles.front().on_each, 1) << "the largest is all of a GPU";
    // Its name says the size of the device, of which drivers report a little less or more.
    EXPECT_NEAR(double(profiles.front().memory_mib), double(model.memory_mib), double(model.memory_mib) / 14);
    for (std::size_t i = 0; i < profiles.size(); ++i) {
      const VgpuProfile& each = profiles[i];
      SCOPED_TRACE(each.name);
      EXPECT_TRUE(names.insert(each.name).second) << "another model has one of that name";
      EXPECT_LE(each.on_each * each.memory_mib, profiles.front().memory_mib);
      EXPECT_GT(each.memory_mib, 0);
      if (i > 0) {
        EXPECT_LT(each.memory_mib, profiles[i - 1].memory_mib);
      }
      EXPECT_EQ(kMilliPerGpu / each.gpu_milli(), each.on_each);
      EXPECT_EQ(find_vgpu(flavor_of(model.name), each.name), each);
      EXPECT_EQ(find_vgpu(flavor_of(model.name), each.gpu_milli()), each);
      EXPECT_EQ(find_vgpu(each.name), each);
      EXPECT_EQ(smallest_vgpu(flavor_of(model.name), each.memory_mib), each);
      EXPECT_NE(smallest_vgpu(flavor_of(model.name), each.memory_mib + 1), each);
    }
  }
  EXPECT_EQ(all_vgpu_names().size(), names.size());
}

TEST(VgpuProfiles, AreAsManyAsTheTablesSay) {
  struct Case {
    std::string_view model, name;
    std::int32_t on_each;
  };
  constexpr Case kCases[] = {{"A100-PCIe-40GB", "A100-10C", 4},
                             {"A100-40GB", "A100X-4C", 10},
                             {"A100-80GB", "A100DX-16C", 5},
                             {"H100", "H100XM-5C", 16},
                             {"H100-NVL", "H100L-6C", 15},
                             {"H200", "H200X-8C", 16},
                             {"H200-NVL", "H200-4C", 32},
                             {"L40S", "L40S-16C", 3},
                             {"T4", "T4-4C", 4},
                             {"V100M32", "V100DX-4C", 8},
                             {"RTX-6000-Ada", "RTX 6000 Ada-6C", 8}};
  for (const Case& c : kCases) {
    const auto found = find_vgpu(flavor_of(c.model), c.name);
    ASSERT_TRUE(found.has_value()) << c.name;
    EXPECT_EQ(found->on_each, c.on_each) << c.name;
  }
  EXPECT_TRUE(vgpu_profiles(flavor_of("GB200")).empty());
  EXPECT_TRUE(vgpu_profiles(flavor_of("A10G")).empty());
  EXPECT_TRUE(vgpu_profiles(flavor_of("nothing")).empty());
  EXPECT_EQ(find_vgpu(flavor_of("A100-40GB"), "A100-10C"), std::nullopt) << "of another board";
  EXPECT_EQ(find_vgpu("A10-12Q"), std::nullopt);
}

}  // namespace berth::vgpu_profiles_test
