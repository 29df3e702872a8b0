// What is done to an object, and asked of it, before it is stored: defaults, validation, and the rules that look at
// other objects. Kind by kind, in the open; no plugins.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/api_error.h"
#include "apiserver/authorization.h"
#include "apiserver/user.h"
#include "base/time.h"
#include "manifest/kinds.h"
#include "manifest/value.h"
#include "store/store.h"

namespace berth {

enum class Operation : std::uint8_t { kCreate, kUpdate, kDelete };

struct AdmissionRequest {
  const KindInfo* kind = nullptr;
  Operation operation = Operation::kCreate;
  std::string subresource;  // "", "status", "scale", "binding", ...
  User user;
  Time now;
  const Value* before = nullptr;      // the stored object, of an update or deletion
  Value* object = nullptr;            // the new one; admission may change it
  std::vector<std::string> warnings;  // sent as Warning headers
};

// Defaults that need nothing but the object: as Kubernetes fills them in (restartPolicy, backoffLimit, a Job's selector
// and labels, limits as requests, ...), and only where kubectl apply would not fight them. PRE: of a creation, name and
// uid are set.
void fill_defaults(AdmissionRequest& request);
// Everything wrong with the object by itself, and with the change (immutable fields), the first hundred at once.
std::vector<ErrorCause> validate(const AdmissionRequest& request);
// With sight of other objects, inside the transaction that will store it: namespace lifecycle, LimitRange, priority
// class, queue (who may submit), ResourceQuota (a gang counted whole, semantics 26), the GPUs of a binding held by
// nobody else, no privilege escalation by roles. To be asked of creations, deletions and all updates, those of
// subresources too: a status that ends a pod gives its quota and GPUs back. For "binding", `object` is the pod as it
// will be stored.
// It puts records of its own: a quota's status, and two sorts that are no objects and never shown: "_gpus//NODE" (who
// holds which device) and "_groups/NAMESPACE/GROUP" (for how many pods of a gang quotas keep room). After a refusal the
// transaction's writes are to be dropped.
// Who may use a priority class (semantics 32): everybody, unless its name begins with "system-" or it carries the
// annotation berth.dev/restricted: "true"; of those, whoever has the RBAC verb `use` on priorityclasses of that name.
// Who may use a WorkloadPriorityClass, by its label: everybody, unless it carries that annotation; then whoever has `use`.
// Who may submit to a queue: everybody if spec.submitters is empty, else the namespaces, users and groups it names.
// Pods that the jobs controller makes for a Job were allowed with the Job, Jobs of a JobSet with that.
std::optional<ApiError> admit(AdmissionRequest& request, Transaction& transaction, const Authorizer& authorizer);
// After an object was erased (not when its deletion was only asked for): gives back its part of the namespace's quotas
// and, of a pod, its GPUs. To be called once for each erased object, in the transaction that erased it.
void settle_after_end(Transaction& transaction, const KindInfo& kind, const Value& erased, Time now);
// Counts a namespace's quotas anew from its objects, whatever happened before; puts those that were wrong. It reads
// every object of the namespace that a quota counts: for repair, and where settle_after_end() cannot be used.
void settle_quota(Transaction& transaction, std::string_view name_space, Time now);

// Whether a pod may be evicted now under the PodDisruptionBudgets that select it; counts the disruption if so.
std::optional<ApiError> admit_eviction(const Value& pod, Transaction& transaction, Time now);

}  // namespace berth
