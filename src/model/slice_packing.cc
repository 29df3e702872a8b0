#include "model/slice_packing.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <tuple>

namespace berth {
namespace {

// The largest may begin at the fewest places. Of one size those first that bear the fewest others beside them.
std::vector<std::size_t> largest_first(const MigGeometry& geometry) {
  std::vector<std::size_t> shapes(geometry.shapes().size());
  std::iota(shapes.begin(), shapes.end(), std::size_t{0});
  std::ranges::stable_sort(shapes, std::greater{}, [&](std::size_t shape) {
    const SliceShape& each = geometry.shapes()[shape];
    return std::tuple(each.memory_slices, each.compute_slices, geometry.rivals_of(shape).size());
  });
  return shapes;
}

MigPlaceSet open_for(const MigGeometry& geometry, std::size_t shape, const AlikeDevices& devices) {
  return geometry.open_beside(devices.layout, devices.fixed).common_with(geometry.places_of(shape));
}

// Of use to nobody else are slices that were cut beforehand. Then devices that are alike are filled one after the other, which leaves
// others empty, or all of them get one, which leaves on each what smaller slices may use.
std::optional<std::size_t> best_of(const MigGeometry& geometry, std::size_t shape, bool spread,
                                   const std::vector<AlikeDevices>& devices) {
  std::optional<std::size_t> best;
  std::tuple<bool, int, std::uint32_t> least;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const AlikeDevices& each = devices[i];
    if (each.count == 0 || open_for(geometry, shape, each).empty()) continue;
    const int free = geometry.memory_slices() - std::popcount(geometry.memory_of(each.layout));
    const std::tuple cost{each.fixed.empty(), spread ? -free : free, each.layout.bits()};
    if (best && cost >= least) continue;
    best = i;
    least = cost;
  }
  return best;
}

void add(std::vector<AlikeDevices>& devices, const AlikeDevices& more) {
  const auto same = std::ranges::find_if(
      devices, [&](const AlikeDevices& each) { return each.layout == more.layout && each.fixed == more.fixed; });
  if (same != devices.end()) {
    same->count += more.count;
  } else {
    devices.push_back(more);
  }
}

// `spread`: a bit for each shape.
SliceCounts left_out_if(const MigGeometry& geometry, std::span<const std::size_t> shapes, std::uint32_t spread,
                        std::vector<AlikeDevices> devices, SliceCounts wanted) {
  for (const std::size_t shape : shapes) {
    const bool one_each = ((spread >> shape) & 1U) != 0;
    while (wanted[shape] > 0) {
      const auto best = best_of(geometry, shape, one_each, devices);
      if (!best) break;
      // Each as high as it can be: the large ones begin low.
      AlikeDevices with_it = devices[*best];
      std::int64_t of_each = 0;
      for (MigPlaceSet open = open_for(geometry, shape, with_it); of_each < wanted[shape] && !open.empty();) {
        with_it.layout = with_it.layout.with(open.last());
        open = open_for(geometry, shape, with_it);
        if (++of_each == 1 && one_each) break;
      }
      with_it.count = std::min(with_it.count, wanted[shape] / of_each);
      devices[*best].count -= with_it.count;
      wanted[shape] -= with_it.count * of_each;
      add(devices, with_it);
    }
  }
  return wanted;
}

// Everything that can be done, on few devices. Devices that are alike take layouts in one order; each takes of a layout whatever is
// wanted, for more never hurts.
class Search {
 public:
  Search(const MigGeometry& geometry, const std::vector<AlikeDevices>& devices, const SliceCounts& wanted)
      : geometry_(geometry), devices_(devices), room_of_rest_(devices.size() + 1) {
    for (const AlikeDevices& each : devices) {
      std::set<SliceCounts> found;
      add_layouts(each, wanted, 0, SliceCounts{}, each.layout, found);
      layouts_.push_back(largest_of(found));
    }
    for (std::size_t i = devices.size(); i-- > 0;) {
      room_of_rest_[i] = room_of_rest_[i + 1] + devices[i].count * room_of(devices[i]);
    }
  }

  bool packs(const SliceCounts& wanted) { return packs({.group = 0, .used = 0, .layout = 0, .wanted = wanted}); }
  // It has looked at everything.
  bool is_done() const { return std::ssize(seen_) < kStepsMax; }

 private:
  static constexpr std::int64_t kStepsMax = 20'000;

  // Of a group so many have one, and those that follow have no earlier layout than this.
  struct Step {
    std::size_t group = 0;
    std::int64_t used = 0;
    std::size_t layout = 0;
    SliceCounts wanted;

    friend auto operator<=>(const Step&, const Step&) = default;
  };

  std::int64_t room_of(const AlikeDevices& devices) const {
    return geometry_.memory_slices() - std::popcount(geometry_.memory_of(devices.layout));
  }
  std::int64_t memory_of(const SliceCounts& wanted) const {
    std::int64_t memory = 0;
    for (std::size_t shape = 0; shape < geometry_.shapes().size(); ++shape) {
      memory += wanted[shape] * geometry_.shapes()[shape].memory_slices;
    }
    return memory;
  }

