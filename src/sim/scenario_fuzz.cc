// Any bytes are a scenario that runs to its end, the same way twice, or complaints.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "sim/scenario_run.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const berth::ScenarioOutcome outcome = berth::run_scenario("scenario", text);
  BERTH_ASSERT(!outcome.refused || !outcome.failures.empty());
  const berth::ScenarioOutcome again = berth::run_scenario("scenario", text);
  BERTH_ASSERT(outcome.state_hash == again.state_hash);
  BERTH_ASSERT(outcome.failures.to_string() == again.failures.to_string());
  return 0;
}
