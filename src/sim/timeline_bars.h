// A timeline in characters: one cell for so much time.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/timeline.h"

namespace berth {

// INVARIANT: longer than nothing, with at least one cell.
struct CellScale {
  TimeWindow window;
  std::size_t cells = 1;

  Time begin_of(std::size_t cell) const;
  // PRE: within the window. A moment between two cells is of the later one.
  std::size_t cell_of(Time moment) const;
};

// What a cell says, the stronger over the weaker: it ran at all within it, it ended in it.
inline constexpr char kWaitsCell = '.', kStopsCell = '-', kLacksCell = '~', kRunsCell = '#', kDoneCell = '|',
                      kMovedCell = 'm', kCancelledCell = 'c', kOverranCell = '!', kFailedCell = 'f', kEvictedCell = 'x';

// Of exactly so many cells.
std::string bar_of(const Timeline& timeline, const Timeline::Row& row, const CellScale& scale);
// '=' while it lasts.
std::string bar_of(const Timeline::Reserved& reserved, const CellScale& scale);

// "# runs  . waits": of the cells that are there.
std::string legend_of(std::string_view cells);

// "|2h    |4h": round moments below each other's cells, by their words. Not longer than the scale.
std::string axis_of(const CellScale& scale, bool dates);

// So many lines, the highest first: full cells up to the mean of what was held in each; `top_gpu_milli` fills all.
std::vector<std::string> columns_of_use(const std::vector<HeldGpus>& use, const CellScale& scale, std::size_t lines,
                                        std::int64_t top_gpu_milli);

}  // namespace berth
