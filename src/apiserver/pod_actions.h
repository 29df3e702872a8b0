// What may be done to a pod beside reading and writing it: bind it to a node, evict it.
#pragma once

#include "apiserver/exchange.h"

namespace berth {

// POST pods/NAME/binding, and the older POST bindings, whose body names the pod.
void bind_pod(const ServerParts& parts, const ExchangePtr& exchange);
// POST pods/NAME/eviction: a deletion that disruption budgets may forbid (429).
void evict_pod(const ServerParts& parts, const ExchangePtr& exchange);

}  // namespace berth
