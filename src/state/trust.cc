#include "state/trust.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hash.h"
#include "model/topology.h"

namespace berth {

namespace {

// On a device, and around it: who has vGPUs beside each other need not trust each other, and may want to be further apart.
bool mind_nothing(const Trust& trust, const Sharer& a, const Sharer& b) {
  return trust.may_be_together(a, b) && trust.trust(a.tenant, b.tenant);
}

}  // namespace

std::uint64_t digest_of(const Sharer& sharer) {
  Hasher hasher;
  hasher.add(sharer.tenant.value()).add(sharer.user.value());
  if (sharer.vgpu_milli > 0) hasher.add(sharer.vgpu_milli);
  return hasher.digest();
}

SharerId Trust::intern(const Sharer& sharer) {
  const std::size_t before = sharers_.size();
  const SharerId id(sharers_.intern(sharer));
  if (sharers_.size() > before && all_together_) {
    all_together_ =
        std::ranges::all_of(sharers_.values(), [&](const Sharer& other) { return mind_nothing(*this, sharer, other); });
  }
  return id;
}

// Whoever keeps strangers out of a wider domain keeps them off his nodes, those without the label too.
Trust::LevelBits Trust::number_levels(const Apart& apart) {
  LevelBits bits{};
  for (std::size_t mode = 0; mode < apart.size(); ++mode) {
    if (apart[mode].empty()) continue;
    if (levels_.empty()) levels_.emplace_back(kNodeLevel);
    auto level = std::ranges::find(levels_, apart[mode]);
    if (level == levels_.end()) level = levels_.insert(level, apart[mode]);
    BERTH_ASSERT(levels_.size() <= kApartLevelsMax);
    bits[mode] = std::uint32_t{1} | std::uint32_t{1} << (level - levels_.begin());
  }
  return bits;
}

SharerId Trust::find(const Sharer& sharer) const {
  const auto found = std::ranges::find(sharers_.values(), sharer);
  return found == sharers_.values().end() ? SharerId()
                                          : SharerId(static_cast<std::size_t>(found - sharers_.values().begin()));
}

bool Trust::may_keep_apart(const PodRequest& a, const PodRequest& b) const {
  if (levels_.empty() || a.sharer.is_none() || b.sharer.is_none()) return false;
  const QueueId one = (*this)[a.sharer].tenant;
  const QueueId other = (*this)[b.sharer].tenant;
  return !trust(one, other) && (kept_apart(one, a.sharing) | kept_apart(other, b.sharing)) != 0;
}

void Trust::set_circles(std::vector<Circle> circles) {
  BERTH_ASSERT(circles.size() <= kCirclesMax);
  circles_ = std::move(circles);
  for (Tenant& tenant : tenants_) tenant = {.named = tenant.named};
  of_all_ = {};
  levels_.clear();
  const auto add = [](LevelBits& to, const LevelBits& more) {
    for (std::size_t mode = 0; mode < to.size(); ++mode) to[mode] |= more[mode];
  };
  for (std::size_t circle = 0; circle < circles_.size(); ++circle) {
    const LevelBits apart = number_levels(circles_[circle].apart);
    if (circles_[circle].queues.empty()) add(of_all_, apart);
    for (const QueueId queue : circles_[circle].queues) {
      if (queue.index() >= tenants_.size()) tenants_.resize(queue.index() + 1);
      Tenant& tenant = tenants_[queue.index()];
      tenant.named = true;
      tenant.circles |= std::uint64_t{1} << circle;
      add(tenant.apart, apart);
    }
  }
  const std::vector<Sharer>& sharers = sharers_.values();
  all_together_ = std::ranges::all_of(sharers, [&](const Sharer& a) {
    return std::ranges::all_of(sharers, [&](const Sharer& b) { return mind_nothing(*this, a, b); });
  });
}

}  // namespace berth
