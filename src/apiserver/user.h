// Who asks.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace berth {

struct User {
  std::string name;  // "system:anonymous" of whoever proved nothing
  std::string uid;
  std::vector<std::string> groups;  // with system:authenticated or system:unauthenticated
  std::map<std::string, std::vector<std::string>> extra;

  bool in_group(std::string_view group) const { return std::ranges::find(groups, group) != groups.end(); }
};

// The group that may do everything, as in Kubernetes; also before there are any roles.
inline constexpr const char* kMasters = "system:masters";

}  // namespace berth
