// Records in the order of their keys, as values that share what they have in common: a copy costs a pointer per few
// hundred records, so that readers take one and need no lock while they walk it.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace berth {

// INVARIANT: keys ascend over all blocks; no block is empty.
class Shelf {
 public:
  using Block = std::vector<RecordPtr>;
  // A place between or at records; the end is {number of blocks, 0}.
  struct Position {
    std::size_t block = 0;
    std::size_t index = 0;
    friend bool operator==(Position, Position) = default;
  };
  struct Range {
    Position from;
    Position to;
  };

  std::size_t size() const { return size_; }
  RecordPtr find(std::string_view key) const;
  // Keys that begin with `prefix` and are greater than `after_key`.
  Range range(std::string_view prefix, std::string_view after_key = {}) const;
  std::size_t count(Range range) const;
  const RecordPtr& at(Position position) const { return (*blocks_[position.block])[position.index]; }
  Position next(Position position) const;

 private:
  friend class ShelfDraft;
  // The first record whose key is not less than `key`.
  Position lower_bound(std::string_view key) const;

  std::vector<std::shared_ptr<const Block>> blocks_;
  std::size_t size_ = 0;
};

// A shelf that is being changed; copies a block before its first change, so that shelves taken from it stay as they are.
class ShelfDraft {
 public:
  ShelfDraft() = default;
  explicit ShelfDraft(Shelf shelf);

  const Shelf& now() const { return shelf_; }
  void put(RecordPtr record);
  // Does nothing if the key is not there.
  void erase(std::string_view key);
  // What it is now, for others to keep.
  Shelf taken();

 private:
  Shelf::Block& own(std::size_t block);
  void split(std::size_t block);

  Shelf shelf_;
  std::vector<Shelf::Block*> owned_;  // by position: the block, if nobody else has it yet
};

}  // namespace berth
