#include "service/journal_folder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "sim/journal_file.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEnding = ".journal";

// The journals that lie in a folder, by number.
std::map<std::uint64_t, fs::path> journals_in(const std::string& folder) {
  std::map<std::uint64_t, fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != kEnding) continue;
    const std::string stem = entry.path().stem().string();
    std::uint64_t number = 0;
    const auto [end, bad] = std::from_chars(stem.data(), stem.data() + stem.size(), number);
    if (bad == std::errc() && end == stem.data() + stem.size()) found[number] = entry.path();
  }
  return found;
}

// One more is to come: the oldest go, until those that stay and it are few or small enough.
void make_room(std::map<std::uint64_t, fs::path> there, std::uint64_t bytes_kept) {
  const auto size_of = [](const fs::path& path) -> std::uint64_t {
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(path, error);
    return error ? 0 : bytes;
  };
  std::uint64_t bytes = 0;
  for (const auto& [number, path] : there) bytes += size_of(path);
  while (there.size() >= JournalFolder::kFilesKeptMin &&
         (bytes > bytes_kept || there.size() >= JournalFolder::kFilesKeptMax)) {
    const fs::path oldest = there.begin()->second;
    bytes -= std::min(bytes, size_of(oldest));
    std::error_code error;
    fs::remove(oldest, error);
    there.erase(there.begin());
  }
}

}  // namespace

struct JournalFolder::Open {
  JournalFile file;
  std::uint64_t bytes = 0;
};

JournalFolder::JournalFolder(std::string path, std::function<void(const std::string&)> log, std::uint64_t bytes_kept)
    : path_(std::move(path)), bytes_kept_(bytes_kept), log_(std::move(log)) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) log_(path_ + ": cannot be made (" + error.message() + "); there will be no journal");
}

Session::Recorder JournalFolder::begin() {
  if (open_) {
    if (const auto closed = open_->file.close(); !closed) log_(closed.error().to_string());
    open_.reset();
  }
  const std::map<std::uint64_t, fs::path> there = journals_in(path_);
  const std::uint64_t number = there.empty() ? 1 : there.rbegin()->first + 1;
  make_room(there, bytes_kept_);
  auto file = JournalFile::create(fmt::format("{}/{:06}{}", path_, number, kEnding));
  if (!file) {
    log_(file.error().to_string());
    return nullptr;
  }
  open_ = std::make_shared<Open>(std::move(*file));
  open_->file.begin_section(0, 1);
  return [weak = std::weak_ptr<Open>(open_)](const Bytes& payload) {
    const auto open = weak.lock();
    if (!open) return;
    open->file.append(payload);
    open->file.flush();
    open->bytes += payload.size();
  };
}

std::uint64_t JournalFolder::bytes() const { return open_ ? open_->bytes : 0; }

}  // namespace berth
