// Copies of the store while it is served: POST /berth/v1alpha1/backup {"file": "NAME.db"} makes BACKUP_FOLDER/NAME.db.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "apiserver/exchange.h"
#include "base/result.h"
#include "store/store.h"

namespace berth {

inline constexpr std::string_view kBackupPath = "/berth/v1alpha1/backup";

// "before-upgrade.db": letters, digits, - and _, so that a name never leads out of the folder.
bool is_backup_name(std::string_view file);

struct BackupMade {
  std::string path;  // absolute
  Revision revision = 0;
  std::int64_t bytes = 0;
};
// The copy gets its name when it is whole and on disk: what has the name of a backup is one. Secrets are in it, so only
// its owner may read it. PRE: is_backup_name(file).
Result<BackupMade> write_backup(Store& store, const std::string& folder, const std::string& file);

// What was made, renamed or removed in the folder stays so when the power fails.
void sync_folder(const std::string& folder);

// One copy at a time, on a thread of its own: a copy takes as long as the disk does, and others want answers meanwhile.
class Backups {
 public:
  // Without a folder there are no backups.
  Backups(Store& store, std::string folder);
  ~Backups();  // waits for the copy that is being made
  Backups(const Backups&) = delete;
  Backups& operator=(const Backups&) = delete;

  void serve(const ExchangePtr& exchange);

 private:
  void run();

  Store& store_;
  const std::string folder_;
  std::mutex mutex_;
  std::condition_variable wake_;
  ExchangePtr wanted_;  // not yet begun
  std::string file_;    // of `wanted_`
  bool busy_ = false;   // from the request until its copy is there
  bool closing_ = false;
  std::thread thread_;  // started by the first request
};

}  // namespace berth
