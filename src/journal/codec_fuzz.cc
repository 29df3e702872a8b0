// Any bytes are a record or a complaint; what was understood has no other encoding.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.h"
#include "journal/codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::span<const std::uint8_t> given(bytes, size);
  const auto record = berth::decode(given);
  if (!record) {
    BERTH_ASSERT(!record.error().empty());
    return 0;
  }
  const berth::Bytes again = berth::encode(*record);
  BERTH_ASSERT(std::equal(again.begin(), again.end(), given.begin(), given.end()));
  return 0;
}
