#include "manifest/overcommit_text.h"

#include <algorithm>
#include <cstddef>
#include <expected>
#include <set>
#include <string>

#include "base/wording.h"

namespace berth {

Parsed<Overcommit> parse_overcommit(std::string_view text, char is) {
  const auto mistake = [&] {
    return std::unexpected(quote(text) + " does not say how many times what it has a node promises; write 1 to " +
                           std::to_string(kOvercommitMax) + " for CPUs, memory or both, such as cpu" + is +
                           "1.5,memory" + is + "1.2");
  };
  Overcommit factors;
  std::set<std::string_view> known;
  for (std::size_t from = 0, end = 0; end < text.size() || from == 0; from = end + 1) {
    end = std::min(text.find(',', from), text.size());
    const std::string_view part = text.substr(from, end - from);
    const std::size_t at = std::min(part.find(is), part.size());
    const std::string_view what = part.substr(0, at);
    const bool is_cpu = what == "cpu";
    if ((!is_cpu && what != "memory") || at == part.size() || !known.insert(what).second) return mistake();
    const auto factor = parse_milli(part.substr(at + 1));
    if (!factor || *factor < 1000 || *factor > 1000 * kOvercommitMax) return mistake();
    (is_cpu ? factors.cpu_milli : factors.memory_milli) = *factor;
  }
  return factors;
}

}  // namespace berth
