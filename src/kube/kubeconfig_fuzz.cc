// Any bytes are a kubeconfig that names a server, or complaints that name the file.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "kube/kubeconfig.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  for (const char* context : {"", "a"}) {
    const berth::Result<berth::ServerAccess> access = berth::parse_kubeconfig(text, "/nowhere/config", context);
    if (access) {
      BERTH_ASSERT(access->server.starts_with("http"));
      BERTH_ASSERT(!access->name_space.empty());
      BERTH_ASSERT(access->client_certificate.empty() == access->client_key.empty());
    } else {
      BERTH_ASSERT(access.error().kept().front().place.file == "/nowhere/config");
    }
  }
  return 0;
}
