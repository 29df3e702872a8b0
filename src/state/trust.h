// Who may be on one device together where nothing in the hardware keeps them apart: tenants that some circle of trust holds
// both of; under MPS of one user, too, as a server serves one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/intern.h"
#include "model/circle.h"
#include "model/ids.h"

namespace berth {

// In whose name a pod has a part of a device. INVARIANT: `user` is none but for shares of MPS.
struct Sharer {
  QueueId tenant;
  UserId user;

  friend bool operator==(const Sharer&, const Sharer&) = default;
};
std::uint64_t digest_of(const Sharer& sharer);

// INVARIANT: a sharer keeps its number; all_together() is what the single pairs say.
class Trust {
 public:
  SharerId intern(const Sharer& sharer);
  const Sharer& operator[](SharerId sharer) const { return sharers_[sharer.index()]; }

  // These, and no others any more. PRE: kCirclesMax at most.
  void set_circles(std::vector<Circle> circles);
  const std::vector<Circle>& circles() const { return circles_; }
  // Whether a circle names it, or once did: it stays a tenant then.
  bool was_named(QueueId queue) const { return queue.index() < tenants_.size() && tenants_[queue.index()].named; }

  // Tenants. Whom no circle names is trusted by itself alone.
  bool trust(QueueId a, QueueId b) const { return a == b || (circles_of(a) & circles_of(b)) != 0; }
  bool may_be_together(const Sharer& a, const Sharer& b) const { return a.user == b.user && trust(a.tenant, b.tenant); }
  bool may_be_together(SharerId a, SharerId b) const {
    return a == b || (!a.is_none() && !b.is_none() && may_be_together((*this)[a], (*this)[b]));
  }
  // Any two that were ever interned may be: nothing about devices has to be looked at.
  bool all_together() const { return all_together_; }

 private:
  struct Tenant {
    bool named = false;
    std::uint64_t circles = 0;  // a bit each
  };

  std::uint64_t circles_of(QueueId tenant) const {
    return tenant.index() < tenants_.size() ? tenants_[tenant.index()].circles : 0;
  }

  InternTable<Sharer, digest_of> sharers_;
  std::vector<Circle> circles_;
  std::vector<Tenant> tenants_;  // by queue, up to the last that was named
  bool all_together_ = true;
};

}  // namespace berth
