#include "store/shelf.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace berth {

namespace {

// Copying one block is what a change costs; copying the list of blocks is what a commit costs.
constexpr std::size_t kBlockMax = 512;

// The least text above everything that begins with `prefix`; empty if there is none.
std::string end_of(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

bool key_less(const RecordPtr& record, std::string_view key) { return record->key < key; }

}  // namespace

Shelf::Position Shelf::lower_bound(std::string_view key) const {
  const auto block = std::partition_point(blocks_.begin(), blocks_.end(),
                                          [key](const auto& candidate) { return candidate->back()->key < key; });
  if (block == blocks_.end()) return {blocks_.size(), 0};
  const auto record = std::lower_bound((*block)->begin(), (*block)->end(), key, key_less);
  return {static_cast<std::size_t>(block - blocks_.begin()), static_cast<std::size_t>(record - (*block)->begin())};
}

Shelf::Position Shelf::next(Position position) const {
  if (position.index + 1 < blocks_[position.block]->size()) return {position.block, position.index + 1};
  return {position.block + 1, 0};
}

RecordPtr Shelf::find(std::string_view key) const {
  const Position position = lower_bound(key);
  if (position.block == blocks_.size() || at(position)->key != key) return nullptr;
  return at(position);
}

Shelf::Range Shelf::range(std::string_view prefix, std::string_view after_key) const {
  const Position end{blocks_.size(), 0};
  Range range{lower_bound(std::max(prefix, after_key)), end};
  if (!after_key.empty() && range.from != end && at(range.from)->key == after_key) range.from = next(range.from);
  if (const std::string above = end_of(prefix); !above.empty()) range.to = lower_bound(above);
  if (std::pair(range.to.block, range.to.index) < std::pair(range.from.block, range.from.index)) range.to = range.from;
  return range;
}

std::size_t Shelf::count(Range range) const {
  if (range.from.block == range.to.block) return range.to.index - range.from.index;
  std::size_t total = blocks_[range.from.block]->size() - range.from.index + range.to.index;
  for (std::size_t block = range.from.block + 1; block < range.to.block; ++block) total += blocks_[block]->size();
  return total;
}

ShelfDraft::ShelfDraft(Shelf shelf) : shelf_(std::move(shelf)), owned_(shelf_.blocks_.size(), nullptr) {}

Shelf::Block& ShelfDraft::own(std::size_t block) {
  if (owned_[block] == nullptr) {
    auto copy = std::make_shared<Shelf::Block>();
    copy->reserve(kBlockMax + 1);
    *copy = *shelf_.blocks_[block];
    owned_[block] = copy.get();
    shelf_.blocks_[block] = std::move(copy);
  }
  return *owned_[block];
}

void ShelfDraft::split(std::size_t block) {
  Shelf::Block& lower = *owned_[block];
  // What comes in the order of its keys (a restart) leaves full blocks behind, not half-full ones.
  const std::size_t kept = block + 1 == owned_.size() ? kBlockMax - kBlockMax / 8 : kBlockMax / 2;
  auto upper = std::make_shared<Shelf::Block>();
  upper->reserve(kBlockMax + 1);
  owned_.reserve(owned_.size() + 1);
  shelf_.blocks_.reserve(shelf_.blocks_.size() + 1);
  const auto middle = lower.begin() + static_cast<std::ptrdiff_t>(kept);
  upper->assign(std::make_move_iterator(middle), std::make_move_iterator(lower.end()));
  lower.erase(middle, lower.end());
  const auto at = static_cast<std::ptrdiff_t>(block + 1);
  owned_.insert(owned_.begin() + at, upper.get());
  shelf_.blocks_.insert(shelf_.blocks_.begin() + at, std::move(upper));
}

void ShelfDraft::put(RecordPtr record) {
  if (shelf_.blocks_.empty()) {
    auto first = std::make_shared<Shelf::Block>();
    first->reserve(kBlockMax + 1);
    owned_.reserve(1);
    shelf_.blocks_.push_back(first);
    owned_.push_back(first.get());
    first->push_back(std::move(record));
    shelf_.size_ = 1;
    return;
  }
  Shelf::Position position = shelf_.lower_bound(record->key);
  // Above everything: at the end of the last block.
  if (position.block == shelf_.blocks_.size()) position = {position.block - 1, shelf_.blocks_.back()->size()};
  Shelf::Block& block = own(position.block);
  if (position.index < block.size() && block[position.index]->key == record->key) {
    block[position.index] = std::move(record);
    return;
  }
  block.insert(block.begin() + static_cast<std::ptrdiff_t>(position.index), std::move(record));
  ++shelf_.size_;
  if (block.size() > kBlockMax) split(position.block);
}

void ShelfDraft::erase(std::string_view key) {
  const Shelf::Position position = shelf_.lower_bound(key);
  if (position.block == shelf_.blocks_.size() || shelf_.at(position)->key != key) return;
  Shelf::Block& block = own(position.block);
  block.erase(block.begin() + static_cast<std::ptrdiff_t>(position.index));
  --shelf_.size_;
  if (!block.empty()) return;
  shelf_.blocks_.erase(shelf_.blocks_.begin() + static_cast<std::ptrdiff_t>(position.block));
  owned_.erase(owned_.begin() + static_cast<std::ptrdiff_t>(position.block));
}

Shelf ShelfDraft::taken() {
  Shelf copy = shelf_;
  owned_.assign(owned_.size(), nullptr);
  return copy;
}

}  // namespace berth
