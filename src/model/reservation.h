// Capacity that is promised for a time: GPUs to a queue and all below it, or nodes to nobody, for maintenance
// (docs/semantics.md, "Reservations").
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "model/node.h"

namespace berth {

// INVARIANT: it lasts longer than nothing, and no longer than until it begins again; of a queue it is at least one GPU, of
// nobody at least one node.
struct Reservation {
  std::string name;
  QueueId queue;  // whose subtree may use it; none: maintenance
  FlavorId flavor;
  std::int64_t gpus = 0;      // whole ones, of nodes that are not shared
  std::vector<NodeId> nodes;  // that are closed while it lasts, ascending; of maintenance alone
  Time from;                  // the next time that it begins, or has begun
  Duration lasts;
  Duration every{0};  // none: once

  bool is_maintenance() const { return queue.is_none(); }
  Time to() const { return from + lasts; }
  bool has_begun(Time now) const { return from <= now; }

  // Whether it lasts at some moment from `start` on and before `end`, this time or a later one.
  bool meets(Time start, Time end) const {
    if (end <= from) return false;
    if (start < to()) return true;
    if (every == Duration{0}) return false;
    // The first time whose end is later than `start`.
    const std::int64_t times = ((start - to()).ms + every.ms) / every.ms;
    return from + Duration{times * every.ms} < end;
  }
  // Whether both last at some moment.
  bool meets(const Reservation& other) const {
    const bool other_is_once = other.every == Duration{0};
    if (other_is_once || every == Duration{0}) {
      const Reservation& once = other_is_once ? other : *this;
      return (other_is_once ? *this : other).meets(once.from, once.to());
    }
    // Both every day: as soon as both have begun, whenever it lasts.
    const std::int64_t times = other.from < from ? ((from - other.from).ms + other.every.ms - 1) / other.every.ms : 0;
    const Time next = other.from + Duration{(times + 1) * other.every.ms};
    return meets(next, next + other.lasts);
  }
  friend bool operator==(const Reservation&, const Reservation&) = default;
};

inline constexpr Duration kReservationDay{86'400'000};
inline constexpr std::size_t kReservationsMax = 100;  // at a time
inline constexpr std::int64_t kReservationGpusMax = 1'000'000;
inline constexpr Duration kReservationLastsMax{366 * 86'400'000LL};

// GPUs of one node.
struct GpusOfNode {
  NodeId node;
  GpuSet gpus;

  friend bool operator==(const GpusOfNode&, const GpusOfNode&) = default;
};

// What a reservation has now, or will have when it begins: as chosen by the last cycle that looked. Fewer GPUs than were
// reserved: it is short by the rest.
struct HeldPlaces {
  ReservationId reservation;
  std::vector<GpusOfNode> gpus;  // by node, ascending, none empty
  Time drains_at;                // when the next of those is told to stop who would be in its way; kForever: nobody is

  std::int64_t count() const {
    std::int64_t count = 0;
    for (const GpusOfNode& each : gpus) count += each.gpus.size();
    return count;
  }
  friend bool operator==(const HeldPlaces&, const HeldPlaces&) = default;
};

}  // namespace berth
