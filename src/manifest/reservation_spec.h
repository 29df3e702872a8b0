// What the spec of a Reservation object asks, read once: for the server's door and the scheduler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "manifest/queue_spec.h"
#include "manifest/value.h"
#include "manifest/window_times.h"

namespace berth {

inline constexpr std::size_t kNodesInReservationMax = 5'000;

// GPUs for a queue, or nodes for nobody: maintenance.
struct ReservationSpec {
  std::string queue = {};   // empty: maintenance
  std::string flavor = {};  // in small letters; empty: the only one that nodes have
  std::int64_t gpus = 0;
  std::vector<std::string> nodes = {};  // of maintenance alone; ascending, each once
  Time from;                            // the first time
  Duration lasts;
  bool daily = false;  // again every 24 hours
  // Again on days of the calendar.
  std::optional<WindowTimes> times = {};

  bool is_maintenance() const { return queue.empty(); }
  // Nothing of it comes any more.
  bool is_over(Time now) const { return !daily && !times && from + lasts <= now; }
  // When it lasts now or next, and, on days of the calendar, after that; of one that is over, when it lasted.
  std::vector<Interval> times_from(Time now) const;

  friend bool operator==(const ReservationSpec&, const ReservationSpec&) = default;
};

struct ReservationSpecReading {
  ReservationSpec spec;  // to be used only if nothing is wrong
  std::vector<SpecMistake> mistakes;
};

ReservationSpecReading read_reservation_spec(const Value& spec);

// How long it lasts, and when it comes again, as people read it: "4h daily", "4h mon-fri Europe/Berlin".
std::string times_text(const Value& reservation_spec);

}  // namespace berth