  void add_layouts(const AlikeDevices& devices, const SliceCounts& wanted, std::size_t from, const SliceCounts& counts,
                   MigPlaceSet layout, std::set<SliceCounts>& found) const {
    found.insert(counts);
    geometry_.open_beside(layout, devices.fixed).for_each([&](std::size_t place) {
      const std::size_t shape = geometry_.places()[place].shape;
      if (place < from || wanted[shape] == 0) return;
      SliceCounts more = counts;
      ++more[shape];
      add_layouts(devices, wanted, place + 1, more, layout.with(place), found);
    });
  }

  // Without those of which another has all.
  static std::vector<SliceCounts> largest_of(const std::set<SliceCounts>& all) {
    std::vector<SliceCounts> largest;
    for (const SliceCounts& each : all) {
      const bool is_part = std::ranges::any_of(all, [&](const SliceCounts& other) {
        return other != each && std::ranges::equal(each, other, std::less_equal<>());
      });
      if (!is_part) largest.push_back(each);
    }
    return largest;
  }

  bool packs(const Step& step) {
    if (sum_of(step.wanted) == 0) return true;
    if (step.group == devices_.size()) return false;
    if (step.used == devices_[step.group].count) return packs({step.group + 1, 0, 0, step.wanted});
    const std::int64_t room = room_of_rest_[step.group] - step.used * room_of(devices_[step.group]);
    if (memory_of(step.wanted) > room) return false;
    if (std::ssize(seen_) == kStepsMax || !seen_.insert(step).second) return false;
    const std::vector<SliceCounts>& layouts = layouts_[step.group];
    for (std::size_t i = step.layout; i < layouts.size(); ++i) {
      Step next{step.group, step.used + 1, i, step.wanted};
      for (std::size_t shape = 0; shape < next.wanted.size(); ++shape) {
        next.wanted[shape] -= std::min(next.wanted[shape], layouts[i][shape]);
      }
      if (packs(next)) return true;
    }
    return false;
  }

  const MigGeometry& geometry_;
  const std::vector<AlikeDevices>& devices_;
  std::vector<std::int64_t> room_of_rest_;
  std::vector<std::vector<SliceCounts>> layouts_;  // by group
  std::set<Step> seen_;
};

constexpr std::int64_t kSearchedMax = 64;

// More memory or more compute slices are wanted than there are. Of devices that are cut beforehand all that is not taken counts.
bool is_above_sums(const MigGeometry& geometry, const std::vector<AlikeDevices>& devices, const SliceCounts& wanted) {
  std::int64_t memory = 0;
  std::int64_t compute = 0;
  const auto shape_at = [&](std::size_t place) -> const SliceShape& {
    return geometry.shapes()[geometry.places()[place].shape];
  };
  for (const AlikeDevices& each : devices) {
    std::int64_t of_memory = geometry.memory_slices();
    std::int64_t of_compute = geometry.compute_slices();
    each.layout.for_each([&](std::size_t place) {
      of_memory -= shape_at(place).memory_slices;
      of_compute -= shape_at(place).compute_slices;
    });
    memory += each.count * of_memory;
    compute += each.count * of_compute;
  }
  for (std::size_t shape = 0; shape < geometry.shapes().size(); ++shape) {
    memory -= wanted[shape] * geometry.shapes()[shape].memory_slices;
    compute -= wanted[shape] * geometry.shapes()[shape].compute_slices;
  }
  return memory < 0 || compute < 0;
}

std::int64_t devices_of(const std::vector<AlikeDevices>& devices) {
  std::int64_t count = 0;
  for (const AlikeDevices& each : devices) count += each.count;
  return count;
}

}  // namespace

SlicePacking pack(const MigGeometry& geometry, const std::vector<AlikeDevices>& devices, const SliceCounts& wanted) {
  const std::vector<std::size_t> shapes = largest_first(geometry);
  std::uint32_t several = 0;
  for (const std::size_t shape : shapes) {
    if (wanted[shape] > 1 && geometry.room_for(shape, {}) > 1) several |= std::uint32_t{1} << shape;
  }
  SliceCounts fewest = wanted;
  // Every set of them.
  for (std::uint32_t spread = several;; spread = (spread - 1) & several) {
    const SliceCounts left = left_out_if(geometry, shapes, spread, devices, wanted);
    if (sum_of(left) < sum_of(fewest)) fewest = left;
    if (spread == 0 || sum_of(fewest) == 0) break;
  }
  if (sum_of(fewest) == 0 || is_above_sums(geometry, devices, wanted)) return {fewest, true};
  if (devices_of(devices) > kSearchedMax) return {fewest, false};
  Search search(geometry, devices, wanted);
  if (search.packs(wanted)) return {};
  return {fewest, search.is_done()};
}

std::int64_t sum_of(const SliceCounts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

}  // namespace berth
