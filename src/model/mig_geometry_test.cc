#include "model/mig_geometry.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/gpu.h"
#include "model/gpu_hardware.h"

namespace berth::mig_geometry_test {

// What can be cut with some shapes.
struct Enumeration {
  std::size_t layouts = 0;
  std::size_t maximal = 0;                    // nothing fits beside them
  std::set<std::vector<int>> maximal_counts;  // how many of each shape, wherever they are
};

// The rule in full, apart from engines: memory is nobody else's, and compute slices suffice.
bool is_legal(const MigGeometry& mig, std::span<const std::size_t> places) {
  std::uint32_t memory = 0;
  std::int32_t compute_slices = 0;
  for (const std::size_t place : places) {
    const SliceShape& shape = mig.shapes()[mig.places()[place].shape];
    for (int slice = 0; slice < shape.memory_slices; ++slice) {
      const std::uint32_t bit = std::uint32_t{1} << (mig.places()[place].start + slice);
      if ((memory & bit) != 0) return false;
      memory |= bit;
    }
    compute_slices += shape.compute_slices;
  }
  return compute_slices <= mig.compute_slices();
}

// By trying all: takes the geometry's word for nothing but the list of places.
Enumeration enumerate(const MigGeometry& mig, const std::set<std::size_t>& shapes) {
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < mig.places().size(); ++place)
    if (shapes.contains(mig.places()[place].shape)) places.push_back(place);
  Enumeration found;
  std::vector<std::size_t> layout;
  const std::function<void(std::size_t)> visit = [&](std::size_t from) {
    ++found.layouts;
    bool maximal = true;
    MigPlaceSet set;
    for (const std::size_t place : layout) set = set.with(place);
    EXPECT_TRUE(mig.is_layout(set));
    for (std::size_t i = 0; i < places.size(); ++i) {
      layout.push_back(places[i]);
      const bool fits = is_legal(mig, layout);
      EXPECT_EQ(mig.open_beside(set).contains(places[i]), fits);
      EXPECT_EQ(mig.is_layout(set.with(places[i])), fits || set.contains(places[i]));
      maximal = maximal && !fits;
      if (fits && i >= from) visit(i + 1);
      layout.pop_back();
    }
    if (!maximal) return;
    ++found.maximal;
    std::vector<int> counts(mig.shapes().size());
    for (const std::size_t place : layout) ++counts[mig.places()[place].shape];
    found.maximal_counts.insert(counts);
  };
  visit(0);
  return found;
}

TEST(MigGeometry, HasTheLayoutsThatAreKnown) {
  struct Case {
    std::string_view what;
    const MigGeometry& mig;
    std::set<std::size_t> shapes;
    std::size_t layouts, maximal, maximal_counts;
  };
  const Case cases[] = {
      {"A100: 1g, 2g, 3g, 4g and 7g, as NVIDIA draws them", kMigOfA100, {0, 3, 4, 5, 6}, 298, 19, 14},
      {"A100: and 1g with twice the memory", kMigOfA100, {0, 2, 3, 4, 5, 6}, 723, 78, 38},
      {"A30", kMigOfA30, {0, 2, 4}, 26, 5, 4},
      {"RTX PRO 6000", kMigOfRtxPro6000, {0, 5, 9}, 26, 5, 4},
      {"A100: nothing but 7g", kMigOfA100, {6}, 2, 1, 1},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const Enumeration found = enumerate(c.mig, c.shapes);
    EXPECT_EQ(found.layouts, c.layouts);
    EXPECT_EQ(found.maximal, c.maximal);
    EXPECT_EQ(found.maximal_counts.size(), c.maximal_counts);
  }
}

// "3g@4" is a shape at a start.
MigPlaceSet places_named(const GpuHardware& hardware, std::span<const std::string_view> texts) {
  MigPlaceSet set;
  for (const std::string_view text : texts) {
    const std::size_t at = text.find('@');
    const std::size_t shape = find_mig_profile(hardware, text.substr(0, at)).value();
    hardware.mig->places_of(shape).for_each([&](std::size_t place) {
      if (std::to_string(hardware.mig->places()[place].start) == text.substr(at + 1)) set = set.with(place);
    });
  }
  return set;
}

