// How many times what it has a node promises to all its work together, as people write it.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/node.h"
#include "model/quantity.h"

namespace berth {

// INVARIANT: 1,000..1,000 x kOvercommitMax.
struct Overcommit {
  std::int64_t cpu_milli = 1000;
  std::int64_t memory_milli = 1000;

  // What that is of a node that has so much, beyond what it has.
  HostAmounts extra(const HostAmounts& has) const {
    return {extra_of(has.cpu_milli, cpu_milli), extra_of(has.memory_bytes, memory_milli)};
  }
  friend bool operator==(const Overcommit&, const Overcommit&) = default;
};

// "cpu=1.5,memory=1.2" where `is` is '=': in any order, each once, one at least.
Parsed<Overcommit> parse_overcommit(std::string_view text, char is);

}  // namespace berth
