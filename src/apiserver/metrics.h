// What the server says of itself at /metrics, in Prometheus' text format, for whoever may get that path.
#pragma once

#include <string>
#include <string_view>

#include "store/store.h"

namespace berth {

inline constexpr std::string_view kMetricsPath = "/metrics";
inline constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

std::string metrics_text(const StoreFigures& figures, Revision revision);

}  // namespace berth
