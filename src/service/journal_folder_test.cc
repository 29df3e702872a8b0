#include "service/journal_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace berth::journal_folder_test {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

TEST(JournalFolder, KeepsTheNewestEightAndOfTheOthersWhatHasRoom) {
  struct Case {
    const char* what;
    int files;            // of 1,000 bytes each
    std::uint64_t bytes;  // that are kept
    std::size_t left;     // with the one that is begun
  };
  const Case cases[] = {
      {"many small ones", 30, 30'000, 31},      {"one too many", 30, 29'999, 30},
      {"as many as have room", 30, 12'500, 13}, {"eight all the same", 30, 10, 8},
      {"fewer are not touched", 5, 10, 6},      {"a thousand", 1005, 1 << 30, 1000},
  };
  const fs::path folder = fs::temp_directory_path() / fmt::format("berth-journals-{}", ::getpid());
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    fs::remove_all(folder);
    fs::create_directories(folder);
    for (int i = 1; i <= each.files; ++i)
      std::ofstream(folder / fmt::format("{:06}.journal", i)) << std::string(1000, 'x');
    std::ofstream(folder / "forecasts") << "no journal";
    JournalFolder journals(folder.string(), [](const std::string& text) { FAIL() << text; }, each.bytes);
    EXPECT_NE(journals.begin(), nullptr);
    const std::vector<std::string> names = names_in(folder);
    EXPECT_EQ(names.size(), each.left + 1);
    EXPECT_EQ(names.front(), fmt::format("{:06}.journal", each.files + 2 - static_cast<int>(each.left)));
    EXPECT_EQ(names.back(), "forecasts");
  }
  fs::remove_all(folder);
}

}  // namespace berth::journal_folder_test
