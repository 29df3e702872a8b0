// Where the recorded traces are that tests read when they are there; they are not part of the repository.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace berth {

// The folder's name: BERTH_DATA, or shared/data beside the checkout, whose root is where tests run; nothing, and one line
// about it, if there is none.
inline std::optional<std::string> test_data_folder() {
  std::string folder = "../shared/data";
  if (const char* const given = std::getenv("BERTH_DATA")) folder = given;
  if (std::filesystem::is_directory(folder)) return folder;
  std::printf("skipped: no recorded traces here; set BERTH_DATA to their folder\n");
  return std::nullopt;
}

}  // namespace berth
