// An ordered set of plain values kept in short sorted runs: insertion and removal anywhere cost one binary search and
// one short shift, a copy costs a few long ones, and a value costs its own size (a node-based set would triple it).
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/assert.h"

namespace berth {

// INVARIANT: no block is empty; values ascend within blocks and from block to block, without equals.
template <class T>
class SortedBlocks {
 public:
  // Points at a value; changing the set makes it invalid.
  struct Cursor {
    std::size_t block = 0;
    std::size_t offset = 0;
  };

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  const T& front() const {
    BERTH_ASSERT(size_ > 0);
    return blocks_.front().front();
  }

  void insert(const T& value) {
    ++size_;
    if (blocks_.empty()) {
      blocks_.emplace_back(1, value);
      return;
    }
    const std::size_t at = block_for(value);
    std::vector<T>& block = blocks_[at];
    const auto place = std::lower_bound(block.begin(), block.end(), value);
    BERTH_ASSERT(place == block.end() || value < *place);
    const bool appended = place == block.end();
    block.insert(place, value);
    if (block.size() > kBlockMax) split(at, appended);
  }

  void erase(const T& value) {
    BERTH_ASSERT(size_ > 0);
    const std::size_t at = block_for(value);
    std::vector<T>& block = blocks_[at];
    const auto place = std::lower_bound(block.begin(), block.end(), value);
    BERTH_ASSERT(place != block.end() && !(value < *place));
    block.erase(place);
    --size_;
    if (block.empty()) blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  Cursor begin_cursor() const { return {}; }
  // PRE: the value is there.
  Cursor cursor_at(const T& value) const {
    BERTH_ASSERT(size_ > 0);
    const std::size_t block = block_for(value);
    const auto place = std::lower_bound(blocks_[block].begin(), blocks_[block].end(), value);
    BERTH_ASSERT(place != blocks_[block].end() && !(value < *place));
    return {block, static_cast<std::size_t>(place - blocks_[block].begin())};
  }
  const T* at(Cursor cursor) const {
    return cursor.block < blocks_.size() ? &blocks_[cursor.block][cursor.offset] : nullptr;
  }
  void advance(Cursor& cursor) const {
    if (++cursor.offset == blocks_[cursor.block].size()) cursor = {cursor.block + 1, 0};
  }

  // Calls visit(value) in ascending order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const std::vector<T>& block : blocks_) {
      for (const T& value : block) visit(value);
    }
  }

 private:
  static constexpr std::size_t kBlockMax = 256;

  // The last block whose first value is not above `value`, else the first block.
  std::size_t block_for(const T& value) const {
    const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), value,
                                        [](const T& v, const std::vector<T>& block) { return v < block.front(); });
    return after == blocks_.begin() ? 0 : static_cast<std::size_t>(after - blocks_.begin()) - 1;
  }

  // A full block that only ever grew at its end stays full: arrivals in order would otherwise leave half-empty blocks.
  void split(std::size_t at, bool appended) {
    std::vector<T>& block = blocks_[at];
    const std::size_t kept = appended ? block.size() - 1 : block.size() / 2;
    std::vector<T> rest(block.begin() + static_cast<std::ptrdiff_t>(kept), block.end());
    block.resize(kept);
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(rest));
  }

  std::vector<std::vector<T>> blocks_;
  std::size_t size_ = 0;
};

}  // namespace berth
