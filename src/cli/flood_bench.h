// Users who ask for as much as they can: lists of everything, creations, watches opened and closed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth {

inline constexpr std::string_view kFloodWord = "flood";

// In a process of its own, until it is killed; one user for each kubeconfig. Says each second what it has been given.
[[noreturn]] int flood(const std::string& name_space, const std::vector<std::string>& kubeconfigs);

}  // namespace berth
