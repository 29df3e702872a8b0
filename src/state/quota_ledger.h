// What every queue holds, and which of it is covered by a floor (docs/semantics.md, rules 4 to 6). Changed by units that
// come and go; every change since a mark can be taken back exactly, as in a Trial.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/intern.h"
#include "base/sorted_blocks.h"
#include "base/time.h"
#include "model/amount.h"
#include "model/ids.h"
#include "model/workload.h"
#include "state/budget_ledger.h"
#include "state/quota_tree.h"

namespace berth {

std::uint64_t digest_of(const AmountList& amounts);

// What holds together as one: a workload's all-or-nothing minimum.
struct QuotaUnit {
  WorkloadId workload;
  QueueId queue;
  UserId user = {};
  std::int32_t priority = 0;
  Time admitted;
  std::uint32_t footprint = 0;  // of the ledger's footprints
  std::uint32_t in_floors = 0;  // the same: what it takes of the floors inside which it is
  bool may_be_covered = true;   // best-effort work never is
  bool only_borrows = false;    // nor is this, though it counts: where it is it would be in the way of others' cells
  Time end = kForever;          // when its run limit ends it
  // The lowest queue, from its own upwards, inside whose floor it is; it is inside those of all queues above that one,
  // too, and guaranteed against whoever is outside this one. None: it is burstable.
  QueueId covered_at;

  // Now or later, if floor comes free.
  bool could_be_covered() const { return may_be_covered && !only_borrows; }
};

// Rule 6's order in which units that are not covered below get coverage: priority, then the time of admission.
struct UnitKey {
  std::int32_t lower_first = 0;  // the priority turned round
  Time admitted;
  WorkloadId workload;
  UnitId unit;

  friend auto operator<=>(const UnitKey&, const UnitKey&) = default;
};

// What is promised from a moment on, if nobody changes his mind.
struct LaterTree {
  Time from;
  std::shared_ptr<const QuotaTree> tree;
};

// An hour of the calendar, from its first moment on: then some queue's floor has more GPUs of these flavors, or more slices of them, than
// it has now and at any hour before.
struct FloorRise {
  Time from;
  std::shared_ptr<const QuotaTree> tree;  // what is promised then
  FlavorSet flavors;
};

// Of all flavors together.
std::int64_t gpu_milli_of(const AmountList& amounts);

class QuotaLedger {
 public:
  const QuotaTree& tree() const { return *tree_; }
  // As the calendar has it at a moment that is not past.
  const QuotaTree& tree_at(Time then) const;
  // In their order; none where no calendar changes what is promised. What is deliverable now and at these hours is so at all hours.
  const std::vector<FloorRise>& rises() const { return rises_; }
  // By dimension, of the nodes that take work.
  const AmountsByDim& capacity() const { return capacity_; }

  // Floors that fall leave what is covered as it is (rule 3); floors that rise cover more.
  // `later` are those that the calendar brings, in order, each where it first holds. A unit is covered only if it is so as
  // long as it may be there (rule 7). PRE: the new trees have all queues and dimensions of the old one.
  // Where profiles of slices are named that were not before, `held_by` says what everybody holds, these counted.
  using HeldBy = std::function<AmountList(WorkloadId)>;
  void replace_tree(std::shared_ptr<const QuotaTree> tree, AmountsByDim capacity, std::vector<LaterTree> later = {},
                    const HeldBy& held_by = {});

  // What a unit of a queue reserves as it is added; it keeps it when it is removed, until it has stopped.
  const BudgetLedger& budgets() const { return budgets_; }
  BudgetLedger& budgets() { return budgets_; }

  // What time it is, where the calendar changes what is promised.
  void tell_time(Time now) { now_ = now; }
  Time now() const { return now_; }
  // When a unit that starts now is ended.
  Time end_of(const Terms& terms) const { return enforced_end(terms, now_); }
  // The end of its run limit comes later than was foreseen: it is inside the floor no more where the calendar brings one
  // without room for it before then (rule 7), and whoever it needs to make room by then does.
  void set_end(UnitId unit, Time end);

  // How long what it set for itself protects a unit against those who could take back what it borrows, as the calendar knows
  // them for the year to come: the shortest of their times; kNoClock if nobody could.
  Duration lenders_clock(QueueId queue, QueueId covered_at) const;

