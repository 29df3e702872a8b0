// Which seeds a property test runs over: BERTH_SEED_BASE is the first one (else 1), BERTH_SEEDS says how many. For tests
// only: nothing that is shipped includes this.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/rng.h"

namespace berth {

// What g++ builds runs over all of them. Sanitizers make a test slow, and find what they look for in fewer runs; so does another
// compiler.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
inline constexpr bool kFewSeeds = true;
#else
inline constexpr bool kFewSeeds = false;
#endif

inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);  // layers: allow getenv: tests only; no library includes this header
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// A test that runs over these says which one failed (SCOPED_TRACE(name_of(seed))) and stops there.
inline std::vector<Seed> property_seeds(std::uint64_t count_without_environment) {
  const std::uint64_t base = number_from_environment("BERTH_SEED_BASE", 1);
  const std::uint64_t count = number_from_environment("BERTH_SEEDS", count_without_environment);
  std::vector<Seed> seeds;
  for (std::uint64_t i = 0; i < count; ++i) seeds.push_back({base + i});
  return seeds;
}

// Those of a soak, or of one failure, in place of those that are always played. How often something comes up is known of the
// latter alone; what fresh seeds are for are the rules.
inline bool seeds_are_fresh() {
  const char* const base =
      std::getenv("BERTH_SEED_BASE");  // layers: allow getenv: tests only; no library includes this header
  return base != nullptr;
}

inline std::string name_of(Seed seed) { return "BERTH_SEEDS=1 BERTH_SEED_BASE=" + std::to_string(seed.value); }

}  // namespace berth
