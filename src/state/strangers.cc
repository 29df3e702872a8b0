#include "state/strangers.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace berth {
namespace {

bool share_as_strangers(const State& state, const Trust& trust, const Pod& a, const Pod& b) {
  const PodRequest& one = state.request(a.request);
  return a.node == b.node && (a.gpus.bits() & b.gpus.bits()) != 0 && one.is_fraction() &&
         !trust.may_be_together(one.sharer, state.request(b.request).sharer);
}

// A bit for each level in whose domains they are too near, as that trust numbers them.
std::uint32_t too_near(const State& state, const Trust& trust, const TenantDomains& domains, const Pod& a,
                       const Pod& b) {
  return domains.too_near(trust, state.request(a.request), a.node, state.request(b.request), b.node);
}

}  // namespace

bool share_as_strangers(const State& state, const Pod& a, const Pod& b) {
  return share_as_strangers(state, state.ledger().trust(), a, b);
}

bool are_strangers(const State& state, const Pod& a, const Pod& b) {
  const Ledger& ledger = state.ledger();
  return share_as_strangers(state, a, b) || too_near(state, ledger.trust(), ledger.tenants(), a, b) != 0;
}

bool are_strangers(const State& state, WorkloadId a, WorkloadId b) {
  bool found = false;
  for_each_pod(state, a, [&](const Pod& one) {
    for_each_pod(state, b, [&](const Pod& other) { found = found || are_strangers(state, one, other); });
  });
  return found;
}

bool became_strangers(const State& state, const Trust& trust_before, const TenantDomains& domains_before, const Pod& a,
                      const Pod& b) {
  if (share_as_strangers(state, a, b) && !share_as_strangers(state, trust_before, a, b)) return true;
  const Ledger& ledger = state.ledger();
  const std::vector<std::string>& levels_before = trust_before.apart_levels();
  const std::uint32_t before = too_near(state, trust_before, domains_before, a, b);
  std::uint32_t now = too_near(state, ledger.trust(), ledger.tenants(), a, b);
  for (; now != 0; now &= now - 1) {
    const std::string& level = ledger.trust().apart_levels()[static_cast<std::size_t>(std::countr_zero(now))];
    const auto known = std::ranges::find(levels_before, level) - levels_before.begin();
    // One that nobody named before has no bit.
    const bool was_so = known < std::ssize(levels_before) && ((before >> known) & 1) != 0;
    if (!was_so) return true;
  }
  return false;
}

}  // namespace berth
