// Room for gangs of several pod sets, set by set: each may have to be in a domain of its own, and the others anywhere
// (docs/semantics.md, rules 17 and 22).
#pragma once

#include <optional>

#include "cycle/alternatives.h"
#include "cycle/taking.h"

namespace berth {

bool is_in_one_domain(const State& state, const NumberedPodSet& set);
// Of the first set that has to be in one domain; none: all may be anywhere.
const Domains* domains_to_be_in(const State& state, const Asking& asking);

// Room is made for one set after the other, for each beside those before it, in the domain where that costs least: the hardest
// first, and then in other orders (placement/set_orders.h). None: the sets cannot be looked at one by one, or it does not fit so.
std::optional<Chosen> set_by_set(Taking& taking, Alternatives& alternatives);

}  // namespace berth
