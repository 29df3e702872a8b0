// Any bytes are lists (own JSON) that keep their invariants, or complaints.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/readers.h"
#include "sim/trace_invariants.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  berth::assert_read(berth::read_own_json_nodes("nodes", text));
  berth::assert_read(berth::read_own_json_jobs("jobs", text));
  return 0;
}
