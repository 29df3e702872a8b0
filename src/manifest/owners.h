// Who made an object, as Kubernetes writes it down.
#pragma once

#include "manifest/value.h"

namespace berth {

// The reference to its controller; nullptr if it has none.
inline const Value* controller_of(const Value& object) {
  for (const Value& owner : object["metadata"]["ownerReferences"].items()) {
    if (owner["controller"].truth()) return &owner;
  }
  return nullptr;
}

}  // namespace berth
