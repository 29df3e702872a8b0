// Who may be on one device together where nothing in the hardware keeps them apart: tenants that some circle of trust holds
// both of; under MPS of one user, too, as a server serves one. With vGPUs anybody, if all have the same profile. And how much
// further than that tenants keep strangers away.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/intern.h"
#include "model/circle.h"
#include "model/ids.h"
#include "model/request.h"

namespace berth {

// In whose name a pod has a part of a device, and beside what else it may be. INVARIANT: `user` is none but for shares of MPS,
// `vgpu_milli` 0 but for vGPUs.
struct Sharer {
  QueueId tenant;
  UserId user;
  std::int32_t vgpu_milli = 0;  // how much of a GPU it is: those of a device are of one profile

  friend bool operator==(const Sharer&, const Sharer&) = default;
};
std::uint64_t digest_of(const Sharer& sharer);

// INVARIANT: a sharer keeps its number; all_together() is what the single pairs say.
class Trust {
 public:
  SharerId intern(const Sharer& sharer);
  const Sharer& operator[](SharerId sharer) const { return sharers_[sharer.index()]; }
  // Its number; none: it never had one.
  SharerId find(const Sharer& sharer) const;

  // These, and no others any more. PRE: kCirclesMax at most.
  void set_circles(std::vector<Circle> circles);
  const std::vector<Circle>& circles() const { return circles_; }
  // Whether a circle names it, or once did: it stays a tenant then.
  bool was_named(QueueId queue) const { return queue.index() < tenants_.size() && tenants_[queue.index()].named; }

  // Tenants. Whom no circle names is trusted by itself alone.
  bool trust(QueueId a, QueueId b) const { return a == b || (circles_of(a) & circles_of(b)) != 0; }
  bool may_be_together(const Sharer& a, const Sharer& b) const {
    if (a.vgpu_milli != b.vgpu_milli) return false;
    return a.vgpu_milli > 0 || (a.user == b.user && trust(a.tenant, b.tenant));
  }
  bool may_be_together(SharerId a, SharerId b) const {
    return a == b || (!a.is_none() && !b.is_none() && may_be_together((*this)[a], (*this)[b]));
  }
  // Any two that were ever interned may be, and trust each other: nothing about devices has to be looked at, nor around them.
  bool all_together() const { return all_together_; }

  // From now on it matters whose work is on which GPUs, and not only where it shares one.
  void look_beyond_devices() { beyond_devices_ = true; }
  bool looks_beyond_devices() const { return beyond_devices_; }
  // The levels in whose domains some keep strangers away, that of the nodes first; none: nobody does.
  const std::vector<std::string>& apart_levels() const { return levels_; }
  // Those of a tenant with work on GPUs of a mode, a bit each.
  std::uint32_t kept_apart(QueueId tenant, Sharing mode) const {
    const auto at = static_cast<std::size_t>(mode);
    return of_all_[at] | (tenant.index() < tenants_.size() ? tenants_[tenant.index()].apart[at] : 0);
  }
  // Whether two pods with GPUs are strangers, and one of them keeps strangers away.
  bool may_keep_apart(const PodRequest& a, const PodRequest& b) const;

 private:
  using LevelBits = std::array<std::uint32_t, std::size(kSharingNames)>;  // by mode
  struct Tenant {
    bool named = false;
    std::uint64_t circles = 0;  // a bit each
    LevelBits apart{};
  };

  LevelBits number_levels(const Apart& apart);

  std::uint64_t circles_of(QueueId tenant) const {
    return tenant.index() < tenants_.size() ? tenants_[tenant.index()].circles : 0;
  }

  InternTable<Sharer, digest_of> sharers_;
  std::vector<Circle> circles_;
  std::vector<Tenant> tenants_;  // by queue, up to the last that was named
  std::vector<std::string> levels_;
  LevelBits of_all_{};
  bool all_together_ = true;
  bool beyond_devices_ = false;
};

}  // namespace berth
