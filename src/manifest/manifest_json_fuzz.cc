// Any bytes are a value or a complaint; what was understood is written and understood again as the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "manifest/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const berth::Result<berth::Value> value = berth::parse_json(text);
  if (!value) {
    BERTH_ASSERT(value.error().count() == 1 && value.error().kept().front().place.line > 0);
  } else {
    BERTH_ASSERT(*berth::parse_json(berth::to_json(*value)) == *value);
    BERTH_ASSERT(*berth::parse_json(berth::to_pretty_json(*value)) == *value);
  }
  std::vector<std::string> duplicates;
  const berth::Result<berth::Value> forgiving = berth::parse_json_noting_duplicates(text, {}, duplicates);
  BERTH_ASSERT(!value || (forgiving && duplicates.empty() && *forgiving == *value));
  return 0;
}