  // The coverage of a new unit is settled here; a sibling's may shrink for it. `held` has what it holds.
  UnitId add(QuotaUnit unit, const AmountList& held);
  // What it leaves covers others.
  void remove(UnitId unit);
  // It holds other amounts from now on, and is covered where it was; what it leaves covers others. PRE: where it is covered
  // there is room for what it holds more.
  void set_held(UnitId unit, const AmountList& held);
  // Decides about coverage from now on; what is covered stays so. PRE: outside of any trial.
  void set_priority(UnitId unit, std::int32_t priority);

  const QuotaUnit& unit(UnitId unit) const { return units_[unit.index()]; }
  const AmountList& held_by(UnitId unit) const { return footprints_[units_[unit.index()].footprint]; }
  // The units of one queue, not of those below it, in no particular but always the same order.
  std::span<const UnitId> units_in(QueueId queue) const { return by_queue_[queue.index()]; }

  // Of the units of one queue; the highest that there is if it has none.
  std::int32_t lowest_priority(QueueId queue) const {
    const auto& priorities = priorities_[queue.index()];
    return priorities.empty() ? INT32_MAX : priorities.front().priority;
  }

  // Whatever is held at the queue and below it, covered or not, also of flavors that have no quota any more.
  std::span<const std::int64_t> used(QueueId queue) const { return row(used_, queue); }
  // The part of it that is inside this queue's floor; slices that are so by their profile are no part of GPUs there.
  std::span<const std::int64_t> covered(QueueId queue) const { return row(covered_, queue); }
  // By queue, of one dimension: what of that will be inside its floor still.
  AmountsByDim covered_then(Dim dim, Time then) const;
  // What it holds above its floor, as shares count it, if it held so much more, covered or not: of a resource of which it was
  // promised nothing, what is not covered there. Slices count as parts of GPUs, but for those inside a floor by their profile.
  std::int64_t above_floor(QueueId queue, Dim dim, const AmountList& more = {}, bool covered = false) const {
    if (dim.is_of_slices()) return 0;
    const std::size_t at = dim.index();
    if (tree_->has_floor(queue, dim.resource())) {
      return std::max<std::int64_t>(0, used_of_floor(queue, dim, more) - tree_->floor(queue)[at]);
    }
    // All that is covered is here, by whatever floor.
    const std::int64_t inside = this->covered(queue)[at] + (has_profiles(queue) ? covered_slices(queue, dim) : 0);
    return used(queue)[at] - inside + (covered ? 0 : amount_of(more, dim));
  }
  // What of the queue's floor it uses, as if all that it holds had come there first: without slices that another floor of it is for.
  std::int64_t used_of_floor(QueueId queue, Dim dim, const AmountList& more = {}) const {
    const std::int64_t held = used(queue)[dim.index()] + amount_of(more, dim);
    return has_profiles(queue) ? held - slices_of_floor(queue, dim, more) : held;
  }
  // How many units of the queue and of those below it are not inside its floor, whatever they hold.
  std::size_t units_outside(QueueId queue) const { return outside_[queue.index()]; }
  // How many of the queue and of those below it are best effort; and of all.
  std::size_t best_effort_units(QueueId queue) const { return best_effort_[queue.index()]; }
  std::size_t best_effort_units() const { return best_effort_of_all_; }
  const AmountsByDim& used_by_all() const { return used_by_all_; }
  // What one user's units hold at the queue and below it; nothing where there were none yet. PRE: users count there.
  std::span<const std::int64_t> held_by_user(QueueId queue, UserId user) const;

  // Whether so much more would be inside what is left of the queue's floor, whole (rule 5), until then (rule 7).
  bool fits_floor(QueueId queue, const AmountList& asked, Time end) const {
    return fits_floor_until(queue, asked, end) >= end;
  }
  // `end` if it would; else since when not: long ago, if not now either.
  Time fits_floor_until(QueueId queue, const AmountList& asked, Time end) const;
  // Where a unit that asks so much until then would be covered if it came now; none if nowhere.
  QueueId would_be_covered_at(QueueId queue, const AmountList& asked, Time end) const;
  // The same if these were gone and nobody else had taken the floor that they leave: nowhere deeper is possible.
  QueueId would_be_covered_without(std::span<const UnitId> gone, QueueId queue, const AmountList& asked,
                                   Time end) const;

  std::size_t mark() const { return log_.size(); }
  void rollback_to(std::size_t mark);
  // What was changed stays.
  void keep() { log_.clear(); }

  // The same amounts and coverage, for tests and invariants.
  bool same_as(const QuotaLedger& other) const;

