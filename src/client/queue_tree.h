// Queues as a tree, each with what waits and what runs in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/listing.h"
#include "manifest/value.h"

namespace berth {

// Children below their parents, by name. Queues whose parents lead nowhere stand at the top.
Listing list_queues(const std::vector<Value>& queues);

// The queue, its parent, and so on; those that are not there are left out.
std::vector<const Value*> queue_and_parents(const std::vector<Value>& queues, std::string_view name);

}  // namespace berth
