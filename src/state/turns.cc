#include "state/turns.h"

#include <algorithm>
#include <compare>

namespace berth {
namespace {

struct Edge {
  Time at;
  OpenWindows window = 0;

  friend auto operator<=>(const Edge&, const Edge&) = default;
};

bool contains(OpenWindows open, std::size_t window) { return (open >> window & 1) != 0; }

}  // namespace

OpenWindows open_at(const std::vector<Window>& windows, Time now) {
  OpenWindows open = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const auto& intervals = windows[i].open;
    const auto after = std::upper_bound(intervals.begin(), intervals.end(), now,
                                        [](Time time, const Interval& interval) { return time < interval.to; });
    if (after != intervals.end() && after->from <= now) open |= OpenWindows{1} << i;
  }
  return open;
}

std::vector<Turn> turns_after(const std::vector<Window>& windows, Time now) {
  Time known_until = windows.empty() ? now : windows.front().known_until;
  for (const Window& window : windows) known_until = std::min(known_until, window.known_until);
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    for (const Interval& interval : windows[i].open) {
      for (const Time at : {interval.from, interval.to}) {
        if (at > now && at <= known_until) edges.push_back({at, OpenWindows{1} << i});
      }
    }
  }
  std::sort(edges.begin(), edges.end());
  std::vector<Turn> turns;
  OpenWindows open = open_at(windows, now);
  for (std::size_t i = 0; i < edges.size();) {
    const Time at = edges[i].at;
    const OpenWindows before = open;
    // Where one interval ends as the next begins, the window is open all the time: it turns twice.
    for (; i < edges.size() && edges[i].at == at; ++i) open ^= edges[i].window;
    if (open != before) turns.push_back({at, open});
  }
  return turns;
}

std::vector<Turn> first_of_each(const std::vector<Turn>& turns, OpenWindows now_open) {
  std::vector<Turn> firsts;
  std::vector<OpenWindows> seen = {now_open};
  for (const Turn& turn : turns) {
    const auto place = std::lower_bound(seen.begin(), seen.end(), turn.open);
    if (place != seen.end() && *place == turn.open) continue;
    seen.insert(place, turn.open);
    firsts.push_back(turn);
  }
  return firsts;
}

std::vector<Queue> queues_while(const std::vector<Queue>& queues, const std::vector<Window>& windows,
                                OpenWindows open) {
  std::vector<Queue> then = queues;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (contains(open, i) && !windows[i].queue.is_none()) windows[i].change(then[windows[i].queue.index()].quota);
  }
  return then;
}

}  // namespace berth
