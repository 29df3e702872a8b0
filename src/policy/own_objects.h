// A policy in Berth's own words: whatever it was written in, as Queue and ResourceFlavor objects of berth.dev.
#pragma once

#include <vector>

#include "manifest/value.h"
#include "policy/finding.h"
#include "policy/policy.h"

namespace berth {

struct OwnObjects {
  std::vector<Value> objects;  // flavors, then queues, parents first
  std::vector<NotFollowed> left_out;
};

// Queues keep their names; a cohort whose name a queue has becomes NAME-cohort.
OwnObjects own_objects_of(const Policy& policy);

}  // namespace berth
