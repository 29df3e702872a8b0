#include "model/slice_packing.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "model/gpu_hardware.h"

namespace berth::slice_packing_test {

std::vector<std::size_t> plain_shapes(const MigGeometry& geometry) {
  std::vector<std::size_t> plain;
  for (std::size_t shape = 0; shape < geometry.shapes().size(); ++shape) {
    if (geometry.shapes()[shape].is_plain()) plain.push_back(shape);
  }
  return plain;
}

// What every layout of plain shapes has of each.
void add_layouts(const MigGeometry& geometry, MigPlaceSet layout, std::size_t from, std::set<SliceCounts>& found) {
  SliceCounts counts{};
  layout.for_each([&](std::size_t place) { ++counts[geometry.places()[place].shape]; });
  found.insert(counts);
  geometry.open_beside(layout).for_each([&](std::size_t place) {
    const bool plain = geometry.shapes()[geometry.places()[place].shape].is_plain();
    if (place >= from && plain) add_layouts(geometry, layout.with(place), place + 1, found);
  });
}

// Without those that another has all of.
std::vector<SliceCounts> largest_of(const std::set<SliceCounts>& all) {
  const auto is_within = [](const SliceCounts& a, const SliceCounts& b) {
    return std::ranges::equal(a, b, std::less_equal<>());
  };
  std::vector<SliceCounts> largest;
  for (const SliceCounts& each : all) {
    const bool is_part =
        std::ranges::any_of(all, [&](const SliceCounts& other) { return other != each && is_within(each, other); });
    if (!is_part) largest.push_back(each);
  }
  return largest;
}

std::vector<SliceCounts> packings(const MigGeometry& geometry, int devices) {
  std::set<SliceCounts> of_one;
  add_layouts(geometry, {}, 0, of_one);
  const std::vector<SliceCounts> one = largest_of(of_one);
  std::set<SliceCounts> all(one.begin(), one.end());
  for (int i = 1; i < devices; ++i) {
    std::set<SliceCounts> more;
    for (const SliceCounts& some : all) {
      for (const SliceCounts& each : one) {
        SliceCounts sum = some;
        for (std::size_t shape = 0; shape < sum.size(); ++shape) sum[shape] += each[shape];
        more.insert(sum);
      }
    }
    const std::vector<SliceCounts> largest = largest_of(more);
    all = std::set<SliceCounts>(largest.begin(), largest.end());
  }
  return {all.begin(), all.end()};
}

struct Tally {
  std::int64_t packable = 0;
  std::int64_t not_packed = 0;
  std::int64_t packed_wrongly = 0;
};

// All that may be wanted of each shape, up to one more than there could be of it alone.
void try_all(const MigGeometry& geometry, int devices, const std::vector<SliceCounts>& packings, std::size_t at,
             SliceCounts& wanted, Tally& tally) {
  const std::vector<std::size_t> plain = plain_shapes(geometry);
  if (at < plain.size()) {
    const std::int64_t most = std::int64_t{devices} * geometry.room_for(plain[at], {});
    for (wanted[plain[at]] = 0; wanted[plain[at]] <= most; ++wanted[plain[at]]) {
      try_all(geometry, devices, packings, at + 1, wanted, tally);
    }
    wanted[plain[at]] = 0;
    return;
  }
  const bool packable = std::ranges::any_of(
      packings, [&](const SliceCounts& each) { return std::ranges::equal(wanted, each, std::less_equal<>()); });
  const bool packed = sum_of(pack(geometry, {{.layout = {}, .count = devices}}, wanted).left_out) == 0;
  tally.packable += packable ? 1 : 0;
  tally.not_packed += packable && !packed ? 1 : 0;
  tally.packed_wrongly += packed && !packable ? 1 : 0;
}

TEST(SlicePacking, PacksWhateverCanBePacked) {
  for (const MigGeometry* const geometry : kMigFamilies) {
    for (const int devices : {1, 2}) {
      SliceCounts wanted{};
      Tally tally;
      try_all(*geometry, devices, packings(*geometry, devices), 0, wanted, tally);
      EXPECT_GT(tally.packable, 5);
      EXPECT_EQ(tally.not_packed, 0) << "of " << tally.packable << " on " << devices;
      EXPECT_EQ(tally.packed_wrongly, 0);
    }
  }
}

std::size_t shape_of(const char* profile) {
  return *find_mig_profile(*find_gpu_hardware(*find_gpu_model("H100")), profile);
}

TEST(SlicePacking, NoWeightSaysWhatFits) {
  struct Case {
    const char* what;
    std::vector<std::pair<const char*, std::int64_t>> wanted;
    std::int64_t left_out;
  };
  const Case cases[] = {
      {"56 small ones", {{"1g.10gb", 56}}, 0},
      {"16 large ones", {{"3g.40gb", 16}}, 0},
      {"not both", {{"1g.10gb", 56}, {"3g.40gb", 16}}, 56},
      {"half of each", {{"1g.10gb", 28}, {"3g.40gb", 8}}, 0},
      {"the eighth memory slice is for one that is larger", {{"2g.20gb", 24}, {"1g.20gb", 8}}, 0},
      {"whole ones leave the others nothing", {{"7g.80gb", 4}, {"4g.40gb", 5}}, 1},
      {"one image engine each", {{"1g.10gb+me", 9}}, 1},
  };
  for (const Case& c : cases) {
    SliceCounts wanted{};
    for (const auto& [profile, count] : c.wanted) wanted[shape_of(profile)] = count;
    EXPECT_EQ(sum_of(pack(kMigOfA100, {{.layout = {}, .count = 8}}, wanted).left_out), c.left_out) << c.what;
  }
}

TEST(SlicePacking, LooksAtWhatStaysAndAtWhatWasCut) {
  const auto place = [](const char* profile, std::size_t start) {
    return MigPlaceSet::of(*kMigOfA100.find_place(shape_of(profile), start));
  };
  SliceCounts wanted{};
  wanted[shape_of("3g.40gb")] = 2;
  const MigPlaceSet fixed = place("3g.40gb", 4).united_with(place("1g.10gb", 0));
  EXPECT_EQ(sum_of(pack(kMigOfA100, {{.layout = place("1g.10gb", 6), .count = 1}}, wanted).left_out), 1);
  EXPECT_EQ(sum_of(pack(kMigOfA100, {{.layout = {}, .fixed = fixed, .count = 1}}, wanted).left_out), 1);
  // The one that is there is taken first, and leaves the other GPU to others.
  wanted[shape_of("4g.40gb")] = 1;
  EXPECT_EQ(
      sum_of(
          pack(kMigOfA100, {{.layout = {}, .count = 1}, {.layout = {}, .fixed = fixed, .count = 1}}, wanted).left_out),
      0);
}

}  // namespace berth::slice_packing_test
