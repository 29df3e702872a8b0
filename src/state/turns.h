// Which windows of the calendar are open when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/calendar.h"
#include "model/queue.h"

namespace berth {

// A set of windows, by their numbers.
using OpenWindows = std::uint64_t;

// From a moment on these are open and no others.
struct Turn {
  Time at;
  OpenWindows open = 0;

  friend bool operator==(const Turn&, const Turn&) = default;
};

OpenWindows open_at(const std::vector<Window>& windows, Time now);

// Every turn after this moment, in order, as far as all windows are known.
std::vector<Turn> turns_after(const std::vector<Window>& windows, Time now);

// Of these the first to each set of windows that is another than `now_open`. No unit is there at a later turn to the same
// set that was not there at the first, so whoever has room then has it at all.
std::vector<Turn> first_of_each(const std::vector<Turn>& turns, OpenWindows now_open);

// The queues as they are while these windows are open.
std::vector<Queue> queues_while(const std::vector<Queue>& queues, const std::vector<Window>& windows, OpenWindows open);

}  // namespace berth
