// A policy in Berth's own words: whatever it was written in, as Queue and ResourceFlavor objects of berth.dev.
#pragma once

#include <string>
#include <vector>

#include "manifest/queue_spec.h"
#include "manifest/value.h"
#include "model/quota.h"
#include "policy/finding.h"
#include "policy/policy.h"

namespace berth {

struct OwnObjects {
  std::vector<Value> objects;  // flavors, then queues, parents first
  std::vector<NotFollowed> left_out;
};

// "mon-fri,20:00-08:00,Europe/Berlin,guarantee=h100:24"
std::string text_of(const WindowSpec& window);

// Queues keep their names; a cohort whose name a queue has becomes NAME-cohort.
OwnObjects own_objects_of(const Policy& policy);

}  // namespace berth
