#include "model/mig_layout.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <ranges>
#include <tuple>
#include <vector>

#include "base/wording.h"

namespace berth {
namespace {

// What is still to be placed beside a layout, equal shapes one after the other, each below the one before. The places of a shape are
// numbered by their starts.
std::optional<MigPlaceSet> place_beside(const MigGeometry& mig, MigPlaceSet layout, std::span<const std::size_t> shapes,
                                        std::size_t below = kMigPlacesMax) {
  if (shapes.empty()) return layout;
  MigPlaceSet open = mig.open_beside(layout).common_with(mig.places_of(shapes.front()));
  for (; !open.empty(); open = open.without(open.last())) {
    if (open.last() >= below) continue;
    const bool again = shapes.size() > 1 && shapes[1] == shapes[0];
    const auto found =
        place_beside(mig, layout.with(open.last()), shapes.subspan(1), again ? open.last() : kMigPlacesMax);
    if (found) return found;
  }
  return std::nullopt;
}

// The largest first: they may begin at the fewest places.
std::optional<MigPlaceSet> place_all(const MigGeometry& mig, std::vector<std::size_t> shapes) {
  std::ranges::sort(shapes, std::greater{}, [&](std::size_t shape) {
    return std::tuple(mig.shapes()[shape].memory_slices, mig.shapes()[shape].compute_slices, shape);
  });
  return place_beside(mig, {}, shapes);
}

// The names of those shapes that are left, the largest first.
template <class Left>
std::string names_of(const GpuHardware& hardware, Left left) {
  std::string names;
  for (std::size_t shape = hardware.mig_profiles.size(); shape-- > 0;) {
    if (left(shape)) names += (names.empty() ? "" : ", ") + std::string(hardware.mig_profiles[shape].name);
  }
  return names;
}

}  // namespace

Parsed<MigPlaceSet> lay_out(const GpuHardware& hardware, std::span<const std::string> profiles) {
  const MigGeometry& mig = *hardware.mig;
  std::vector<std::size_t> shapes;
  std::string before;
  for (const std::string& name : profiles) {
    const auto shape = find_mig_profile(hardware, name);
    if (!shape) {
      return std::unexpected("a " + std::string(hardware.model) + " has no slice " + quote(name) + "; it has " +
                             names_of(hardware, [](std::size_t) { return true; }));
    }
    const auto fits = [&](std::size_t more) {
      std::vector<std::size_t> all = shapes;
      all.push_back(more);
      return place_all(mig, std::move(all)).has_value();
    };
    if (!fits(*shape)) {
      const std::string others = names_of(hardware, fits);
      return std::unexpected("a " + std::string(hardware.model) + " has no room for a " + name + " beside " + before +
                             (others.empty() ? "; leave it out" : "; there is room for one of " + others));
    }
    before += (before.empty() ? "" : ", ") + name;
    shapes.push_back(*shape);
  }
  return *place_all(mig, std::move(shapes));
}

Parsed<MigPlaceSet> parse_layout(const GpuHardware& hardware, std::string_view text) {
  constexpr std::string_view kAll = "all-";
  std::vector<std::string> profiles;
  if (text.starts_with(kAll)) {
    const std::string name(text.substr(kAll.size()));
    const auto shape = find_mig_profile(hardware, name);
    profiles.assign(shape ? static_cast<std::size_t>(hardware.mig->room_for(*shape, {})) : 1, name);
  } else {
    for (const auto part : text | std::views::split(':')) profiles.emplace_back(part.begin(), part.end());
  }
  return lay_out(hardware, profiles);
}

std::string layout_text(const GpuHardware& hardware, MigPlaceSet layout) {
  std::string text;
  for (std::size_t shape = hardware.mig_profiles.size(); shape-- > 0;) {
    for (int left = layout.common_with(hardware.mig->places_of(shape)).size(); left > 0; --left) {
      text += (text.empty() ? "" : ":") + std::string(hardware.mig_profiles[shape].name);
    }
  }
  return text;
}

}  // namespace berth
