// The typical pods of a cluster that nobody knows beforehand, learned from what its pods ask. Which pods count is up to who
// adds them; what is answered depends on those alone that are counted now, and not on who was before: a scheduler that is
// started anew finds the same.
//
// Typical pods are made anew seldom, for with each new list every score is another. So a weight is how often a kind is asked beside
// the most frequent one, rounded to a quarter between two powers of two; one pod more or less of many is no news. As in Weng et al.
// (USENIX ATC 2023) the kinds that make up 95 % are taken; of those that are asked equally often all, so that none takes
// another's place.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "model/policy.h"
#include "model/request.h"

namespace berth {

struct AskedKind {
  std::int64_t cpu_milli = 0;
  std::int32_t gpus = 0, gpu_milli = 0;
  std::uint64_t flavors = 0;  // the bits of a FlavorSet; of who asks no GPU all

  friend auto operator<=>(const AskedKind&, const AskedKind&) = default;
};
AskedKind kind_of(const PodRequest& request, FlavorSet flavors);

class AskedKinds {
 public:
  // Most kinds of a list.
  static constexpr std::size_t kKindsMax = 256;

  void add(const AskedKind& kind, std::int64_t pods = 1);
  // PRE: so many of it were added.
  void remove(const AskedKind& kind, std::int64_t pods = 1);
  void clear();

  // The most frequent first, then by what they ask.
  const std::vector<TypicalPod>& typical_pods();

 private:
  std::map<AskedKind, std::int64_t> pods_of_;
  bool changed_ = false;
  std::vector<TypicalPod> typical_;
};

}  // namespace berth
