// Any bytes are a selector or a complaint; a selector's text is understood again as the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "manifest/selector.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const berth::Value labels = berth::Value::map_of({{"a", "b"}, {"n", "5"}});
  const berth::Result<berth::LabelSelector> selector = berth::LabelSelector::parse(text);
  if (selector) {
    const berth::Result<berth::LabelSelector> again = berth::LabelSelector::parse(selector->to_string());
    BERTH_ASSERT(again && again->to_string() == selector->to_string());
    BERTH_ASSERT(again->matches(labels) == selector->matches(labels));
  } else {
    BERTH_ASSERT(selector.error().count() == 1);
  }
  const berth::Result<berth::FieldSelector> fields = berth::FieldSelector::parse(text);
  BERTH_ASSERT(!fields || fields->matches([](std::string_view) { return std::string_view("b"); }) ||
               !fields->requirements().empty());
  return 0;
}
