// Numbers for distinct values: equal values get the same number, new ones the next. Looked up by hash, never walked by
// it, so the order of the hashes decides nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.h"

namespace berth {

// `digest_of(value)` gives its 64-bit digest; equal values must have equal digests.
template <class T, std::uint64_t (*digest_of)(const T&)>
class InternTable {
 public:
  std::size_t size() const { return values_.size(); }
  const T& operator[](std::size_t index) const { return values_[index]; }
  const std::vector<T>& values() const { return values_; }

  // The number of `value`, which is added if it is new.
  std::size_t intern(const T& value) {
    if ((values_.size() + 1) * 2 > slots_.size()) grow();
    std::size_t slot = slot_of(value);
    if (slots_[slot] == kFree) {
      slots_[slot] = static_cast<std::uint32_t>(values_.size());
      values_.push_back(value);
    }
    return slots_[slot];
  }

 private:
  static constexpr std::uint32_t kFree = UINT32_MAX;

  std::size_t slot_of(const T& value) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = static_cast<std::size_t>(digest_of(value)) & mask;
    while (slots_[slot] != kFree && !(values_[slots_[slot]] == value)) slot = (slot + 1) & mask;
    return slot;
  }

  void grow() {
    slots_.assign(slots_.empty() ? 16 : slots_.size() * 2, kFree);
    for (std::size_t i = 0; i < values_.size(); ++i) slots_[slot_of(values_[i])] = static_cast<std::uint32_t>(i);
  }

  std::vector<T> values_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace berth
