// Where a slice goes: on which device and where in its memory, so that the most large slices stay possible (rule 27).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "model/mig_geometry.h"
#include "placement/node_view.h"

namespace berth {

// What one more slice takes from those that could come later: of each size how many fewer would fit, were they all of that
// size, in one number of which the largest size is the highest digit. So one large slice is worth more than any number of
// smaller ones, and slices gather where large ones are impossible already.
using SliceCost = std::uint32_t;

// The costs of one family's devices, computed once for every memory that can be occupied.
class SliceCosts {
 public:
  explicit SliceCosts(const MigGeometry& geometry);

  struct Cut {
    std::size_t place = 0;
    SliceCost cost = 0;
  };
  // The cheapest place for one more slice on a device; of equals the one with the highest start, since the large slices
  // begin low. Nothing where none is open. A slice of a device that is cut beforehand costs nothing: no other could be there.
  std::optional<Cut> cheapest_cut(std::size_t shape, MigPlaceSet layout, MigPlaceSet fixed = {}) const;
  // The costs in their order, numbered from 0: small numbers that compare as they do.
  std::size_t rank_of(SliceCost cost) const;
  // What could come later beside these, in the digits of a cost.
  SliceCost possible_beside(MigPlaceSet layout) const { return possible_[coarse(geometry_->memory_of(layout))]; }
  const MigGeometry& geometry() const { return *geometry_; }

 private:
  // Occupied memory in the steps in which slices begin and end: a byte.
  static constexpr std::size_t kMemoriesMax = 256;
  static constexpr std::uint8_t kNoPlace = std::numeric_limits<std::uint8_t>::max();
  struct Entry {
    SliceCost cost = 0;
    std::uint8_t place = kNoPlace;
  };

  std::size_t coarse(std::uint32_t memory) const;

  const MigGeometry* geometry_;
  std::int32_t step_;  // memory slices
  std::array<std::array<Entry, kMemoriesMax>, kMigShapesMax> cheapest_{};
  std::array<SliceCost, kMemoriesMax> possible_{};  // beside that memory
  std::vector<SliceCost> in_order_;
};

// What somebody who begins in a place has to wait for; what is less comes first.
enum class SliceWait : std::uint8_t {
  kNone,
  kBeingCut,     // until it is there: it comes in any case
  kToBeCutAnew,  // until slices that nobody has are cut into it
};

struct SliceOffer {
  std::size_t place = 0;
  SliceWait wait = SliceWait::kNone;
  SliceCost cost = 0;

  bool comes_before(const SliceOffer& other) const {
    return wait != other.wait ? wait < other.wait : cost < other.cost;
  }
};

// The best place for one more slice on a device, of `fixed` if there are some; `cut`: what it is cut into, if that may change. A slice that is there costs nothing.
std::optional<SliceOffer> best_offer(const SliceCosts& costs, std::size_t shape, MigPlaceSet layout, MigPlaceSet fixed,
                                     const GpuCut* cut);

// Of a family by its number in kMigFamilies, from 1; made when it is first asked for.
const SliceCosts& slice_costs_of(std::uint8_t family);

struct SliceChoice {
  std::size_t device = 0;
  std::size_t place = 0;

  friend bool operator==(const SliceChoice&, const SliceChoice&) = default;
};

// The cheapest cut on any of these devices of one node; of equals the first. Nothing where none has an open place.
std::optional<SliceChoice> choose_slice(const SliceCosts& costs, std::size_t shape,
                                        std::span<const MigPlaceSet> layouts, MigPlaceSet fixed = {});
// The best offer of a node's devices; of equals the first. PRE: it is cut.
std::optional<SliceChoice> choose_slice(const NodeView& node, std::size_t shape);

// Places for slices that come to one device together, each of the shape that it has now: those beside which the most is still
// possible. Each by itself was given the best place for one; the best for two may be another for both. They stay where they are
// if nothing is better. PRE: with `others` they are a layout; the device was not cut beforehand.
std::vector<std::size_t> best_together(const SliceCosts& costs, MigPlaceSet others,
                                       std::span<const std::size_t> places);

}  // namespace berth
