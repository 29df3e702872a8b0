// What becomes of objects whose owners go, and of pods that nobody will miss, as functions of the objects.
//
// An object goes when all of its owners are gone. An owner that is deleted "in the foreground" stays until those of its
// dependents that block it are gone; one that is deleted as an "orphan" first lets its dependents go free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/value.h"

namespace berth {

enum class OwnerState : std::uint8_t {
  kThere,
  kWaits,  // is being deleted in the foreground: for its dependents to go
  kGone,
  kUnsure,  // was not seen; the server has to be asked
};

struct GarbageChore {
  enum class What : std::uint8_t {
    kNothing,
    kAskForOwners,      // those that are unsure
    kDelete,            // the object, by `propagation`
    kDropReferences,    // `change` takes references to owners that are gone from the object
    kFreeDependents,    // takes the object from the references of `dependents`
    kDeleteDependents,  // looks at `dependents`, which go because their owner waits for it
    kFinish,            // `change` takes the finalizer from the object
  };
  What what = What::kNothing;
  std::string propagation = {};
  Value change = {};
  std::vector<const Value*> dependents = {};
};

// `owners` says of each of the object's references, in their order, how its owner is.
GarbageChore garbage_chore(const Value& object, const std::vector<OwnerState>& owners,
                           const std::vector<const Value*>& dependents);

bool has_finalizer_named(const Value& object, std::string_view finalizer);
// The merge patch that takes every reference to that uid from an object.
Value without_owner(const Value& object, std::string_view uid);

inline constexpr std::size_t kEndedPodsMax = 12'500;

// Of the pods that have ended, the oldest ones beyond `ended_max`.
std::vector<const Value*> superfluous_pods(const std::vector<const Value*>& pods, std::size_t ended_max);
// Whether it is bound to a node that is not there.
bool is_on_lost_node(const Value& pod, const std::function<bool(std::string_view)>& node_is_there);
// The status of a pod whose node is gone: whatever ran there has failed.
Value lost_pod_status(const Value& pod, const std::string& now);

}  // namespace berth
