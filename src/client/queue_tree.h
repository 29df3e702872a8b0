// Queues as a tree, each with what waits and what runs in it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "client/listing.h"
#include "manifest/value.h"

namespace berth {

// Children below their parents, by name. Queues whose parents lead nowhere stand at the top.
Listing list_queues(const std::vector<Value>& queues);

struct QueueInTree {
  const Value* queue = nullptr;
  std::size_t depth = 0;
};
// In the order of list_queues(); the queues outlive it.
std::vector<QueueInTree> in_tree_order(const std::vector<Value>& queues);

// What queues hold above their floors, and who is next: the exact share of each, and what it is made of.
Listing list_shares(const std::vector<Value>& queues);

// "23/161" -> "14.3 %"; as it is what is no fraction.
std::string percent_of(std::string_view fraction);
// "gpu: 8 of 64 h100 above its floor, weight 2, makes 1/16", one text for each resource.
std::vector<std::string> share_in_words(const Value& queue);

// The queue, its parent, and so on; those that are not there are left out.
std::vector<const Value*> queue_and_parents(const std::vector<Value>& queues, std::string_view name);

}  // namespace berth
