#include "store/store.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "store/disk_store.h"
#include "store/draft.h"
#include "store/mark.h"
#include "store/store_file.h"

namespace berth {

namespace {

// What the mark says against what the file holds.
Complaints behind_its_mark(const std::string& path, const Mark::Content& mark, const StoreState& state) {
  const std::string remedy = "; restore a backup, or delete " + Mark::path_of(path) + " to go on with what is there";
  if (mark.epoch == state.epoch && mark.revision <= state.revision) return {};
  if (mark.epoch != state.epoch) {
    return {{path, 0, 0},
            "is not the store that was here before: that one reached revision " + std::to_string(mark.revision) +
                ", this is another one at " + std::to_string(state.revision) + remedy};
  }
  return {{path, 0, 0},
          "ends at revision " + std::to_string(state.revision) + ", but revisions up to " +
              std::to_string(mark.revision) + " were acknowledged: " + std::to_string(mark.revision - state.revision) +
              " changes are missing" + remedy};
}

}  // namespace

double StoreFigures::bound_s(std::size_t bound) { return 1e-4 * std::exp2(static_cast<double>(bound) / 2); }

Result<std::unique_ptr<Store>> Store::open(const std::string& path, StoreOptions options) {
  const auto exists = StoreFile::exists(path, options.vfs);
  if (!exists) return exists.error();
  const auto marked = Mark::read(path, options.vfs);
  if (!marked) return marked.error();
  if (*marked && !*exists) {
    return Complaints({path, 0, 0}, "is missing: a store that reached revision " + std::to_string((*marked)->revision) +
                                        " was here; restore a backup, or delete " + Mark::path_of(path) +
                                        " to begin with an empty one");
  }
  auto file = StoreFile::open(path, options.vfs);
  if (!file) return file.error();
  if (*marked) {
    if (Complaints behind = behind_its_mark(path, **marked, (*file)->state()); !behind.empty()) return behind;
  }
  auto mark = Mark::open_to_write(path, options.vfs);
  if (!mark) return mark.error();
  auto store = std::make_unique<DiskStore>(path, std::move(options), std::move(*file), std::move(*mark));
  if (Complaints complaints = store->load(); !complaints.empty()) return complaints;
  store->start();
  return store;
}

Result<Revision> restore_store(const std::string& backup_path, const std::string& path, Revision revisions_ahead) {
  constexpr Revision kRevisionMax = Revision{1} << 62;
  auto backup = StoreFile::open_backup(backup_path, "");
  if (!backup) return backup.error();
  std::map<std::string, RecordPtr, std::less<>> records;
  Complaints complaints = (*backup)->read([&](const StoredRow& row) {
    // A store's own file, once it is closed, will do too: what its log ends with.
    if (row.deleted) {
      records.erase(std::string(row.key));
    } else {
      records.insert_or_assign(std::string(row.key),
                               make_record(std::string(row.key), std::string(row.bytes), row.revision));
    }
  });
  if (!complaints.empty()) return complaints;
  const Revision reached = (*backup)->state().revision;
  if (revisions_ahead < 0 || reached > kRevisionMax - std::min(revisions_ahead, kRevisionMax)) {
    return Complaints({path, 0, 0}, "cannot go on " + std::to_string(revisions_ahead) + " revisions above " +
                                        std::to_string(reached) + "; name a number from 0 to 1000000000");
  }
  std::vector<RecordPtr> live;
  for (auto& [key, record] : records) live.push_back(std::move(record));
  auto restored = StoreFile::write_new(path, "", StoreFile::random_epoch(), reached + revisions_ahead, std::move(live));
  // The mark of a store that was here before would accuse the new one.
  if (restored) Mark::remove(path, "");
  return restored;
}

}  // namespace berth
