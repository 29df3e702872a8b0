#include <algorithm>
#include <bitset>
#include <functional>
#include <utility>

#include "state/quota_ledger.h"

// Who is inside which floor: rules 5 to 7.

namespace berth {

namespace {

constexpr Time kLongAgo{INT64_MIN};
constexpr std::bitset<kResources> kEverything((1ull << kResources) - 1);

// Rule 5: whole, and of the resources alone of which the queue was promised something; slices by their profile, if it was
// promised any of that.
bool fits(const QuotaTree& tree, QueueId queue, std::span<const std::int64_t> inside, const AmountList& held) {
  if (!tree.has_floor(queue)) return false;
  const auto floor = tree.floor(queue);
  AmountList counted;
  if (has_slices(held)) counted = tree.counted_in_floor(queue, held);
  const AmountList& asked = has_slices(held) ? counted : held;
  bool looked_at = false;
  for (const Amount& each : asked) {
    if (!tree.has_floor(queue, each.dim.resource())) continue;
    looked_at = true;
    if (inside[each.dim.index()] + each.amount > floor[each.dim.index()]) return false;
  }
  return looked_at;
}

}  // namespace

// A unit that is new to the floor of a queue, from a moment on, with what it holds of the resources.
struct QuotaLedger::Arrival {
  UnitId unit;
  Time since;
  std::bitset<kResources> of;

