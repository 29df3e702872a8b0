// Any JSON as a patch of any object ends in an object or a complaint, for JSON patches and merge patches; what comes
// out can be written and read again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "apiserver/object_size.h"
#include "apiserver/patches.h"
#include "base/assert.h"
#include "manifest/json.h"

namespace {

void check(const std::expected<berth::Value, berth::ApiError>& patched) {
  if (!patched) {
    BERTH_ASSERT(patched.error().code >= 400 && !patched.error().message.empty());
    return;
  }
  BERTH_ASSERT(patched->is_map() && berth::depth_of(*patched) <= berth::kDepthMax);
  const auto again = berth::parse_json(berth::to_json(*patched));
  BERTH_ASSERT(again && *again == *patched);
}

}  // namespace

// The object and the patch, with a line between them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::size_t line = text.find('\n');
  if (line == text.npos) return 0;
  const auto object = berth::parse_json(text.substr(0, line));
  const auto patch = berth::parse_json(text.substr(line + 1));
  if (!object || !patch || !object->is_map()) return 0;
  check(berth::apply_json_patch(*object, *patch));
  const auto merged = berth::apply_merge_patch(*object, *patch);
  check(merged);
  if (!merged) return 0;
  const auto twice = berth::apply_merge_patch(*merged, *patch);
  BERTH_ASSERT(twice && *twice == *merged);
  return 0;
}
