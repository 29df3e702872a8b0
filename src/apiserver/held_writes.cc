#include "apiserver/held_writes.h"

#include <string>
#include <utility>

#include "base/assert.h"

namespace berth {

RecordPtr HeldWrites::find(std::string_view key) const {
  const auto own = latest_.find(key);
  if (own == latest_.end()) return real_.find(key);
  const Write& write = writes_[own->second];
  return write.erases ? nullptr : write.record;
}

void HeldWrites::for_each(std::string_view prefix, const std::function<void(const RecordPtr&)>& visit) const {
  auto own = latest_.lower_bound(prefix);
  const auto own_before = [&](std::string_view key) {
    for (; own != latest_.end() && own->first.starts_with(prefix) && (key.empty() || own->first < key); ++own) {
      const Write& write = writes_[own->second];
      if (!write.erases) visit(write.record);
    }
  };
  real_.for_each(prefix, [&](const RecordPtr& record) {
    own_before(record->key);
    if (own != latest_.end() && own->first == record->key) {
      const Write& write = writes_[own->second];
      if (!write.erases) visit(write.record);
      ++own;
    } else {
      visit(record);
    }
  });
  own_before({});
}

Revision HeldWrites::put(std::string key, std::string bytes) {
  auto record = std::make_shared<Record>();
  record->bytes = std::move(bytes);
  record->revision = next_;
  latest_[key] = writes_.size();
  record->key = std::move(key);
  writes_.push_back({std::move(record), false});
  return next_++;
}

Revision HeldWrites::erase(const std::string& key, std::string last_bytes) {
  BERTH_ASSERT(find(key) != nullptr);
  const Revision revision = put(key, std::move(last_bytes));
  writes_.back().erases = true;
  return revision;
}

void HeldWrites::keep() {
  for (Write& write : writes_) {
    // Nobody else holds the record unless an admission rule kept what it had found.
    const bool alone = write.record.use_count() == 1;
    std::string key = alone ? std::move(write.record->key) : write.record->key;
    std::string bytes = alone ? std::move(write.record->bytes) : write.record->bytes;
    const Revision revision = write.record->revision;
    const Revision given =
        write.erases ? real_.erase(key, std::move(bytes)) : real_.put(std::move(key), std::move(bytes));
    BERTH_ASSERT(given == revision);  // the bytes name it
  }
  writes_.clear();
  latest_.clear();
}

}  // namespace berth
