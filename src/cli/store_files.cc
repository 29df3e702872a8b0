#include "cli/store_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "apiserver/backups.h"
#include "base/wording.h"
#include "manifest/timestamp.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

// Before the store goes away nothing; after it what would otherwise be taken for the new one's. The mark comes last, apart:
// as long as it is there, no server begins with an empty store.
constexpr std::array kBesideIt = {"-wal", "-shm", "-journal"};
constexpr const char* kMarkEnding = "-mark";

bool is_anything_there(const std::string& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

std::string name_for_old(const std::string& store_path, Time now) {
  std::string time;
  for (const char c : format_timestamp(now)) {
    if (c != '-' && c != ':') time += c;
  }
  std::string name = store_path + ".before-" + time;
  for (int i = 2; is_anything_there(name) || is_anything_there(name + kMarkEnding); ++i) {
    name = store_path + ".before-" + time + "-" + std::to_string(i);
  }
  return name;
}

Complaints in_use(const std::string& path) {
  return {{path, 0, 0}, "is in use by a running server; stop `berth up` or `berth apiserver` first"};
}

Complaints move_if_there(const std::string& from, const std::string& to) {
  std::error_code error;
  if (is_anything_there(from)) fs::rename(from, to, error);
  if (!error) return {};
  return {{from, 0, 0},
          "cannot be renamed to " + quote(to) + ": " + error.message() +
              "; give the user who runs this the right to write the folder, and restore again"};
}

}  // namespace

bool is_in_use(const std::string& store_path) {
  const int descriptor = open(store_path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool asked = fcntl(descriptor, F_GETLK, &lock) == 0;
  close(descriptor);
  return asked && lock.l_type != F_UNLCK;
}

Result<PutBack> put_back(const std::string& backup, const std::string& store_path, bool replace, Time now) {
  Complaints obstacles;
  if (!is_anything_there(backup)) obstacles.add({backup, 0, 0}, "is not there; name a file that `berth backup` made");
  if (is_in_use(store_path)) obstacles.add_all(in_use(store_path));
  if (is_anything_there(store_path) && !replace) {
    obstacles.add({store_path, 0, 0},
                  "is there already; with --replace it is kept beside the restored one, under another name");
  }
  if (!obstacles.empty()) return obstacles;
  const std::string fresh = store_path + ".restoring";
  std::error_code ignored;
  for (const char* const ending : {"", "-journal"}) fs::remove(fresh + ending, ignored);
  const auto revision = restore_store(backup, fresh);
  if (!revision) return revision.error();
  fs::permissions(fresh, fs::perms::owner_read | fs::perms::owner_write, ignored);
  // The copy took its time: whoever was started meanwhile keeps what he has.
  if (is_in_use(store_path)) {
    fs::remove(fresh, ignored);
    return in_use(store_path);
  }
  const std::string old = name_for_old(store_path, now);
  PutBack done{*revision, is_anything_there(store_path) ? old : ""};
  Complaints trouble = move_if_there(store_path, old);
  for (const char* const ending : kBesideIt) {
    if (trouble.empty()) trouble = move_if_there(store_path + ending, old + ending);
  }
  if (trouble.empty()) trouble = move_if_there(fresh, store_path);
  if (trouble.empty()) trouble = move_if_there(store_path + kMarkEnding, old + kMarkEnding);
  if (!trouble.empty()) return trouble;
  sync_folder(fs::path(store_path).parent_path().string());
  return done;
}

}  // namespace berth
