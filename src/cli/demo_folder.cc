#include "cli/demo_folder.h"

#include <filesystem>
#include <system_error>

#include "cli/control_plane.h"
#include "sim/files.h"

namespace berth {
namespace {

constexpr const char* kMark = "made-by-berth-demo";

}  // namespace

Complaints claim_demo_folder(const std::string& path) {
  std::error_code error;
  const std::filesystem::path folder(path), mark = folder / kMark;
  if (std::filesystem::exists(mark, error)) return {};
  std::filesystem::create_directories(folder, error);
  if (error) return Complaints({path}, "the folder cannot be made: " + error.message());
  const bool empty = std::filesystem::is_empty(folder, error);
  if (error) return Complaints({path}, "is no folder that can be read: " + error.message());
  if (!empty) {
    return Complaints({path}, "something else than a demo lies in this folder; name another one with --data");
  }
  const auto written =
      write_private_file(mark.string(), "`berth demo` made this folder; --fresh removes what is in it\n");
  return written ? Complaints() : written.error();
}

Complaints clear_demo_folder(const std::string& path) {
  // The lock lies in `run`; the mark goes never, so that a removal that was cut short can be finished.
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const std::string name = entry.path().filename().string();
    if (name == "run" || name == kMark) continue;
    std::filesystem::remove_all(entry.path(), error);
    if (error) return Complaints({entry.path().string()}, "cannot be removed: " + error.message());
  }
  return error ? Complaints({path}, "cannot be read: " + error.message()) : Complaints();
}

}  // namespace berth
