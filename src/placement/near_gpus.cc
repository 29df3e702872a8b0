#include "placement/near_gpus.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.h"

namespace berth {
namespace {

GpuSet first_of(GpuSet free, int count) {
  GpuSet taken;
  free.for_each([&](int gpu) {
    if (taken.size() < count) taken.add(gpu);
  });
  return taken;
}

// Those of the group in which a GPU is.
GpuSet group_around(int gpu, std::int32_t size) {
  const int first = gpu / size * size;
  const std::uint64_t group = size >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1;
  return GpuSet::from_bits(group << first);
}

GpuSet both(GpuSet a, GpuSet b) { return GpuSet::from_bits(a.bits() & b.bits()); }
GpuSet without(GpuSet a, GpuSet b) { return GpuSet::from_bits(a.bits() & ~b.bits()); }

// Calls visit(group) for each group in which some of them are.
template <class Visit>
void for_each_group(GpuSet gpus, std::int32_t size, Visit visit) {
  while (!gpus.empty()) {
    const GpuSet group = group_around(std::countr_zero(gpus.bits()), size);
    visit(both(gpus, group));
    gpus = without(gpus, group);
  }
}

int groups_of(GpuSet gpus, std::int32_t size) {
  int groups = 0;
  for_each_group(gpus, size, [&](GpuSet) { ++groups; });
  return groups;
}

int groups_too_many(GpuSet gpus, std::span<const std::int32_t> sizes) {
  int too_many = 0;
  for (const std::int32_t size : sizes) {
    if (size > 0) too_many += groups_of(gpus, size) - (gpus.size() + size - 1) / size;
  }
  return too_many;
}

GpuSet emptiest_group(GpuSet free, std::int32_t size) {
  GpuSet best;
  for_each_group(free, size, [&](GpuSet group) {
    if (group.size() > best.size()) best = group;
  });
  return best;
}

GpuSet nearest_in(GpuSet free, int count, std::span<const std::int32_t> sizes);

// All of them in one group, if one has so many: where they are nearest, then where the fewest are free.
GpuSet nearest_in_one(GpuSet free, int count, std::int32_t size, std::span<const std::int32_t> inside) {
  struct Choice {
    GpuSet gpus;
    int too_many = 0;
    int free = 0;
  };
  Choice best;
  for_each_group(free, size, [&](GpuSet group) {
    if (group.size() < count) return;
    const GpuSet gpus = nearest_in(group, count, inside);
    const Choice each{gpus, groups_too_many(gpus, inside), group.size()};
    const bool better =
        best.gpus.empty() || each.too_many < best.too_many || (each.too_many == best.too_many && each.free < best.free);
    if (better) best = each;
  });
  return best.gpus;
}

GpuSet nearest_in(GpuSet free, int count, std::span<const std::int32_t> sizes) {
  if (sizes.empty()) return first_of(free, count);
  if (sizes.front() == 0) return nearest_in(free, count, sizes.subspan(1));
  GpuSet taken;
  while (taken.size() < count) {
    GpuSet more = nearest_in_one(free, count - taken.size(), sizes.front(), sizes.subspan(1));
    if (more.empty()) more = emptiest_group(free, sizes.front());
    BERTH_ASSERT(!more.empty());
    taken = GpuSet::from_bits(taken.bits() | more.bits());
    free = without(free, more);
  }
  return taken;
}

}  // namespace

GpuSet nearest_gpus(GpuSet free, int count, const GpuLinks& links) {
  BERTH_ASSERT(0 <= count && count <= free.size());
  return nearest_in(free, count, links.group_sizes());
}

int groups_too_many(GpuSet gpus, const GpuLinks& links) { return groups_too_many(gpus, links.group_sizes()); }

}  // namespace berth
