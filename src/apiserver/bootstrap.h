// What every server begins with: namespaces, roles, priority classes, the default queue.
#pragma once

#include "apiserver/exchange.h"
#include "base/result.h"
#include "manifest/value.h"

namespace berth {

// Makes what is missing, in one transaction. What is there stays as it is, but for roles and bindings of an earlier version, which
// are brought up to date. Complains if the store refuses.
Complaints put_missing_beginnings(const ServerParts& parts);

// A role or binding that is there, with the rules or subjects of `ours` that it lacks: nothing is taken away. As in Kubernetes, one
// with the annotation rbac.authorization.kubernetes.io/autoupdate: "false" stays as it is.
Value brought_up_to_date(Value there, const Value& ours);

}  // namespace berth
