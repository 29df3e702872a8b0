// What every server begins with: namespaces, roles, priority classes, the default queue.
#pragma once

#include "apiserver/exchange.h"
#include "base/result.h"

namespace berth {

// Makes what is missing, in one transaction; what is there stays as it is. Complains if the store refuses.
Complaints put_missing_beginnings(const ServerParts& parts);

}  // namespace berth
