// A transaction whose writes are held back until it is known that all of them may happen: what was refused half-way, or
// only asked for a dry run, leaves nothing behind.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace berth {

// INVARIANT: reads see the draft's own writes.
class HeldWrites final : public Transaction {
 public:
  explicit HeldWrites(Transaction& real) : real_(real), next_(real.next_revision()) {}

  RecordPtr find(std::string_view key) const override;
  void for_each(std::string_view prefix, const std::function<void(const RecordPtr&)>& visit) const override;
  Revision next_revision() const override { return next_; }
  Revision put(std::string key, std::string bytes) override;
  Revision erase(const std::string& key, std::string last_bytes) override;

  // Carries the writes out, in their order. At most once.
  void keep();

 private:
  struct Write {
    std::shared_ptr<Record> record;
    bool erases = false;
  };
  Transaction& real_;
  Revision next_;
  std::vector<Write> writes_;
  std::map<std::string, std::size_t, std::less<>> latest_;  // key -> index into writes_
};

}  // namespace berth
