// The catalogue beside a list of devices that is kept beside the checkout: memory, processors, links, and every way to cut a slice.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/gpu.h"
#include "model/gpu_hardware.h"

namespace berth::listed_gpus_test {

// Nothing where the list says null.
using Number = std::optional<std::int64_t>;
using Engines = std::map<std::string, Number>;

struct ListedProfile {
  std::string name;
  std::map<std::string, Number> numbers;  // by key; GiB in hundredths
  std::vector<std::int64_t> starts;
  Engines engines;
};

struct ListedGpu {
  std::vector<std::string> names;
  std::map<std::string, Number> numbers;
  std::map<std::string, Number> nvlink;  // empty: none
  Engines engines;
  std::vector<ListedProfile> profiles;
};

Number to_number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string::npos) return std::nullopt;
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return std::stoll(text);
  const std::string cents = (text.substr(point + 1) + "00").substr(0, 2);
  return std::stoll(text.substr(0, point)) * 100 + std::stoll(cents);
}

// The words between brackets: "[B, C D]".
std::vector<std::string> words_in(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ',') {
      words.emplace_back();
    } else if (std::string_view("[]{}").find(c) == std::string_view::npos && (c != ' ' || !words.back().empty())) {
      words.back() += c;
    }
  }
  return words;
}

// The pairs between braces: "{gen: 4, links: 18}".
std::map<std::string, Number> pairs_in(const std::string& text) {
  std::map<std::string, Number> pairs;
  if (!text.starts_with('{')) return pairs;
  for (const std::string& word : words_in(text)) {
    const std::size_t colon = word.find(": ");
    if (colon != std::string::npos) pairs[word.substr(0, colon)] = to_number(word.substr(colon + 2));
  }
  return pairs;
}

void read_profile_line(const std::string& key, const std::string& value, ListedProfile& profile) {
  if (key == "engines") {
    profile.engines = pairs_in(value);
  } else if (key == "starts") {
    for (const std::string& start : words_in(value)) profile.starts.push_back(std::stoll(start));
  } else {
    profile.numbers[key] = to_number(value);
  }
}

void read_gpu_line(const std::string& key, const std::string& value, ListedGpu& gpu) {
  if (key == "aliases") {
    for (const std::string& name : words_in(value)) gpu.names.push_back(name);
  } else if (key == "nvlink") {
    gpu.nvlink = pairs_in(value);
  } else if (key == "pcie") {
    gpu.numbers["pcie"] = pairs_in(value)["gen"];
  } else if (key == "engine_totals") {
    gpu.engines = pairs_in(value);
  } else {
    gpu.numbers[key] = to_number(value);
  }
}

// Enough of YAML for that file: one key a line, lists and maps of words on one.
std::vector<ListedGpu> read_listed_gpus(std::istream& file) {
  std::vector<ListedGpu> gpus;
  for (std::string line; std::getline(file, line);) {
    const std::size_t at = std::min(line.find_first_not_of(" -"), line.size());
    const std::size_t colon = line.find(": ", at);
    if (colon == std::string::npos) continue;
    const std::string key = line.substr(at, colon - at);
    const std::string value = line.substr(colon + 2);
    if (line.starts_with("- id: ")) gpus.emplace_back().names = {value};
    if (gpus.empty()) continue;
    std::vector<ListedProfile>& profiles = gpus.back().profiles;
    if (line.starts_with("    - name: ")) profiles.emplace_back().name = value;
    if (profiles.empty()) {
      read_gpu_line(key, value, gpus.back());
    } else if (line.starts_with("      ")) {
      read_profile_line(key, value, profiles.back());
    }
  }
  return gpus;
}

const GpuHardware* hardware_of(const std::string& name) {
  const GpuModel* const model = find_gpu_model(name);
  return model == nullptr ? nullptr : find_gpu_hardware(*model);
}

void expect_in_the_catalogue(const std::vector<ListedGpu>& gpus) {
  for (const ListedGpu& gpu : gpus) {
    for (const std::string& name : gpu.names) {
      const GpuModel* const model = find_gpu_model(name);
      ASSERT_NE(model, nullptr) << name;
      EXPECT_EQ(model->memory_mib, gpu.numbers.at("memory_mib")) << name;
      ASSERT_NE(find_gpu_hardware(*model), nullptr) << name;
    }
  }
}

void expect_processors_and_links(const std::vector<ListedGpu>& gpus) {
  for (const ListedGpu& gpu : gpus) {
    SCOPED_TRACE(gpu.names[0]);
    const GpuHardware* const hardware = hardware_of(gpu.names[0]);
    ASSERT_NE(hardware, nullptr);
    EXPECT_EQ(hardware->sm_count, gpu.numbers.at("sm_count"));
    EXPECT_EQ(hardware->pcie_generation, gpu.numbers.at("pcie"));
    EXPECT_EQ(hardware->nvlink_generation, gpu.nvlink.empty() ? 0 : gpu.nvlink.at("gen"));
    EXPECT_EQ(hardware->nvlink_gb_per_s, gpu.nvlink.empty() ? 0 : gpu.nvlink.at("bidir_gbs"));
    // The list has the same row for a GPU with a CPU and for one without.
    const GpuHardware* const with_cpu = gpu.names[0] == "H100-96GB" ? hardware_of("GH200") : hardware;
    EXPECT_EQ(with_cpu->cpu_link_gb_per_s, gpu.nvlink.contains("c2c_bidir_gbs") ? gpu.nvlink.at("c2c_bidir_gbs") : 0);
  }
}

