#include "state/trust.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hash.h"

namespace berth {

std::uint64_t digest_of(const Sharer& sharer) {
  return Hasher().add(sharer.tenant.value()).add(sharer.user.value()).digest();
}

SharerId Trust::intern(const Sharer& sharer) {
  const std::size_t before = sharers_.size();
  const SharerId id(sharers_.intern(sharer));
  if (sharers_.size() > before && all_together_) {
    all_together_ =
        std::ranges::all_of(sharers_.values(), [&](const Sharer& other) { return may_be_together(sharer, other); });
  }
  return id;
}

void Trust::set_circles(std::vector<Circle> circles) {
  BERTH_ASSERT(circles.size() <= kCirclesMax);
  circles_ = std::move(circles);
  for (Tenant& tenant : tenants_) tenant.circles = 0;
  for (std::size_t circle = 0; circle < circles_.size(); ++circle) {
    for (const QueueId queue : circles_[circle]) {
      if (queue.index() >= tenants_.size()) tenants_.resize(queue.index() + 1);
      tenants_[queue.index()].named = true;
      tenants_[queue.index()].circles |= std::uint64_t{1} << circle;
    }
  }
  const std::vector<Sharer>& sharers = sharers_.values();
  all_together_ = std::ranges::all_of(sharers, [&](const Sharer& a) {
    return std::ranges::all_of(sharers, [&](const Sharer& b) { return may_be_together(a, b); });
  });
}

}  // namespace berth
