// Any bytes are documents or a complaint; what was understood is written and understood again as the same.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "manifest/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const berth::YamlLimits limits{.depth_max = 50, .values_max = 20'000};
  const berth::Result<std::vector<berth::Value>> documents = berth::parse_yaml(text, "", limits);
  if (!documents) {
    BERTH_ASSERT(documents.error().count() == 1);
    return 0;
  }
  for (const berth::Value& document : *documents) {
    const berth::Result<std::vector<berth::Value>> again = berth::parse_yaml(berth::to_yaml(document));
    BERTH_ASSERT(again && again->size() == 1 && again->front() == document);
  }
  return 0;
}
