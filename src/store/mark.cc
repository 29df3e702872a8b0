#include "store/mark.h"

#include <sqlite3.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/hash.h"
#include "store/store_file.h"

namespace berth {

namespace {

constexpr std::size_t kSlotBytes = 512;
constexpr std::uint64_t kMagic = 0x6b72616d'68747265;  // in every slot; its checksum covers it
using Slot = std::array<std::uint64_t, kSlotBytes / sizeof(std::uint64_t)>;

std::uint64_t sum_of_slot(const Slot& slot) { return Hasher().add(slot[0]).add(slot[1]).add(slot[2]).digest(); }

bool exists(const std::string& path, sqlite3_vfs* disk) {
  int found = 0;
  return disk->xAccess(disk, path.c_str(), SQLITE_ACCESS_EXISTS, &found) != SQLITE_OK || found != 0;
}

}  // namespace

bool Mark::open(const std::string& path, const std::string& vfs, int flags) {
  sqlite3_vfs* const disk = vfs_named(vfs);
  std::string full(static_cast<std::size_t>(disk->mxPathname) + 1, '\0');
  // The upper bits may say that there was a symbolic link.
  if ((disk->xFullPathname(disk, path.c_str(), disk->mxPathname + 1, full.data()) & 0xff) != SQLITE_OK) return false;
  path_ = full.c_str();
  memory_ = std::make_unique<char[]>(static_cast<std::size_t>(disk->szOsFile));
  auto* const file = reinterpret_cast<sqlite3_file*>(memory_.get());
  if (disk->xOpen(disk, path_.c_str(), file, flags, nullptr) != SQLITE_OK) return false;
  file_ = file;
  return true;
}

Mark::~Mark() {
  if (file_ != nullptr) file_->pMethods->xClose(file_);
}

Result<std::optional<Mark::Content>> Mark::read(const std::string& store_path, const std::string& vfs) {
  const std::string path = path_of(store_path);
  if (!exists(path, vfs_named(vfs))) return std::optional<Content>();
  Mark mark;
  if (!mark.open(path, vfs, SQLITE_OPEN_READONLY | SQLITE_OPEN_SUPER_JOURNAL)) {
    return Complaints({path, 0, 0}, "cannot be opened; give the user who runs this the right to read it");
  }
  std::array<Slot, 2> slots{};
  const int rc = mark.file_->pMethods->xRead(mark.file_, slots.data(), sizeof slots, 0);
  if (rc != SQLITE_OK && rc != SQLITE_IOERR_SHORT_READ) {
    return Complaints({path, 0, 0}, "cannot be read: the disk refused; check the disk");
  }
  std::optional<Content> best;
  bool blank = true;
  for (const Slot& slot : slots) {
    blank = blank && slot == Slot{};
    if (slot[0] != kMagic || slot[3] != sum_of_slot(slot)) continue;
    const Content content{static_cast<std::int64_t>(slot[1]), static_cast<Revision>(slot[2])};
    if (!best || content.revision > best->revision) best = content;
  }
  if (best || blank) return best;
  return Complaints(
      {path, 0, 0},
      "is damaged, so nobody can tell whether the store is complete; if it is as you expect, delete this file");
}

Result<std::unique_ptr<Mark>> Mark::open_to_write(const std::string& store_path, const std::string& vfs) {
  const std::string path = path_of(store_path);
  std::unique_ptr<Mark> mark(new Mark);
  // As a journal of the store: it gets the store's permissions, and its first sync covers its name in the folder.
  if (mark->open(path, vfs, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MAIN_JOURNAL)) return mark;
  return Complaints({path, 0, 0},
                    "cannot be written; give the user who runs this the right to write it and its folder");
}

void Mark::remove(const std::string& store_path, const std::string& vfs) {
  sqlite3_vfs* const disk = vfs_named(vfs);
  disk->xDelete(disk, path_of(store_path).c_str(), 1);
}

void Mark::write(Content content) noexcept {
  Slot slot{kMagic, static_cast<std::uint64_t>(content.epoch), static_cast<std::uint64_t>(content.revision)};
  slot[3] = sum_of_slot(slot);
  const sqlite3_int64 offset = static_cast<sqlite3_int64>(next_slot_ * sizeof slot);
  if (file_->pMethods->xWrite(file_, slot.data(), sizeof slot, offset) == SQLITE_OK) next_slot_ = 1 - next_slot_;
}

void Mark::sync() noexcept { file_->pMethods->xSync(file_, SQLITE_SYNC_FULL); }

}  // namespace berth
