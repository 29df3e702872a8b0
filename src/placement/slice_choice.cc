#include "placement/slice_choice.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/assert.h"

namespace berth {

namespace {

// At most seven slices of one size fit on a device.
constexpr int kDigitBits = 3;

// The shapes whose room is counted, the largest first: one for each size, since other engines need no other room.
std::vector<std::size_t> sizes_of(const MigGeometry& geometry) {
  std::vector<std::size_t> sizes;
  for (std::size_t shape = 0; shape < geometry.shapes().size(); ++shape)
    if (geometry.shapes()[shape].is_plain()) sizes.push_back(shape);
  std::ranges::sort(sizes, std::greater{}, [&](std::size_t shape) {
    return std::tuple(geometry.shapes()[shape].compute_slices, geometry.shapes()[shape].memory_slices);
  });
  BERTH_ASSERT(sizes.size() * kDigitBits <= std::numeric_limits<SliceCost>::digits);
  return sizes;
}

// What still fits beside this memory, a digit for each size. Places of one shape never overlap: the free ones count.
SliceCost what_fits(const MigGeometry& geometry, std::span<const std::size_t> sizes, std::uint32_t memory) {
  SliceCost fits = 0;
  for (const std::size_t shape : sizes) {
    SliceCost count = 0;
    geometry.places_of(shape).for_each([&](std::size_t place) { count += (geometry.memory_of(place) & memory) == 0; });
    BERTH_ASSERT(count < (SliceCost{1} << kDigitBits));
    fits = (fits << kDigitBits) + count;
  }
  return fits;
}

std::int32_t step_of(const MigGeometry& geometry) {
  std::int32_t step = geometry.memory_slices();
  for (const MigPlace& place : geometry.places())
    step = std::gcd(step, std::gcd(std::int32_t{place.start}, geometry.shapes()[place.shape].memory_slices));
  return step;
}

}  // namespace

SliceCosts::SliceCosts(const MigGeometry& geometry) : geometry_(&geometry), step_(step_of(geometry)) {
  const std::int32_t steps = geometry.memory_slices() / step_;
  BERTH_ASSERT(std::size_t{1} << steps <= kMemoriesMax);
  const std::vector<std::size_t> sizes = sizes_of(geometry);
  for (std::size_t at = 0; at < std::size_t{1} << steps; ++at) {
    std::uint32_t memory = 0;
    for (std::int32_t slice = 0; slice < geometry.memory_slices(); ++slice)
      memory |= static_cast<std::uint32_t>(at >> (slice / step_) & 1U) << slice;
    const SliceCost before = what_fits(geometry, sizes, memory);
    possible_[at] = before;
    for (std::size_t shape = 0; shape < geometry.shapes().size(); ++shape) {
      Entry& cheapest = cheapest_[shape][at];
      geometry.places_of(shape).for_each([&](std::size_t place) {
        if ((geometry.memory_of(place) & memory) != 0) return;
        const SliceCost cost = before - what_fits(geometry, sizes, memory | geometry.memory_of(place));
        // Places come by ascending start.
        if (cheapest.place == kNoPlace || cost <= cheapest.cost) cheapest = {cost, static_cast<std::uint8_t>(place)};
      });
      if (cheapest.place != kNoPlace) in_order_.push_back(cheapest.cost);
    }
  }
  std::ranges::sort(in_order_);
  const auto rest = std::ranges::unique(in_order_);
  in_order_.erase(rest.begin(), rest.end());
}

std::size_t SliceCosts::rank_of(SliceCost cost) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(in_order_, cost) - in_order_.begin());
}

const SliceCosts& slice_costs_of(std::uint8_t family) {
  static const std::array<SliceCosts, kMigFamilies.size()> costs = {
      SliceCosts(*kMigFamilies[0]), SliceCosts(*kMigFamilies[1]), SliceCosts(*kMigFamilies[2])};
  return costs[family - 1u];
}

std::size_t SliceCosts::coarse(std::uint32_t memory) const {
  if (step_ == 1) return memory;
  std::size_t at = 0;
  for (std::int32_t slice = 0; slice < geometry_->memory_slices(); slice += step_)
    at |= static_cast<std::size_t>(memory >> slice & 1U) << (slice / step_);
  return at;
}

std::optional<SliceCosts::Cut> SliceCosts::cheapest_cut(std::size_t shape, MigPlaceSet layout,
                                                        MigPlaceSet fixed) const {
  if (!fixed.empty()) {
    const MigPlaceSet open = geometry_->open_beside(layout, fixed).common_with(geometry_->places_of(shape));
    return open.empty() ? std::nullopt : std::optional(Cut{open.last(), 0});
  }
  if (layout.meets(geometry_->rivals_of(shape))) return std::nullopt;
  const Entry& cheapest = cheapest_[shape][coarse(geometry_->memory_of(layout))];
  if (cheapest.place == kNoPlace) return std::nullopt;
  return Cut{cheapest.place, cheapest.cost};
}

