#include "apiserver/object_records.h"

#include <string>
#include <string_view>
#include <utility>

#include "manifest/json.h"

namespace berth {

std::string object_key(std::string_view qualified, std::string_view name_space, std::string_view name) {
  std::string key(qualified);
  key += '/';
  key += name_space;
  key += '/';
  key += name;
  return key;
}

Value object_of(const RecordPtr& record) {
  if (!record) return {};
  Result<Value> parsed = parse_json(record->bytes);
  return parsed ? *std::move(parsed) : Value();
}

Value find_object(const Transaction& transaction, std::string_view key) { return object_of(transaction.find(key)); }

void put_object(Transaction& transaction, std::string key, Value object) {
  if (Value* const metadata = object.find("metadata")) {
    metadata->set("resourceVersion", std::to_string(transaction.next_revision()));
  }
  transaction.put(std::move(key), to_json(object));
}

}  // namespace berth
