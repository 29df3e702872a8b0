// How GPUs of one family are cut into slices (MIG): which shapes there are, where in the device's memory each may begin, and
// what may stand beside what. For planning and simulation: on a real node what the driver says wins.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/assert.h"

namespace berth {

// Most places of one family: a set of them is one 32-bit word.
inline constexpr std::size_t kMigPlacesMax = 32;
inline constexpr std::size_t kMigShapesMax = 16;

// The engines for video and images that come with a slice. A device has one image engine, and so many decoders that each
// compute slice may have its own.
enum class MediaEngines : std::uint8_t {
  kNone,      // "-me"
  kOwn,       // those of its compute slices
  kExtended,  // "+me": these, and the image engine
  kAll,       // "+me.all": all of the device
};

// One way to cut a slice, whatever the size of the device's memory.
struct SliceShape {
  std::int32_t driver_id = 0;  // its number in NVML and nvidia-smi
  std::int32_t compute_slices = 0;
  std::int32_t memory_slices = 0;
  std::uint32_t starts = 0;  // memory slices at which it may begin, a bit for each; two of them never overlap
  MediaEngines media = MediaEngines::kOwn;
  bool graphics = false;  // "+gfx"

  // What is meant where nobody asks for engines.
  constexpr bool is_plain() const { return media == MediaEngines::kOwn && !graphics; }
};

// A shape at a start.
struct MigPlace {
  std::uint8_t shape = 0;  // its index in the family
  std::uint8_t start = 0;  // memory slice

  friend bool operator==(const MigPlace&, const MigPlace&) = default;
};

// Some places of one device, by their index in its family. A layout is a set whose places can all be occupied at once.
class MigPlaceSet {
 public:
  constexpr MigPlaceSet() = default;
  static constexpr MigPlaceSet from_bits(std::uint32_t bits) { return MigPlaceSet(bits); }
  static constexpr MigPlaceSet of(std::size_t place) { return MigPlaceSet(std::uint32_t{1} << place); }

  constexpr bool contains(std::size_t place) const { return ((bits_ >> place) & 1U) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr int size() const { return std::popcount(bits_); }
  // PRE: not empty.
  constexpr std::size_t last() const { return static_cast<std::size_t>(std::bit_width(bits_)) - 1; }
  constexpr std::uint32_t bits() const { return bits_; }
  constexpr bool meets(MigPlaceSet other) const { return (bits_ & other.bits_) != 0; }
  constexpr MigPlaceSet with(std::size_t place) const { return united_with(of(place)); }
  constexpr MigPlaceSet without(std::size_t place) const { return minus(of(place)); }
  constexpr MigPlaceSet united_with(MigPlaceSet other) const { return MigPlaceSet(bits_ | other.bits_); }
  constexpr MigPlaceSet common_with(MigPlaceSet other) const { return MigPlaceSet(bits_ & other.bits_); }
  constexpr MigPlaceSet minus(MigPlaceSet other) const { return MigPlaceSet(bits_ & ~other.bits_); }

  // Calls visit(place) in ascending order.
  template <class Visit>
  constexpr void for_each(Visit visit) const {
    for (std::uint32_t left = bits_; left != 0; left &= left - 1)
      visit(static_cast<std::size_t>(std::countr_zero(left)));
  }

  friend constexpr bool operator==(MigPlaceSet, MigPlaceSet) = default;

 private:
  explicit constexpr MigPlaceSet(std::uint32_t bits) : bits_(bits) {}

  std::uint32_t bits_ = 0;
};

// Two slices that cannot both have what they want of the device's engines.
constexpr bool share_engines(MediaEngines a, MediaEngines b);

// INVARIANT: a set of places is a layout exactly when no two of them are in each other's way. That compute slices and
// engines suffice follows for every family that is known; the tests compare it with the rule in full.
class MigGeometry {
 public:
  // PRE: as many shapes and places as the bounds above; every shape lies inside the device.
  constexpr MigGeometry(std::int32_t compute_slices, std::int32_t memory_slices, std::span<const SliceShape> shapes);

