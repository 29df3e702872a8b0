#include "store/draft.h"

#include <memory>
#include <stdexcept>
#include <utility>

#include "base/assert.h"

namespace berth {

namespace {

constexpr std::size_t kPadding = 64;  // what simdjson may read beyond the end

void check_size(std::string_view bytes) {
  if (bytes.size() > kRecordBytesMax) throw std::length_error("a record may hold 64 MiB; store less in one object");
}

}  // namespace

RecordPtr make_record(std::string key, std::string bytes, Revision revision) {
  bytes.reserve(bytes.size() + kPadding);
  return std::make_shared<const Record>(Record{std::move(key), std::move(bytes), revision});
}

StoredRow row_of(const Logged& logged) {
  const Change& change = *logged.change;
  const Record& record = change.after ? *change.after : *change.before;
  return {change.revision, record.key, change.after == nullptr, record.bytes};
}

StoredRow row_of(const Record& record) { return {record.revision, record.key, false, record.bytes}; }

void Draft::for_each(std::string_view prefix, const std::function<void(const RecordPtr&)>& visit) const {
  // First collected: visit() may put and erase.
  const Shelf::Range range = shelf_.now().range(prefix);
  std::vector<RecordPtr> records;
  for (auto at = range.from; at != range.to; at = shelf_.now().next(at)) records.push_back(shelf_.now().at(at));
  for (const RecordPtr& record : records) visit(record);
}

Revision Draft::put(std::string key, std::string bytes) {
  check_size(bytes);
  RecordPtr previous = find(key);
  RecordPtr record = make_record(std::move(key), std::move(bytes), next_revision());
  log({std::make_shared<const Change>(Change{record->revision, previous, record}), previous});
  shelf_.put(record);
  return record->revision;
}

Revision Draft::erase(const std::string& key, std::string last_bytes) {
  check_size(last_bytes);
  RecordPtr previous = find(key);
  BERTH_ASSERT(previous != nullptr);
  RecordPtr last = make_record(key, std::move(last_bytes), next_revision());
  log({std::make_shared<const Change>(Change{last->revision, last, nullptr}), std::move(previous)});
  shelf_.erase(last->key);
  return last->revision;
}

void Draft::return_to(std::size_t changes_kept) {
  while (changes_.size() > changes_kept) {
    const Logged& logged = changes_.back();
    if (logged.previous) {
      shelf_.put(logged.previous);
    } else {
      shelf_.erase(logged.change->key());
    }
    bytes_ -= row_of(logged).bytes.size();
    changes_.pop_back();
  }
}

void Draft::log(Logged logged) {
  changes_.push_back(std::move(logged));
  bytes_ += row_of(changes_.back()).bytes.size();
}

}  // namespace berth
