#include "model/gpu.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace berth::gpu_test {

TEST(GpuCatalogue, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (const GpuModel& model : gpu_catalogue()) {
    EXPECT_TRUE(names.insert(model.short_name).second) << model.short_name;
    EXPECT_TRUE(model.name == model.short_name || names.insert(model.name).second) << model.name;
    EXPECT_EQ(find_gpu_model(model.name), &model);
    EXPECT_EQ(find_gpu_model(model.short_name), &model);
    EXPECT_TRUE(model.also.empty() || names.insert(model.also).second) << model.also;
    EXPECT_TRUE(model.also.empty() || find_gpu_model(model.also) == &model) << model.also;
    EXPECT_GE(model.memory_mib, 0);
  }
}

TEST(GpuCatalogue, HasTheModelsOfTraces) {
  struct Case {
    std::string_view name;
    std::int64_t memory_mib;
  };
  const Case cases[] = {
      {"P100", 16384},
      {"T4", 15360},
      {"V100M16", 16384},
      {"V100M32", 32768},
      {"G2", 0},
      {"G3", 0},
      {"A10", 24576},
      {"gpu", 0},
      {"H100", 81559},
      {"H200", 143771},
      {"A30", 24576},
      {"L4", 23034},
      {"A100-SXM4-80GB", 81920},
      {"V100-SXM2-16GB", 16384},
      {"V100-PCIE-16GB", 16384},
      {"T4-16GB", 15360},
      {"GH200-480GB", 97871},
      {"RTX PRO 6000 Blackwell Server Edition", 97887},
  };
  for (const Case& c : cases) {
    const GpuModel* const model = find_gpu_model(c.name);
    ASSERT_NE(model, nullptr) << c.name;
    EXPECT_EQ(model->memory_mib, c.memory_mib) << c.name;
  }
  EXPECT_EQ(find_gpu_model("H100")->name, "H100-SXM5-80GB");
}

TEST(GpuCatalogue, KnowsWhatDevicesCallThemselves) {
  struct Case {
    std::string_view product;
    std::string_view model;
  };
  const Case cases[] = {
      {"NVIDIA H100 80GB HBM3", "H100"},
      {"NVIDIA-H100-80GB-HBM3", "H100"},
      {"NVIDIA H200", "H200"},
      {"NVIDIA H100 PCIe", "H100-PCIe"},
      {"NVIDIA-A100-SXM4-40GB", "A100-40GB"},
      {"NVIDIA-A100-80GB-PCIe", "A100-PCIe-80GB"},
      {"NVIDIA GH200 480GB", "GH200"},
      {"NVIDIA GH200 144G HBM3e", "GH200-144GB"},
      {"Tesla-P100-PCIE-16GB", "P100"},
      {"NVIDIA-L40S", "L40S"},
  };
  for (const Case& c : cases) {
    const GpuModel* const model = find_gpu_model(c.product);
    ASSERT_NE(model, nullptr) << c.product;
    EXPECT_EQ(model->short_name, c.model) << c.product;
  }
}

TEST(GpuCatalogue, IsLetterForLetter) {
  for (const std::string_view name :
       {"", "h100", "H100 ", "H10O", "A100", "GPU", "NVIDIA-", "NVIDIA", "nvidia-H100", "NVIDIA-NVIDIA-H100"})
    EXPECT_EQ(find_gpu_model(name), nullptr) << name;
}

TEST(NearestGpuModel, GuessesWhatWasMeant) {
  EXPECT_EQ(nearest_gpu_model("H10O"), "H100");
  EXPECT_EQ(nearest_gpu_model("h100"), "H100");
  EXPECT_EQ(nearest_gpu_model("V100M23"), "V100M32");
  EXPECT_EQ(nearest_gpu_model("A100"), "A100-80GB");
  EXPECT_EQ(nearest_gpu_model("l4"), "L4");
  EXPECT_EQ(nearest_gpu_model("tesla-t4"), "Tesla-T4");
  EXPECT_EQ(nearest_gpu_model("abacus"), "");
  EXPECT_EQ(nearest_gpu_model(""), "");
  EXPECT_EQ(nearest_gpu_model(std::string(1 << 20, 'H')), "");
}

}  // namespace berth::gpu_test
