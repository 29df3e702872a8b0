// Whom promises let ahead, for good or on loan, and what a start makes of them.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "cycle/outranks.h"
#include "cycle/shadows.h"
#include "cycle/terms_of.h"

namespace berth {

// By then whoever is let ahead of it has to be gone, or be beside it. Who starts as he was promised himself has been looked at then.
Time Shadows::due(std::size_t shadow, WorkloadId for_whom) const {
  const Shadow& own = all_[shadow];
  if (index_of(for_whom)) return own.at;
  const auto found = foretold_.find(own.start.workload);
  return found != foretold_.end() && found->second.promised == own.at ? found->second.at : own.at;
}

std::optional<Time> Shadows::has_to_be_gone_by(WorkloadId id, WorkloadId promised) const {
  const auto shadow = index_of(promised);
  if (!shadow || !would_delay(*shadow, id, kForever)) return std::nullopt;
  return Time{due(*shadow, id).ms - state_.scrub().ms};
}

bool Shadows::let(std::size_t shadow, const Start& start, Time end, Time due) {
  const WorkloadId whose = all_[shadow].start.workload;
  if (whose == start.workload) return true;
  // Who is where his queue has reserved is in the way of nobody there who has not reserved it, too.
  if (reserved_ != nullptr && reserved_->is_inside_own(start, state_.workload(whose).queue)) return true;
  if (end <= due) return leaves_hours(all_[shadow], start, plan_.now, all_.size());
  // That somebody to whom room is promised leaves others what they need was seen when it was.
  if (!index_of(start.workload) && mind_each_other(whose, start.workload)) return false;
  if (keep_apart(all_[shadow].start, start)) return false;
  std::vector<NodeThen> beside = then_[shadow];
  if (!fits_beside(beside, start)) return false;
  // Who is moved, and would still hold then what it holds now, holds no more of any quota.
  const bool holds_it_anyway = has_room(state_.workload(start.workload).phase) && end_of_running(start.workload) > due;
  return holds_it_anyway || leaves_quota(all_[shadow], start, plan_.now, all_.size());
}

bool Shadows::let(const Start& start, Time begins) { return let_moved(start, start.workload, begins); }

bool Shadows::let_moved(const Start& moved, WorkloadId claimant, Time begins) {
  // Whose GPU is cut may have it kept from others for longer than he is there. What he was promised himself was looked at then.
  const Time end = moved.waits && !index_of(moved.workload) ? kForever : end_of(moved, begins);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const bool goes_before = !claimant.is_none() && takes_promises_of(state_, claimant, all_[i].start.workload);
    if (!let(i, moved, end, due(i, claimant)) && !goes_before) return false;
  }
  return true;
}

bool Shadows::lend(Start& start, Time foretold_end) {
  const WorkloadId id = start.workload;
  // A start of its own is better than a loan.
  if (index_of(id)) return false;
  const Time end = end_of(start);
  Time until = kForever;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (let(i, start, end, all_[i].at) || takes_promises_of(state_, id, all_[i].start.workload)) continue;
    until = std::min(until, Time{all_[i].at.ms - state_.scrub().ms});
  }
  if (until == kForever || foretold_end + terms_of(state_, id).grace > until) return false;
  start.lent_until = until;
  const Time taken_back = end_of(start);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (let(i, start, taken_back, all_[i].at) || takes_promises_of(state_, id, all_[i].start.workload)) continue;
    start.lent_until.reset();
    return false;
  }
  return true;
}

// Who is told no later than now to stop is gone by then.
Time Shadows::told_by(WorkloadId id) const { return plan_.now + terms_of(state_, id).grace + state_.scrub(); }

// Whether somebody would not start as promised if that one stayed, who could just be told to stop in time, beside `staying`.
bool Shadows::delays_when_due(WorkloadId id, const std::vector<WorkloadId>& staying) {
  const Time gone = end_of_running(id);
  find_ends();
  const std::vector<End> ends = ends_;
  bool delays = false;
  for (std::size_t i = 0; !delays && i < all_.size(); ++i) {
    const Time at = all_[i].at;
    if (at < gone || at > told_by(id)) continue;
    // Whoever of those can be told later still may go for this one.
    const auto stays = [&](WorkloadId other) {
      return other == id || (told_by(other) >= at && std::ranges::find(staying, other) != staying.end());
    };
    ends_ = ends;
    std::erase_if(ends_, [&](const End& each) { return stays(each.workload); });
    then_.assign(all_.size(), {});
    delays = !is_still_there(all_[i], i);
  }
  ends_ = ends;
  then_.assign(all_.size(), {});
  return delays;
}

// One after the other: of two of whom one has to go, the first may stay.
std::vector<WorkloadId> Shadows::loans_due() {
  std::vector<WorkloadId> due;
  std::vector<WorkloadId> staying;
  for (const WorkloadId id : state_.lent()) {
    const bool goes = std::ranges::find(plan_.evictions, id, &Eviction::workload) != plan_.evictions.end();
    if (goes || state_.workload(id).phase != Phase::kRunning) continue;
    (delays_when_due(id, staying) ? due : staying).push_back(id);
  }
  return due;
}

Time Shadows::next_due() const {
  Time next = kForever;
  for (const Shadow& each : all_) {
    if (each.at > plan_.now) next = std::min(next, each.at);
  }
  return next == kForever ? plan_.now : next;
}

void Shadows::look_again() {
  known_ends_ = false;
  then_.assign(all_.size(), {});
}

bool Shadows::started(const Start& start) {
  known_ends_ = false;
  if (all_.empty()) return false;
  const Time end = end_of(start);
  std::vector<WorkloadId> in_the_way;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const WorkloadId whose = all_[i].start.workload;
    if (whose == start.workload || end <= all_[i].at) continue;
    const bool apart = keep_apart(all_[i].start, start);
    if (apart || then_[i].empty() || !fits_beside(then_[i], start)) in_the_way.push_back(whose);
  }
  const auto own = index_of(start.workload);
  if (own) replace(*own, std::nullopt);
  // The trial has those elsewhere who move for it; the next cycle looks at what that leaves.
  if (!plan_.migrations.empty()) return own.has_value();
  const auto is_displaced = [&](WorkloadId whose) {
    const std::size_t at = *index_of(whose);
    return !is_still_there(all_[at], at);
  };
  const auto first = std::ranges::find_if(in_the_way, is_displaced);
  if (first == in_the_way.end()) return own.has_value();
  promise_anew_from(*index_of(*first));
  return true;
}

// If it had that room from now on, and ended then.
bool Shadows::would_delay(std::size_t shadow, WorkloadId id, Time end) const {
  const WorkloadId whose = all_[shadow].start.workload;
  return whose != id && end > due(shadow, id) && !takes_promises_of(state_, id, whose);
}

}  // namespace berth
