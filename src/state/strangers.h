// Who is nearer to whom than they may be, where they are (docs/semantics.md, rule 29).
#pragma once

#include "model/ids.h"
#include "state/state.h"
#include "state/tenant_domains.h"
#include "state/trust.h"

namespace berth {

// Whether two pods have parts of one device, and may not; whether they may not be where they are for that, or for something else.
bool share_as_strangers(const State& state, const Pod& a, const Pod& b);
bool are_strangers(const State& state, const Pod& a, const Pod& b);
// Whether some of their pods may not. PRE: they have room.
bool are_strangers(const State& state, WorkloadId a, WorkloadId b);
// Whether two pods may not be where they are for a reason that they had not by the trust that there was before, with nodes as they
// are: a device, or a level of which they are in one domain.
bool became_strangers(const State& state, const Trust& trust_before, const TenantDomains& domains_before, const Pod& a,
                      const Pod& b);

}  // namespace berth
