// Any bytes under any media type are a value or a complaint.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/bodies.h"
#include "base/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(bytes), size);
  const std::string envelope = std::string("k8s\0", 4) + std::string(body);
  for (const char* const type :
       {"application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "text/x"}) {
    const auto decoded = berth::decode_body(type, body);
    if (!decoded)
      BERTH_ASSERT((decoded.error().code == 400 || decoded.error().code == 415) && !decoded.error().message.empty());
  }
  const auto decoded = berth::decode_body("application/vnd.kubernetes.protobuf", envelope);
  if (!decoded) BERTH_ASSERT(decoded.error().code == 400);
  return 0;
}
