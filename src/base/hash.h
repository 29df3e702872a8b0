// A 64-bit digest of plain values, the same with every compiler: for state hashes and look-up tables, not for secrets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/rng.h"

namespace berth {

// Values added in the same order give the same digest.
class Hasher {
 public:
  constexpr Hasher& add(std::uint64_t value) {
    digest_ = mix64(digest_ * 0x9fb21c651e98df25ULL + value + 0x9e3779b97f4a7c15ULL);
    return *this;
  }
  constexpr Hasher& add(std::int64_t value) { return add(static_cast<std::uint64_t>(value)); }
  constexpr Hasher& add(std::uint32_t value) { return add(std::uint64_t{value}); }
  constexpr Hasher& add(std::int32_t value) { return add(static_cast<std::uint64_t>(value)); }
  constexpr Hasher& add(std::string_view text) {
    add(std::uint64_t{text.size()});
    std::uint64_t word = 0;
    std::size_t filled = 0;
    for (const char c : text) {
      word = (word << 8) | static_cast<unsigned char>(c);
      if (++filled == sizeof word) {
        add(word);
        word = 0;
        filled = 0;
      }
    }
    return add(word);
  }

  constexpr std::uint64_t digest() const { return digest_; }

 private:
  std::uint64_t digest_ = 0;
};

}  // namespace berth