 private:
  // The changes of which all others consist.
  struct Change {
    enum class Kind : std::uint8_t { kCome, kComeAgain, kGo, kCover, kEnd, kHold } kind;
    UnitId unit;
    QueueId before;  // covered_at; of kGo too
    QuotaUnit gone;  // of kGo; of kEnd and kHold as it was
  };
  struct PriorityCount {
    std::int32_t priority = 0;
    std::int64_t units = 0;
  };
  // A row of `held_by_users_`.
  struct UserRow {
    UserId user;
    std::uint32_t row = 0;
  };
  struct Coverage {
    SortedBlocks<UnitKey> uncovered;  // at or below the queue, outside its floor
    SortedBlocks<UnitKey> pool;       // covered here and not below, the last to be covered first
  };

  std::span<const std::int64_t> row(const AmountsByDim& table, QueueId queue) const {
    return std::span(table).subspan(queue.index() * tree_->dims(), tree_->dims());
  }
  std::int64_t& cell(AmountsByDim& table, QueueId queue, Dim dim) {
    return table[queue.index() * tree_->dims() + dim.index()];
  }
  bool has_profiles(QueueId queue) const { return !tree_->profiles_of_floor(queue).empty(); }
  // Of GPUs: what those slices are of them that are for its floor by their profile; and of those that are inside it.
  std::int64_t slices_of_floor(QueueId queue, Dim gpus, const AmountList& more) const;
  std::int64_t covered_slices(QueueId queue, Dim gpus) const;
  UnitKey key_of(UnitId unit) const;
  UnitKey pool_key_of(UnitId unit) const;
  bool is_covered_at(const QuotaUnit& unit, QueueId queue) const;

  void come(UnitId unit);
  void go(UnitId unit);
  void set_covered_at(UnitId unit, QueueId queue);
  void set_footprint(UnitId unit, std::uint32_t footprint);
  const AmountList& in_floors(UnitId unit) const { return footprints_[units_[unit.index()].in_floors]; }
  void count_in_floors(UnitId unit);
  void count_slices(const HeldBy& held_by);
  void list(UnitId unit, bool add);
  void count_best_effort(QueueId queue, int by);
  void count_priority(const QuotaUnit& unit, std::int64_t by);
  void count_for_user(const QuotaUnit& unit, std::int64_t sign);
  std::size_t user_row(QueueId queue, UserId user);
  void cover(UnitId unit, QueueId queue);
  AmountsByDim covered_then(QueueId queue, Time then) const;
  void leave_before(QueueId below, QueueId queue, Time then, AmountsByDim& sums) const;
  struct Arrival;
  struct Hour;
  bool stays_inside(UnitId unit, Time since) const;
  Hour hour_after(QueueId queue, std::span<const Arrival> arrivals, Time from, const QuotaTree& tree,
                  AmountsByDim covered) const;
  std::vector<Hour> hours_after(QueueId queue, std::span<const Arrival> arrivals) const;
  void shrink(QueueId queue, std::vector<Arrival>& arrivals);
  void note_pushed_up(UnitId unit, QueueId from, std::vector<Arrival>& arrivals) const;
  void grow(QueueId queue);
  void lay_out(const QuotaTree& old);
  void note_rises();

  std::shared_ptr<const QuotaTree> tree_ = std::make_shared<const QuotaTree>();
  std::vector<LaterTree> later_;
  std::vector<FloorRise> rises_;
  Time now_;
  BudgetLedger budgets_;
  AmountsByDim capacity_;
  InternTable<AmountList, digest_of> footprints_;
  std::vector<QuotaUnit> units_;
  std::vector<UnitId> free_units_;
  std::vector<std::vector<UnitId>> by_queue_;
  std::vector<std::uint32_t> place_in_queue_;           // by unit
  std::vector<std::vector<PriorityCount>> priorities_;  // by queue, the lowest first
  std::vector<std::size_t> outside_;                    // by queue
  std::vector<std::size_t> best_effort_;                // by queue, those below it included
  std::size_t best_effort_of_all_ = 0;
  AmountsByDim used_;
  AmountsByDim covered_;
  AmountsByDim used_by_all_;
  std::vector<std::vector<UserRow>> user_rows_;  // by queue, sorted by user; where users count
  AmountsByDim held_by_users_;                   // rows of amounts by dimension
  std::vector<Coverage> coverage_;               // by queue; empty sets where there is no floor
  std::vector<Change> log_;
};

}  // namespace berth
