// Reservations as a table: what is promised to whom, and how much of it is there.
#pragma once

#include <vector>

#include "client/listing.h"
#include "manifest/value.h"

namespace berth {

// What lasts first, then what comes, by when it begins; then what is over, or is none.
Listing list_reservations(const std::vector<Value>& reservations);

}  // namespace berth
