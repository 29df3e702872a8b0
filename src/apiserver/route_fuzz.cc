// Any path is a resource with a key, or none.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "apiserver/route.h"
#include "base/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const berth::Route route = berth::parse_route({reinterpret_cast<const char*>(bytes), size});
  if (route.what != berth::Route::What::kResource) return 0;
  BERTH_ASSERT(route.kind != nullptr);
  BERTH_ASSERT(route.key().starts_with(route.prefix()));
  BERTH_ASSERT(route.subresource.empty() || !route.name.empty());
  BERTH_ASSERT(route.name.find('/') == std::string_view::npos);
  return 0;
}
