// `berth top` as lines of text: a pure function of what is known, of what was asked for, and of the room that there is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "client/cluster_picture.h"
#include "client/keys.h"

namespace berth {

struct ScreenSize {
  std::size_t columns = 80, rows = 24;
  friend bool operator==(const ScreenSize&, const ScreenSize&) = default;
};

enum class TopShown : std::uint8_t { kAll, kWaiting, kRunning };
enum class TopOrder : std::uint8_t { kAge, kGpus, kQueue, kName };

struct TopWish {
  TopShown shown = TopShown::kAll;
  TopOrder order = TopOrder::kAge;
  std::size_t first = 0;  // row of the list at its top
  bool help = false;
  bool colours = false;
  bool unicode = true;  // bars, lines and "…" that need it; otherwise ASCII
  bool hints = true;    // which keys there are: where somebody can press one
  std::string title = {};
  std::vector<std::string> banner = {};  // lines below the title
  std::string trouble = {};              // why it may not be true just now; empty: it is
};

struct TopPicture {
  std::vector<std::string> lines;  // INVARIANT: as many as the screen has rows at most, none wider than it
  std::size_t listed = 0;          // rows that the list has in all
  std::size_t listed_shown = 0;    // for which there was room
  std::size_t first = 0;           // the wish's, within the list
};

TopPicture draw_top(const ClusterPicture& cluster, const TopWish& wish, ScreenSize size, Time now);

// False: it was asked to leave. `seen` is the picture on which the key was pressed.
bool obey(KeyPress key, const TopPicture& seen, TopWish& wish);

// "████░░": so much of `columns` filled; PRE: 0 <= part <= 1000.
std::string bar_of(std::int64_t per_mille, std::size_t columns, bool unicode);
// "▁▃▇": the last values, each of `full`; the newest at the right end.
std::string sparkline_of(const std::vector<std::int64_t>& values, std::int64_t full, std::size_t columns, bool unicode);

}  // namespace berth
