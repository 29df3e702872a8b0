// A TrustCircle object as facts: whom it is meant to hold, and what the last scheduler wrote down in its status.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "manifest/circle_spec.h"
#include "manifest/value.h"
#include "service/facts.h"

namespace berth {

// Keeps a circle that is deleted until those have parted who are on one GPU for it: when they have to is written nowhere else.
inline constexpr std::string_view kPartingFinalizer = "berth.dev/parting";
// By these a circle tells whether all that it names trust each other, and that some have to part.
inline constexpr std::string_view kInForceCondition = "InForce";
inline constexpr std::string_view kPartingCondition = "Parting";

// These trusted each other until then, or were kept no further from strangers than that, and have to part.
struct EndedTrust {
  std::vector<std::string> queues;  // ascending
  Time since, by;
  std::optional<Apart> apart = {};  // where that has changed

  friend bool operator==(const EndedTrust&, const EndedTrust&) = default;
};

struct CircleFacts {
  std::string name, uid;
  std::string revision;  // of the object
  Time created;
  CircleSpec spec = {};
  std::string problem = {};  // of its spec; empty: none
  bool leaving = false;      // it is being deleted
  std::vector<std::string> finalizers = {};
  // Its status: who may be in it, as was written down before they trusted each other; and what else is to be known of it.
  std::vector<std::string> queues = {};  // ascending
  Apart apart = {};
  std::vector<EndedTrust> parting = {};
  std::vector<QueueCondition> conditions = {};

  bool is_kept() const;  // has the finalizer

  friend bool operator==(const CircleFacts&, const CircleFacts&) = default;
};

CircleFacts read_circle(const Value& circle);

// What a circle's object should say.
struct CircleStanding {
  CircleFacts said;  // by it now
  std::vector<std::string> finalizers;
  std::vector<std::string> queues;
  Apart apart;
  std::vector<EndedTrust> parting;
  std::vector<QueueCondition> conditions;

  friend bool operator==(const CircleStanding&, const CircleStanding&) = default;
};

}  // namespace berth
