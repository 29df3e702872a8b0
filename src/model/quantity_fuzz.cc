// Any bytes are a quantity or a complaint; what was understood is written and understood again as the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "model/quantity.h"

namespace {

template <class Parse, class Format>
void check(std::string_view text, Parse parse, Format format) {
  const auto amount = parse(text);
  if (!amount) {
    BERTH_ASSERT(!amount.error().empty() && amount.error().size() < 512);
    return;
  }
  BERTH_ASSERT(*amount >= 0);
  BERTH_ASSERT(parse(format(*amount)) == *amount);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  check(text, berth::parse_milli, berth::format_milli);
  check(text, berth::parse_bytes, berth::format_bytes);
  const auto ms = berth::parse_duration_ms(text);
  BERTH_ASSERT(!ms || *ms >= 0);
  const auto integer = berth::parse_integer(text, -5, 1000);
  BERTH_ASSERT(!integer || (*integer >= -5 && *integer <= 1000));
  return 0;
}
