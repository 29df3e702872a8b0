#include "state/quota_ledger.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hash.h"

namespace berth {

std::uint64_t digest_of(const AmountList& amounts) {
  Hasher hasher;
  for (const Amount& each : amounts) hasher.add(std::uint64_t{each.dim.index()}).add(each.amount);
  return hasher.digest();
}

std::int64_t gpu_milli_of(const AmountList& amounts) {
  std::int64_t sum = 0;
  for (const Amount& each : amounts) sum += each.dim.resource() == Resource::kGpu ? each.amount : 0;
  return sum;
}

const QuotaTree& QuotaLedger::tree_at(Time then) const {
  const QuotaTree* found = tree_.get();
  for (const LaterTree& later : later_) {
    if (later.from <= then) found = later.tree.get();
  }
  return *found;
}

void QuotaLedger::replace_tree(std::shared_ptr<const QuotaTree> tree, AmountsByDim capacity,
                               std::vector<LaterTree> later, const HeldBy& held_by) {
  BERTH_ASSERT(log_.empty());
  const std::shared_ptr<const QuotaTree> old = std::exchange(tree_, std::move(tree));
  BERTH_ASSERT(tree_->queues() >= old->queues() && tree_->dims() >= old->dims());
  capacity_ = std::move(capacity);
  later_ = std::move(later);
  note_rises();
  lay_out(*old);
  // What is held is known as far as the tables went.
  const bool goes_further = tree_->dims() > std::max(old->dims(), Dim::count(kFlavorsMax));
  if (goes_further || !tree_->same_floors_by_profile(*old)) count_slices(goes_further ? held_by : HeldBy());
  if (!tree_->has_floors()) return;
  // Children stand behind their parents: whoever comes inside a child's floor comes inside those above with it.
  for (std::size_t i = tree_->queues(); i-- > 0;) grow(QueueId(i));
  log_.clear();
}

// Once a calendar, so that nobody who is placed has to walk it.
void QuotaLedger::note_rises() {
  rises_.clear();
  if (later_.empty()) return;
  std::vector<const QuotaTree*> seen = {tree_.get()};
  AmountsByDim most(tree_->queues() * tree_->dims());
  const auto rise_to = [&](const QuotaTree& tree) {
    FlavorSet flavors;
    for (std::size_t queue = 0; queue < tree.queues(); ++queue) {
      const auto floor = tree.floor(QueueId(queue));
      for (const std::size_t index : tree.dims_in_use()) {
        const Dim dim = Dim::at(index);
        std::int64_t& before = most[queue * tree_->dims() + index];
        if (floor[index] <= before) continue;
        before = floor[index];
        const bool is_of_devices = dim.is_of_slices() || dim.resource() == Resource::kGpu;
        if (is_of_devices && !dim.flavor().is_none()) flavors.add(dim.flavor());
      }
    }
    return flavors;
  };
  rise_to(*tree_);
  for (const LaterTree& later : later_) {
    if (std::ranges::find(seen, later.tree.get()) != seen.end()) continue;
    seen.push_back(later.tree.get());
    const FlavorSet flavors = rise_to(*later.tree);
    if (!flavors.empty()) rises_.push_back({later.from, later.tree, flavors});
  }
}

// The tables for the new tree's queues and dimensions, and who stands where in it.
void QuotaLedger::lay_out(const QuotaTree& old) {
  by_queue_.resize(tree_->queues());
  priorities_.resize(tree_->queues());
  outside_.resize(tree_->queues());
  best_effort_.resize(tree_->queues());
  used_by_all_.resize(tree_->dims());
  if (old.dims() != tree_->dims() || old.queues() != tree_->queues()) {
    for (AmountsByDim* const table : {&used_, &covered_}) {
      AmountsByDim wider(tree_->queues() * tree_->dims());
      for (std::size_t queue = 0; queue < old.queues(); ++queue) {
        std::copy_n(table->begin() + static_cast<std::ptrdiff_t>(queue * old.dims()), old.dims(),
                    wider.begin() + static_cast<std::ptrdiff_t>(queue * tree_->dims()));
      }
      *table = std::move(wider);
    }
  }
  user_rows_.assign(tree_->queues(), {});
  held_by_users_.clear();
  if (tree_->counts_users()) {
    for (const auto& units : by_queue_) {
      for (const UnitId unit : units) count_for_user(units_[unit.index()], 1);
    }
  }
  coverage_.assign(tree_->queues(), {});
  if (!tree_->has_floors()) return;
  for (const auto& units : by_queue_) {
    for (const UnitId unit : units) list(unit, true);
  }
}

// What is held, and what of floors, counted anew.
void QuotaLedger::count_slices(const HeldBy& held_by) {
  for (const auto& units : std::vector<std::vector<UnitId>>(by_queue_)) {
    for (const UnitId id : units) {
      const AmountList held = held_by ? held_by(unit(id).workload) : this->held_by(id);
      set_footprint(id, static_cast<std::uint32_t>(footprints_.intern(held)));
    }
  }
}

std::int64_t QuotaLedger::slices_of_floor(QueueId queue, Dim gpus, const AmountList& more) const {
  const auto used = this->used(queue);
  const auto held = [&](Dim profile) { return used[profile.index()] + amount_of(more, profile); };
  return tree_->milli_inside(queue, gpus, tree_->floor(queue), held);
}

std::int64_t QuotaLedger::covered_slices(QueueId queue, Dim gpus) const {
  const auto inside = [&](Dim profile) { return covered(queue)[profile.index()]; };
  return tree_->milli_inside(queue, gpus, covered(queue), inside);
}

Duration QuotaLedger::lenders_clock(QueueId queue, QueueId covered_at) const {
  Duration shortest = tree_->owners_clock(queue, covered_at);
  for (const LaterTree& later : later_) shortest = std::min(shortest, later.tree->owners_clock(queue, covered_at));
  return shortest;
}

UnitId QuotaLedger::add(QuotaUnit unit, const AmountList& held) {
  unit.footprint = unit.in_floors = static_cast<std::uint32_t>(footprints_.intern(held));
  unit.covered_at = QueueId();
  UnitId id(units_.size());
  if (free_units_.empty()) {
    units_.push_back(unit);
    place_in_queue_.push_back(0);
  } else {
    id = free_units_.back();
    free_units_.pop_back();
    units_[id.index()] = unit;
  }
  come(id);
  // Who has gone and comes again in one trial has his hours still.
  const bool again = budgets_.is_charged(unit.workload);
  log_.push_back({again ? Change::Kind::kComeAgain : Change::Kind::kCome, id, {}, {}});
  if (!again) {
    budgets_.reserve(*tree_, unit.workload, unit.queue,
                     {.gpu_milli = gpu_milli_of(held), .from = unit.admitted, .end = unit.end});
  }
  if (unit.could_be_covered()) {
    const QueueId at = would_be_covered_at(unit.queue, held, unit.end);
    if (!at.is_none()) cover(id, at);
  }
  return id;
}

void QuotaLedger::remove(UnitId id) {
  const QuotaUnit gone = unit(id);
  go(id);
  log_.push_back({Change::Kind::kGo, id, gone.covered_at, gone});
  free_units_.push_back(id);
  for (QueueId queue = gone.queue; !queue.is_none(); queue = tree_->parent(queue)) {
    if (is_covered_at(gone, queue)) grow(queue);
  }
}

void QuotaLedger::set_held(UnitId id, const AmountList& held) {
  log_.push_back({Change::Kind::kHold, id, {}, unit(id)});
  set_footprint(id, static_cast<std::uint32_t>(footprints_.intern(held)));
  const QuotaUnit now = unit(id);
  for (QueueId queue = now.queue; !queue.is_none(); queue = tree_->parent(queue)) grow(queue);
}

void QuotaLedger::set_footprint(UnitId id, std::uint32_t footprint) {
  go(id);
  units_[id.index()].footprint = footprint;
  count_in_floors(id);
  come(id);
}

// INVARIANT: it stands so as long as the unit is counted.
void QuotaLedger::count_in_floors(UnitId id) {
  QuotaUnit& unit = units_[id.index()];
  unit.in_floors = unit.footprint;
  if (unit.covered_at.is_none() || !has_slices(footprints_[unit.footprint])) return;
  const AmountList counted = tree_->counted_in_floor(unit.covered_at, footprints_[unit.footprint]);
  unit.in_floors = static_cast<std::uint32_t>(footprints_.intern(counted));
}

void QuotaLedger::set_priority(UnitId id, std::int32_t priority) {
  go(id);
  units_[id.index()].priority = priority;
  come(id);
}

void QuotaLedger::rollback_to(std::size_t mark) {
  BERTH_ASSERT(mark <= log_.size());
  while (log_.size() > mark) {
    const Change change = log_.back();
    log_.pop_back();
    switch (change.kind) {
      case Change::Kind::kCome:
        budgets_.cancel(unit(change.unit).workload);
        [[fallthrough]];
      case Change::Kind::kComeAgain:
        go(change.unit);
        free_units_.push_back(change.unit);
        break;
      case Change::Kind::kGo:
        free_units_.pop_back();
        units_[change.unit.index()] = change.gone;
        come(change.unit);
        break;
      case Change::Kind::kCover:
        set_covered_at(change.unit, change.before);
        break;
      case Change::Kind::kEnd:
        units_[change.unit.index()].end = change.gone.end;
        break;
      case Change::Kind::kHold:
        set_footprint(change.unit, change.gone.footprint);
        break;
    }
  }
}

bool QuotaLedger::same_as(const QuotaLedger& other) const {
  if (!(budgets_ == other.budgets_)) return false;
  if (used_ != other.used_ || covered_ != other.covered_ || used_by_all_ != other.used_by_all_) return false;
  if (capacity_ != other.capacity_ || outside_ != other.outside_ || by_queue_.size() != other.by_queue_.size())
    return false;
  using Standing = std::pair<WorkloadId, QueueId>;
  const auto standings = [](const QuotaLedger& ledger, std::size_t queue) {
    std::vector<Standing> made;
    for (const UnitId unit : ledger.by_queue_[queue]) {
      made.emplace_back(ledger.unit(unit).workload, ledger.unit(unit).covered_at);
    }
    std::sort(made.begin(), made.end());
    return made;
  };
  // Rows of users who hold nothing any more say nothing.
  const auto users = [](const QuotaLedger& ledger, std::size_t queue) {
    std::vector<std::pair<UserId, AmountsByDim>> made;
    for (const UserRow& row : ledger.user_rows_[queue]) {
      const auto held = ledger.held_by_user(QueueId(queue), row.user);
      if (std::ranges::any_of(held, [](std::int64_t amount) { return amount != 0; })) {
        made.emplace_back(row.user, AmountsByDim(held.begin(), held.end()));
      }
    }
    return made;
  };
  for (std::size_t queue = 0; queue < by_queue_.size(); ++queue) {
    if (standings(*this, queue) != standings(other, queue) || users(*this, queue) != users(other, queue)) return false;
  }
  return true;
}

UnitKey QuotaLedger::key_of(UnitId id) const {
  const QuotaUnit& unit = units_[id.index()];
  return {-unit.priority, unit.admitted, unit.workload, id};
}

UnitKey QuotaLedger::pool_key_of(UnitId id) const {
  const QuotaUnit& unit = units_[id.index()];
  return {unit.priority, Time{-unit.admitted.ms}, WorkloadId(~unit.workload.value()), id};
}

bool QuotaLedger::is_covered_at(const QuotaUnit& unit, QueueId queue) const {
  for (QueueId at = unit.covered_at; !at.is_none(); at = tree_->parent(at)) {
    if (at == queue) return true;
  }
  return false;
}

void QuotaLedger::come(UnitId id) {
  const QuotaUnit& unit = units_[id.index()];
  auto& siblings = by_queue_[unit.queue.index()];
  place_in_queue_[id.index()] = static_cast<std::uint32_t>(siblings.size());
  siblings.push_back(id);
  count_priority(unit, 1);
  count_for_user(unit, 1);
  const AmountList& held = footprints_[unit.footprint];
  const AmountList& inside = footprints_[unit.in_floors];
  bool covered = false;
  for (const Amount& each : held) used_by_all_[each.dim.index()] += each.amount;
  if (!unit.may_be_covered) count_best_effort(unit.queue, 1);
  for (QueueId queue = unit.queue; !queue.is_none(); queue = tree_->parent(queue)) {
    covered = covered || queue == unit.covered_at;
    outside_[queue.index()] += covered ? 0 : 1;
    for (const Amount& each : held) cell(used_, queue, each.dim) += each.amount;
    if (!covered) continue;
    for (const Amount& each : inside) cell(covered_, queue, each.dim) += each.amount;
  }
  list(id, true);
}

void QuotaLedger::go(UnitId id) {
  list(id, false);
  const QuotaUnit& unit = units_[id.index()];
  const AmountList& held = footprints_[unit.footprint];
  const AmountList& inside = footprints_[unit.in_floors];
  bool covered = false;
  for (const Amount& each : held) used_by_all_[each.dim.index()] -= each.amount;
  if (!unit.may_be_covered) count_best_effort(unit.queue, -1);
  for (QueueId queue = unit.queue; !queue.is_none(); queue = tree_->parent(queue)) {
    covered = covered || queue == unit.covered_at;
    outside_[queue.index()] -= covered ? 0 : 1;
    for (const Amount& each : held) cell(used_, queue, each.dim) -= each.amount;
    if (!covered) continue;
    for (const Amount& each : inside) cell(covered_, queue, each.dim) -= each.amount;
  }
  auto& siblings = by_queue_[unit.queue.index()];
  const std::uint32_t place = place_in_queue_[id.index()];
  siblings[place] = siblings.back();
  place_in_queue_[siblings[place].index()] = place;
  siblings.pop_back();
  count_priority(unit, -1);
  count_for_user(unit, -1);
}

void QuotaLedger::count_best_effort(QueueId queue, int by) {
  const auto count = [by](std::size_t& units) { by > 0 ? ++units : --units; };
  count(best_effort_of_all_);
  for (; !queue.is_none(); queue = tree_->parent(queue)) count(best_effort_[queue.index()]);
}

void QuotaLedger::count_priority(const QuotaUnit& unit, std::int64_t by) {
  auto& counts = priorities_[unit.queue.index()];
  const auto at =
      std::lower_bound(counts.begin(), counts.end(), unit.priority,
                       [](const PriorityCount& count, std::int32_t value) { return count.priority < value; });
  if (at == counts.end() || at->priority != unit.priority) {
    counts.insert(at, {unit.priority, by});
  } else if ((at->units += by) == 0) {
    counts.erase(at);
  }
}

void QuotaLedger::count_for_user(const QuotaUnit& unit, std::int64_t sign) {
  if (!tree_->counts_users()) return;
  for (QueueId queue = unit.queue; !queue.is_none(); queue = tree_->parent(queue)) {
    if (!tree_->counts_users(queue)) continue;
    const std::size_t begin = user_row(queue, unit.user) * tree_->dims();
    for (const Amount& each : footprints_[unit.footprint]) {
      held_by_users_[begin + each.dim.index()] += sign * each.amount;
    }
  }
}

std::span<const std::int64_t> QuotaLedger::held_by_user(QueueId queue, UserId user) const {
  const auto& rows = user_rows_[queue.index()];
  const auto at = std::ranges::lower_bound(rows, user, {}, &UserRow::user);
  if (at == rows.end() || at->user != user) return {};
  return std::span(held_by_users_).subspan(at->row * tree_->dims(), tree_->dims());
}

std::size_t QuotaLedger::user_row(QueueId queue, UserId user) {
  auto& rows = user_rows_[queue.index()];
  const auto at = std::ranges::lower_bound(rows, user, {}, &UserRow::user);
  if (at != rows.end() && at->user == user) return at->row;
  const std::size_t row = held_by_users_.size() / tree_->dims();
  rows.insert(at, {user, static_cast<std::uint32_t>(row)});
  held_by_users_.resize(held_by_users_.size() + tree_->dims());
  return row;
}

// Where there are floors: among the uncovered of every queue up to where it is covered, and in the pool of that one.
void QuotaLedger::list(UnitId id, bool add) {
  if (!tree_->has_floors()) return;
  const QuotaUnit& unit = units_[id.index()];
  const auto change = [&](SortedBlocks<UnitKey>& set, const UnitKey& key) { add ? set.insert(key) : set.erase(key); };
  for (QueueId queue = unit.queue; !queue.is_none(); queue = tree_->parent(queue)) {
    Coverage& coverage = coverage_[queue.index()];
    if (queue == unit.covered_at) return change(coverage.pool, pool_key_of(id));
    if (unit.could_be_covered() && tree_->has_floor(queue)) change(coverage.uncovered, key_of(id));
  }
}

void QuotaLedger::set_covered_at(UnitId id, QueueId queue) {
  go(id);
  units_[id.index()].covered_at = queue;
  count_in_floors(id);
  come(id);
}

}  // namespace berth