  constexpr std::int32_t compute_slices() const { return compute_slices_; }
  constexpr std::int32_t memory_slices() const { return memory_slices_; }
  constexpr std::span<const SliceShape> shapes() const { return {shapes_.data(), shape_count_}; }
  // By shape, then by start.
  constexpr std::span<const MigPlace> places() const { return {places_.data(), place_count_}; }
  constexpr MigPlaceSet places_of(std::size_t shape) const { return places_of_[shape]; }
  // Nothing where the shape may not begin.
  constexpr std::optional<std::size_t> find_place(std::size_t shape, std::size_t start) const {
    for (std::size_t place = 0; place < place_count_; ++place) {
      if (places_[place].shape == shape && places_[place].start == start) return place;
    }
    return std::nullopt;
  }
  // Those whose engines leave none of what the shape needs, wherever on the device they are.
  constexpr MigPlaceSet rivals_of(std::size_t shape) const { return rivals_of_[shape]; }
  // The memory slices of a place, a bit for each.
  constexpr std::uint32_t memory_of(std::size_t place) const { return memory_of_[place]; }
  constexpr std::uint32_t memory_of(MigPlaceSet places) const;
  // Where one more slice may be cut; on a device that is cut beforehand, those of its slices that nobody has.
  constexpr MigPlaceSet open_beside(MigPlaceSet layout, MigPlaceSet fixed = {}) const;
  // How many more slices of one shape fit, all of them.
  constexpr int room_for(std::size_t shape, MigPlaceSet layout, MigPlaceSet fixed = {}) const {
    const int open = open_beside(layout, fixed).common_with(places_of_[shape]).size();
    const bool one_of_a_kind = share_engines(shapes_[shape].media, shapes_[shape].media);
    return one_of_a_kind && open > 1 ? 1 : open;
  }
  constexpr bool is_layout(MigPlaceSet places) const;

 private:
  std::int32_t compute_slices_;
  std::int32_t memory_slices_;
  std::size_t shape_count_;
  std::size_t place_count_ = 0;
  std::array<SliceShape, kMigShapesMax> shapes_{};
  std::array<MigPlaceSet, kMigShapesMax> places_of_{};
  std::array<MigPlaceSet, kMigShapesMax> rivals_of_{};
  std::array<MigPlace, kMigPlacesMax> places_{};
  std::array<std::uint32_t, kMigPlacesMax> memory_of_{};
  std::array<MigPlaceSet, kMigPlacesMax> in_the_way_of_{};
};

// Seven compute and eight memory slices: A100 and all since.
extern const MigGeometry kMigOfA100;
// Four and four.
extern const MigGeometry kMigOfA30;
// Four and twelve.
extern const MigGeometry kMigOfRtxPro6000;

inline constexpr std::array kMigFamilies = {&kMigOfA100, &kMigOfA30, &kMigOfRtxPro6000};

constexpr bool share_engines(MediaEngines a, MediaEngines b) {
  const auto wants_image_engine = [](MediaEngines media) { return media >= MediaEngines::kExtended; };
  if (wants_image_engine(a) && wants_image_engine(b)) return true;
  const auto wants_decoders = [](MediaEngines media) { return media != MediaEngines::kNone; };
  return (a == MediaEngines::kAll && wants_decoders(b)) || (b == MediaEngines::kAll && wants_decoders(a));
}

constexpr MigGeometry::MigGeometry(std::int32_t compute_slices, std::int32_t memory_slices,
                                   std::span<const SliceShape> shapes)
    : compute_slices_(compute_slices), memory_slices_(memory_slices), shape_count_(shapes.size()) {
  BERTH_ASSERT(shapes.size() <= kMigShapesMax);
  for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
    const SliceShape& cut = shapes[shape];
    shapes_[shape] = cut;
    for (std::uint32_t left = cut.starts; left != 0; left &= left - 1) {
      const int start = std::countr_zero(left);
      BERTH_ASSERT(place_count_ < kMigPlacesMax && start + cut.memory_slices <= memory_slices);
      places_[place_count_] = {static_cast<std::uint8_t>(shape), static_cast<std::uint8_t>(start)};
      memory_of_[place_count_] = ((std::uint32_t{1} << cut.memory_slices) - 1) << start;
      places_of_[shape] = places_of_[shape].with(place_count_);
      ++place_count_;
    }
  }
  for (std::size_t place = 0; place < place_count_; ++place) {
    for (std::size_t other = 0; other < place_count_; ++other) {
      const std::size_t shape = places_[place].shape;
      const bool rivals = share_engines(shapes_[shape].media, shapes_[places_[other].shape].media);
      if (rivals) rivals_of_[shape] = rivals_of_[shape].with(other);
      if (rivals || (memory_of_[place] & memory_of_[other]) != 0)
        in_the_way_of_[place] = in_the_way_of_[place].with(other);
    }
  }
}

constexpr std::uint32_t MigGeometry::memory_of(MigPlaceSet places) const {
  std::uint32_t memory = 0;
  places.for_each([&](std::size_t place) { memory |= memory_of_[place]; });
  return memory;
}

constexpr MigPlaceSet MigGeometry::open_beside(MigPlaceSet layout, MigPlaceSet fixed) const {
  if (!fixed.empty()) return fixed.minus(layout);
  MigPlaceSet closed;
  layout.for_each([&](std::size_t place) { closed = closed.united_with(in_the_way_of_[place]); });
  return MigPlaceSet::from_bits((std::uint32_t{1} << (place_count_ - 1) << 1) - 1).minus(closed);
}

constexpr bool MigGeometry::is_layout(MigPlaceSet places) const {
  bool legal = true;
  places.for_each([&](std::size_t place) {
    legal = legal && place < place_count_ && !in_the_way_of_[place].meets(places.without(place));
  });
  return legal;
}

}  // namespace berth
