// A timeline as people and machines read it.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/report.h"
#include "sim/timeline_figure.h"

namespace berth {

// One line a workload, as wide as that many columns; below it the GPUs that were in use, by those that `filter` lets through.
std::string timeline_as_text(const TimelineView& view, const RowFilter& filter, std::size_t columns);

// Exact, in milliseconds, as the journal says them.
nlohmann::ordered_json timeline_as_json(const TimelineView& view, const RowFilter& filter);

Report timeline_as_page(const TimelineView& view, const RowFilter& filter, const std::string& title,
                        const std::string& command);

}  // namespace berth
