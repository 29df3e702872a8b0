#include "model/gpu_hardware.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "model/gpu.h"

namespace berth::gpu_hardware_test {

const GpuHardware& hardware_of(std::string_view model) { return *find_gpu_hardware(*find_gpu_model(model)); }

TEST(GpuHardware, IsOfTheCatalogue) {
  std::set<std::string_view> models;
  for (const GpuHardware& hardware : gpu_hardware()) {
    const GpuModel* const model = find_gpu_model(hardware.model);
    ASSERT_NE(model, nullptr) << hardware.model;
    EXPECT_EQ(model->short_name, hardware.model);
    EXPECT_EQ(find_gpu_hardware(*model), &hardware) << "two rows";
    EXPECT_EQ(hardware.nvlink_generation == 0, hardware.nvlink_gb_per_s == 0) << hardware.model;
  }
  EXPECT_EQ(find_gpu_hardware(*find_gpu_model("G2")), nullptr);
}

TEST(GpuHardware, HasSlicesThatFitTheDevice) {
  for (const GpuHardware& hardware : gpu_hardware()) {
    SCOPED_TRACE(hardware.model);
    ASSERT_EQ(hardware.mig_profiles.size(), hardware.mig == nullptr ? 0 : hardware.mig->shapes().size());
    std::set<std::string_view> names;
    for (std::size_t shape = 0; shape < hardware.mig_profiles.size(); ++shape) {
      const MigProfile& profile = hardware.mig_profiles[shape];
      SCOPED_TRACE(profile.name);
      EXPECT_TRUE(names.insert(profile.name).second);
      EXPECT_EQ(find_mig_profile(hardware, profile.name), shape);
      EXPECT_LE(profile.sm_count, hardware.sm_count);
      EXPECT_LE(profile.memory_mib, find_gpu_model(hardware.model)->memory_mib);
      // What makes "the least that it can be" sound: a larger slice has at least what smaller ones of that size add up to.
      for (std::size_t smaller = 0; smaller < shape; ++smaller) {
        const std::int32_t times =
            hardware.mig->shapes()[shape].memory_slices / hardware.mig->shapes()[smaller].memory_slices;
        EXPECT_GE(profile.memory_mib, times * hardware.mig_profiles[smaller].memory_mib);
      }
    }
  }
}

// What `nvidia-smi mig -lgip` and `-lgipp` printed on a device of each model (driver 580.159.04, with MIG off).
struct MeasuredSlice {
  std::string_view name;
  std::int32_t driver_id;
  int instances;
  std::int64_t memory_mib;  // GiB rounded to two digits, as it is printed
  std::int32_t sm_count;
  std::uint32_t starts;  // a bit for each
};
constexpr MeasuredSlice kMeasuredH100[] = {
    {"1g.10gb", 19, 7, 9984, 16, 0b1111111},  {"1g.10gb+me", 20, 1, 9984, 16, 0b1111111},
    {"1g.20gb", 15, 4, 20090, 26, 0b1010101}, {"2g.20gb", 14, 3, 20090, 32, 0b0010101},
    {"3g.40gb", 9, 2, 40448, 60, 0b0010001},  {"4g.40gb", 5, 1, 40448, 64, 0b0000001},
    {"7g.80gb", 0, 1, 81152, 132, 0b0000001}};
constexpr MeasuredSlice kMeasuredH200[] = {
    {"1g.18gb", 19, 7, 16384, 16, 0b1111111},  {"1g.18gb+me", 20, 1, 16384, 16, 0b1111111},
    {"1g.35gb", 15, 4, 33280, 26, 0b1010101},  {"2g.35gb", 14, 3, 33280, 32, 0b0010101},
    {"3g.71gb", 9, 2, 71424, 60, 0b0010001},   {"4g.71gb", 5, 1, 71424, 64, 0b0000001},
    {"7g.141gb", 0, 1, 143360, 132, 0b0000001}};

TEST(GpuHardware, IsWhatDevicesSay) {
  struct Device {
    std::string_view product;
    std::string_view model;
    std::int64_t memory_mib;
    std::span<const MeasuredSlice> slices;
  };
  const Device devices[] = {{"NVIDIA H100 80GB HBM3", "H100", 81559, kMeasuredH100},
                            {"NVIDIA H200", "H200", 143771, kMeasuredH200}};
  for (const Device& device : devices) {
    SCOPED_TRACE(device.product);
    const GpuModel* const model = find_gpu_model(device.product);
    ASSERT_NE(model, nullptr);
    EXPECT_EQ(model->short_name, device.model);
    EXPECT_EQ(model->memory_mib, device.memory_mib);
    const GpuHardware& hardware = *find_gpu_hardware(*model);
    ASSERT_EQ(hardware.mig_profiles.size(), device.slices.size());
    for (const MeasuredSlice& measured : device.slices) {
      SCOPED_TRACE(measured.name);
      const std::optional<std::size_t> shape = find_mig_profile(hardware, measured.name);
      ASSERT_TRUE(shape.has_value());
      const SliceShape& cut = hardware.mig->shapes()[*shape];
      EXPECT_EQ(cut.driver_id, measured.driver_id);
      EXPECT_EQ(cut.starts, measured.starts);
      EXPECT_EQ(hardware.mig->room_for(*shape, {}), measured.instances);
      EXPECT_EQ(hardware.mig_profiles[*shape].sm_count, measured.sm_count);
      // Drivers differ by a quarter of a GiB; who asks by need is to have enough under each of them.
      EXPECT_LE(hardware.mig_profiles[*shape].memory_mib, measured.memory_mib + 6) << "more than there is";
      EXPECT_GE(hardware.mig_profiles[*shape].memory_mib, measured.memory_mib - 256);
    }
  }
}

// The most processors, in thousandths, that slices take which stand beside these and begin no lower than `from`.
std::int64_t most_beside(const Flavor& flavor, MigPlaceSet layout, std::size_t from) {
  const MigGeometry& mig = *mig_of(flavor);
  std::int64_t most = 0;
  mig.open_beside(layout).for_each([&](std::size_t place) {
    if (place < from) return;
    const std::int64_t own = find_slice(flavor, std::size_t{mig.places()[place].shape})->gpu_milli;
    most = std::max(most, own + most_beside(flavor, layout.with(place), place + 1));
  });
  return most;
}

TEST(FindSlice, NoLayoutHasMoreThanAllProcessors) {
  for (const GpuHardware& hardware : gpu_hardware()) {
    const Flavor flavor{.name = "f", .model = std::string(hardware.model), .memory_mib = 0};
    if (hardware.mig == nullptr) continue;
    EXPECT_LE(most_beside(flavor, {}, 0), kMilliPerGpu) << hardware.model;
  }
  EXPECT_EQ(find_slice({.name = "f", .model = "L4", .memory_mib = 0}, std::size_t{0}), std::nullopt);
  EXPECT_EQ(find_slice({.name = "f", .model = "A30", .memory_mib = 0}, std::size_t{99}), std::nullopt);
}

TEST(CheapestMigProfile, SatisfiesTheNeed) {
  constexpr std::int64_t kGbMib = 954;  // 10^9 bytes, rounded up
  struct Case {
    std::string_view what, model;
    SliceNeed need;
    std::string_view profile;  // empty: none
  };
  const Case cases[] = {
      {"10 GB, 1/7", "H100", {10 * kGbMib - 3, 1, 7}, "1g.10gb"},
      {"10 GB, 1/7", "A100-40GB", {10 * kGbMib - 3, 1, 7}, "1g.10gb"},
      {"10 GB, 1/7", "A100-80GB", {10 * kGbMib - 3, 1, 7}, "1g.10gb"},
      {"10 GB, 1/7", "A30", {10 * kGbMib - 3, 1, 7}, "2g.12gb"},
      {"10 GiB, of which a 1g has a little less", "H100", {10240, 1, 7}, "1g.20gb"},
      {"60 GB or more", "H100", {60 * kGbMib, 0, 1}, "7g.80gb"},
      {"60 GB or more", "H200", {60 * kGbMib, 0, 1}, "3g.71gb"},
      {"60 GB or more", "B200", {60 * kGbMib, 0, 1}, "3g.90gb"},
      {"60 GB or more", "RTX-PRO-6000", {60 * kGbMib, 0, 1}, "4g.96gb"},
      {"60 GB or more", "A100-40GB", {60 * kGbMib, 0, 1}, ""},
      {"nothing in particular", "GB200", {}, "1g.23gb"},
      {"half of the processors", "H100", {0, 1, 2}, "4g.40gb"},
      {"half of the processors", "A30", {0, 1, 2}, "2g.12gb"},
      {"3/7", "H100", {0, 3, 7}, "3g.40gb"},
      {"two sevenths with little memory", "H100", {1, 2, 7}, "2g.20gb"},
      {"much memory for one seventh", "H100", {20'000, 1, 7}, "1g.20gb"},
      {"all of them", "RTX-PRO-6000", {0, 1, 1}, "4g.96gb"},
      {"a device that cannot be cut", "L4", {0, 0, 1}, ""},
  };
  for (const Case& c : cases) {
    const GpuHardware& hardware = hardware_of(c.model);
    const std::optional<std::size_t> shape = cheapest_mig_profile(hardware, c.need);
    EXPECT_EQ(shape ? hardware.mig_profiles[*shape].name : "", c.profile) << c.what << ", " << c.model;
  }
}

TEST(FindMigProfile, IsOfTheModel) {
  EXPECT_EQ(find_mig_profile(hardware_of("H100"), "1g.10gb"), 0U);
  EXPECT_EQ(find_mig_profile(hardware_of("A100-40GB"), "1g.10gb"), 2U);
  EXPECT_EQ(find_mig_profile(hardware_of("H200"), "1g.10gb"), std::nullopt);
  EXPECT_EQ(find_mig_profile(hardware_of("L4"), "1g.10gb"), std::nullopt);
  EXPECT_EQ(find_mig_profile(hardware_of("H100"), ""), std::nullopt);
}

}  // namespace berth::gpu_hardware_test