void expect_shapes(const std::vector<ListedGpu>& gpus) {
  for (const ListedGpu& gpu : gpus) {
    for (const std::string& name : gpu.names) {
      SCOPED_TRACE(name);
      const GpuHardware* const hardware = hardware_of(name);
      ASSERT_NE(hardware, nullptr);
      ASSERT_EQ(hardware->mig_profiles.size(), gpu.profiles.size());
      if (gpu.profiles.empty()) continue;
      EXPECT_EQ(hardware->mig->compute_slices(), gpu.numbers.at("compute_slices"));
      EXPECT_EQ(hardware->mig->memory_slices(), gpu.numbers.at("memory_slices"));
      for (std::size_t shape = 0; shape < gpu.profiles.size(); ++shape) {
        const ListedProfile& listed = gpu.profiles[shape];
        const SliceShape& cut = hardware->mig->shapes()[shape];
        SCOPED_TRACE(listed.name);
        EXPECT_EQ(hardware->mig_profiles[shape].name, listed.name);
        EXPECT_EQ(cut.driver_id, listed.numbers.at("profile_id"));
        EXPECT_EQ(cut.compute_slices, listed.numbers.at("compute_slices"));
        EXPECT_EQ(cut.memory_slices, listed.numbers.at("memory_slices"));
        EXPECT_EQ(cut.memory_slices, listed.numbers.at("size"));
        std::uint32_t starts = 0;
        for (const std::int64_t start : listed.starts) starts |= std::uint32_t{1} << start;
        EXPECT_EQ(cut.starts, starts);
      }
    }
  }
}

void expect_sizes_of_slices(const std::vector<ListedGpu>& gpus) {
  for (const ListedGpu& gpu : gpus) {
    for (std::size_t shape = 0; shape < gpu.profiles.size(); ++shape) {
      const ListedProfile& listed = gpu.profiles[shape];
      SCOPED_TRACE(gpu.names[0] + " " + listed.name);
      const MigProfile& profile = hardware_of(gpu.names[0])->mig_profiles[shape];
      EXPECT_EQ(profile.sm_count, listed.numbers.at("sm_count").value_or(0));
      // Hundredths of a GiB are rounded; all sizes are in sixteenths.
      const Number gib_hundredths = listed.numbers.at("memory_gib");
      const std::int64_t mib = gib_hundredths ? *gib_hundredths * 1024 / 100 : profile.memory_mib;
      EXPECT_LE(std::abs(profile.memory_mib - mib), 6);
      EXPECT_EQ(profile.memory_mib % 64, 0);
    }
  }
}

// Engines of each kind: no layout has more than the device, and one more slice is refused only where memory or engines lack.
void expect_engines_for_every_layout(const std::vector<ListedGpu>& gpus) {
  for (const ListedGpu& gpu : gpus) {
    if (gpu.profiles.empty()) continue;
    SCOPED_TRACE(gpu.names[0]);
    const MigGeometry& mig = *hardware_of(gpu.names[0])->mig;
    const auto engines_suffice = [&](MigPlaceSet places) {
      for (const auto& [engine, total] : gpu.engines) {
        std::int64_t used = 0;
        places.for_each(
            [&](std::size_t place) { used += gpu.profiles[mig.places()[place].shape].engines.at(engine).value_or(0); });
        if (used > total) return false;
      }
      return true;
    };
    const auto instances_suffice = [&](MigPlaceSet places) {
      std::map<std::size_t, std::int64_t> instances;
      places.for_each([&](std::size_t place) { ++instances[mig.places()[place].shape]; });
      for (const auto& [shape, count] : instances)
        if (count > gpu.profiles[shape].numbers.at("max_instances")) return false;
      return true;
    };
    std::size_t layouts = 0;
    const auto visit = [&](const auto& self, MigPlaceSet layout, std::size_t from) -> void {
      ++layouts;
      const MigPlaceSet open = mig.open_beside(layout);
      for (std::size_t place = 0; place < mig.places().size(); ++place) {
        const MigPlaceSet more = layout.with(place);
        const bool apart = (mig.memory_of(layout) & mig.memory_of(place)) == 0;
        ASSERT_EQ(open.contains(place), apart && instances_suffice(more) && engines_suffice(more))
            << layout.bits() << " and " << place;
        if (open.contains(place) && place >= from) self(self, more, place + 1);
      }
    };
    visit(visit, {}, 0);
    EXPECT_GE(layouts, 26U);
  }
}

TEST(ListedGpus, AreAsTheCatalogueSays) {
  const char* const folder = std::getenv("BERTH_DATA");
  std::ifstream file(std::string(folder == nullptr ? "../shared/data" : folder) + "/gpu-catalog.yaml");
  if (!file) GTEST_SKIP() << "no list of devices here";
  const std::vector<ListedGpu> gpus = read_listed_gpus(file);
  ASSERT_GE(gpus.size(), 18U);
  expect_in_the_catalogue(gpus);
  if (HasFatalFailure()) return;
  expect_processors_and_links(gpus);
  expect_shapes(gpus);
  if (HasFatalFailure()) return;
  expect_sizes_of_slices(gpus);
  expect_engines_for_every_layout(gpus);
}

}  // namespace berth::listed_gpus_test
