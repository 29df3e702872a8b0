#include "placement/slice_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"
#include "model/gpu.h"
#include "model/gpu_hardware.h"
#include "placement/slice_optimum.h"
#include "placement/slice_trial.h"

namespace berth::slice_choice_test {

// Every layout of a family, the empty one first.
std::vector<MigPlaceSet> layouts_of(const MigGeometry& mig) {
  std::vector<MigPlaceSet> layouts;
  const std::function<void(MigPlaceSet, std::size_t)> visit = [&](MigPlaceSet layout, std::size_t from) {
    layouts.push_back(layout);
    mig.open_beside(layout).for_each([&](std::size_t place) {
      if (place >= from) visit(layout.with(place), place + 1);
    });
  };
  visit({}, 0);
  return layouts;
}

// Cuts slices by name, one after the other, on so many empty devices: "1g.10gb@6/0" is one on the first device.
std::string cut(std::string_view model, std::size_t devices, const std::vector<std::string_view>& names) {
  const GpuHardware& hardware = *find_gpu_hardware(*find_gpu_model(model));
  const SliceCosts costs(*hardware.mig);
  std::vector<MigPlaceSet> layouts(devices);
  std::string text;
  for (const std::string_view name : names) {
    const std::optional<SliceChoice> choice = choose_slice(costs, *find_mig_profile(hardware, name), layouts);
    if (!text.empty()) text += ' ';
    text += name;
    if (choice) {
      layouts[choice->device] = layouts[choice->device].with(choice->place);
      text += "@" + std::to_string(hardware.mig->places()[choice->place].start) + "/" + std::to_string(choice->device);
    } else {
      text += " nowhere";
    }
  }
  return text;
}

TEST(ChooseSlice, KeepsTheMostLargeSlicesPossible) {
  struct Case {
    std::string_view model;
    std::size_t devices;
    std::vector<std::string_view> names;
    std::string_view cuts;
  };
  const Case cases[] = {
      {"H100", 1, {"1g.10gb", "1g.10gb", "1g.10gb", "4g.40gb"}, "1g.10gb@6/0 1g.10gb@5/0 1g.10gb@4/0 4g.40gb@0/0"},
      {"H100", 1, {"1g.10gb", "2g.20gb", "4g.40gb"}, "1g.10gb@6/0 2g.20gb@4/0 4g.40gb@0/0"},
      {"H100", 1, {"1g.20gb", "2g.20gb", "4g.40gb"}, "1g.20gb@6/0 2g.20gb@4/0 4g.40gb@0/0"},
      {"H100", 1, {"3g.40gb", "4g.40gb"}, "3g.40gb@4/0 4g.40gb@0/0"},
      {"H100", 1, {"3g.40gb", "1g.10gb", "2g.20gb"}, "3g.40gb@4/0 1g.10gb@3/0 2g.20gb@0/0"},
      {"A100-40GB", 1, {"2g.10gb", "4g.20gb", "1g.5gb"}, "2g.10gb@4/0 4g.20gb@0/0 1g.5gb@6/0"},
      {"A30", 1, {"1g.6gb", "1g.6gb", "2g.12gb"}, "1g.6gb@3/0 1g.6gb@2/0 2g.12gb@0/0"},
      {"RTX-PRO-6000", 1, {"1g.24gb", "1g.24gb-me", "2g.48gb"}, "1g.24gb@9/0 1g.24gb-me@6/0 2g.48gb@0/0"},
      // Engines may refuse what memory allows; what they refuse goes to the next device.
      {"H100", 1, {"1g.10gb+me", "1g.10gb+me"}, "1g.10gb+me@6/0 1g.10gb+me nowhere"},
      {"H100", 2, {"1g.10gb+me", "1g.10gb+me", "1g.10gb"}, "1g.10gb+me@6/0 1g.10gb+me@6/1 1g.10gb@5/0"},
      // A device with a slice is filled before the next one is begun.
      {"H100", 2, {"1g.10gb", "3g.40gb", "7g.80gb"}, "1g.10gb@6/0 3g.40gb@0/0 7g.80gb@0/1"},
      {"H100", 2, {"4g.40gb", "3g.40gb", "7g.80gb"}, "4g.40gb@0/0 3g.40gb@4/0 7g.80gb@0/1"},
      {"H100",
       2,
       {"4g.40gb", "4g.40gb", "2g.20gb", "1g.10gb", "3g.40gb"},
       "4g.40gb@0/0 4g.40gb@0/1 2g.20gb@4/0 1g.10gb@6/0 3g.40gb@4/1"},
  };
  for (const Case& c : cases) EXPECT_EQ(cut(c.model, c.devices, c.names), c.cuts) << c.model;
}

// Slices of one workload on one device, beside all that others may have there.
TEST(BestTogether, LeavesAsMuchPossibleAsAnyLayoutOfTheSameSlices) {
  for (const GpuHardware& hardware : gpu_hardware()) {
    if (hardware.mig == nullptr) continue;
    SCOPED_TRACE(hardware.model);
    const MigGeometry& mig = *hardware.mig;
    const SliceCosts costs(mig);
    const std::vector<MigPlaceSet> layouts = layouts_of(mig);
    const auto shapes_in = [&](MigPlaceSet layout) {
      std::array<int, kMigShapesMax> counts{};
      layout.for_each([&](std::size_t place) { ++counts[mig.places()[place].shape]; });
      return counts;
    };
    int better = 0;
    for (std::size_t i = 0; i < layouts.size(); i += layouts.size() < 2000 ? 1 : 37) {
      const MigPlaceSet all = layouts[i];
      // The first of them, of each size, are others'.
      MigPlaceSet others;
      for (int count = 0; count <= std::min(all.size(), 2); ++count) {
        std::vector<std::size_t> places;
        all.minus(others).for_each([&](std::size_t place) { places.push_back(place); });
        const std::vector<std::size_t> best = best_together(costs, others, places);
        MigPlaceSet laid = others;
        for (std::size_t at = 0; at < best.size(); ++at) {
          ASSERT_EQ(mig.places()[best[at]].shape, mig.places()[places[at]].shape);
          ASSERT_TRUE(mig.open_beside(laid).contains(best[at]));
          laid = laid.with(best[at]);
        }
        SliceCost most = 0;
        for (const MigPlaceSet each : layouts) {
          const bool same = each.common_with(others) == others && shapes_in(each) == shapes_in(all);
          if (same) most = std::max(most, costs.possible_beside(each));
        }
        ASSERT_EQ(costs.possible_beside(laid), most);
        better += costs.possible_beside(laid) > costs.possible_beside(all) ? 1 : 0;
        EXPECT_EQ(best == places, costs.possible_beside(all) == most) << "nobody is moved for nothing";
        if (all.minus(others).empty()) break;
        others = others.with(all.minus(others).last());
      }
    }
    EXPECT_GT(better, 0);
  }
}

// All sequences of requests, which go on alike once they have led to the same layout.
TEST(ChooseSlice, NeverGivesASliceTwice) {
  for (const GpuHardware& hardware : gpu_hardware()) {
    if (hardware.mig == nullptr) continue;
    SCOPED_TRACE(hardware.model);
    const MigGeometry& mig = *hardware.mig;
    const SliceCosts costs(mig);
    std::set<std::uint32_t> reached = {0};
    for (int length = 1; length <= 7; ++length) {
      std::set<std::uint32_t> longer = reached;
      for (const std::uint32_t bits : reached) {
        const MigPlaceSet layout = MigPlaceSet::from_bits(bits);
        for (std::size_t shape = 0; shape < mig.shapes().size(); ++shape) {
          const std::optional<SliceChoice> choice = choose_slice(costs, shape, {&layout, 1});
          EXPECT_EQ(choice.has_value(), mig.open_beside(layout).meets(mig.places_of(shape))) << "one that fits fits";
          if (!choice) continue;
          ASSERT_EQ(mig.places()[choice->place].shape, shape);
          ASSERT_EQ(mig.memory_of(layout) & mig.memory_of(choice->place), 0U) << "twice";
          const MigPlaceSet more = layout.with(choice->place);
          ASSERT_TRUE(mig.is_layout(more));
          std::int32_t compute_slices = 0;
          more.for_each(
              [&](std::size_t place) { compute_slices += mig.shapes()[mig.places()[place].shape].compute_slices; });
          ASSERT_LE(compute_slices, mig.compute_slices());
          longer.insert(more.bits());
        }
      }
      reached = std::move(longer);
    }
    EXPECT_GT(reached.size(), 10U);
  }
}

// How many slices of each size would fit, the largest size first.
std::vector<int> what_fits(const MigGeometry& mig, MigPlaceSet layout) {
  std::vector<std::size_t> sizes;
  for (std::size_t shape = 0; shape < mig.shapes().size(); ++shape)
    if (mig.shapes()[shape].is_plain()) sizes.push_back(shape);
  std::ranges::sort(sizes, [&](std::size_t a, std::size_t b) {
    return mig.shapes()[a].memory_slices * 10 + mig.shapes()[a].compute_slices >
           mig.shapes()[b].memory_slices * 10 + mig.shapes()[b].compute_slices;
  });
  std::vector<int> fits;
  for (const std::size_t shape : sizes) {
    fits.push_back(0);
    mig.places_of(shape).for_each(
        [&](std::size_t place) { fits.back() += (mig.memory_of(place) & mig.memory_of(layout)) == 0; });
  }
  return fits;
}

TEST(CheapestCut, IsTheOneThatLeavesMostToTheLargest) {
  for (const MigGeometry* const mig : kMigFamilies) {
    const SliceCosts costs(*mig);
    for (const MigPlaceSet layout : layouts_of(*mig)) {
      for (std::size_t shape = 0; shape < mig->shapes().size(); ++shape) {
        std::optional<std::size_t> best;
        mig->open_beside(layout).common_with(mig->places_of(shape)).for_each([&](std::size_t place) {
          if (!best || what_fits(*mig, layout.with(place)) >= what_fits(*mig, layout.with(*best))) best = place;
        });
        const std::optional<SliceCosts::Cut> cut = costs.cheapest_cut(shape, layout);
        ASSERT_EQ(cut ? cut->place : kMigPlacesMax, best.value_or(kMigPlacesMax)) << layout.bits();
      }
    }
  }
}

TEST(ChooseSlice, TakesTheCheapestDeviceAndTheFirstOfEquals) {
  Rng rng(Seed{3});
  for (const MigGeometry* const mig : kMigFamilies) {
    const SliceCosts costs(*mig);
    const std::vector<MigPlaceSet> all = layouts_of(*mig);
    for (int round = 0; round < 500; ++round) {
      std::vector<MigPlaceSet> layouts;
      for (int i = 0; i < 12; ++i) layouts.push_back(all[rng.below(all.size())]);
      const auto shape = static_cast<std::size_t>(rng.below(mig->shapes().size()));
      std::optional<std::size_t> first;
      for (std::size_t device = 0; device < layouts.size(); ++device) {
        const auto cut = costs.cheapest_cut(shape, layouts[device]);
        if (cut && (!first || cut->cost < costs.cheapest_cut(shape, layouts[*first])->cost)) first = device;
      }
      const std::optional<SliceChoice> choice = choose_slice(costs, shape, layouts);
      ASSERT_EQ(choice ? choice->device : layouts.size(), first.value_or(layouts.size()));
    }
  }
}

// What is given out on devices that were cut beforehand, written down plainly: a slice of the profile that is free.
TEST(FixedSlicesProperty, AreGivenOutAndTakenBackAsTheyAre) {
  for (const Seed seed : property_seeds(200)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const MigGeometry& mig = *kMigFamilies[rng.below(kMigFamilies.size())];
    const SliceCosts costs(mig);
    const std::vector<MigPlaceSet> all = layouts_of(mig);
    const MigPlaceSet fixed = all[1 + rng.below(all.size() - 1)];
    std::vector<MigPlaceSet> layouts(1 + rng.below(3));
    std::multiset<std::size_t> free;  // shapes
    for (std::size_t device = 0; device < layouts.size(); ++device) {
      fixed.for_each([&](std::size_t place) { free.insert(mig.places()[place].shape); });
    }
    std::vector<SliceChoice> taken;
    for (int step = 0; step < 60; ++step) {
      if (!taken.empty() && rng.below(3) == 0) {
        const auto at = taken.begin() + static_cast<std::ptrdiff_t>(rng.below(taken.size()));
        layouts[at->device] = layouts[at->device].without(at->place);
        free.insert(mig.places()[at->place].shape);
        taken.erase(at);
      }
      const auto shape = static_cast<std::size_t>(rng.below(mig.shapes().size()));
      int room = 0;
      for (const MigPlaceSet layout : layouts) room += mig.room_for(shape, layout, fixed);
      ASSERT_EQ(room, static_cast<int>(free.count(shape)));
      const auto choice = choose_slice(costs, shape, layouts, fixed);
      ASSERT_EQ(choice.has_value(), free.contains(shape));
      if (!choice) continue;
      ASSERT_EQ(mig.places()[choice->place].shape, shape);
      ASSERT_TRUE(fixed.contains(choice->place) && !layouts[choice->device].contains(choice->place));
      layouts[choice->device] = layouts[choice->device].with(choice->place);
      free.erase(free.find(shape));
      taken.push_back(*choice);
    }
  }
}

// The table in docs/results.md has them all.
TEST(SliceTrial, TakesAlmostAsMuchAsTheBestRuleOnOneGpu) {
  const SliceOptimum optimum(1);
  for (const SliceMix& mix : kSliceMixes) {
    SCOPED_TRACE(mix.name);
    const std::int64_t ours = optimum.taken_ppm(mix, 120, SliceAim::kLeastCost);
    const std::int64_t best = optimum.taken_ppm(mix, 120, SliceAim::kBest);
    EXPECT_LE(ours, best);
    EXPECT_GE(ours * 1000, best * 995);
    EXPECT_LE(best, optimum.taken_ppm(mix, 120, SliceAim::kBestMayRefuse));
    EXPECT_GE(ours * 100, optimum.taken_ppm(mix, 120, SliceAim::kFirstFit) * 102);
  }
}

TEST(SliceTrial, TakesMoreThanFirstFitOnManyGpus) {
  for (const SliceMix& mix : kSliceMixes) {
    SCOPED_TRACE(mix.name);
    const SliceTrial trial{.mix = mix, .load_percent = 120, .gpus = 60, .warm_up = 2'000, .measured = 10'000};
    const SliceWork first = try_slices(trial, SliceRule::kFirstFit, Seed{42});
    const SliceWork ours = try_slices(trial, SliceRule::kLeastCost, Seed{42});
    EXPECT_GT(ours.taken_sms * first.asked_sms, first.taken_sms * ours.asked_sms);
  }
}

TEST(BestOffer, IsRatherThereThanComesThanIsYetToBeCut) {
  const MigGeometry& mig = kMigOfA100;
  const SliceCosts costs(mig);
  const GpuHardware& hardware = *find_gpu_hardware(*find_gpu_model("H100"));
  const auto shape = [&](std::string_view name) { return *find_mig_profile(hardware, name); };
  const auto at = [&](std::string_view name, std::size_t start) {
    return MigPlaceSet::of(*mig.find_place(shape(name), start));
  };
  const MigPlaceSet low = at("3g.40gb", 0), high = at("3g.40gb", 4), small = at("1g.10gb", 6);
  const struct {
    const char* sentence;
    GpuCut cut;
    MigPlaceSet taken;
    std::string_view asked;
    std::optional<SliceWait> wait;
    std::size_t start;
  } kCases[] = {
      {"one that is there, the highest", {low.united_with(high), {}}, {}, "3g.40gb", SliceWait::kNone, 4},
      {"the other is taken", {low.united_with(high), {}}, high, "3g.40gb", SliceWait::kNone, 0},
      {"one comes, one is there", {low.united_with(high), high}, {}, "3g.40gb", SliceWait::kNone, 0},
      {"one comes, the other is taken", {low.united_with(high), high}, low, "3g.40gb", SliceWait::kBeingCut, 4},
      {"both are taken", {low.united_with(high), {}}, low.united_with(high), "3g.40gb", {}, 0},
      {"none is of the profile", {low.united_with(high), {}}, {}, "1g.10gb", SliceWait::kToBeCutAnew, 6},
      {"somebody stays in the way of the best",
       {low.united_with(high), {}},
       high,
       "1g.10gb",
       SliceWait::kToBeCutAnew,
       3},
      {"it rests", {low.united_with(high), {}, true}, {}, "1g.10gb", {}, 0},
      {"others are being cut", {low.united_with(small), small}, {}, "2g.20gb", {}, 0},
      {"what is there is in the way of who has come where he is to be",
       {low, {}},
       small,
       "3g.40gb",
       SliceWait::kNone,
       0},
  };
  for (const auto& each : kCases) {
    SCOPED_TRACE(each.sentence);
    const auto offer = best_offer(costs, shape(each.asked), each.taken, {}, &each.cut);
    ASSERT_EQ(offer.has_value(), each.wait.has_value());
    if (!offer) continue;
    EXPECT_EQ(offer->wait, *each.wait);
    EXPECT_EQ(mig.places()[offer->place].start, each.start);
  }
  EXPECT_TRUE((SliceOffer{0, SliceWait::kNone, 9}).comes_before({0, SliceWait::kBeingCut, 0}));
  EXPECT_TRUE((SliceOffer{0, SliceWait::kToBeCutAnew, 1}).comes_before({0, SliceWait::kToBeCutAnew, 2}));
}

// The trial on one GPU is the chain that the optimum solves: both count the same.
TEST(SliceTrial, AgreesWithTheExactSolution) {
  const SliceOptimum optimum(1);
  const SliceTrial trial{.mix = kSliceMixes[0], .load_percent = 100, .gpus = 1, .warm_up = 100, .measured = 400'000};
  const SliceWork ours = try_slices(trial, SliceRule::kLeastCost, Seed{1});
  const std::int64_t ppm = ours.taken_sms * 1'000'000 / ours.asked_sms;
  EXPECT_LE(std::abs(ppm - optimum.taken_ppm(kSliceMixes[0], 100, SliceAim::kLeastCost)), 3'000);
}

// can_be_packed() says of one GPU what its layouts say.
TEST(SliceTrial, PacksWhatHasALayout) {
  std::set<std::array<std::int64_t, 6>> packed;
  for (const MigPlaceSet layout : layouts_of(kMigOfA100)) {
    std::array<std::int64_t, 6> counts{};
    bool plain = true;
    layout.for_each([&](std::size_t place) {
      const auto kind = std::ranges::find(kTrialShapes, std::size_t{kMigOfA100.places()[place].shape});
      plain = plain && kind != kTrialShapes.end();
      if (plain) ++counts[static_cast<std::size_t>(kind - kTrialShapes.begin())];
    });
    if (plain) packed.insert(counts);
  }
  std::array<std::int64_t, 6> counts{};
  const std::array<std::int64_t, 6> most = {8, 5, 5, 3, 2, 2};
  for (std::size_t kind = 0; kind < counts.size();) {
    EXPECT_EQ(can_be_packed(1, counts), packed.contains(counts)) << testing::PrintToString(counts);
    for (kind = 0; kind < counts.size() && ++counts[kind] > most[kind]; ++kind) counts[kind] = 0;
  }
}

}  // namespace berth::slice_choice_test