std::optional<SliceChoice> choose_slice(const SliceCosts& costs, std::size_t shape,
                                        std::span<const MigPlaceSet> layouts, MigPlaceSet fixed) {
  std::optional<SliceChoice> choice;
  SliceCost least = 0;
  for (std::size_t device = 0; device < layouts.size(); ++device) {
    const std::optional<SliceCosts::Cut> cut = costs.cheapest_cut(shape, layouts[device], fixed);
    if (!cut || (choice && cut->cost >= least)) continue;
    choice = SliceChoice{device, cut->place};
    least = cut->cost;
  }
  return choice;
}

std::optional<SliceOffer> best_offer(const SliceCosts& costs, std::size_t shape, MigPlaceSet layout, MigPlaceSet fixed,
                                     const GpuCut* cut) {
  if (cut != nullptr) {
    const MigGeometry& mig = costs.geometry();
    const MigPlaceSet there = mig.open_beside(layout, fixed).common_with(mig.places_of(shape)).common_with(cut->slices);
    const MigPlaceSet now = there.minus(cut->to_come);
    if (!now.empty()) return SliceOffer{.place = now.last()};
    if (!there.empty()) return SliceOffer{.place = there.last(), .wait = SliceWait::kBeingCut};
    if (cut->stays()) return std::nullopt;
  }
  const auto cheapest = costs.cheapest_cut(shape, layout, fixed);
  if (!cheapest) return std::nullopt;
  return SliceOffer{.place = cheapest->place,
                    .wait = cut == nullptr ? SliceWait::kNone : SliceWait::kToBeCutAnew,
                    .cost = cheapest->cost};
}

std::optional<SliceChoice> choose_slice(const NodeView& node, std::size_t shape) {
  const SliceCosts& costs = slice_costs_of(node.free.family);
  const MigPlaceSet within = node.within(shape);
  std::optional<SliceChoice> choice;
  SliceOffer best;
  for (std::size_t device = 0; device < node.free.gpus; ++device) {
    const auto offer = best_offer(costs, shape, node.layouts()[device], within, node.cut_of(device));
    if (!offer || (choice && !offer->comes_before(best))) continue;
    choice = SliceChoice{device, offer->place};
    best = *offer;
  }
  return choice;
}

namespace {

// Every way to give slices of these shapes places on one device, those of one shape in one order. A device has few layouts.
class Together {
 public:
  // `places`: as they are now. Sorted, so that those of one shape follow each other.
  Together(const SliceCosts& costs, MigPlaceSet others, std::vector<std::size_t> places)
      : costs_(costs), tried_(places), best_(std::move(places)) {
    MigPlaceSet now = others;
    for (const std::size_t place : best_) now = now.with(place);
    most_ = costs.possible_beside(now);
    try_from(0, others);
  }

  const std::vector<std::size_t>& best() const { return best_; }

 private:
  void try_from(std::size_t at, MigPlaceSet layout) {
    if (at == tried_.size()) {
      const SliceCost possible = costs_.possible_beside(layout);
      if (possible <= most_) return;
      most_ = possible;
      best_ = tried_;
      return;
    }
    const MigGeometry& geometry = costs_.geometry();
    const std::size_t shape = geometry.places()[best_[at]].shape;
    const bool follows = at > 0 && geometry.places()[best_[at - 1]].shape == shape;
    geometry.open_beside(layout).common_with(geometry.places_of(shape)).for_each([&](std::size_t place) {
      if (follows && place < tried_[at - 1]) return;
      tried_[at] = place;
      try_from(at + 1, layout.with(place));
    });
  }

  const SliceCosts& costs_;
  std::vector<std::size_t> tried_;
  std::vector<std::size_t> best_;  // of each shape as many, wherever they are
  SliceCost most_ = 0;
};

}  // namespace

std::vector<std::size_t> best_together(const SliceCosts& costs, MigPlaceSet others,
                                       std::span<const std::size_t> places) {
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t at) { return places[at]; });
  std::vector<std::size_t> sorted;
  for (const std::size_t at : order) sorted.push_back(places[at]);
  const Together together(costs, others, std::move(sorted));
  std::vector<std::size_t> best(places.size());
  for (std::size_t i = 0; i < order.size(); ++i) best[order[i]] = together.best()[i];
  return best;
}

}  // namespace berth
