#include "store/faulty_disk.h"

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "base/assert.h"

namespace berth {

namespace {

constexpr std::size_t kSector = 512;
constexpr int kNameMax = 512;

void write_at(std::string& bytes, std::size_t offset, std::string_view text) {
  if (bytes.size() < offset + text.size()) bytes.resize(offset + text.size(), '\0');
  std::copy(text.begin(), text.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
}

}  // namespace

// What FaultyDisk::Contents is made of.
namespace faulty_disk {

// One write or truncation (no text, `offset` the new size) that has not been synced.
struct Unsure {
  std::size_t offset = 0;
  std::optional<std::string> text;
};

// What a running system does to a file that has a name.
struct Step {
  enum class What : std::uint8_t { kCreate, kWrite, kTruncate, kSync, kRemove, kRemoveForGood };
  What what = What::kWrite;
  std::string file = {};
  std::size_t offset = 0;  // kTruncate: the new size
  std::string text = {};
  bool names_too = false;  // kSync: the folder with it
};

struct File {
  std::string name;     // empty: nobody finds it again
  std::string bytes;    // as the running system sees it
  std::string durable;  // as a power cut that loses everything unsynced leaves it
  std::vector<Unsure> unsure;
  bool name_is_durable = false;
  std::map<const void*, int> locks;  // by handle, SQLITE_LOCK_...

  // PRE: it is about what is in the file.
  void take(const Step& step) {
    if (step.what == Step::What::kWrite) {
      write_at(bytes, step.offset, step.text);
      unsure.push_back({step.offset, step.text});
    } else if (step.what == Step::What::kTruncate) {
      bytes.resize(step.offset, '\0');
      unsure.push_back({step.offset, std::nullopt});
    } else {
      settle();
    }
  }

  void settle() {
    for (const Unsure& change : unsure) {
      if (change.text) {
        write_at(durable, change.offset, *change.text);
      } else {
        durable.resize(change.offset, '\0');
      }
    }
    unsure.clear();
    name_is_durable = true;
  }

  void tear(Rng& rng) {
    bytes = durable;
    for (const Unsure& change : unsure) {
      if (!change.text) {
        if (rng.below(2) == 0) bytes.resize(change.offset);
        continue;
      }
      for (std::size_t at = 0; at < change.text->size();) {
        // Sectors lie on the disk, not in the write.
        const std::size_t step = std::min(kSector - (change.offset + at) % kSector, change.text->size() - at);
        if (rng.below(2) == 0) write_at(bytes, change.offset + at, std::string_view(*change.text).substr(at, step));
        at += step;
      }
    }
  }
};
using FilePtr = std::shared_ptr<File>;

}  // namespace faulty_disk

namespace {

using faulty_disk::File;
using faulty_disk::FilePtr;
using faulty_disk::Step;

struct Handle {
  sqlite3_file base;
  FaultyDisk* disk;
  FilePtr* file;
  bool is_new_journal;
};

std::string plain(std::string_view name) { return std::string(name.starts_with("./") ? name.substr(2) : name); }

}  // namespace

struct FaultyDisk::Contents {
  sqlite3_vfs vfs{};
  mutable std::mutex mutex;
  std::map<std::string, FilePtr> files;
  std::map<std::string, FilePtr> deleted;  // their deletion is not durable
  std::int64_t writes = 0;
  std::int64_t fails_at = std::numeric_limits<std::int64_t>::max();
  Failure failure = Failure::kPowerCut;
  struct Recorded {
    std::int64_t writes = 0;  // when it was done
    Step step;
  };
  bool recording = false;
  std::vector<Recorded> recorded;
  std::size_t replayed = 0;  // of what another recorded

  void note(Step step) {
    if (recording && !step.file.empty()) recorded.push_back({writes, std::move(step)});
  }
  FilePtr create(const std::string& name) {
    deleted.erase(name);
    const auto file = std::make_shared<File>();
    file->name = name;
    files[name] = file;
    return file;
  }
  void remove(const std::string& name, bool for_good) {
    const auto found = files.find(name);
    if (!for_good && found->second->name_is_durable) deleted[name] = found->second;
    found->second->name.clear();
    files.erase(found);
  }
  void take(const Step& step) {
    if (step.what == Step::What::kCreate) {
      create(step.file);
    } else if (step.what == Step::What::kRemove || step.what == Step::What::kRemoveForGood) {
      remove(step.file, step.what == Step::What::kRemoveForGood);
    } else {
      files.at(step.file)->take(step);
      if (step.names_too) settle_names();
    }
  }
  void settle_names() {
    deleted.clear();
    for (const auto& [name, file] : files) file->name_is_durable = true;
  }

  bool failing() const { return writes >= fails_at; }
  bool is_off() const { return failing() && failure == Failure::kPowerCut; }
};

// What SQLite calls.
struct FaultyDiskVfs {
  using Contents = FaultyDisk::Contents;
  using Failure = FaultyDisk::Failure;

