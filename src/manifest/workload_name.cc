#include "manifest/workload_name.h"

namespace berth {

// Names of groups are label values, which may hold more than names of objects.
std::string workload_name_of(std::string_view group, std::string_view owner_uid) {
  std::string name;
  for (const char c : group) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool large = c >= 'A' && c <= 'Z';
    name += letter ? c : large ? static_cast<char>(c - 'A' + 'a') : '-';
  }
  return owner_uid.empty() ? name : name + "-" + std::string(owner_uid.substr(0, 5));
}

}  // namespace berth
