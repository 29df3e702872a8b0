#include "model/gpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace berth {
namespace {

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

TEST(GpuCatalogue, IsLetterForLetter) {
  for (const std::string_view name : {"", "h100", "H100 ", "H10O", "A100", "GPU"})
    EXPECT_EQ(find_gpu_model(name), nullptr) << name;
}

// One model of the list of devices that is kept beside the checkout.
struct ListedGpu {
  std::vector<std::string> names;
  std::int64_t memory_mib = 0;
};

// Enough of YAML for that file's "- id: A", "  aliases: [B, C]" and "  memory_mib: 1".
std::vector<ListedGpu> read_listed_gpus(std::istream& file) {
  std::vector<ListedGpu> gpus;
  for (std::string line; std::getline(file, line);) {
    const auto rest_after = [&line](std::string_view key) { return line.substr(key.size()); };
    constexpr std::string_view kId = "- id: ";
    constexpr std::string_view kAliases = "  aliases: [";
    constexpr std::string_view kMemory = "  memory_mib: ";
    if (line.starts_with(kId)) gpus.push_back({{rest_after(kId)}, 0});
    if (line.starts_with(kMemory)) gpus.back().memory_mib = std::stoll(rest_after(kMemory));
    if (!line.starts_with(kAliases)) continue;
    std::string aliases = rest_after(kAliases);
    std::replace(aliases.begin(), aliases.end(), ']', ',');
    for (std::size_t end = 0; (end = aliases.find(',')) != std::string::npos;) {
      gpus.back().names.push_back(aliases.substr(0, end));
      aliases.erase(0, aliases.find_first_not_of(", ", end));
    }
  }
  return gpus;
}

TEST(GpuCatalogue, HasWhatTheListOfDevicesHas) {
  const char* const folder = std::getenv("BERTH_DATA");
  std::ifstream file(std::string(folder == nullptr ? "../shared/data" : folder) + "/gpu-catalog.yaml");
  if (!file) GTEST_SKIP() << "no list of devices here";
  const std::vector<ListedGpu> gpus = read_listed_gpus(file);
  EXPECT_GE(gpus.size(), 18U);
  for (const ListedGpu& gpu : gpus) {
    for (const std::string& name : gpu.names) {
      const GpuModel* const model = find_gpu_model(name);
      ASSERT_NE(model, nullptr) << name;
      EXPECT_EQ(model->memory_mib, gpu.memory_mib) << name;
    }
  }
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

}  // namespace
}  // namespace berth
