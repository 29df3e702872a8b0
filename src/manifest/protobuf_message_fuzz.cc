// Any bytes are a message of any type, or a complaint; what was understood is valid JSON, and has a canonical form.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "manifest/json.h"
#include "manifest/schema.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const std::vector<const berth::Type*> types = berth::all_types();
  if (size == 0) return 0;
  const berth::Type& type = *types[bytes[0] % types.size()];
  const std::string_view message(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  berth::Result<berth::Value> value = berth::from_protobuf(type, message);
  if (!value) {
    BERTH_ASSERT(!value.error().empty());
    return 0;
  }
  const berth::Result<berth::Value> parsed = berth::parse_json(berth::to_json(*value));
  BERTH_ASSERT(parsed && *parsed == *value);
  for (const berth::SchemaComplaint& each : berth::check_fields(type, *value)) {
    BERTH_ASSERT(each.what == berth::SchemaComplaint::What::kWrongType);  // a quantity that is none; never a field
  }
  berth::canonicalise(type, *value);
  const berth::Value once = *value;
  berth::canonicalise(type, *value);
  BERTH_ASSERT(*value == once);
  return 0;
}
