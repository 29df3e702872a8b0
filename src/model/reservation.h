// Capacity that is promised for a time: GPUs to a queue and all below it, or nodes to nobody, for maintenance
// (docs/semantics.md, "Reservations").
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/calendar.h"
#include "model/ids.h"
#include "model/node.h"

namespace berth {

// INVARIANT: it lasts longer than nothing, and no longer than until it begins again; of a queue it is at least one GPU, of
// nobody at least one node. `later` is in order, after this time, and its intervals do not overlap; nothing has both it and `every`.
struct Reservation {
  std::string name;
  QueueId queue;  // whose subtree may use it; none: maintenance
  FlavorId flavor;
  std::int64_t gpus = 0;      // whole ones, of nodes that are not shared
  std::vector<NodeId> nodes;  // that are closed while it lasts, ascending; of maintenance alone
  Time from;                  // the next time that it begins, or has begun
  Duration lasts;
  Duration every{0};                 // none: once, or
  std::vector<Interval> later = {};  // at these times, too, as far as they have been told: those of a calendar

  bool is_maintenance() const { return queue.is_none(); }
  Time to() const { return from + lasts; }
  bool has_begun(Time now) const { return from <= now; }
  // The first time of it that begins after this moment; none: there is none, or nobody has told it yet.
  std::optional<Interval> time_after(Time now) const {
    if (from > now) return Interval{from, to()};
    if (every > Duration{0}) {
      const Duration ahead{((now - from).ms / every.ms + 1) * every.ms};
      return Interval{from + ahead, to() + ahead};
    }
    const auto next = std::ranges::upper_bound(later, now, {}, &Interval::from);
    return next == later.end() ? std::nullopt : std::optional(*next);
  }
  // Whether no time of it is known that begins then, or later.
  bool ends_before(Time then) const {
    return every == Duration{0} && (later.empty() ? from : later.back().from) < then;
  }
  // What is over by now is left behind. Whether it lasts, or comes again.
  bool pass(Time now) {
    if (to() > now) return true;
    if (every > Duration{0}) {
      from = from + Duration{((now - to()).ms / every.ms + 1) * every.ms};
      return true;
    }
    const auto next = std::ranges::upper_bound(later, now, {}, &Interval::to);
    if (next == later.end()) return false;
    from = next->from;
    lasts = next->to - next->from;
    later.erase(later.begin(), next + 1);
    return true;
  }

  // Whether it lasts at some moment from `start` on and before `end`, this time or a later one.
  bool meets(Time start, Time end) const {
    if (end <= from) return false;
    if (start < to()) return true;
    if (every > Duration{0}) {
      // The first time whose end is later than `start`.
      const std::int64_t times = ((start - to()).ms + every.ms) / every.ms;
      return from + Duration{times * every.ms} < end;
    }
    const auto next = std::ranges::upper_bound(later, start, {}, &Interval::to);
    return next != later.end() && next->from < end;
  }
  // Whether both last at some moment.
  bool meets(const Reservation& other) const {
    if (every == Duration{0}) return other.meets_some_time_of(*this);
    if (other.every == Duration{0}) return meets_some_time_of(other);
    // Both every day: as soon as both have begun, whenever it lasts.
    const std::int64_t times = other.from < from ? ((from - other.from).ms + other.every.ms - 1) / other.every.ms : 0;
    const Time next = other.from + Duration{(times + 1) * other.every.ms};
    return meets(next, next + other.lasts);
  }
  friend bool operator==(const Reservation&, const Reservation&) = default;

 private:
  bool meets_some_time_of(const Reservation& other) const {
    return meets(other.from, other.to()) ||
           std::ranges::any_of(other.later, [this](const Interval& each) { return meets(each.from, each.to); });
  }
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
