#include "fairness/share.h"

#include <algorithm>
#include <array>
#include <utility>

namespace berth {
namespace {

using ByResource = std::array<Wide, kResources>;

std::int64_t weight_of(const std::vector<Flavor>& flavors, Dim dim) {
  return dim.flavor().is_none() ? 1 : flavors[dim.flavor().index()].weight;
}

// Of each resource, over the flavors, each with its weight.
struct Sums {
  ByResource parts{};
  ByResource wholes{};
};

// Sums part(dim) and whole(dim).
template <class Part, class Whole>
Sums weighted(const QuotaTree& tree, const std::vector<Flavor>& flavors, Part part, Whole whole) {
  Sums sums;
  for (const std::size_t at : tree.dims_in_use()) {
    const Dim dim = Dim::at(at);
    const auto resource = static_cast<std::size_t>(dim.resource());
    const std::int64_t weight = weight_of(flavors, dim);
    sums.parts[resource] += Wide{part(dim)} * weight;
    sums.wholes[resource] += Wide{whole(dim)} * weight;
  }
  return sums;
}

// The largest of parts / wholes, of those resources that are there at all.
Fraction largest(const Sums& sums, std::int64_t weight_milli) {
  Fraction most;
  for (std::size_t resource = 0; resource < kResources; ++resource) {
    if (sums.wholes[resource] == 0) continue;
    most = std::max(most, Fraction(sums.parts[resource] * 1000, sums.wholes[resource] * weight_milli));
  }
  return most;
}

template <class SurplusOf>
Fraction share(const QuotaLedger& quotas, const std::vector<Flavor>& flavors, std::int64_t weight_milli,
               SurplusOf surplus) {
  const AmountsByDim& capacity = quotas.capacity();
  // Slices are in the GPUs that they are parts of.
  const auto whole = [&](Dim dim) { return dim.is_of_slices() ? 0 : capacity[dim.index()]; };
  return largest(weighted(quotas.tree(), flavors, surplus, whole), weight_milli);
}

std::string digits(Wide value) {
  std::string text;
  do {
    text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value > 0);
  return text;
}

}  // namespace

std::string to_text(const Fraction& fraction) {
  Wide divisor = fraction.part();
  Wide rest = fraction.whole();
  while (rest != 0) divisor = std::exchange(rest, divisor % rest);
  return digits(fraction.part() / divisor) + "/" + digits(fraction.whole() / divisor);
}

Fraction share_with(const QuotaLedger& quotas, const std::vector<Flavor>& flavors, QueueId queue, const More& more) {
  const QuotaTree& tree = quotas.tree();
  return share(quotas, flavors, tree.weight_milli(queue), [&](Dim dim) {
    const std::int64_t past = more.past.empty() ? 0 : more.past[dim.index()];
    // Inside its floor of GPUs an owner is not behind a borrower because of the CPUs that go with them.
    return past + quotas.above_floor(queue, dim, more.asked, more.covered);
  });
}

Fraction share_of(const QuotaLedger& quotas, const std::vector<Flavor>& flavors, QueueId queue) {
  const AmountList nothing;
  return share_with(quotas, flavors, queue, {.asked = nothing});
}

Fraction own_share_with(const QuotaLedger& quotas, const std::vector<Flavor>& flavors, QueueId queue,
                        const More& more) {
  return share(quotas, flavors, 1000, [&](Dim dim) {
    std::int64_t own = quotas.used(queue)[dim.index()];
    for (const QueueId child : quotas.tree().children(queue)) own -= quotas.used(child)[dim.index()];
    return own + amount_of(more.asked, dim);
  });
}

Fraction share_of_side(const QuotaLedger& quotas, const std::vector<Flavor>& flavors, Side side, const More& more) {
  return side.own_line ? own_share_with(quotas, flavors, side.queue, more)
                       : share_with(quotas, flavors, side.queue, more);
}

Fraction share_of_user(const QuotaLedger& quotas, const std::vector<Flavor>& flavors, QueueId queue, UserId user) {
  const auto held = quotas.held_by_user(queue, user);
  if (held.empty()) return {};
  return share(quotas, flavors, 1000, [&](Dim dim) { return held[dim.index()]; });
}

Fraction use_of_floor(const QuotaLedger& quotas, const std::vector<Flavor>& flavors, QueueId queue) {
  const QuotaTree& tree = quotas.tree();
  const auto floor = tree.floor(queue);
  // Slices of several profiles are added up as the parts of GPUs that they are; those of which it was promised none are in its GPUs.
  const auto in_units = [&](Dim dim, std::int64_t amount) {
    if (!dim.is_of_slices()) return amount;
    const auto profiles = tree.profiles_of_floor(queue);
    const auto profile = std::ranges::find(profiles, dim, &NamedProfile::dim);
    return profile == profiles.end() ? 0 : amount * profile->gpu_milli;
  };
  const auto held = [&](Dim dim) { return in_units(dim, quotas.used_of_floor(queue, dim)); };
  const auto whole = [&](Dim dim) { return in_units(dim, floor[dim.index()]); };
  return largest(weighted(tree, flavors, held, whole), 1000);
}

}  // namespace berth
