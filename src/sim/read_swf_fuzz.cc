// Any bytes are jobs in the Standard Workload Format that keep their invariants, or complaints.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/readers.h"
#include "sim/trace_invariants.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto swf = berth::read_swf("jobs", text);
  BERTH_ASSERT(!swf || swf->left_out >= 0);
  berth::assert_read(swf ? berth::Result<std::vector<berth::TraceJob>>(swf->jobs) : swf.error());
  const auto processors = berth::swf_max_procs(text);
  BERTH_ASSERT(!processors || *processors > 0);
  return 0;
}