  bool counts(const Amount& held) const { return of[static_cast<std::size_t>(held.dim.resource())]; }
};

// A moment with a floor of its own, and what is inside it then: of a queue to whose floor somebody came.
struct QuotaLedger::Hour {
  Time from;
  const QuotaTree* tree = nullptr;
  AmountsByDim covered;
  AmountsByDim bound;  // the floor; what was covered before they came, where that was more
};

void QuotaLedger::set_end(UnitId id, Time end) {
  const QuotaUnit before = unit(id);
  log_.push_back({Change::Kind::kEnd, id, {}, before});
  units_[id.index()].end = end;
  const QueueId at = before.covered_at;
  if (at.is_none() || end <= before.end) return;
  if (stays_inside(id, before.end)) {
    std::vector<Arrival> arrivals = {{id, before.end, kEverything}};
    for (QueueId above = tree_->parent(at); !above.is_none(); above = tree_->parent(above)) shrink(above, arrivals);
    return;
  }
  log_.push_back({Change::Kind::kCover, id, at, {}});
  set_covered_at(id, QueueId());
  for (QueueId queue = at; !queue.is_none(); queue = tree_->parent(queue)) grow(queue);
}

// Whether the queue where it is covered has room for it from then to its end, beside the others that are inside. Floors that
// had fallen before are no matter of the calendar: what it had until then, it keeps.
bool QuotaLedger::stays_inside(UnitId id, Time since) const {
  const QueueId queue = unit(id).covered_at;
  const auto has_room = [&](const QuotaTree& tree, AmountsByDim inside) {
    for (const Amount& each : in_floors(id)) inside[each.dim.index()] -= each.amount;
    return fits(tree, queue, inside, held_by(id));
  };
  if (since <= now_ && !has_room(*tree_, {covered(queue).begin(), covered(queue).end()})) return false;
  return std::ranges::all_of(later_, [&](const LaterTree& later) {
    const bool is_there = later.from >= since && later.from < unit(id).end;
    return !is_there || has_room(*later.tree, covered_then(queue, later.from));
  });
}

Time QuotaLedger::fits_floor_until(QueueId queue, const AmountList& asked, Time end) const {
  if (!fits(*tree_, queue, covered(queue), asked)) return kLongAgo;
  for (const LaterTree& later : later_) {
    if (later.from >= end) break;
    if (fits(*later.tree, queue, covered(queue), asked)) continue;
    // Not everybody who is there now is there then.
    if (!fits(*later.tree, queue, covered_then(queue, later.from), asked)) return later.from;
  }
  return end;
}

QueueId QuotaLedger::would_be_covered_without(std::span<const UnitId> gone, QueueId queue, const AmountList& asked,
                                              Time end) const {
  const auto has_room = [&](const QuotaTree& tree, AmountsByDim inside, Time then) {
    for (const UnitId id : gone) {
      if (unit(id).end <= then || !is_covered_at(unit(id), queue)) continue;
      for (const Amount& each : in_floors(id)) inside[each.dim.index()] -= each.amount;
    }
    return fits(tree, queue, inside, asked);
  };
  const auto fits_to_the_end = [&] {
    if (!has_room(*tree_, {covered(queue).begin(), covered(queue).end()}, kLongAgo)) return false;
    return std::ranges::all_of(later_, [&](const LaterTree& later) {
      return later.from >= end || has_room(*later.tree, covered_then(queue, later.from), later.from);
    });
  };
  if (!tree_->has_floors()) return {};
  while (!queue.is_none() && !fits_to_the_end()) queue = tree_->parent(queue);
  return queue;
}

QueueId QuotaLedger::would_be_covered_at(QueueId queue, const AmountList& asked, Time end) const {
  if (!tree_->has_floors()) return {};
  while (!queue.is_none() && !fits_floor(queue, asked, end)) queue = tree_->parent(queue);
  return queue;
}

// What of that which is inside the queue's floor now will be there still.
AmountsByDim QuotaLedger::covered_then(QueueId queue, Time then) const {
  AmountsByDim sums(covered(queue).begin(), covered(queue).end());
  leave_before(queue, queue, then, sums);
  return sums;
}

AmountsByDim QuotaLedger::covered_then(Dim dim, Time then) const {
  AmountsByDim sums(tree_->queues());
  for (std::size_t queue = 0; queue < sums.size(); ++queue) sums[queue] = covered(QueueId(queue))[dim.index()];
  for (const auto& units : by_queue_) {
    for (const UnitId id : units) {
      if (unit(id).end > then) continue;
      const std::int64_t gone = amount_of(in_floors(id), dim);
      for (QueueId queue = unit(id).covered_at; !queue.is_none(); queue = tree_->parent(queue)) {
        sums[queue.index()] -= gone;
      }
    }
  }
  return sums;
}

void QuotaLedger::leave_before(QueueId below, QueueId queue, Time then, AmountsByDim& sums) const {
  for (const UnitId id : by_queue_[below.index()]) {
    if (unit(id).end > then || !is_covered_at(unit(id), queue)) continue;
    for (const Amount& each : in_floors(id)) sums[each.dim.index()] -= each.amount;
  }
  for (const QueueId child : tree_->children(below)) leave_before(child, queue, then, sums);
}

// Inside the floor of `queue`, and with it of all above. There siblings may have to make room.
void QuotaLedger::cover(UnitId id, QueueId queue) {
  const QueueId before = units_[id.index()].covered_at;
  log_.push_back({Change::Kind::kCover, id, before, {}});
  set_covered_at(id, queue);
  std::vector<Arrival> arrivals = {{id, kLongAgo, kEverything}};
  for (QueueId above = tree_->parent(queue); !above.is_none(); above = tree_->parent(above)) {
    // From there on it was inside already; those whom it has pushed up may be news.
    if (above == before) arrivals.erase(arrivals.begin());
    if (arrivals.empty()) return;
    shrink(above, arrivals);
  }
}

QuotaLedger::Hour QuotaLedger::hour_after(QueueId queue, std::span<const Arrival> arrivals, Time from,
                                          const QuotaTree& tree, AmountsByDim covered) const {
  Hour hour{from, &tree, std::move(covered), {}};
  hour.bound = hour.covered;
  for (const Arrival& came : arrivals) {
    if (unit(came.unit).end <= from || came.since > std::max(from, now_)) continue;
    for (const Amount& each : in_floors(came.unit)) hour.bound[each.dim.index()] -= came.counts(each) ? each.amount : 0;
  }
  const auto floor = tree.floor(queue);
  for (std::size_t dim = 0; dim < hour.bound.size(); ++dim) hour.bound[dim] = std::max(hour.bound[dim], floor[dim]);
  return hour;
}

// Now, and when the calendar has brought floors that would be too small for all who are inside now; from when they came.
std::vector<QuotaLedger::Hour> QuotaLedger::hours_after(QueueId queue, std::span<const Arrival> arrivals) const {
  const auto inside = covered(queue);
  const Time since = std::ranges::min(arrivals, {}, &Arrival::since).since;
  std::vector<Hour> hours;
  if (since <= now_) hours.push_back(hour_after(queue, arrivals, kLongAgo, *tree_, {inside.begin(), inside.end()}));
  for (const LaterTree& later : later_) {
    if (later.from < since) continue;
    const auto floor = later.tree->floor(queue);
    if (std::equal(inside.begin(), inside.end(), floor.begin(), std::less_equal<>())) continue;
    hours.push_back(hour_after(queue, arrivals, later.from, *later.tree, covered_then(queue, later.from)));
  }
  return hours;
}

// Until what is covered fits the floor again, now and later, those go that are covered here but not below: last in, first
// out; of them only who holds of what is too much. Where a floor has fallen there was too much before: that much may stay.
void QuotaLedger::shrink(QueueId queue, std::vector<Arrival>& arrivals) {
  std::vector<Hour> hours = hours_after(queue, arrivals);
  const auto is_too_much = [&](UnitId id, const AmountList& held) {
    return std::any_of(hours.begin(), hours.end(), [&](const Hour& hour) {
      return unit(id).end > hour.from && std::any_of(held.begin(), held.end(), [&](const Amount& each) {
               const std::size_t dim = each.dim.index();
               return hour.tree->has_floor(queue, each.dim.resource()) && hour.covered[dim] > hour.bound[dim];
             });
    });
  };
  std::vector<UnitId> last_first;
  coverage_[queue.index()].pool.for_each([&](const UnitKey& key) { last_first.push_back(key.unit); });
  bool shrunk = false;
  for (const UnitId id : last_first) {
    const AmountList held = in_floors(id);
    if (!is_too_much(id, held)) continue;
    log_.push_back({Change::Kind::kCover, id, queue, {}});
    set_covered_at(id, tree_->parent(queue));
    note_pushed_up(id, queue, arrivals);
    for (Hour& hour : hours) {
      if (unit(id).end <= hour.from) continue;
      for (const Amount& each : held) hour.covered[each.dim.index()] -= each.amount;
    }
    shrunk = true;
  }
  if (shrunk) grow(queue);
}

// Whoever leaves a floor that did not look at a resource is new, with what he holds of it, to those above: there nothing
// below vouches for him any more.
void QuotaLedger::note_pushed_up(UnitId id, QueueId from, std::vector<Arrival>& arrivals) const {
  std::bitset<kResources> unlooked_at;
  for (const Amount& each : in_floors(id)) {
    const auto resource = static_cast<std::size_t>(each.dim.resource());
    const bool was_part = each.dim.is_of_slices() && !tree_->is_floor_by_profile(from, each.dim);
    unlooked_at[resource] = was_part || !tree_->has_floor(from, each.dim.resource());
  }
  if (unlooked_at.none()) return;
  const auto known = std::ranges::find(arrivals, id, &Arrival::unit);
  if (known == arrivals.end()) {
    arrivals.push_back({id, kLongAgo, unlooked_at});
  } else {
    known->of |= unlooked_at;
  }
}

// What is left of the floor goes to whoever fits it whole, in order.
void QuotaLedger::grow(QueueId queue) {
  if (!tree_->has_floor(queue)) return;
  const auto floor = tree_->floor(queue);
  const auto is_left = [&] {
    for (const std::size_t dim : tree_->dims_in_use()) {
      if (covered(queue)[dim] < floor[dim]) return true;
    }
    return false;
  };
  if (!is_left()) return;
  std::vector<UnitId> uncovered;
  coverage_[queue.index()].uncovered.for_each([&](const UnitKey& key) { uncovered.push_back(key.unit); });
  for (const UnitId id : uncovered) {
    if (!fits_floor(queue, held_by(id), unit(id).end)) continue;
    cover(id, queue);
    if (!is_left()) return;
  }
}

}  // namespace berth
