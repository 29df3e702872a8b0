#include "model/mig_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/gpu.h"

namespace berth::mig_layout_test {

const GpuHardware& hardware(std::string_view model) { return *find_gpu_hardware(*find_gpu_model(model)); }

// "3g.40gb@4 1g.10gb@3", in the order of the places; or why not.
std::string laid_out(std::string_view model, const std::vector<std::string>& profiles) {
  const auto places = lay_out(hardware(model), profiles);
  if (!places) return places.error();
  std::string text;
  places->for_each([&](std::size_t index) {
    const MigPlace& place = hardware(model).mig->places()[index];
    text += (text.empty() ? "" : " ") + std::string(hardware(model).mig_profiles[place.shape].name) + "@" +
            std::to_string(place.start);
  });
  return text;
}

TEST(LayOut, PlacesWhatFitsAndSaysWhatElseWould) {
  struct Case {
    std::string_view model;
    std::vector<std::string> profiles;
    std::string_view answer;
  };
  const Case cases[] = {
      {"H100", {"3g.40gb", "1g.10gb"}, "1g.10gb@3 3g.40gb@4"},
      {"H100", {"1g.10gb", "3g.40gb"}, "1g.10gb@3 3g.40gb@4"},
      {"H100",
       {"3g.40gb", "1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb"},
       "1g.10gb@0 1g.10gb@1 1g.10gb@2 1g.10gb@3 3g.40gb@4"},
      {"H100", {"1g.10gb", "2g.20gb", "4g.40gb"}, "1g.10gb@6 2g.20gb@4 4g.40gb@0"},
      {"H100",
       {"1g.10gb+me", "3g.40gb", "3g.40gb"},
       "a H100 has no room for a 3g.40gb beside 1g.10gb+me, 3g.40gb; there is room for one of 2g.20gb, 1g.20gb, "
       "1g.10gb"},
      {"H100", {"7g.80gb"}, "7g.80gb@0"},
      {"H100", {"7g.80gb", "1g.10gb"}, "a H100 has no room for a 1g.10gb beside 7g.80gb; leave it out"},
      {"A30", {"1g.6gb+me", "2g.12gb"}, "1g.6gb+me@1 2g.12gb@2"},
      {"A30", {"1g.10gb"}, "a A30 has no slice '1g.10gb'; it has 4g.24gb, 2g.12gb+me, 2g.12gb, 1g.6gb+me, 1g.6gb"},
      {"H100", {""}, "a H100 has no slice ''; it has 7g.80gb, 4g.40gb, 3g.40gb, 2g.20gb, 1g.20gb, 1g.10gb+me, 1g.10gb"},
  };
  for (const Case& each : cases) EXPECT_EQ(laid_out(each.model, each.profiles), each.answer);
}

// Of every layout of every model the same slices in any order: they can be laid out, and as no others.
TEST(LayOut, FindsALayoutWhereThereIsOne) {
  for (const std::string_view model : {"H100", "A30", "RTX-PRO-6000"}) {
    const MigGeometry& mig = *hardware(model).mig;
    std::set<std::vector<std::string>> known;
    const std::function<void(MigPlaceSet, std::size_t)> visit = [&](MigPlaceSet layout, std::size_t from) {
      std::vector<std::string> names;
      layout.for_each(
          [&](std::size_t place) { names.emplace_back(hardware(model).mig_profiles[mig.places()[place].shape].name); });
      std::ranges::sort(names);
      known.insert(names);
      mig.open_beside(layout).for_each([&](std::size_t place) {
        if (place >= from) visit(layout.with(place), place + 1);
      });
    };
    visit({}, 0);
    for (const std::vector<std::string>& names : known) {
      const auto places = lay_out(hardware(model), names);
      ASSERT_TRUE(places) << places.error();
      ASSERT_TRUE(mig.is_layout(*places));
      std::vector<std::string> placed;
      places->for_each(
          [&](std::size_t at) { placed.emplace_back(hardware(model).mig_profiles[mig.places()[at].shape].name); });
      std::ranges::sort(placed);
      ASSERT_EQ(placed, names);
      for (const MigProfile& more : hardware(model).mig_profiles) {
        std::vector<std::string> longer = names;
        longer.emplace_back(more.name);
        const bool fits = lay_out(hardware(model), longer).has_value();
        std::ranges::sort(longer);
        ASSERT_EQ(fits, known.contains(longer)) << more.name << " beside " << names.size();
      }
    }
  }
}

TEST(MilliToPromise, IsWhatTheSlicesAre) {
  const Flavor flavor{.name = "h100", .model = "H100"};
  const std::vector<std::string> profiles = {"3g.40gb", "1g.10gb"};
  Node node{.name = "n", .flavor = FlavorId(0), .gpus = 2};
  EXPECT_EQ(milli_to_promise(node, flavor), 1000);
  node.sharing = Sharing::kMig;
  EXPECT_EQ(milli_to_promise(node, flavor), 1000);
  node.fixed_slices = *lay_out(hardware("H100"), profiles);
  EXPECT_EQ(milli_to_promise(node, flavor), 454 + 121);
  EXPECT_EQ(milli_to_promise(node, {.name = "any", .model = ""}), 1000) << "nobody knows what they are";
  node.sharing = Sharing::kTimeslice;
  EXPECT_EQ(milli_to_promise(node, flavor), 0);
}

}  // namespace berth::mig_layout_test
