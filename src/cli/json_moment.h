// Moments in the JSON that commands print.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "base/time.h"

namespace berth {

inline nlohmann::ordered_json moment_or_null(const std::optional<Time>& moment) {
  return moment ? nlohmann::ordered_json(moment->ms) : nlohmann::ordered_json(nullptr);
}

}  // namespace berth
