// Whatever is stored and sent: a write is noted, an apply ends in an object or a complaint, and applying twice is
// applying once.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "apiserver/managed_fields.h"
#include "base/assert.h"
#include "manifest/json.h"

// The stored pod and the one that is sent, with a line between them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::size_t line = text.find('\n');
  if (line == text.npos) return 0;
  const auto live = berth::parse_json(text.substr(0, line));
  const auto sent = berth::parse_json(text.substr(line + 1));
  if (!live || !sent || !live->is_map() || !sent->is_map()) return 0;
  const berth::KindInfo& kind = *berth::find_served("", "v1", "pods");
  const berth::FieldManager manager{.name = "m", .subresource = "", .now = {}};

  berth::Value created = *sent;
  berth::note_write(kind, {}, created, manager);
  berth::Value updated = *sent;
  berth::note_write(kind, *live, updated, manager);

  const auto applied = berth::server_side_apply(kind, *live, *sent, manager, true);
  if (!applied) {
    BERTH_ASSERT(applied.error().code >= 400 && !applied.error().message.empty());
    return 0;
  }
  const auto again = berth::server_side_apply(kind, *applied, *sent, manager, false);
  BERTH_ASSERT(again && *again == *applied);
  return 0;
}
