// Any bytes are lists (own tables) that keep their invariants, or complaints.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/readers.h"
#include "sim/trace_invariants.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto nodes = berth::read_own_csv_nodes("nodes", text);
  berth::assert_read(nodes);
  if (nodes)
    BERTH_ASSERT(berth::write_nodes_csv(berth::read_own_csv_nodes("again", berth::write_nodes_csv(*nodes)).value()) ==
                 berth::write_nodes_csv(*nodes));
  const auto jobs = berth::read_own_csv_jobs("jobs", text);
  berth::assert_read(jobs);
  if (jobs)
    BERTH_ASSERT(berth::write_jobs_csv(berth::read_own_csv_jobs("again", berth::write_jobs_csv(*jobs)).value()) ==
                 berth::write_jobs_csv(*jobs));
  // Whatever they seem to be.
  berth::assert_read(berth::read_nodes("nodes", text));
  berth::assert_read(berth::read_jobs("jobs", text));
  return 0;
}
