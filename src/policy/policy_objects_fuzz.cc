// Any text as objects of a policy: read, made a policy of, looked at by the linter, and shown.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "policy/assemble.h"
#include "policy/lint.h"
#include "policy/read_objects.h"
#include "policy/show.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto parts = berth::read_policy_text(text, "fuzz.yaml");
  if (!parts) return 0;
  const berth::Policy policy = berth::assemble(*std::move(parts));
  static_cast<void>(berth::lint(policy));
  static_cast<void>(berth::table_of(policy));
  static_cast<void>(berth::value_of(policy));
  return 0;
}
