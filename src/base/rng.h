// Randomness as an input: the same seed gives the same numbers with every compiler and on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/assert.h"

namespace berth {

// One number that decides everything that is left to chance in a run.
struct Seed {
  std::uint64_t value = 0;

  friend constexpr bool operator==(Seed, Seed) = default;
};

// SplitMix64's finaliser (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014): every input bit
// reaches every output bit.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// A SplitMix64 stream. Copies continue from where the original stood.
class Rng {
 public:
  explicit constexpr Rng(Seed seed) : state_(seed.value) {}
  // A stream of its own for one purpose within a run, so that one more draw here does not shift the draws there.
  constexpr Rng(Seed seed, std::uint64_t stream) : state_(mix64(seed.value ^ mix64(stream + kStep))) {}

  constexpr std::uint64_t next() {
    state_ += kStep;
    return mix64(state_);
  }

  // Uniform in [0, bound), without bias (Lemire 2019). PRE: bound > 0.
  constexpr std::uint64_t below(std::uint64_t bound) {
    BERTH_ASSERT(bound > 0);
    Wide product = Wide{next()} * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      const std::uint64_t threshold = (0 - bound) % bound;
      while (static_cast<std::uint64_t>(product) < threshold) product = Wide{next()} * bound;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  // Uniform in [low, high]. PRE: low <= high.
  constexpr std::int64_t between(std::int64_t low, std::int64_t high) {
    BERTH_ASSERT(low <= high);
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }

  // Fisher-Yates: every order equally likely.
  template <class T>
  constexpr void shuffle(std::span<T> items) {
    for (std::size_t left = items.size(); left > 1; --left) {
      std::swap(items[left - 1], items[static_cast<std::size_t>(below(left))]);
    }
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;

  std::uint64_t state_;
};

}  // namespace berth
