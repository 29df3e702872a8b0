// Any JSON as a strategic patch of any pod ends in an object or a complaint with code 400 or 413.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "apiserver/object_size.h"
#include "apiserver/patches.h"
#include "base/assert.h"
#include "manifest/json.h"

// The pod and the patch, with a line between them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::size_t line = text.find('\n');
  if (line == text.npos) return 0;
  const auto object = berth::parse_json(text.substr(0, line));
  const auto patch = berth::parse_json(text.substr(line + 1));
  if (!object || !patch) return 0;
  const auto patched = berth::apply_strategic_patch(berth::type_named("Pod"), *object, *patch);
  if (!patched) {
    BERTH_ASSERT(patched.error().code == 400 || patched.error().code == 413);
    return 0;
  }
  BERTH_ASSERT(patched->is_map() && berth::depth_of(*patched) <= berth::kDepthMax);
  const auto again = berth::parse_json(berth::to_json(*patched));
  BERTH_ASSERT(again && *again == *patched);
  return 0;
}
