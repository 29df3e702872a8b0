// Objects as the store keeps them: keys, and bytes to values and back.
#pragma once

#include <string>
#include <string_view>

#include "manifest/value.h"
#include "store/store.h"

namespace berth {

// "pods/default/p1", "nodes//n1"
std::string object_key(std::string_view qualified, std::string_view name_space, std::string_view name);

// Null if there is none.
Value object_of(const RecordPtr& record);
Value find_object(const Transaction& transaction, std::string_view key);

// An object (what has metadata) gets the revision of its record.
void put_object(Transaction& transaction, std::string key, Value object);

}  // namespace berth