TEST(MigGeometry, SaysWhatMayStandTogether) {
  struct Case {
    std::string_view model;
    std::vector<std::string_view> slices;
    bool legal;
  };
  const Case cases[] = {
      {"H100", {"3g.40gb@0", "3g.40gb@4"}, true},
      {"H100", {"4g.40gb@0", "3g.40gb@4"}, true},
      {"H100", {"4g.40gb@0", "2g.20gb@4", "1g.10gb@6"}, true},
      {"H100", {"2g.20gb@0", "2g.20gb@2", "2g.20gb@4", "1g.20gb@6"}, true},
      {"H100", {"3g.40gb@0", "1g.10gb@3"}, false},
      {"H100", {"3g.40gb@4", "1g.10gb@6"}, false},
      {"H100", {"7g.80gb@0", "1g.10gb@6"}, false},
      {"H100", {"1g.10gb+me@0", "1g.10gb@1"}, true},
      {"H100", {"1g.10gb+me@0", "1g.10gb+me@1"}, false},
      {"A30", {"1g.6gb+me@0", "2g.12gb+me@2"}, false},
      {"A30", {"1g.6gb+me@0", "2g.12gb@2"}, true},
      {"RTX-PRO-6000", {"1g.24gb+me.all@0", "1g.24gb-me@3", "2g.48gb-me@6"}, true},
      {"RTX-PRO-6000", {"1g.24gb+me.all@0", "1g.24gb@3"}, false},
      {"RTX-PRO-6000", {"1g.24gb+me@0", "1g.24gb+gfx@3", "2g.48gb@6"}, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.slices[0]) + " and " + std::string(c.slices[1]));
    const GpuHardware& hardware = *find_gpu_hardware(*find_gpu_model(c.model));
    const MigPlaceSet places = places_named(hardware, c.slices);
    ASSERT_EQ(places.size(), static_cast<int>(c.slices.size()));
    EXPECT_EQ(hardware.mig->is_layout(places), c.legal);
  }
}

TEST(MigGeometry, OpensWhatMayStandThere) {
  for (const MigGeometry* const mig : {&kMigOfA100, &kMigOfA30, &kMigOfRtxPro6000}) {
    EXPECT_EQ(mig->open_beside({}).size(), static_cast<int>(mig->places().size()));
    for (std::size_t place = 0; place < mig->places().size(); ++place) {
      const MigPlaceSet one = MigPlaceSet::of(place);
      EXPECT_TRUE(mig->is_layout(one));
      EXPECT_FALSE(mig->open_beside(one).contains(place));
      for (std::size_t other = 0; other < mig->places().size(); ++other)
        EXPECT_EQ(mig->open_beside(one).contains(other), other != place && mig->is_layout(one.with(other)));
    }
  }
}

// 3g begins at 0 and 4 only, 4g at 0, 2g not at 6: whatever is tried elsewhere is no place at all.
TEST(MigGeometry, HasNoOtherPlaces) {
  const GpuHardware& h100 = *find_gpu_hardware(*find_gpu_model("H100"));
  const std::string_view elsewhere[] = {"3g.40gb@2", "4g.40gb@4", "2g.20gb@1", "2g.20gb@6", "1g.10gb@7", "7g.80gb@1"};
  for (const std::string_view text : elsewhere) EXPECT_TRUE(places_named(h100, {&text, 1}).empty()) << text;
  EXPECT_EQ(kMigOfA100.places().size(), 25U);
  EXPECT_EQ(kMigOfA30.places().size(), 13U);
  EXPECT_EQ(kMigOfRtxPro6000.places().size(), 30U);
}

}  // namespace berth::mig_geometry_test
