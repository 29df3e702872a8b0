// A commit that is being put together, as the units of work in it see it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "store/shelf.h"
#include "store/store.h"
#include "store/store_file.h"

namespace berth {

RecordPtr make_record(std::string key, std::string bytes, Revision revision);

// A change, and the record as it was before, which of a deletion is not what watchers see as `before`.
struct Logged {
  ChangePtr change;
  RecordPtr previous;
};

// As they are written.
StoredRow row_of(const Logged& logged);
StoredRow row_of(const Record& record);

// The state after the commit, and the changes that lead to it.
class Draft : public Transaction {
 public:
  Draft(const Shelf& shelf, Revision revision) : shelf_(shelf), begun_at_(revision) {}

  RecordPtr find(std::string_view key) const override { return shelf_.now().find(key); }
  void for_each(std::string_view prefix, const std::function<void(const RecordPtr&)>& visit) const override;
  Revision next_revision() const override { return begun_at_ + static_cast<Revision>(changes_.size()) + 1; }
  Revision put(std::string key, std::string bytes) override;
  Revision erase(const std::string& key, std::string last_bytes) override;

  // Takes back what came after the first so many changes: what one unit of work did.
  void return_to(std::size_t changes_kept);

  const std::vector<Logged>& changes() const { return changes_; }
  std::size_t bytes() const { return bytes_; }
  Shelf shelf() { return shelf_.taken(); }

 private:
  void log(Logged logged);

  ShelfDraft shelf_;
  const Revision begun_at_;
  std::vector<Logged> changes_;
  std::size_t bytes_ = 0;
};

}  // namespace berth
