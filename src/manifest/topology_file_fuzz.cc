// Any bytes are a topology or a complaint; what is read keeps its invariant.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "manifest/label_syntax.h"
#include "manifest/topology_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const berth::Result<berth::TopologyFile> topology = berth::read_topology_file("f", text);
  if (!topology) {
    BERTH_ASSERT(topology.error().count() > 0);
    return 0;
  }
  std::set<std::string_view> names;
  for (const berth::PlacedNode& node : topology->nodes) {
    BERTH_ASSERT(names.insert(node.name).second && node.domains.size() == topology->levels.size());
    for (const std::string& domain : node.domains) BERTH_ASSERT(berth::is_label_value(domain));
  }
  return 0;
}
