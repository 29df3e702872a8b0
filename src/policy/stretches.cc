#include "policy/stretches.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "manifest/window_times.h"
#include "model/quantity.h"

namespace berth {
namespace {

// Windows come again each week, so any Monday will do to begin on: 5 January 2026, as scenarios that name no date.
constexpr std::int64_t kDayInMs = 86'400'000;
constexpr Duration kFirstMonday{20'458 * kDayInMs};

// "Mon 06:00" for a time since that Monday.
std::string time_of_week(Time time) {
  constexpr std::array<std::string_view, 7> kDays = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
  const std::int64_t minutes = time.ms / 60'000;
  const auto two_digits = [](std::int64_t value) { return std::string(value < 10 ? "0" : "") + std::to_string(value); };
  return std::string(kDays[static_cast<std::size_t>(minutes / 1440 % 7)]) + " " + two_digits(minutes / 60 % 24) + ":" +
         two_digits(minutes % 60);
}

}  // namespace

Stretches::Stretches(const Policy& policy) : policy_(policy) {
  for (const PolicyWindow& each : policy.windows) {
    Window window = each.window;
    window.known_until = Time{} + kCalendarAhead;
    window.open = each.times.openings(Time{}, window.known_until, kFirstMonday);
    windows_.push_back(std::move(window));
  }
  const OpenWindows first = open_at(windows_, Time{});
  const std::vector<Turn> later = turns_after(windows_, Time{});
  turns_.push_back({Time{}, first});
  turns_.insert(turns_.end(), later.begin(), later.end());
  all_.push_back(first);
  for (const Turn& turn : first_of_each(later, first)) all_.push_back(turn.open);
}

std::vector<Queue> Stretches::queues_while(OpenWindows open) const {
  return berth::queues_while(policy_.plain_queues(), windows_, open);
}

std::string Stretches::in_words(OpenWindows open) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    if ((open >> i & 1) == 0) continue;
    names.push_back(policy_.windows[i].hours + " of " + policy_.name_of(windows_[i].queue));
  }
  std::string text = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) text += (i + 1 == names.size() ? " and " : ", ") + names[i];
  return names.size() == 1 ? "the window " + text + " is open"
                           : "the windows " + text + " are open" + first_hours(open);
}

std::string Stretches::first_hours(OpenWindows open) const {
  const auto all_are_open = [&](const Turn& turn) { return (turn.open & open) == open; };
  for (std::size_t i = 0; i + 1 < turns_.size(); ++i) {
    if (!all_are_open(turns_[i])) continue;
    std::size_t end = i + 1;
    while (end + 1 < turns_.size() && all_are_open(turns_[end])) ++end;
    return " (first " + time_of_week(turns_[i].at) + " to " + time_of_week(turns_[end].at) + " UTC)";
  }
  return "";
}

}  // namespace berth