  static Contents& contents(sqlite3_vfs* vfs) { return *static_cast<FaultyDisk*>(vfs->pAppData)->contents_; }
  static Contents& contents(sqlite3_file* file) { return *handle(file).disk->contents_; }
  static Handle& handle(sqlite3_file* file) { return *reinterpret_cast<Handle*>(file); }
  static File& file_of(sqlite3_file* file) { return **handle(file).file; }

  // Counts one change to the disk; the code of its failure, or SQLITE_OK.
  static int begin_change(Contents& disk, int io_error, bool grows) {
    if (!disk.failing()) {
      ++disk.writes;
      return SQLITE_OK;
    }
    if (disk.failure != Failure::kDiskFull) return io_error;
    return grows ? SQLITE_FULL : SQLITE_OK;
  }

  static void change(Contents& disk, File& file, Step step) {
    file.take(step);
    disk.note(std::move(step));
  }

  static int open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* opened, int flags, int* out_flags) {
    opened->pMethods = nullptr;
    Contents& disk = contents(vfs);
    const std::lock_guard lock(disk.mutex);
    if (disk.is_off()) return SQLITE_CANTOPEN;
    FilePtr file = std::make_shared<File>();
    bool is_new = false;
    if (name != nullptr) {
      const auto found = disk.files.find(plain(name));
      if (found != disk.files.end()) {
        file = found->second;
      } else {
        if ((flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
        is_new = true;
        file = disk.create(plain(name));
        disk.note({.what = Step::What::kCreate, .file = plain(name)});
      }
    }
    Handle& self = handle(opened);
    self.disk = static_cast<FaultyDisk*>(vfs->pAppData);
    self.file = new FilePtr(std::move(file));
    constexpr int kJournals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL;
    self.is_new_journal = is_new && (flags & kJournals) != 0;
    self.base.pMethods = &methods();
    if (out_flags != nullptr) *out_flags = flags;
    return SQLITE_OK;
  }

  static int close(sqlite3_file* file) {
    unlock(file, SQLITE_LOCK_NONE);
    delete handle(file).file;
    return SQLITE_OK;
  }

  static int read(sqlite3_file* file, void* into, int amount, sqlite3_int64 offset) {
    Contents& disk = contents(file);
    const std::lock_guard lock(disk.mutex);
    if (disk.is_off()) return SQLITE_IOERR_READ;
    const std::string& bytes = file_of(file).bytes;
    const auto from = std::min(static_cast<std::size_t>(offset), bytes.size());
    const auto got = std::min(static_cast<std::size_t>(amount), bytes.size() - from);
    std::memcpy(into, bytes.data() + from, got);
    std::memset(static_cast<char*>(into) + got, 0, static_cast<std::size_t>(amount) - got);
    return got == static_cast<std::size_t>(amount) ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
  }

  static int write(sqlite3_file* file, const void* from, int amount, sqlite3_int64 at) {
    Contents& disk = contents(file);
    const std::lock_guard lock(disk.mutex);
    File& self = file_of(file);
    std::string_view text(static_cast<const char*>(from), static_cast<std::size_t>(amount));
    const auto offset = static_cast<std::size_t>(at);
    const int rc = begin_change(disk, SQLITE_IOERR_WRITE, offset + text.size() > self.bytes.size());
    // A full disk takes the part for which there is a place.
    if (rc == SQLITE_FULL) text = text.substr(0, self.bytes.size() - std::min(offset, self.bytes.size()));
    if (rc != SQLITE_OK && rc != SQLITE_FULL) return rc;
    if (!text.empty()) change(disk, self, {Step::What::kWrite, self.name, offset, std::string(text)});
    return rc;
  }

  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    Contents& disk = contents(file);
    const std::lock_guard lock(disk.mutex);
    if (const int rc = begin_change(disk, SQLITE_IOERR_TRUNCATE, false); rc != SQLITE_OK) return rc;
    File& self = file_of(file);
    change(disk, self, {Step::What::kTruncate, self.name, static_cast<std::size_t>(size), {}});
    return SQLITE_OK;
  }

  static int sync(sqlite3_file* file, int /*flags*/) {
    Contents& disk = contents(file);
    const std::lock_guard lock(disk.mutex);
    if (const int rc = begin_change(disk, SQLITE_IOERR_FSYNC, false); rc != SQLITE_OK) return rc;
    File& self = file_of(file);
    // As SQLite does it on Linux: the first sync of a journal that it made is one of the folder too.
    const bool names_too = std::exchange(handle(file).is_new_journal, false);
    change(disk, self, {.what = Step::What::kSync, .file = self.name, .names_too = names_too});
    if (names_too) disk.settle_names();
    return SQLITE_OK;
  }

  static int file_size(sqlite3_file* file, sqlite3_int64* size) {
    Contents& disk = contents(file);
    const std::lock_guard lock(disk.mutex);
    if (disk.is_off()) return SQLITE_IOERR_FSTAT;
    *size = static_cast<sqlite3_int64>(file_of(file).bytes.size());
    return SQLITE_OK;
  }

  // SHARED goes with everything up to RESERVED, and nothing with EXCLUSIVE.
  static int lock(sqlite3_file* file, int level) {
    const std::lock_guard lock(contents(file).mutex);
    std::map<const void*, int>& locks = file_of(file).locks;
    for (const auto& [other, held] : locks) {
      if (other == file) continue;
      if (held >= SQLITE_LOCK_PENDING || (level >= SQLITE_LOCK_RESERVED && held >= SQLITE_LOCK_RESERVED) ||
          (level == SQLITE_LOCK_EXCLUSIVE && held >= SQLITE_LOCK_SHARED)) {
        return SQLITE_BUSY;
      }
    }
    int& mine = locks[file];
    mine = std::max(mine, level);
    return SQLITE_OK;
  }

  static int unlock(sqlite3_file* file, int level) {
    const std::lock_guard lock(contents(file).mutex);
    std::map<const void*, int>& locks = file_of(file).locks;
    if (level == SQLITE_LOCK_NONE) {
      locks.erase(file);
    } else {
      locks[file] = level;
    }
    return SQLITE_OK;
  }

  static int is_reserved(sqlite3_file* file, int* reserved) {
    const std::lock_guard lock(contents(file).mutex);
    const auto& locks = file_of(file).locks;
    *reserved =
        std::any_of(locks.begin(), locks.end(), [](const auto& held) { return held.second >= SQLITE_LOCK_RESERVED; });
    return SQLITE_OK;
  }

  static int remove(sqlite3_vfs* vfs, const char* name, int sync_folder) {
    Contents& disk = contents(vfs);
    const std::lock_guard lock(disk.mutex);
    const auto found = disk.files.find(plain(name));
    if (found == disk.files.end()) return SQLITE_IOERR_DELETE_NOENT;
    if (const int rc = begin_change(disk, SQLITE_IOERR_DELETE, false); rc != SQLITE_OK) return rc;
    disk.remove(plain(name), sync_folder != 0);
    disk.note({.what = sync_folder != 0 ? Step::What::kRemoveForGood : Step::What::kRemove, .file = plain(name)});
    return SQLITE_OK;
  }

  static int access(sqlite3_vfs* vfs, const char* name, int flags, int* answer) {
    Contents& disk = contents(vfs);
    const std::lock_guard lock(disk.mutex);
    if (disk.is_off()) return SQLITE_IOERR_ACCESS;
    const auto found = disk.files.find(plain(name));
    // SQLite asks whether a log exists and means one with something in it.
    *answer = found != disk.files.end() && (flags != SQLITE_ACCESS_EXISTS || !found->second->bytes.empty());
    return SQLITE_OK;
  }

  static int full_name(sqlite3_vfs* /*vfs*/, const char* name, int space, char* into) {
    const std::string full = plain(name);
    if (full.size() >= static_cast<std::size_t>(space)) return SQLITE_CANTOPEN;
    std::memcpy(into, full.c_str(), full.size() + 1);
    return SQLITE_OK;
  }

  static int control(sqlite3_file* /*file*/, int /*operation*/, void* /*argument*/) { return SQLITE_NOTFOUND; }
  static int sector_size(sqlite3_file* /*file*/) { return 4'096; }
  // As SQLite takes it for granted on every file system of Linux.
  static int characteristics(sqlite3_file* /*file*/) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

  static const sqlite3_io_methods& methods() {
    static const sqlite3_io_methods kMethods = [] {
      sqlite3_io_methods methods{};
      methods.iVersion = 1;
      methods.xClose = close;
      methods.xRead = read;
      methods.xWrite = write;
      methods.xTruncate = truncate;
      methods.xSync = sync;
      methods.xFileSize = file_size;
      methods.xLock = lock;
      methods.xUnlock = unlock;
      methods.xCheckReservedLock = is_reserved;
      methods.xFileControl = control;
      methods.xSectorSize = sector_size;
      methods.xDeviceCharacteristics = characteristics;
      return methods;
    }();
    return kMethods;
  }

  // Clock, sleep and randomness are the system's.
  static void register_vfs(FaultyDisk& owner) {
    sqlite3_vfs& vfs = owner.contents_->vfs;
    vfs = *sqlite3_vfs_find(nullptr);
    vfs.iVersion = 1;
    vfs.szOsFile = sizeof(Handle);
    vfs.mxPathname = kNameMax;
    vfs.pNext = nullptr;
    vfs.zName = owner.name_.c_str();
    vfs.pAppData = &owner;
    vfs.xOpen = open;
    vfs.xDelete = remove;
    vfs.xAccess = access;
    vfs.xFullPathname = full_name;
    vfs.xGetLastError = [](sqlite3_vfs* /*vfs*/, int /*size*/, char* /*text*/) { return 0; };
    sqlite3_vfs_register(&vfs, 0);
  }
};

FaultyDisk::FaultyDisk() : contents_(std::make_unique<Contents>()) {
  static std::atomic<int> count = 0;
  name_ = "berth-faulty-disk-" + std::to_string(++count);
  FaultyDiskVfs::register_vfs(*this);
}

FaultyDisk::~FaultyDisk() { sqlite3_vfs_unregister(&contents_->vfs); }

std::int64_t FaultyDisk::writes() const {
  const std::lock_guard lock(contents_->mutex);
  return contents_->writes;
}

void FaultyDisk::fail_after(std::int64_t more_writes, Failure failure) {
  const std::lock_guard lock(contents_->mutex);
  contents_->fails_at = contents_->writes + more_writes;
  contents_->failure = failure;
}

void FaultyDisk::heal() {
  const std::lock_guard lock(contents_->mutex);
  contents_->fails_at = std::numeric_limits<std::int64_t>::max();
}

void FaultyDisk::restart(Unsynced unsynced, Seed seed) {
  heal();
  const std::lock_guard lock(contents_->mutex);
  Rng rng(seed);
  if (unsynced != Unsynced::kSurvive) {
    // A deletion that never reached the disk; by lot, when sectors are.
    for (auto& [name, file] : contents_->deleted) {
      if (unsynced == Unsynced::kLost || rng.below(2) == 0) contents_->files.try_emplace(name, file);
    }
    std::erase_if(contents_->files, [&](const auto& entry) {
      return !entry.second->name_is_durable && (unsynced == Unsynced::kLost || rng.below(2) == 0);
    });
  }
  contents_->deleted.clear();
  for (auto& [name, file] : contents_->files) {
    if (unsynced == Unsynced::kLost) file->bytes = file->durable;
    if (unsynced == Unsynced::kTorn) file->tear(rng);
    file->unsure.clear();
    file->durable = file->bytes;
    file->name_is_durable = true;
    file->locks.clear();
  }
}

std::vector<std::string> FaultyDisk::files() const {
  const std::lock_guard lock(contents_->mutex);
  std::vector<std::string> names;
  for (const auto& [name, file] : contents_->files) names.push_back(name);
  return names;
}

std::string FaultyDisk::read(const std::string& file) const {
  const std::lock_guard lock(contents_->mutex);
  const auto found = contents_->files.find(file);
  return found == contents_->files.end() ? std::string() : found->second->bytes;
}

std::size_t FaultyDisk::size(const std::string& file) const { return read(file).size(); }

void FaultyDisk::flip_bit(const std::string& file, std::size_t byte, unsigned bit) {
  const std::lock_guard lock(contents_->mutex);
  const auto found = contents_->files.find(file);
  BERTH_ASSERT(found != contents_->files.end() && byte < found->second->bytes.size() && bit < 8);
  char& flipped = found->second->bytes[byte];
  flipped = static_cast<char>(static_cast<unsigned char>(flipped) ^ (1U << bit));
  found->second->unsure.clear();
  found->second->durable = found->second->bytes;
}

void FaultyDisk::remove(const std::string& file) {
  const std::lock_guard lock(contents_->mutex);
  contents_->files.erase(file);
}

std::unique_ptr<FaultyDisk> FaultyDisk::copy() const {
  auto disk = std::make_unique<FaultyDisk>();
  const std::lock_guard lock(contents_->mutex);
  const auto copy_all = [](const auto& from, auto& to) {
    for (const auto& [name, file] : from) {
      auto twin = std::make_shared<File>(*file);
      twin->locks.clear();
      to.emplace(name, std::move(twin));
    }
  };
  copy_all(contents_->files, disk->contents_->files);
  copy_all(contents_->deleted, disk->contents_->deleted);
  return disk;
}

std::unique_ptr<FaultyDisk> FaultyDisk::record() {
  auto begun = copy();
  const std::lock_guard lock(contents_->mutex);
  begun->contents_->writes = contents_->writes;
  contents_->recorded.clear();
  contents_->recording = true;
  return begun;
}

void FaultyDisk::replay(const FaultyDisk& recorded, std::int64_t writes) {
  const std::scoped_lock lock(contents_->mutex, recorded.contents_->mutex);
  const auto& steps = recorded.contents_->recorded;
  for (std::size_t& at = contents_->replayed; at < steps.size() && steps[at].writes <= writes; ++at) {
    contents_->take(steps[at].step);
    contents_->writes = steps[at].writes;
  }
}

}  // namespace berth
