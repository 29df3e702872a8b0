// Nodes and which of their GPUs are taken, drawn as a small map: # taken (or cut so that no further slice fits), + in part,
// . free.
#pragma once

#include <string>
#include <vector>

#include "client/listing.h"
#include "manifest/value.h"

namespace berth {

// The nodes in the order of their names, with what the live pods on them hold. A pod that does not say which devices it
// holds (it was placed by somebody else) takes the first free ones here.
Listing list_nodes(const std::vector<Value>& nodes, const std::vector<Value>& pods);

}  // namespace berth
